/* trace.c: computes the measures of a block as they were after any of its epochs, for pictures and comparisons over
 * epochs (trace.h). */
#include "trace.h"

#include "base/arrays.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

int
trace_init(struct trace *trace, const struct dynamics *dynamics, size_t rows, struct portolan_error *error)
{
	int code;

	*trace = (struct trace){.dynamics = dynamics};
	code = store_cursor_open(dynamics->snapshot, &trace->cursor, error);
	for (size_t c = 0; c < dynamics->column_count && code >= 0; c++) {
		trace->values[c] = array_new(rows, sizeof(double), dynamics->columns[c].name, error);
		code = trace->values[c] ? 0 : PORTOLAN_E_MEMORY;
	}
	if (code < 0)
		trace_free(trace);
	return code;
}

void
trace_free(struct trace *trace)
{
	for (size_t c = 0; c < DYNAMICS_COLUMNS_MAX; c++)
		array_free(trace->values[c]);
	if (trace->cursor)
		store_cursor_close(trace->cursor);
	*trace = (struct trace){0};
}

int
trace_block(struct trace *trace, size_t index, struct portolan_error *error)
{
	return store_cursor_block(trace->cursor, index, &trace->block, error);
}

void
trace_measure(struct trace *trace, size_t epochs, size_t at)
{
	const struct dynamics *dynamics = trace->dynamics;
	struct store_block block = trace->block;
	const double *observed = trace_values(trace, measure_infos[MEASURE_EPOCHS].name) + at;
	double *values[DYNAMICS_COLUMNS_MAX];

	block.epoch_count = epochs;
	for (size_t c = 0; c < dynamics->column_count; c++)
		values[c] = trace->values[c] + at;
	dynamics_fill(dynamics, &block, values);
	for (uint32_t r = 0; r < block.rows; r++) {
		if (observed[r] > 0)
			continue;
		for (size_t c = 0; c < dynamics->column_count; c++)
			values[c][r] = NAN;
	}
}

int
trace_all(struct trace *trace, size_t epochs, struct portolan_error *error)
{
	int code = 0;

	for (size_t b = 0; b < store_snapshot_blocks(trace->dynamics->snapshot) && code >= 0; b++) {
		code = trace_block(trace, b, error);
		if (code >= 0)
			trace_measure(trace, epochs, trace->block.first);
	}
	return code;
}

const double *
trace_values(const struct trace *trace, const char *name)
{
	for (size_t c = 0; c < trace->dynamics->column_count; c++)
		if (strcmp(trace->dynamics->columns[c].name, name) == 0)
			return trace->values[c];
	return NULL;
}
