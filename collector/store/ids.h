/*
 * ids.h: the users' ids as the store keeps them: in segments, each a record with the ids of consecutive indices. For
 * the store's files that write segments (rows.c) and those that read them.
 */
#ifndef STORE_IDS_H
#define STORE_IDS_H

#include "record.h"

struct ids_segment {
	uint32_t count;
	enum store_id_kind kind;
	const uint8_t *integers; /* STORE_ID_INT: uint64[count], unaligned */
	const uint8_t *offsets;  /* STORE_ID_STR: uint32[count + 1], unaligned, ascending from 0 */
	const uint8_t *text;
	size_t text_size;
};

/* Reads a record's body; false if it is damaged. Every offset is checked. */
bool store_ids_open(const uint8_t *body, size_t size, struct ids_segment *segment);

/* Bytes of a whole record of `count` ids; text_size counts only for strings. */
size_t store_ids_size(enum store_id_kind kind, uint32_t count, size_t text_size);

static inline uint64_t
store_ids_integer(const struct ids_segment *segment, uint32_t i)
{
	return load_u64(segment->integers + 8 * (size_t)i);
}

static inline const uint8_t *
store_ids_string(const struct ids_segment *segment, uint32_t i, size_t *size)
{
	uint32_t begin = load_u32(segment->offsets + 4 * (size_t)i);

	*size = load_u32(segment->offsets + 4 * (size_t)i + 4) - begin;
	return segment->text + begin;
}

#endif
