/* kept_texts.c: writes the texts that a run keeps into a file without a name, for the readers of data files
 * (kept_texts.h). */
#include "kept_texts.h"

#include "content.h"

#include "base/arrays.h"

#include <portolan/cleanup.h>
#include <portolan/error.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct writing {
	FILE *stream;
	struct store_texts *fields;
	uint64_t written;
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
	struct writing *writing = context;
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
	writing->written++;
	return ferror(stream) ? error_set(error, PORTOLAN_E_SYSTEM, "the texts of the run cannot be written: %s",
	                                  strerror(errno))
	                      : 0;
}

static void
kept_close_stream(FILE **stream)
{
	if (*stream)
		fclose(*stream);
}

/* Writes the examples `order` of these ids. */
static int
kept_write_some(struct store *store, uint32_t run, const struct kept_choice *choice, struct writing *writing,
                struct portolan_error *error)
{
	const struct ids *ids = choice->ids;
	int code = 0;

	for (size_t i = 0; i < choice->count && code >= 0; i++) {
		struct store_example wanted = {.id_kind = ids->kind};

		if (ids->kind == STORE_ID_INT)
			wanted.integer = ids_integer(ids, choice->order[i]);
		else
			wanted.id = ids_text(ids, choice->order[i], &wanted.id_size);
		code = store_text_of(store, run, &wanted, writing->fields, kept_write_example, writing, error);
	}
	return code;
}

int
kept_texts_write(struct store *store, uint32_t run, const struct kept_choice *choice, struct store_texts *texts,
                 struct portolan_error *error)
{
	CLEANUP(kept_close_stream) FILE *stream = NULL;
	struct writing writing = {.fields = texts};
	const char *folder;
	int file = arrays_open_file(&folder), code;

	stream = writing.stream = file < 0 ? NULL : fdopen(file, "w");
	if (!stream)
		return error_set(error, PORTOLAN_E_SYSTEM, "no file for the texts of the run in %s: %s", folder,
		                 strerror(errno));
	code = choice ? kept_write_some(store, run, choice, &writing, error)
	              : store_each_text(store, run, texts, kept_write_example, &writing, error);
	if (code >= 0 && fflush(stream) != 0)
		code = error_set(error, PORTOLAN_E_SYSTEM, "the texts of the run cannot be written into %s: %s", folder,
		                 strerror(errno));
	texts->examples = writing.written;
	return code < 0 || writing.written == 0 ? code : content_lend(KEPT_TEXTS, file, error);
}

/* Finds the first run that keeps texts; *texts has no examples: there is none. */
static int
kept_find_any(struct store *store, struct store_texts *texts, struct portolan_error *error)
{
	CLEANUP_FREE struct store_run_info *runs = NULL;
	size_t count = 0;
	int code = store_runs(store, &runs, &count, error);

	for (size_t r = 0; r < count && code >= 0 && texts->examples == 0; r++)
		if (runs[r].state != STORE_DAMAGED)
			code = store_texts(store, runs[r].number, texts, error);
	return code;
}

int
kept_texts_find(const char *directory, const char *run, struct store_texts *texts, struct portolan_error *error)
{
	struct store *store;
	uint32_t number;
	int code = store_open(directory, &store, error);

	*texts = (struct store_texts){0};
	if (code < 0)
		return code;
	code = run ? store_find_run(store, run, &number, error) ?: store_texts(store, number, texts, error)
	           : kept_find_any(store, texts, error);
	store_close(store);
	return code;
}

int
kept_texts_open(const char *directory, const char *run, const struct kept_choice *choice, struct store_texts *texts,
                struct portolan_error *error)
{
	struct store *store;
	uint32_t number;
	int code = store_open(directory, &store, error);

	*texts = (struct store_texts){0};
	if (code < 0)
		return code;
	code = store_find_run(store, run, &number, error) ?: store_texts(store, number, texts, error);
	if (code >= 0 && texts->examples > 0)
		code = kept_texts_write(store, number, choice, texts, error);
	store_close(store);
	return code;
}

const char *
kept_texts_run(const char *path)
{
	const size_t length = strlen(KEPT_TEXTS_OF);

	return strncmp(path, KEPT_TEXTS_OF, length) == 0 && path[length] ? path + length : NULL;
}

bool
kept_texts_is(const char *path)
{
	return path && strcmp(path, KEPT_TEXTS) == 0;
}

bool
kept_texts_are_refused(const char *path)
{
	return path && strcmp(path, KEPT_TEXTS_NONE) == 0;
}
