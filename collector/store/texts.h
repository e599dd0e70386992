/*
 * texts.h: the texts of an example, which a user asked to be kept with a run, as one record has them. For the store's own
 * files: write_texts.c makes such records, read_texts.c and salvages read them.
 *
 * A record stands under the user's own id: an example may have texts before it is observed, and has no index then. It
 * lies among the parts of its run, so whatever removes a run removes its texts, also programs that do not know of texts.
 */
#ifndef STORE_TEXTS_H
#define STORE_TEXTS_H

#include "catalog.h"

/* A field of an example in a record. Neither ends with NUL. */
struct text_field {
	const char *name, *text;
	size_t name_size, size;
};

struct text_record {
	uint32_t session; /* that logged them */
	size_t count;
	struct text_field fields[STORE_TEXT_FIELDS];
};

/* The key of an example: `id` is 8 bytes, big-endian, of an integer, or a string. */
struct store_key store_key_text(uint32_t run, const void *id, size_t size);

/* Bytes of the whole record; and writes its body behind the header. */
size_t store_text_size(const struct text_record *texts);
void store_text_fill(uint8_t *record, const struct text_record *texts);
/* False: the body is no such record. The fields point into it. */
bool store_text_open(const uint8_t *body, size_t size, struct text_record *texts);

/* How many examples of a run have texts, and the fields that these have; zeros if none has any. */
int store_catalog_texts(const struct view *view, uint32_t run, struct store_texts *texts, struct portolan_error *error);
/* Counts the records of texts that are there, whole or not: sets `examples` and `bytes`, which in a sound run are those
 * of store_catalog_texts(). */
int store_catalog_count_texts(const struct view *view, uint32_t run, struct store_texts *found,
                              struct portolan_error *error);

#endif
