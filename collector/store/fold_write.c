/*
 * fold_write.c: the second half of a fold (fold.c): packs a chunk from memory into the records of its columns. chunk.c
 * unpacks these records, and describes their forms.
 *
 * A presence says which rows a column has; it is a list where that is smaller than a bitmap. A column whose values are
 * all the same is stored as one value, as the column of sessions nearly always is.
 */
#include "fold.h"

#include <portolan/widths.h>

struct packed {
	const uint64_t *words;
	uint32_t rows, present;
	uint8_t form;
};

FOR_EACH_WIDTH static struct packed
pack_describe(const uint64_t *words, uint32_t rows)
{
	struct packed packed = {.words = words, .rows = rows};

	for (uint32_t i = 0; i < (rows + 63) / 64; i++)
		packed.present += (uint32_t)__builtin_popcountll(words[i]);
	if (packed.present == rows)
		packed.form = PRESENCE_COMPLETE;
	else if (pad8((size_t)packed.present * 2) < (rows + 63) / 64 * (size_t)8)
		packed.form = PRESENCE_LIST;
	else
		packed.form = PRESENCE_BITMAP;
	return packed;
}

static int
pack_presence(struct store_writer *writer, const struct chunk_place *place, unsigned column,
              const struct packed *packed, uint64_t merged, struct portolan_error *error)
{
	struct store_key key =
	        store_key_column(place->run, place->epoch, place->chunk, (uint8_t)(column | STORE_PRESENCE));
	struct presence_record head = {
	        .rows = packed->rows, .present = packed->present, .form = packed->form, .merged = merged};
	size_t bitmap = (packed->rows + 63) / 64 * (size_t)8, list = pad8((size_t)packed->present * 2);
	size_t length = RECORD_HEADER + sizeof(head);
	uint8_t *record, *at;
	int rc;

	length += packed->form == PRESENCE_BITMAP ? bitmap : packed->form == PRESENCE_LIST ? list : 0;
	rc = store_writer_reserve(writer, DB_COLUMNS, &key, length, &record, error);
	if (rc)
		return rc;
	memcpy(record + RECORD_HEADER, &head, sizeof(head));
	at = record + RECORD_HEADER + sizeof(head);
	memset(at, 0, length - (size_t)(at - record)); /* a list may end with padding */
	if (packed->form == PRESENCE_BITMAP)
		memcpy(at, packed->words, bitmap);
	for (uint32_t base = 0; base < packed->rows && packed->form == PRESENCE_LIST; base += 64) {
		for (uint64_t word = packed->words[base / 64]; word; word &= word - 1, at += 2) {
			uint16_t row = (uint16_t)(base + (uint32_t)__builtin_ctzll(word));

			memcpy(at, &row, 2);
		}
	}
	store_record_seal(record, &key, RECORD_PRESENCE, length);
	return 0;
}

/* Are the present values all the same? Then *value is that value. */
FOR_EACH_WIDTH static bool
pack_is_constant(const uint32_t *values, const struct packed *packed, uint32_t *value)
{
	bool found = false;

	for (uint32_t base = 0; base < packed->rows; base += 64) {
		const uint32_t *part = values + base;
		uint64_t word = packed->words[base / 64];
		uint32_t differing = 0;

		if (word && !found)
			*value = part[__builtin_ctzll(word)];
		found |= word != 0;
		for (uint32_t i = 0; i < 64 && word == UINT64_MAX; i++)
			differing |= part[i] ^ *value;
		for (; word && word != UINT64_MAX; word &= word - 1)
			differing |= part[__builtin_ctzll(word)] ^ *value;
		if (differing)
			return false;
	}
	return true;
}

static void
pack_words(uint8_t *to, const uint32_t *values, const struct packed *packed)
{
	if (packed->form == PRESENCE_COMPLETE)
		memcpy(to, values, (size_t)packed->rows * 4);
	for (uint32_t base = 0; base < packed->rows && packed->form != PRESENCE_COMPLETE; base += 64) {
		uint64_t word = packed->words[base / 64];

		if (word == UINT64_MAX) {
			memcpy(to, values + base, 64 * 4);
			to += 64 * 4;
			continue;
		}
		for (; word; word &= word - 1, to += 4)
			memcpy(to, values + base + __builtin_ctzll(word), 4);
	}
}

