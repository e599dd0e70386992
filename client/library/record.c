/* record.c: offsets follow from the header alone, so that both sides compute the same ones. */
#include "record.h"

#include <stdbool.h>
#include <string.h>

static size_t
aligned(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

static size_t
column_width(unsigned column)
{
	return column == RECORD_CORRECT ? 1 : 4;
}

static size_t
ids_size(const struct record *record)
{
	return aligned(record->id_kind == WIRE_ID_STR ? record->capacity : (size_t)record->capacity * 8);
}

/* Where the array of `column` begins; RECORD_COLUMNS: where they all end. */
static size_t
column_offset(const struct record *record, unsigned column)
{
	size_t offset = aligned(sizeof(*record)) + ids_size(record);

	for (unsigned c = 0; c < column; c++)
		if (RECORD_HAS(record->columns, c))
			offset += aligned(record->capacity * column_width(c));
	return offset;
}

size_t
record_size(const struct record *record)
{
	if (record->kind == RECORD_END_EPOCH)
		return sizeof(*record);
	return column_offset(record, RECORD_COLUMNS) + aligned(record->text_capacity);
}

static void *
at(const struct record *record, size_t offset)
{
	return (char *)(uintptr_t)record + offset;
}

uint64_t *
record_ids(const struct record *record)
{
	return at(record, aligned(sizeof(*record)));
}

uint8_t *
record_id_lengths(const struct record *record)
{
	return at(record, aligned(sizeof(*record)));
}

uint8_t *
record_id_text(const struct record *record)
{
	return at(record, column_offset(record, RECORD_COLUMNS));
}

void *
record_column(const struct record *record, enum record_column column)
{
	return at(record, column_offset(record, column));
}

static void
compact_array(void *array, size_t width, uint32_t rows, const uint8_t *leave_out)
{
	char *bytes = array;
	size_t kept = 0;

	for (uint32_t r = 0; r < rows; r++) {
		if (leave_out[r])
			continue;
		memmove(bytes + kept * width, bytes + r * width, width);
		kept++;
	}
}

static void
compact_text(struct record *record, const uint8_t *leave_out)
{
	const uint8_t *lengths = record_id_lengths(record);
	uint8_t *text = record_id_text(record);
	uint32_t from = 0, to = 0;

	for (uint32_t r = 0; r < record->rows; r++) {
		if (!leave_out[r]) {
			memmove(text + to, text + from, lengths[r]);
			to += lengths[r];
		}
		from += lengths[r];
	}
	record->text_bytes = to;
}

void
record_compact(struct record *record, const uint8_t *leave_out)
{
	uint32_t kept = 0;

	if (record->id_kind == WIRE_ID_STR) {
		compact_text(record, leave_out);
		compact_array(record_id_lengths(record), 1, record->rows, leave_out);
	} else {
		compact_array(record_ids(record), 8, record->rows, leave_out);
	}
	for (unsigned c = 0; c < RECORD_COLUMNS; c++)
		if (RECORD_HAS(record->columns, c))
			compact_array(record_column(record, c), column_width(c), record->rows, leave_out);
	for (uint32_t r = 0; r < record->rows; r++)
		kept += !leave_out[r];
	record->rows = kept;
}
