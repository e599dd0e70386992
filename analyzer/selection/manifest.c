/*
 * manifest.c: made while the command knows everything, written when the output is there: its checksum is of the very
 * file.
 *
 * jansson's setters take NULL values for failures, so lack of memory is looked for once, at the end: a member that is
 * missing is worse than no manifest.
 */
#include "manifest.h"

#include "output/claims.h"
#include "output/output.h"
#include "output/report.h"

#include <portolan/error.h>
#include <portolan/portolan.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
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

static json_t *
date(int64_t seconds)
{
	time_t time = (time_t)seconds;
	struct tm parts;
	char text[64] = "";

	if (gmtime_r(&time, &parts))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
	return json_string(text);
}

/* As reproducible-builds.org asks for. */
static int64_t
now(void)
{
	const char *given = getenv("SOURCE_DATE_EPOCH");
	char *end;
	long long seconds;

	if (given && *given) {
		errno = 0;
		seconds = strtoll(given, &end, 10);
		if (errno == 0 && *end == '\0' && seconds >= 0)
			return seconds;
	}
	return (int64_t)time(NULL);
}

static json_t *
epoch_numbers(const struct dynamics *dynamics)
{
	json_t *numbers = json_array();

	for (size_t e = 0; e < dynamics->epoch_count; e++)
		if (json_array_append_new(numbers, json_integer(dynamics->epochs[e])) < 0) {
			json_decref(numbers);
			return NULL;
		}
	return numbers;
}

json_t *
manifest_new_without_run(const char *command)
{
	return json_pack("{s:s, s:s, s:o}", "portolan", PORTOLAN_VERSION, "command", command, "created", date(now()));
}

json_t *
manifest_new(const char *command, const struct dynamics *dynamics, const char *store)
{
	char *path = realpath(store, NULL);
	json_t *manifest =
	        json_pack("{s:s, s:s, s:o, s:o, s:s, s:o, s:o, s:I}", "portolan", PORTOLAN_VERSION, "command", command,
	                  "created", date(now()), "store", report_text(path ? path : store), "run",
	                  dynamics->info->name, "run_created", date(dynamics->info->created), "epochs",
	                  epoch_numbers(dynamics), "observed", (json_int_t)dynamics->count);

	free(path);
	return manifest;
}

static json_t *
one_class(const struct dynamics *dynamics, int32_t gold, uint64_t observed, uint64_t chosen)
{
	const char *label = gold >= 0 ? store_snapshot_label(dynamics->snapshot, (uint64_t)gold) : NULL;

	return json_pack("{s:o, s:s?, s:I, s:I}", "gold", gold >= 0 ? json_integer(gold) : json_null(), "label", label,
	                 "observed", (json_int_t)observed, "chosen", (json_int_t)chosen);
}

static json_t *
list_classes(const struct dynamics *dynamics, const struct classes *classes, const uint32_t *observed,
             const uint32_t *chosen)
{
	json_t *list;

	if (classes->count == 1 && classes->labels[0] < 0)
		return json_null();
	list = json_array();
	for (size_t c = 0; list && c < classes->count; c++)
		if (json_array_append_new(list, one_class(dynamics, classes->labels[c], observed[c], chosen[c])) < 0) {
			json_decref(list);
			return NULL;
		}
	return list;
}

json_t *
manifest_classes(const struct dynamics *dynamics, const uint32_t *chosen, size_t count)
{
	struct classes classes;
	json_t *list = NULL;
	uint32_t *counts;

	if (classes_make(&classes, dynamics->gold, dynamics->order, dynamics->count, NULL) < 0)
		return NULL;
	counts = calloc(2 * classes.count, sizeof(*counts));
	if (counts) {
		for (size_t i = 0; i < dynamics->count; i++)
			counts[classes_find(&classes, dynamics->gold[dynamics->order[i]])]++;
		for (size_t i = 0; i < count; i++)
			counts[classes.count + classes_find(&classes, dynamics->gold[chosen[i]])]++;
		list = list_classes(dynamics, &classes, counts, counts + classes.count);
	}
	free(counts);
	classes_free(&classes);
	return list;
}

void
manifest_add_range(json_t *parameters, const struct dynamics *dynamics)
{
	if (dynamics->range_given)
		json_object_set_new(parameters, "epochs_from", json_integer(dynamics->epoch_from));
	if (dynamics->range_given && dynamics->epoch_to != UINT32_MAX)
		json_object_set_new(parameters, "epochs_to", json_integer(dynamics->epoch_to));
	if (dynamics->range_chosen)
		json_object_set_new(parameters, "epochs_auto", json_true());
}

/* Of the file as it lies there: XXH128 as its tools print it. */
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

static int
write_manifest(json_t *manifest, const char *output, struct portolan_error *error)
{
	char *path;
	int code;

	if (asprintf(&path, "%s.manifest.json", output) < 0)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the manifest of %s", output);
	code = report_print(path, json_incref(manifest), 1, error);
	free(path);
	return code;
}

int
manifest_write(json_t *manifest, const char *output, struct portolan_error *error)
{
	const char *slash = strrchr(output, '/');
	uint64_t bytes = 0;
	char hex[33] = "";
	int code = manifest ? digest(output, hex, &bytes, error) : 0;
	json_t *file = json_pack("{s:o, s:I, s:s}", "file", report_text(slash ? slash + 1 : output), "bytes",
	                         (json_int_t)bytes, "xxh128", hex);

	if (code >= 0 && (!manifest || json_object_set(manifest, "output", file) < 0))
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory for the manifest of %s", output);
	if (code >= 0)
		code = write_manifest(manifest, output, error);
	json_decref(file);
	json_decref(manifest);
	return code;
}