static void
pack_bits(uint8_t *to, const uint64_t *values, const struct packed *packed)
{
	uint32_t at = 0;

	if (packed->form != PRESENCE_LIST) {
		for (uint32_t i = 0; i < (packed->rows + 63) / 64; i++, to += 8) {
			uint64_t word = values[i] & packed->words[i];

			memcpy(to, &word, 8);
		}
		return;
	}
	for (uint32_t base = 0; base < packed->rows; base += 64)
		for (uint64_t word = packed->words[base / 64]; word; word &= word - 1, at++)
			to[at / 8] |= (uint8_t)(bit_get(values, base + (uint32_t)__builtin_ctzll(word)) << (at % 8));
}

static int
pack_column(struct store_writer *writer, const struct chunk_place *place, unsigned column, uint8_t presence,
            const struct packed *packed, const struct merge_chunk *chunk, struct portolan_error *error)
{
	const void *values = chunk->values[column];
	uint32_t value = chunk->session;
	struct store_key key = store_key_column(place->run, place->epoch, place->chunk, (uint8_t)column);
	struct column_record head = {.rows = packed->rows, .present = packed->present, .presence = presence};
	size_t length = RECORD_HEADER + sizeof(head);
	bool bits = column_is_bits(column);
	uint8_t *record, *at;
	int rc;

	if (!(chunk->columns & STORE_COLUMN_BIT(column)) || (!bits && pack_is_constant(values, packed, &value))) {
		head.encoding = COLUMN_CONSTANT;
		length += 8;
	} else if (bits) {
		length += ((packed->form == PRESENCE_LIST ? packed->present : packed->rows) + 63) / 64 * (size_t)8;
	} else {
		length += pad8((size_t)packed->present * 4);
	}
	rc = store_writer_reserve(writer, DB_COLUMNS, &key, length, &record, error);
	if (rc)
		return rc;
	memcpy(record + RECORD_HEADER, &head, sizeof(head));
	at = record + RECORD_HEADER + sizeof(head);
	if (bits) {
		memset(at, 0, length - (size_t)(at - record));
		pack_bits(at, values, packed);
	} else if (head.encoding == COLUMN_CONSTANT) {
		memset(at, 0, 8);
		memcpy(at, &value, sizeof(value));
	} else {
		pack_words(at, values, packed);
		pad_zero(at, (size_t)packed->present * 4);
	}
	store_record_seal(record, &key, RECORD_COLUMN, length);
	return 0;
}

int
store_chunk_write(struct store_writer *writer, const struct chunk_place *place, const struct merge_chunk *chunk,
                  struct portolan_error *error)
{
	const uint64_t *observed_words = chunk->present[STORE_GOLD_PROB];
	struct packed observed = pack_describe(observed_words, chunk->rows);
	const struct store_key all = store_key_chunk(place->run, place->epoch, place->chunk);
	int rc = chunk->stored ? store_writer_delete_all(writer, DB_COLUMNS, &all, error) : 0;

	if (!rc)
		rc = pack_presence(writer, place, STORE_GOLD_PROB, &observed, chunk->merged, error);
	for (uint64_t mask = chunk->columns | STORE_COLUMN_BIT(STORE_SESSION); mask && !rc; mask &= mask - 1) {
		unsigned column = mask_first(mask);
		bool implied = column_is_implied(column);
		const uint64_t *words = implied ? observed_words : chunk->present[column];
		struct packed packed = implied ? observed : pack_describe(words, chunk->rows);
		bool shared = words == observed_words ||
		              memcmp(words, observed_words, STORE_CHUNK_WORDS * sizeof(*words)) == 0;

		if (packed.present == 0)
			continue;
		if (!shared)
			rc = pack_presence(writer, place, column, &packed, 0, error);
		if (!rc)
			rc = pack_column(writer, place, column, shared ? COLUMN_SHARED : COLUMN_OWN, &packed, chunk,
			                 error);
	}
	return rc;
}
