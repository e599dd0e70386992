/* kept_texts.c: writes the texts that a run keeps into a file without a name, for the readers of data files
 * (kept_texts.h). */
#include "kept_texts.h"

#include "content.h"

#include <portolan/cleanup.h>
#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct writing {
	FILE *stream;
	struct store_texts *fields;
};

static void
kept_write_text(FILE *stream, const char *text, size_t size)
{
	putc_unlocked('"', stream);
	for (size_t i = 0; i < size; i++) {
		const unsigned char byte = (unsigned char)text[i];

		if (byte < 0x20) {
			fprintf(stream, "\\u%04x", byte);
			continue;
		}
		if (byte == '"' || byte == '\\')
			putc_unlocked('\\', stream);
		putc_unlocked(byte, stream);
	}
	putc_unlocked('"', stream);
}

static int
kept_write_example(void *context, const struct store_example *example, struct portolan_error *error)
{
	const struct writing *writing = context;
	FILE *stream = writing->stream;

	fputs("{\"" KEPT_TEXTS_ID "\": ", stream);
	if (example->id_kind == STORE_ID_STR)
		kept_write_text(stream, example->id, example->id_size);
	else
		fprintf(stream, "%llu", (unsigned long long)example->integer);
	for (size_t f = 0; f < writing->fields->field_count; f++) {
		fprintf(stream, ", \"%s\": ", writing->fields->fields[f]);
		if (example->texts[f])
			kept_write_text(stream, example->texts[f], example->sizes[f]);
		else
			fputs("null", stream);
	}
	fputs("}\n", stream);
	return ferror(stream) ? error_set(error, PORTOLAN_E_SYSTEM, "the texts of the run cannot be written: %s",
	                                  strerror(errno))
	                      : 0;
}

/* A file that no other user can open. */
static int
kept_make_file(void)
{
	const char *folder = getenv("TMPDIR");
	int file = open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return file < 0 ? memfd_create("texts", MFD_CLOEXEC) : file;
}

static void
kept_close_stream(FILE **stream)
{
	if (*stream)
		fclose(*stream);
}

static int
kept_write(struct store *store, uint32_t run, struct store_texts *texts, struct portolan_error *error)
{
	CLEANUP(kept_close_stream) FILE *stream = NULL;
	struct writing writing = {.fields = texts};
	int file = kept_make_file(), code;

	stream = writing.stream = file < 0 ? NULL : fdopen(file, "w");
	if (!stream)
		return error_set(error, PORTOLAN_E_SYSTEM, "no file for the texts of the run: %s", strerror(errno));
	code = store_each_text(store, run, texts, kept_write_example, &writing, error);
	if (code >= 0 && fflush(stream) != 0)
		code = error_set(error, PORTOLAN_E_SYSTEM, "the texts of the run cannot be written: %s",
		                 strerror(errno));
	return code < 0 ? code : content_lend(KEPT_TEXTS, file, error);
}

/* Finds the first run that keeps texts. *number stays 0: there is none. */
static int
kept_find_any(struct store *store, uint32_t *number, struct store_texts *texts, struct portolan_error *error)
{
	CLEANUP_FREE struct store_run_info *runs = NULL;
	size_t count = 0;
	int code = store_runs(store, &runs, &count, error);

	for (size_t r = 0; r < count && code >= 0; r++) {
		if (runs[r].state == STORE_DAMAGED)
			continue;
		code = store_texts(store, runs[r].number, texts, error);
		if (code >= 0 && texts->examples > 0) {
			*number = runs[r].number;
			return 0;
		}
	}
	return code;
}

static int
kept_find_named(struct store *store, const char *run, uint32_t *number, struct store_texts *texts,
                struct portolan_error *error)
{
	int code = store_find_run(store, run, number, error) ?: store_texts(store, *number, texts, error);

	if (texts->examples == 0)
		*number = 0;
	return code;
}

int
kept_texts_open(const char *directory, const char *run, struct store_texts *texts, struct portolan_error *error)
{
	struct store *store;
	uint32_t number = 0;
	int code = store_open(directory, &store, error);

	*texts = (struct store_texts){0};
	if (code < 0)
		return code;
	code = run ? kept_find_named(store, run, &number, texts, error) : kept_find_any(store, &number, texts, error);
	if (code >= 0 && number > 0)
		code = kept_write(store, number, texts, error);
	store_close(store);
	return code;
}

bool
kept_texts_is(const char *path)
{
	return path && strcmp(path, KEPT_TEXTS) == 0;
}
