/*
 * duplicates.h: counts how many of some examples repeat the content of another one in the user's file. For `portolan
 * select --why`.
 *
 * The content of an example is its record without the id, byte for byte; or the texts of the fields that the user named.
 * An id that is written with escapes or doubled quotes stays in the content, so its record repeats none. The first
 * record that an example has counts.
 */
#ifndef DUPLICATES_H
#define DUPLICATES_H

#include "measures/dynamics.h"

struct duplicates {
	uint64_t *hashes; /* by dense index: of the content; 0: the example has no record */
};

struct duplicates_request {
	const char *path, *id_field;
	bool glue;                /* the file is read as files/glue.h says */
	const char *const *texts; /* the fields that are the content; without any, the whole record is */
	size_t text_count;
};

void duplicates_read(struct duplicates *duplicates, const struct duplicates_request *request,
                     const struct dynamics *dynamics);
void duplicates_free(struct duplicates *duplicates); /* may be called twice */

/* How many of the n examples (dense indices) repeat another one of them. *with_record: how many have a record. */
size_t duplicates_count(const struct duplicates *duplicates, const uint32_t *rows, size_t n, size_t *with_record);

#endif
