/*
 * early_stopping.c: the run's own blocks, cut off after each epoch.
 *
 * A block without its last epochs is a block: the measures are computed from it by the same functions, and from the
 * same snapshot, so that the last row compares a thing with itself.
 */
#include "early_stopping.h"

#include "program/progress.h"
#include "statistics/correlation.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>

struct room {
	double *confidence, *variability, *epochs; /* by dense index, so far */
	double *x, *y;
	struct sort_item *items;
};

static void
room_free(struct room *room)
{
	free(room->confidence);
	free(room->variability);
	free(room->epochs);
	free(room->x);
	free(room->y);
	free(room->items);
}

static int
room_init(struct room *room, size_t rows, size_t n, struct portolan_error *error)
{
	*room = (struct room){
	        .confidence = malloc(rows * sizeof(double)),
	        .variability = malloc(rows * sizeof(double)),
	        .epochs = malloc(rows * sizeof(double)),
	        .x = malloc(n * sizeof(double)),
	        .y = malloc(n * sizeof(double)),
	        .items = malloc(2 * n * sizeof(*room->items)),
	};
	if (room->confidence && room->variability && room->epochs && room->x && room->y && room->items)
		return 0;
	room_free(room);
	return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu examples", rows);
}

/* The measures over the first `epochs` of the run's epochs. */
static int
measure_prefix(const struct dynamics *dynamics, struct store_cursor *cursor, size_t epochs, struct room *room,
               struct portolan_error *error)
{
	for (size_t b = 0; b < store_snapshot_blocks(dynamics->snapshot); b++) {
		double *out[MEASURE_COUNT] = {NULL};
		struct store_block block;
		int code = store_cursor_block(cursor, b, &block, error);

		if (code < 0)
			return code;
		block.epoch_count = epochs;
		out[MEASURE_EPOCHS] = room->epochs + block.first;
		out[MEASURE_CONFIDENCE] = room->confidence + block.first;
		out[MEASURE_VARIABILITY] = room->variability + block.first;
		measures_block(&block, dynamics->epochs, out);
	}
	return 0;
}

/* Of the examples observed so far. */
static void
correlate(const struct dynamics *dynamics, const double *full, const double *part, struct room *room,
          uint64_t *examples, double *pearson, double *spearman)
{
	size_t n = 0;

	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];

		if (!(room->epochs[row] > 0))
			continue;
		room->x[n] = full[row];
		room->y[n++] = part[row];
	}
	*examples = n;
	*pearson = correlation_pearson(room->x, room->y, n);
	correlation_ranks(room->x, n, room->items, room->x);
	correlation_ranks(room->y, n, room->items, room->y);
	*spearman = correlation_pearson(room->x, room->y, n);
}

static int
fill_rows(const struct dynamics *dynamics, struct store_cursor *cursor, struct room *room, struct early_epoch *rows,
          struct portolan_error *error)
{
	const double *confidence = dynamics_measure(dynamics, MEASURE_CONFIDENCE);
	const double *variability = dynamics_measure(dynamics, MEASURE_VARIABILITY);
	struct progress progress;
	int code = 0;

	progress_begin(&progress, "epochs", dynamics->epoch_count);
	for (size_t e = 0; e < dynamics->epoch_count && code >= 0; e++) {
		struct early_epoch *row = &rows[e];

		row->epoch = dynamics->epochs[e];
		code = measure_prefix(dynamics, cursor, e + 1, room, error);
		if (code < 0)
			break;
		correlate(dynamics, confidence, room->confidence, room, &row->examples, &row->confidence_pearson,
		          &row->confidence_spearman);
		correlate(dynamics, variability, room->variability, room, &row->examples, &row->variability_pearson,
		          &row->variability_spearman);
		progress_update(&progress, e + 1);
	}
	progress_end(&progress);
	return code;
}

int
early_stopping(const struct dynamics *dynamics, struct early_epoch **rows, struct portolan_error *error)
{
	struct early_epoch *list = calloc(dynamics->epoch_count, sizeof(*list));
	struct store_cursor *cursor;
	struct room room;
	int code;

	if (!list)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu epochs", dynamics->epoch_count);
	code = room_init(&room, store_snapshot_blocks(dynamics->snapshot) * STORE_CHUNK, dynamics->count, error);
	if (code >= 0) {
		code = store_cursor_open(dynamics->snapshot, &cursor, error);
		if (code >= 0) {
			code = fill_rows(dynamics, cursor, &room, list, error);
			store_cursor_close(cursor);
		}
		room_free(&room);
	}
	if (code < 0)
		free(list);
	else
		*rows = list;
	return code;
}
