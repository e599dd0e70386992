/* manifest.c: writes the manifest of an output (manifest.h): a JSON file beside it that says how the output was made.
 * It is written when the output is complete, and has that file's checksum. */
#include "manifest.h"

#include "die/die.h"
#include "die/memory.h"
#include "output/claims.h"
#include "regions/provenance.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_SIZE (1u << 20)

bool
manifest_is_possible(const char *output)
{
	struct stat status;

	return output && strcmp(output, "-") != 0 && (stat(output, &status) != 0 || S_ISREG(status.st_mode));
}

int
manifest_claim(const char *output, struct portolan_error *error)
{
	CLEANUP_FREE char *path = NULL;

	if (!manifest_is_possible(output))
		return 0;
	path = memory_text("%s.manifest.json", output);
	return claims_add_output("the manifest", path, error);
}

void
manifest_open(struct manifest *manifest, const char *command, const char *output, const struct dynamics *dynamics,
              const char *store)
{
	manifest->of = output;
	manifest->digest = NULL;
	manifest->path = memory_text("%s.manifest.json", output);
	must(report_open(&manifest->report, manifest->path, 1, &failure));
	provenance_begin(&manifest->report, command, dynamics, store);
}

void
manifest_add_range(struct report *report, const struct dynamics *dynamics)
{
	if (dynamics->range_given)
		report_whole(report, "epochs_from", dynamics->epoch_from);
	if (dynamics->range_given && dynamics->epoch_to != UINT32_MAX)
		report_whole(report, "epochs_to", dynamics->epoch_to);
	if (dynamics->range_chosen)
		report_flag(report, "epochs_auto", true);
}

void
manifest_add_cuts(struct report *report, const struct region_cuts *cuts)
{
	report_begin(report, "regions");
	report_real(report, "variability", cuts->variability);
	report_real(report, "confidence", cuts->confidence);
	report_end(report);
}

/* Adds the bytes of a file to the digest. */
static void
manifest_read(const char *path, struct digest *digest)
{
	CLEANUP_FREE uint8_t *buffer = memory_new(READ_SIZE, 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = 1;

	while (got != 0) {
		got = fd < 0 ? -1 : read(fd, buffer, READ_SIZE);
		if (got < 0 && (fd < 0 || errno != EINTR))
			die("cannot read %s for its manifest: %s", path, strerror(errno));
		if (got > 0)
			digest_add(digest, buffer, (size_t)got);
	}
	close(fd);
}

static void
manifest_add_digest(struct report *report, const struct digest *digest)
{
	char hex[DIGEST_ROOM];

	report_whole(report, "bytes", digest_print(digest, hex));
	report_text(report, "xxh128", hex);
}

/* Adds the size of the file on disk, and its checksum. */
static void
manifest_add_digest_of(struct report *report, const char *path)
{
	struct digest *digest = memory_need(digest_new());

	manifest_read(path, digest);
	manifest_add_digest(report, digest);
	digest_free(digest);
}

void
manifest_add_file(struct report *report, const char *path)
{
	report_text(report, "file", path);
	if (strcmp(path, "-") != 0)
		manifest_add_digest_of(report, path);
}

void
manifest_close(struct manifest *manifest)
{
	const char *slash = strrchr(manifest->of, '/');
	struct report *report = &manifest->report;

	report_begin(report, "output");
	report_text(report, "file", slash ? slash + 1 : manifest->of);
	if (manifest->digest)
		manifest_add_digest(report, manifest->digest);
	else
		manifest_add_digest_of(report, manifest->of);
	report_end(report);
	report_end(report);
	must(report_close(report, &failure));
	free(manifest->path);
}
