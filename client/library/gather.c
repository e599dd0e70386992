/*
 * gather.c: columns grow side by side in fixed memory. One frame for many log calls keeps headers, commits and
 * acknowledgements few, whatever the size of the user's mini-batches.
 */
#include "gather.h"

#include "session.h"

#include <portolan/error.h>

#include "wire_check.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(GATHER_MAX_FRAME <= SESSION_MAX_FRAME && GATHER_ROWS * 8u <= GATHER_ROWS + GATHER_TEXT,
               "ids of eight bytes take no more than strings");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "columns are copied as they are, and the wire is little-endian");

static const char *const column_names[RECORD_COLUMNS] = {
        [RECORD_GOLD_PROB] = "gold_prob", [RECORD_MARGIN] = "margin",     [RECORD_OTHER_SQ] = "other_sq",
        [RECORD_ENTROPY] = "entropy",     [RECORD_MAX_PROB] = "max_prob", [RECORD_PREDICTED] = "predicted",
        [RECORD_GOLD] = "gold",           [RECORD_CORRECT] = "correct",
};

int
gather_init(struct gather *gather, struct portolan_error *error)
{
	uint8_t *at;

	*gather = (struct gather){0};
	gather->memory = malloc(GATHER_ROWS * (8 + 4 * (RECORD_COLUMNS - 1) + 1 + 1) + GATHER_ROWS + GATHER_TEXT);
	if (!gather->memory)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for frames");
	gather->ids = (uint64_t *)(void *)gather->memory;
	at = gather->memory + GATHER_ROWS * 8;
	for (unsigned c = 0; c < RECORD_COLUMNS; c++) {
		gather->column[c] = at;
		at += GATHER_ROWS * (c == RECORD_CORRECT ? 1 : 4);
	}
	gather->bits = at;
	gather->lengths = at + GATHER_ROWS;
	gather->text = gather->lengths + GATHER_ROWS;
	return 0;
}

void
gather_deinit(struct gather *gather)
{
	free(gather->memory);
	gather->memory = NULL;
}

void
gather_clear(struct gather *gather)
{
	gather->rows = gather->text_bytes = 0;
	gather->id_bits = 0;
}

static bool
fits(const struct gather *gather, const struct record *record)
{
	if (gather->rows == 0)
		return true;
	return record->epoch == gather->epoch && record->columns == gather->columns &&
	       record->id_kind == gather->id_kind && record->rows <= GATHER_ROWS - gather->rows &&
	       record->text_bytes <= GATHER_TEXT - gather->text_bytes;
}

static void
add_ids(struct gather *gather, const struct record *record)
{
	if (record->id_kind == WIRE_ID_STR) {
		memcpy(gather->lengths + gather->rows, record_id_lengths(record), record->rows);
		memcpy(gather->text + gather->text_bytes, record_id_text(record), record->text_bytes);
		gather->text_bytes += record->text_bytes;
		return;
	}
	memcpy(gather->ids + gather->rows, record_ids(record), (size_t)record->rows * 8);
	for (uint32_t r = 0; r < record->rows; r++)
		gather->id_bits |= gather->ids[gather->rows + r];
}

bool
gather_add(struct gather *gather, const struct record *record)
{
	if (!fits(gather, record))
		return false;
	gather->epoch = record->epoch;
	gather->columns = record->columns;
	gather->id_kind = record->id_kind;
	add_ids(gather, record);
	for (unsigned c = 0; c < RECORD_COLUMNS; c++) {
		size_t width = c == RECORD_CORRECT ? 1 : 4;

		if (RECORD_HAS(record->columns, c))
			memcpy(gather->column[c] + gather->rows * width, record_column(record, c),
			       record->rows * width);
	}
	gather->rows += record->rows;
	return true;
}

static void
batch_ids(struct gather *gather, struct wire_batch *batch)
{
	if (gather->id_kind == WIRE_ID_STR) {
		/* The wire wants the text right after the lengths. */
		memmove(gather->lengths + gather->rows, gather->text, gather->text_bytes);
		batch->id_type = WIRE_STR;
		batch->ids = (struct wire_bytes){gather->lengths, gather->rows + gather->text_bytes};
		return;
	}
	batch->id_type = gather->id_bits <= UINT32_MAX ? WIRE_U4 : WIRE_U8;
	batch->ids = (struct wire_bytes){(uint8_t *)gather->ids, (size_t)gather->rows * 8};
	if (batch->id_type == WIRE_U4) {
		for (uint32_t r = 0; r < gather->rows; r++) {
			uint32_t id = (uint32_t)gather->ids[r];

			memcpy((uint8_t *)gather->ids + (size_t)r * 4, &id, sizeof(id));
		}
		batch->ids.size = (size_t)gather->rows * 4;
	}
}

static void
pack_bits(const uint8_t *bytes, uint32_t rows, uint8_t *bits)
{
	memset(bits, 0, (rows + 7) / 8);
	for (uint32_t r = 0; r < rows; r++)
		bits[r / 8] |= (uint8_t)(bytes[r] << r % 8);
}

void
gather_batch(struct gather *gather, struct wire_batch *batch)
{
	*batch = (struct wire_batch){.epoch = gather->epoch, .rows = gather->rows};
	batch_ids(gather, batch);
	for (unsigned c = 0; c < RECORD_COLUMNS; c++) {
		struct wire_column *column = &batch->columns[batch->column_count];

		if (!RECORD_HAS(gather->columns, c))
			continue;
		column->name = (struct wire_bytes){(const uint8_t *)column_names[c], strlen(column_names[c])};
		column->type = wire_column_type(column->name);
		column->data = (struct wire_bytes){gather->column[c], (size_t)gather->rows * 4};
		if (c == RECORD_CORRECT) {
			pack_bits(gather->column[c], gather->rows, gather->bits);
			column->data = (struct wire_bytes){gather->bits, ((size_t)gather->rows + 7) / 8};
		}
		batch->column_count++;
	}
}
