/* table_stream.c: writes a long table part by part, for `portolan metrics` and `dynamics` (table_stream.h). It has a
 * slot for each part that is in the making, writes the table's head, and keeps the rows that people are shown. */
#include "table_stream.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

/* Do parts consist of records? They do in npy; and for people, until it is known which rows are shown. */
static bool
stream_makes_records(const struct table_stream *stream)
{
	return stream->format == TABLE_NPY || stream->format == TABLE_ALIGNED;
}

int
table_stream_init(struct table_stream *stream, const struct table *table, struct output *output,
                  enum table_format format, unsigned slots, struct portolan_error *error)
{
	int code = 0;

	*stream = (struct table_stream){.output = output, .format = format, .columns = table->columns};
	stream->slots = calloc(slots, sizeof(*stream->slots));
	if (!stream->slots)
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	if (code >= 0)
		code = table_record_init(&stream->record, table, error);
	while (code >= 0 && stream->slot_count < slots)
		code = output_open_memory(&stream->slots[stream->slot_count++], 0, error);
	if (code >= 0 && format == TABLE_ALIGNED) {
		stream->ends = calloc(2 * TABLE_ENDS + 1, stream->record.size);
		code = stream->ends ? 0 : error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	}
	if (code < 0)
		table_stream_free(stream);
	return code;
}

void
table_stream_free(struct table_stream *stream)
{
	for (unsigned s = 0; s < stream->slot_count; s++)
		output_discard(&stream->slots[s]);
	free(stream->slots);
	free(stream->ends);
	table_record_free(&stream->record);
	*stream = (struct table_stream){0};
}

static struct table
stream_table(const struct table_stream *stream)
{
	return (struct table){.columns = stream->columns, .column_count = stream->record.count};
}

int
table_stream_begin(struct table_stream *stream, uint64_t rows, struct portolan_error *error)
{
	const struct table table = stream_table(stream);
	struct output head;
	int code = output_open_memory(&head, 0, error);

	if (code < 0)
		return code;
	if (stream->format == TABLE_NPY)
		table_record_head(&stream->record, &head, rows);
	else if (stream->format != TABLE_ALIGNED)
		table_put_head(&table, &head, stream->format);
	stream->rows = rows;
	stream->head = head.used;
	output_append(stream->output, &head);
	output_discard(&head);
	return output_check(stream->output, error);
}

int
table_stream_make(struct table_stream *stream, unsigned slot, const struct table *part, size_t first, size_t count,
                  struct portolan_error *error)
{
	struct output *to = &stream->slots[slot];

	output_clear(to);
	if (stream_makes_records(stream))
		table_record_rows(&stream->record, part, to, first, count);
	else
		table_put_rows(part, to, stream->format, first, count);
	return output_check(to, error);
}

/* Describes n records as a table, whose columns the caller passes to free(). */
static struct table
stream_table_of(const struct table_stream *stream, const char *records, size_t n)
{
	struct table table = stream_table(stream);
	struct table_column *columns = calloc(table.column_count, sizeof(*columns));

	table.columns = columns;
	table.rows = n;
	if (columns)
		table_record_columns(&stream->record, records, stream->columns, columns);
	return table;
}

int
table_stream_make_of(struct table_stream *stream, unsigned slot, const char *records, size_t n,
                     struct portolan_error *error)
{
	struct output *to = &stream->slots[slot];
	struct table table;

	output_clear(to);
	if (stream_makes_records(stream)) {
		output_bytes(to, records, n * stream->record.size);
		return output_check(to, error);
	}
	table = stream_table_of(stream, records, n);
	if (table.columns)
		table_put_rows(&table, to, stream->format, 0, n);
	else
		output_fail(to);
	free((void *)(uintptr_t)table.columns);
	return output_check(to, error);
}

/* Keeps those records that people will be shown: the first and the last TABLE_ENDS. If leaving out would save a single
 * row, all are shown. */
static void
stream_keep_ends(struct table_stream *stream, const struct output *records)
{
	size_t size = stream->record.size;
	uint64_t left_out = stream->rows > 2 * TABLE_ENDS + 1 ? stream->rows - 2 * TABLE_ENDS : 0;

	for (size_t used = 0; used < records->used; used += size, stream->delivered++) {
		uint64_t row = stream->delivered;

		if (row >= TABLE_ENDS && row < TABLE_ENDS + left_out)
			continue;
		row -= row >= TABLE_ENDS ? left_out : 0;
		if (row <= 2 * TABLE_ENDS)
			memcpy(stream->ends + row * size, records->buffer + used, size);
	}
}

int
table_stream_deliver(struct table_stream *stream, unsigned slot, struct portolan_error *error)
{
	if (stream->format == TABLE_ALIGNED)
		stream_keep_ends(stream, &stream->slots[slot]);
	else
		output_append(stream->output, &stream->slots[slot]);
	return output_check(stream->output, error);
}

static int
stream_show(struct table_stream *stream, const char *what, struct portolan_error *error)
{
	uint64_t left_out = stream->rows > 2 * TABLE_ENDS + 1 ? stream->rows - 2 * TABLE_ENDS : 0;
	struct table table = stream_table_of(stream, stream->ends, (size_t)(stream->rows - left_out));
	int code = table.columns ? 0 : error_set(error, PORTOLAN_E_MEMORY, "out of memory");

	table.left_out = (size_t)left_out;
	table.excerpt = what;
	if (code >= 0)
		code = table_write_to(&table, stream->output, TABLE_ALIGNED, error);
	free((void *)(uintptr_t)table.columns);
	return code;
}

int
table_stream_end(struct table_stream *stream, uint64_t rows, const char *what, struct portolan_error *error)
{
	struct output head;
	int code;

	if (stream->format == TABLE_ALIGNED)
		return stream_show(stream, what, error);
	if (stream->format != TABLE_NPY || rows == stream->rows)
		return 0;
	code = output_open_memory(&head, 0, error);
	if (code < 0)
		return code;
	table_record_head(&stream->record, &head, rows);
	output_patch(stream->output, head.buffer, head.used);
	output_discard(&head);
	return 0;
}
