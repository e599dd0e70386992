/*
 * chunk.c: reads a chunk, that is, 16,320 examples at one epoch, from its records in the store into an image (merge.h),
 * which has its columns as arrays by row. For snapshots (what readers see of a run), for folds (which turn the log into
 * columns), and for salvages.
 *
 * A column holds only the values of its present rows, one after another, so that an epoch with few rows takes little
 * space; a complete column is simply the array. Bits follow the form of the presence: if that is a bitmap (or
 * complete), they are a bitmap of rows too; if it is a list, they are packed like other values.
 */
#include "chunk.h"

static int
chunk_damaged(const struct view *view, const struct chunk_place *place, unsigned column, struct portolan_error *error)
{
	struct store_key key = store_key_column(place->run, place->epoch, place->chunk, (uint8_t)column);

	return store_view_corrupt(view, DB_COLUMNS, key.data, key.size, error);
}

static int
chunk_get_record(const struct view *view, const struct chunk_place *place, uint8_t column, enum record_kind kind,
                 const uint8_t **body, size_t *size, struct portolan_error *error)
{
	struct store_key key = store_key_column(place->run, place->epoch, place->chunk, column);

	return store_view_get(view, DB_COLUMNS, &key, kind, body, size, error);
}

struct presence {
	struct presence_record head;
	const uint8_t *list; /* PRESENCE_LIST: uint16 rows, ascending */
};

static void
chunk_fill_ones(uint64_t *words, uint32_t rows)
{
	memset(words, 0xff, rows / 64 * sizeof(*words));
	if (rows % 64)
		words[rows / 64] = (UINT64_C(1) << (rows % 64)) - 1;
}

/* Expands a presence record into `words`, which are zero. False if it is damaged. */
static bool
chunk_expand_presence(const uint8_t *body, size_t size, uint32_t most_rows, struct presence *presence, uint64_t *words)
{
	struct presence_record head;
	size_t data_size = size - sizeof(head);
	uint32_t ones = 0;

	if (size < sizeof(head))
		return false;
	memcpy(&head, body, sizeof(head));
	body += sizeof(head);
	if (head.rows > most_rows || head.present > head.rows)
		return false;
	*presence = (struct presence){.head = head, .list = body};
	switch (head.form) {
	case PRESENCE_COMPLETE:
		chunk_fill_ones(words, head.rows);
		return data_size == 0 && head.present == head.rows;
	case PRESENCE_BITMAP:
		if (data_size != (size_t)(head.rows + 63) / 64 * 8)
			return false;
		memcpy(words, body, data_size);
		for (uint32_t i = 0; i < (head.rows + 63) / 64; i++)
			ones += (uint32_t)__builtin_popcountll(words[i]);
		return ones == head.present && (head.rows % 64 == 0 || words[head.rows / 64] >> (head.rows % 64) == 0);
	case PRESENCE_LIST:
		if (data_size != pad8((size_t)head.present * 2))
			return false;
		for (uint32_t i = 0, least = 0; i < head.present; i++) {
			uint16_t at;

			memcpy(&at, body + 2 * (size_t)i, sizeof(at));
			if (at < least || at >= head.rows)
				return false;
			bit_set(words, at);
			least = at + 1u;
		}
		return true;
	default:
		return false;
	}
}

static void
chunk_spread_words(const uint8_t *data, const uint64_t *present, uint32_t rows, uint32_t *values)
{
	for (uint32_t base = 0; base < rows; base += 64) {
		uint64_t word = present[base / 64];

		if (word == UINT64_MAX) {
			memcpy(values + base, data, 64 * 4);
			data += 64 * 4;
			continue;
		}
		for (; word; word &= word - 1, data += 4)
			values[base + (uint32_t)__builtin_ctzll(word)] = load_u32(data);
	}
}

static bool
chunk_spread_bits(const uint8_t *data, size_t size, const struct presence *presence, const uint64_t *present,
                  uint64_t *values)
{
	uint32_t words = (presence->head.rows + 63) / 64;

	if (presence->head.form != PRESENCE_LIST) {
		if (size != (size_t)words * 8)
			return false;
		memcpy(values, data, size);
		for (uint32_t i = 0; i < words; i++)
			values[i] &= present[i];
		return true;
	}
	if (size != (presence->head.present + 63) / 64 * (size_t)8)
		return false;
	for (uint32_t i = 0; i < presence->head.present; i++) {
		uint16_t at;

		memcpy(&at, presence->list + 2 * (size_t)i, sizeof(at));
		if (data[i / 8] >> (i % 8) & 1)
			bit_set(values, at);
	}
	return true;
}

