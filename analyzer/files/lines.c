/* lines.c: writes chosen records of a user's file, unchanged, into an output: for `portolan select` and `aflite`
 * (lines.h). */
#include "lines.h"

void
lines_head(struct output *output, const struct join *join, const struct table *more)
{
	output_bytes(output, join->text, join->mark);
	if (join->format == TABLE_JSONL)
		return;
	output_bytes(output, join->header.at, join->header.length);
	if (more)
		table_put_head(more, output, join->format);
	output_bytes(output, join->header.at + join->header.length, join->header.next - join->header.length);
	if (join->header.next == join->header.length)
		output_bytes(output, "\n", 1);
}

void
lines_record(struct output *output, const struct join *join, const struct record *record)
{
	size_t width = join->file.glue_id && join->format != TABLE_JSONL
	                       ? records_count_fields(join->format, &join->header)
	                       : SIZE_MAX;
	const char *last;

	if (width == SIZE_MAX || records_count_fields(join->format, record) <= width) {
		output_bytes(output, record->at, record->length);
		return;
	}
	last = records_last_field(join->format, record);
	output_bytes(output, record->at, records_first_fields(join->format, record, width - 1));
	output_bytes(output, join->format == TABLE_CSV ? "," : "\t", width > 1);
	output_bytes(output, last, (size_t)(record->at + record->length - last));
}

void
lines_end(struct output *output, const struct record *record)
{
	output_bytes(output, record->at + record->length, record->next - record->length);
	if (record->next == record->length || record->at[record->next - 1] != '\n')
		output_bytes(output, "\n", 1);
}
