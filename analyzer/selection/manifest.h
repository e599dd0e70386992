/*
 * manifest.h: what stands beside an output file, in FILE.manifest.json: how it was made, and what it must hold.
 *
 *     json_t *manifest = manifest_new("select", dynamics, store);
 *     json_object_set_new(manifest, "rule", …);            … whatever the command adds …
 *     manifest_write(manifest, "subset.txt", error);
 *
 * Members every manifest has: portolan (the version), command, created (now, or $SOURCE_DATE_EPOCH; UTC), store (its
 * absolute path), run, run_created, epochs (numbers, and how many: seen of those asked for), observed (examples),
 * output (file, bytes, xxh128: what xxh128sum prints).
 */
#ifndef MANIFEST_H
#define MANIFEST_H

#include "classes.h"
#include "dynamics/dynamics.h"

#include <jansson.h>

/* Can the output have one? Standard output, pipes and devices cannot. Asked before the file exists. */
bool manifest_is_possible(const char *output);

/* Claims its file (see output/claims.h), if there is to be one. */
int manifest_claim(const char *output, struct portolan_error *error);

/* NULL: out of memory. */
json_t *manifest_new(const char *command, const struct dynamics *dynamics, const char *store);
json_t *manifest_new_without_run(const char *command); /* without the members from store to observed */

/* [{"gold": 0, "label": "red", "observed": 10, "chosen": 3}, …] of the classes, those without label as null; JSON null
 * where the run has no labels; NULL: out of memory. Needs dynamics->gold. */
json_t *manifest_classes(const struct dynamics *dynamics, const uint32_t *chosen, size_t count);

/* Adds epochs_from and epochs_to to an object, as far as the user gave them. */
void manifest_add_range(json_t *parameters, const struct dynamics *dynamics);

/* Takes the manifest over, and writes it beside the finished `output`. A NULL manifest is the error of having had no
 * memory for it. */
int manifest_write(json_t *manifest, const char *output, struct portolan_error *error);

#endif