/* `lent`: gets the address of a column in the store, if the column need not be copied; NULL: always copy. */
static bool
chunk_expand_values(const uint8_t *body, size_t size, unsigned column, const struct column_record *head,
                    const struct presence *presence, const uint64_t *present, void *values, const void **lent)
{
	size_t data_size = size - sizeof(*head);

	body += sizeof(*head);
	if (head->rows != presence->head.rows || head->present != presence->head.present)
		return false;
	if (column_is_bits(column))
		return head->encoding == COLUMN_PLAIN && chunk_spread_bits(body, data_size, presence, present, values);
	if (head->encoding == COLUMN_CONSTANT) {
		uint32_t value = data_size == 8 ? load_u32(body) : 0;

		for (uint32_t row = 0; row < presence->head.rows; row++)
			((uint32_t *)values)[row] = value;
		return data_size == 8;
	}
	if (head->encoding != COLUMN_PLAIN || data_size != pad8((size_t)presence->head.present * 4))
		return false;
	if (presence->head.form == PRESENCE_COMPLETE && lent && (uintptr_t)body % sizeof(uint64_t) == 0)
		*lent = body;
	else if (presence->head.form == PRESENCE_COMPLETE)
		memcpy(values, body, (size_t)presence->head.present * 4);
	else
		chunk_spread_words(body, present, presence->head.rows, values);
	return true;
}

static int
chunk_load_column(const struct view *view, const struct chunk_place *place, unsigned column,
                  const struct presence *observed, struct merge_chunk *chunk, struct chunk_lent *lent,
                  struct portolan_error *error)
{
	bool implied = column_is_implied(column);
	const uint64_t *observed_words = chunk->present[STORE_GOLD_PROB], *present = observed_words;
	struct presence own = *observed;
	struct column_record head;
	const uint8_t *body, *presence_body;
	size_t size, presence_size;
	int rc = chunk_get_record(view, place, (uint8_t)column, RECORD_COLUMN, &body, &size, error);

	if (rc)
		return store_view_or_absent(rc);
	if (size < sizeof(head))
		return chunk_damaged(view, place, column, error);
	memcpy(&head, body, sizeof(head));
	if (store_merge_column(chunk, column) < 0)
		return store_view_no_memory(view, error);
	if (!implied)
		present = chunk->present[column];
	if (head.presence == COLUMN_OWN && !implied) {
		rc = chunk_get_record(view, place, (uint8_t)(column | STORE_PRESENCE), RECORD_PRESENCE, &presence_body,
		                      &presence_size, error);
		if (rc < 0)
			return rc;
		if (rc ||
		    !chunk_expand_presence(presence_body, presence_size, place->rows, &own, chunk->present[column]))
			return chunk_damaged(view, place, column, error);
	} else if (head.presence != COLUMN_SHARED) {
		return chunk_damaged(view, place, column, error);
	} else if (!implied) {
		memcpy(chunk->present[column], observed_words, STORE_CHUNK_WORDS * sizeof(uint64_t));
	}
	if (!chunk_expand_values(body, size, column, &head, &own, present, chunk->values[column],
	                         lent && column != STORE_SESSION ? &lent->values[column] : NULL))
		return chunk_damaged(view, place, column, error);
	return 0;
}

static bool
chunk_has_valid_sessions(const struct merge_chunk *chunk, uint32_t sessions)
{
	const uint32_t *session = chunk->values[STORE_SESSION];
	bool valid = true;
	uint32_t highest = 0;

	for (uint32_t row = 0; row < chunk->rows; row++)
		highest = session[row] > highest ? session[row] : highest;
	if (highest < sessions) /* nearly always so, even if some rows are not present */
		return true;

	for (uint32_t row = 0; row < chunk->rows; row++)
		valid &= session[row] < sessions || !bit_get(chunk->present[STORE_GOLD_PROB], row);
	return valid;
}

int
store_chunk_load(const struct view *view, const struct chunk_place *place, uint64_t columns, struct merge_chunk *chunk,
                 struct chunk_lent *lent, struct portolan_error *error)
{
	struct presence observed;
	const uint8_t *body;
	size_t size;
	int rc;

	rc = chunk_get_record(view, place, STORE_PRESENCE | STORE_GOLD_PROB, RECORD_PRESENCE, &body, &size, error);
	if (rc)
		return store_view_or_absent(rc);
	if (!chunk_expand_presence(body, size, place->rows, &observed, chunk->present[STORE_GOLD_PROB]))
		return chunk_damaged(view, place, STORE_PRESENCE | STORE_GOLD_PROB, error);
	chunk->rows = observed.head.rows;
	chunk->stored = true;
	chunk->merged = observed.head.merged;
	for (uint64_t mask = columns; mask && !rc; mask &= mask - 1)
		rc = chunk_load_column(view, place, mask_first(mask), &observed, chunk, lent, error);
	if (!rc && columns & STORE_COLUMN_BIT(STORE_SESSION) && !chunk_has_valid_sessions(chunk, place->sessions))
		rc = chunk_damaged(view, place, STORE_SESSION, error);
	return rc;
}

int
store_chunk_merged(const struct view *view, const struct chunk_place *place, uint64_t *merged,
                   struct portolan_error *error)
{
	struct presence_record head;
	const uint8_t *body;
	size_t size;
	int rc = chunk_get_record(view, place, STORE_PRESENCE | STORE_GOLD_PROB, RECORD_PRESENCE, &body, &size, error);

	*merged = 0;
	if (rc)
		return store_view_or_absent(rc);
	if (size < sizeof(head))
		return chunk_damaged(view, place, STORE_PRESENCE | STORE_GOLD_PROB, error);
	memcpy(&head, body, sizeof(head));
	*merged = head.merged;
	return 0;
}
