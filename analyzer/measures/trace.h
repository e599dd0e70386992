/*
 * trace.h: computes the measures of a run as they were after any of its epochs, for code that shows how examples moved:
 * the frames of `map`, the history of `show`, early stopping in `compare`.
 *
 * A block of the store without its last epochs is a block, so the same functions measure it, from the same snapshot.
 *
 *     trace_init() → for a block: trace_block(), then trace_measure() for any number of epochs → trace_free()
 */
#ifndef TRACE_H
#define TRACE_H

#include "dynamics.h"

struct trace {
	const struct dynamics *dynamics;
	struct store_cursor *cursor;
	struct store_block block;             /* the block that was read last */
	double *values[DYNAMICS_COLUMNS_MAX]; /* the values of the dynamics' columns, in the same order */
};

/* Makes arrays for `rows` examples: those of a block, STORE_CHUNK, or all of the run. Free the trace before the
 * dynamics. */
int trace_init(struct trace *trace, const struct dynamics *dynamics, size_t rows, struct portolan_error *error);
void trace_free(struct trace *trace); /* may be called twice */

int trace_block(struct trace *trace, size_t index, struct portolan_error *error);

/* Fills values[…][at …] for the block's examples, with the measures over the first `epochs` of the run's epochs; NaN
 * for examples not observed by then. */
void trace_measure(struct trace *trace, size_t epochs, size_t at);

/* Measures all blocks, one after another; needs arrays for all examples. */
int trace_all(struct trace *trace, size_t epochs, struct portolan_error *error);

/* The values of a column by its name. NULL: the dynamics have no such column. */
const double *trace_values(const struct trace *trace, const char *name);

#endif
