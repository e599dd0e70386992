/*
 * ids.h: the ids that users gave the examples of a run, integers or strings, in memory: for code that prints them,
 * sorts by them, or finds an example by its id.
 *
 * An example is known inside the program by its dense index: its number in the run, from 0. ids[i] is the id of the
 * example with dense index i. One owner; reading is safe from several threads.
 */
#ifndef IDS_H
#define IDS_H

#include "number.h"

#include <portolan/store.h>

struct ids {
	enum store_id_kind kind;
	size_t rows;
	uint64_t *integers; /* STORE_ID_INT, unless `chunks` has them; else NULL */
	/* STORE_ID_INT of declared examples, which are consecutive within each STORE_CHUNK: the first of each; else NULL */
	uint64_t *chunks;
	char *text; /* STORE_ID_STR: id i is text + offsets[i] … offsets[i+1] */
	uint64_t *offsets;
	size_t room, text_room;
};

void ids_free(struct ids *ids); /* may be called twice */

/* Appends the ids of a block of the store, or all of other ids. Blocks come in order. PORTOLAN_E_MEMORY. */
int ids_append(struct ids *ids, enum store_id_kind kind, const struct store_ids *block, struct portolan_error *error);
int ids_append_all(struct ids *ids, const struct ids *more, struct portolan_error *error);

/* Appends the id that a text stands for; for integer ids, the text may be any way of writing a whole number. 1: it
 * stands for none, and nothing was appended. PORTOLAN_E_MEMORY. */
int ids_append_text(struct ids *ids, const char *text, size_t length, struct portolan_error *error);

/* Can a text stand for one of the ids? For an integer, only a whole number can. */
bool ids_can_have(const struct ids *ids, const char *text, size_t length);

/* Makes room for `rows` ids in all, so that appending them copies none again (of string ids, only the offsets have
 * room). */
int ids_reserve(struct ids *ids, enum store_id_kind kind, size_t rows, struct portolan_error *error);

/* Makes room for the ids of `rows` declared examples, none of which is there yet: the caller sets `chunks`, and counts
 * `rows`. They take no memory to speak of. More ids may be appended later. */
int ids_reserve_declared(struct ids *ids, size_t rows, struct portolan_error *error);

/* Integer id `index`; STORE_ID_INT only. */
static inline uint64_t
ids_integer(const struct ids *ids, size_t index)
{
	return ids->integers ? ids->integers[index] : ids->chunks[index / STORE_CHUNK] + index % STORE_CHUNK;
}

/* String id `index`; STORE_ID_STR only. */
static inline const char *
ids_text(const struct ids *ids, uint32_t index, size_t *length)
{
	*length = (size_t)(ids->offsets[index + 1] - ids->offsets[index]);
	return ids->text + ids->offsets[index];
}

/* Id `index` as text, without a NUL after it. The digits of an integer id are written into `digits`. */
const char *id_print(const struct ids *ids, uint32_t index, char digits[NUMBER_ROOM], size_t *length);

/* Sorts the n indices in `order`, given in ascending order, by ascending id: numeric, or bytewise. */
int ids_sort(const struct ids *ids, uint32_t *order, size_t n, struct portolan_error *error);

/* Do the ids of the n indices ascend? */
bool ids_are_in_order(const struct ids *ids, const uint32_t *order, size_t n);

/* The indices of all ids, by ascending id; released with array_free(). NULL: PORTOLAN_E_MEMORY. */
uint32_t *ids_in_order(const struct ids *ids, struct portolan_error *error);

/* Do the ids ascend, and begin above the last of `before`? `before` may be empty; it is taken to ascend itself. */
bool ids_ascend(const struct ids *before, const struct ids *ids);

/* Below, at or above 0: id i of `a` comes before, is, or comes after id j of `b`; both of the same kind. */
int ids_compare(const struct ids *a, uint32_t i, const struct ids *b, uint32_t j);

bool ids_are_equal(const struct ids *ids, uint32_t a, uint32_t b);

/* The first character of a text, and its number of bytes. A byte that is not UTF-8 becomes U+DC80 … U+DCFF, as with
 * Python's "surrogateescape". */
size_t text_character(const char *text, size_t length, uint32_t *character);

/* The lengths of many texts, from which the size of an array of them follows. */
struct text_extent {
	size_t longest; /* characters */
	size_t widest;  /* bytes */
	uint64_t texts, bytes;
};
void text_extent_add(struct text_extent *extent, const char *text, size_t length);
void ids_add_extent(const struct ids *ids, struct text_extent *extent); /* of string ids; integer ids add nothing */

/* An index that finds ids among n chosen examples. It keeps pointers to `ids` and `chosen`. */
struct ids_index {
	const struct ids *ids;
	const uint32_t *chosen;
	uint32_t *slots; /* position in `chosen` + 1; 0: free */
	size_t mask;
};
int ids_index_init(struct ids_index *index, const struct ids *ids, const uint32_t *chosen, size_t n,
                   struct portolan_error *error);
void ids_index_free(struct ids_index *index);
/* The position in `chosen` of the id whose text is given (for integer ids: any way of writing a whole number); -1: not
 * there. */
int64_t ids_index_find(const struct ids_index *index, const char *text, size_t length);
/* As ids_index_find(), for an id in a block of the store, whose ids are of the same kind. */
int64_t ids_index_find_stored(const struct ids_index *index, const struct store_ids *block, uint32_t row);

#endif
