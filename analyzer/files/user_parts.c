/*
 * user_parts.c: a file cut at the ends of records.
 *
 * A line end ends a record of JSON and TSV. Of CSV it may stand within quotes, which only who comes from the
 * beginning knows: so a file with quotes is gone through once for its cuts, which takes as long as looking for bytes.
 */
#include "user_file.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

#define PART_SIZE ((size_t)2 << 20)

void
user_parts_free(struct user_parts *parts)
{
	free(parts->cuts);
	*parts = (struct user_parts){0};
}

/* The first record's beginning from `target` on; `at` is one before it. */
static size_t
next_cut(const struct user_file *file, bool quotes, size_t at, size_t target)
{
	const char *newline;

	if (target >= file->size)
		return file->size;
	if (!quotes) {
		newline = memchr(file->text + target, '\n', file->size - target);
		return newline ? (size_t)(newline - file->text) + 1 : file->size;
	}
	while (at < target)
		at += records_next(file->format, file->text + at, file->size - at).next;
	return at;
}

int
user_file_cut(const struct user_file *file, struct user_parts *parts, struct portolan_error *error)
{
	size_t left = file->size - file->begin, most = left / PART_SIZE + 1, at = file->begin;
	bool quotes = file->format == RECORDS_CSV && left > 0 && memchr(file->text + at, '"', left);

	*parts = (struct user_parts){.cuts = malloc((most + 1) * sizeof(*parts->cuts))};
	if (!parts->cuts)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the parts of %s", file->path);
	parts->cuts[0] = at;
	while (at < file->size) {
		at = next_cut(file, quotes, at, at + PART_SIZE);
		parts->cuts[++parts->count] = at;
	}
	return 0;
}

struct user_part
user_file_part(const struct user_file *file, const struct user_parts *parts, size_t p)
{
	return (struct user_part){.file = file, .at = parts->cuts[p], .end = parts->cuts[p + 1]};
}

int
user_part_next(struct user_part *part, struct portolan_error *error)
{
	const struct user_file *file = part->file;

	while (part->at < part->end) {
		part->record = records_next(file->format, file->text + part->at, part->end - part->at);
		part->at += part->record.next;
		if (user_file_is_blank(file->format, &part->record))
			continue;
		if (part->record.unclosed)
			return user_file_unclosed(file, user_file_line(file, part->record.at), error);
		return 1;
	}
	return 0;
}
