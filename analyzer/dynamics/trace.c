/* trace.c: see trace.h. */
#include "trace.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int
measure_of(const char *name)
{
	for (int m = 0; m < MEASURE_COUNT; m++)
		if (strcmp(measure_infos[m].name, name) == 0)
			return m;
	return -1;
}

/* A user column that has a measure's name is called mean_NAME. */
static int
user_column_of(const struct dynamics *dynamics, const char *name)
{
	int column = store_snapshot_user_column(dynamics->snapshot, name);

	if (column < 0 && strncmp(name, "mean_", 5) == 0)
		column = store_snapshot_user_column(dynamics->snapshot, name + 5);
	return column;
}

int
trace_init(struct trace *trace, const struct dynamics *dynamics, size_t rows, struct portolan_error *error)
{
	int code;

	*trace = (struct trace){.dynamics = dynamics};
	code = store_cursor_open(dynamics->snapshot, &trace->cursor, error);
	for (size_t c = 0; c < dynamics->column_count && code >= 0; c++) {
		const char *name = dynamics->columns[c].name;

		trace->measures[c] = measure_of(name);
		trace->user_columns[c] = trace->measures[c] < 0 ? user_column_of(dynamics, name) : -1;
		trace->values[c] = malloc(rows * sizeof(double));
		if (!trace->values[c])
			code = error_set(error, PORTOLAN_E_MEMORY, "out of memory for %s of %zu examples", name, rows);
	}
	if (code < 0)
		trace_free(trace);
	return code;
}

void
trace_free(struct trace *trace)
{
	for (size_t c = 0; c < DYNAMICS_COLUMNS_MAX; c++)
		free(trace->values[c]);
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
	double *out[MEASURE_COUNT] = {NULL};

	block.epoch_count = epochs;
	for (size_t c = 0; c < dynamics->column_count; c++) {
		if (trace->measures[c] >= 0)
			out[trace->measures[c]] = trace->values[c] + at;
		else if (trace->user_columns[c] >= 0)
			measures_mean(&block, (unsigned)trace->user_columns[c], trace->values[c] + at);
	}
	measures_block(&block, dynamics->epochs, out);
	for (uint32_t r = 0; r < block.rows; r++) {
		if (out[MEASURE_EPOCHS][r] > 0)
			continue;
		for (size_t c = 0; c < dynamics->column_count; c++)
			trace->values[c][at + r] = NAN;
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
