/*
 * manifest.h: writes the file FILE.manifest.json beside an output FILE: how the output was made, and the checksum that
 * it must have. For `portolan select`, `noise`, `aflite` and `upsample`.
 *
 *     manifest_open(&manifest, "select", "subset.txt", dynamics, store);
 *     report_text(&manifest.report, "rule", …);            … whatever the command adds …
 *     manifest_close(&manifest);
 *
 * Members every manifest has: those of regions/provenance.h, and output (file, bytes, xxh128: what xxh128sum prints).
 */
#ifndef MANIFEST_H
#define MANIFEST_H

#include "regions/provenance.h"
#include "regions/regions.h"

struct manifest {
	struct report report;        /* open, within the manifest's object */
	const struct digest *digest; /* of the output, the caller's; NULL: manifest_close() reads the output again */
	/* private */
	const char *of; /* the path of the output */
	char *path;
};

/* Can the output have a manifest? Standard output, pipes and devices cannot. To be asked before the file exists. */
bool manifest_is_possible(const char *output);

/* Claims the manifest's file (see output/claims.h), if there is to be one: for checks of options. Fails as
 * claims_add_output() does. */
int manifest_claim(const char *output, struct portolan_error *error);

/* Opens the manifest of the finished `output`, whose name must stay until manifest_close(). Without `dynamics`, it has
 * no members from store to observed. */
void manifest_open(struct manifest *manifest, const char *command, const char *output, const struct dynamics *dynamics,
                   const char *store);
void manifest_close(struct manifest *manifest);

/* Adds epochs_from and epochs_to, so far as the user gave them. */
void manifest_add_range(struct report *report, const struct dynamics *dynamics);

/* Adds the members of an input's object: file, bytes and xxh128; of standard input only the first. The input is read
 * again. */
void manifest_add_file(struct report *report, const char *path);

/* Adds "regions": the cuts. */
void manifest_add_cuts(struct report *report, const struct region_cuts *cuts);

#endif
