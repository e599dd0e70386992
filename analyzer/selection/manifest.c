/* manifest.c: written when the output is complete, with a checksum of that file. */
#include "manifest.h"

#include "die/die.h"
#include "die/memory.h"
#include "output/claims.h"
#include "regions/provenance.h"

#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

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
	char *path;
	int code;

	if (!manifest_is_possible(output))
		return 0;
	if (asprintf(&path, "%s.manifest.json", output) < 0)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the manifest of %s", output);
	code = claims_add_output("the manifest", path, error);
	free(path);
	return code;
}

int
manifest_open(struct manifest *manifest, const char *command, const char *output, const struct dynamics *dynamics,
              const char *store, struct portolan_error *error)
{
	struct report *report = &manifest->report;
	int code;

	manifest->of = output;
	if (asprintf(&manifest->path, "%s.manifest.json", output) < 0)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the manifest of %s", output);
	code = report_open(report, manifest->path, 1, error);
	if (code < 0) {
		free(manifest->path);
		return code;
	}
	provenance_begin(report, command, dynamics, store);
	return 0;
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

/* The checksum of the file on disk: XXH128, as its tools print it. */
static int
digest(const char *path, char hex[33], uint64_t *bytes, struct portolan_error *error)
{
	XXH3_state_t *state = XXH3_createState();
	uint8_t *buffer = malloc(READ_SIZE);
	int fd = open(path, O_RDONLY | O_CLOEXEC), code = 0;
	XXH128_hash_t hash;
	ssize_t got = 1;

	*bytes = 0;
	if (!state || !buffer)
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory for the checksum of %s", path);
	else
		XXH3_128bits_reset(state);
	while (code >= 0 && got != 0) {
		got = fd < 0 ? -1 : read(fd, buffer, READ_SIZE);
		if (got < 0 && (fd < 0 || errno != EINTR))
			code = error_set(error, PORTOLAN_E_SYSTEM, "cannot read %s for its manifest: %s", path,
			                 strerror(errno));
		if (got > 0) {
			XXH3_128bits_update(state, buffer, (size_t)got);
			*bytes += (uint64_t)got;
		}
	}
	if (code >= 0) {
		hash = XXH3_128bits_digest(state);
		snprintf(hex, 33, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
	}
	if (fd >= 0)
		close(fd);
	free(buffer);
	XXH3_freeState(state);
	return code;
}

int
manifest_close(struct manifest *manifest, struct portolan_error *error)
{
	const char *slash = strrchr(manifest->of, '/');
	struct report *report = &manifest->report;
	uint64_t bytes;
	char hex[33];
	int code = digest(manifest->of, hex, &bytes, error);

	if (code >= 0) {
		report_begin(report, "output");
		report_text(report, "file", slash ? slash + 1 : manifest->of);
		report_whole(report, "bytes", bytes);
		report_text(report, "xxh128", hex);
		report_end(report);
		report_end(report);
		code = report_close(report, error);
	} else {
		report_discard(report);
	}
	free(manifest->path);
	return code;
}
