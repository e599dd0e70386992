/*
 * fuzz_tags: a file of tags, as portolan serve --tags finds it. It is refused, and left as it is, or read; then a tag is
 * added to it, and what is read again is what was there before, with that tag.
 *
 * The input is the file.
 */
#include "fuzz.h"

#include <base/message.h>
#include <serve/tags.h>

#include <fcntl.h>
#include <sys/stat.h>

static char path[96];

static void
end(void)
{
	unlink(path);
}

/* What the server would say of the run's tags. */
static json_t *
ask(struct tags *tags)
{
	struct report report;
	json_t *said;

	require(report_open_memory(&report, NULL) == 0);
	tags_report(&report, tags, "a/b");
	said = json_loadb(report.output.buffer, report.output.used, JSON_ALLOW_NUL, NULL);
	require(said);
	output_discard(&report.output);
	return said;
}

static size_t
file_size(void)
{
	struct stat status;

	require(stat(path, &status) == 0);
	return (size_t)status.st_size;
}

static void
add_tag(struct tags *tags)
{
	json_t *changes = json_pack("[{s:i, s:s}]", "id", 3, "tag", "keep");
	uint64_t serial, before = tags_serial(tags, "a/b");

	require(tags_put(tags, "a/b", changes, &serial, NULL) == 0 && serial == before + 1);
	json_decref(changes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct portolan_error error = {0};
	json_t *before, *after;
	struct tags *tags;
	int file;

	if (!*path) {
		snprintf(path, sizeof(path), "%s/tags.jsonl", fuzz_folder());
		atexit(end);
		message_set_quiet(true); /* the warnings of broken lines */
	}
	file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	require(file >= 0 && write(file, data, size) == (ssize_t)size && close(file) == 0);
	if (tags_open(&tags, path, "/nowhere", &error) < 0) {
		require(*error.message && file_size() == size);
		return 0;
	}
	json_decref(ask(tags));
	require(file_size() == size);
	add_tag(tags);
	before = ask(tags);
	tags_free(tags);
	require(tags_open(&tags, path, "/nowhere", NULL) == 0);
	after = ask(tags);
	require(json_equal(before, after));
	json_decref(before);
	json_decref(after);
	tags_free(tags);
	return 0;
}
