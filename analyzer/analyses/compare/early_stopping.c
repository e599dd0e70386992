/*
 * early_stopping.c: the run's own blocks, cut off after each epoch.
 *
 * A block without its last epochs is a block: the same functions compute the measures from it, and from the same
 * snapshot, so the last row compares the measures with themselves. Running sums would save most of the reading, but
 * differ from the measures in the last bits; and reading is an eighth of the time, the rest is ranking. Threads share
 * the epochs. The ranks of the whole run's measures are computed once.
 */
#include "early_stopping.h"

#include "base/arrays.h"
#include "base/parallel.h"
#include "statistics/correlation.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The memory of one thread. */
struct room {
	struct store_cursor *cursor;
	double *confidence, *variability, *epochs; /* by dense index, so far */
	double *x, *y;
	struct sort_item *items;
};

struct early {
	const struct dynamics *dynamics;
	const double *confidence, *variability;       /* of all epochs, by dense index */
	double *confidence_ranks, *variability_ranks; /* by place in the order */
	struct room *rooms;
	unsigned room_count;
	struct early_epoch *rows;
};

static void
room_free(struct room *room)
{
	store_cursor_close(room->cursor);
	array_free(room->confidence);
	array_free(room->variability);
	array_free(room->epochs);
	array_free(room->x);
	array_free(room->y);
	array_free(room->items);
}

static int
room_init(struct room *room, const struct dynamics *dynamics, struct portolan_error *error)
{
	size_t rows = store_snapshot_blocks(dynamics->snapshot) * STORE_CHUNK, n = dynamics->count;

	*room = (struct room){
	        .confidence = array_new(rows, sizeof(double), "values to rank", error),
	        .variability = array_new(rows, sizeof(double), "values to rank", error),
	        .epochs = array_new(rows, sizeof(double), "values to rank", error),
	        .x = array_new(n, sizeof(double), "values to rank", error),
	        .y = array_new(n, sizeof(double), "values to rank", error),
	        .items = array_new(2 * n, sizeof(*room->items), "values to rank", error),
	};
	if (!room->confidence || !room->variability || !room->epochs || !room->x || !room->y || !room->items)
		return PORTOLAN_E_MEMORY;
	return store_cursor_open(dynamics->snapshot, &room->cursor, error);
}

/* The measures over the first `epochs` of the run's epochs. */
static int
measure_prefix(const struct dynamics *dynamics, struct room *room, size_t epochs, struct portolan_error *error)
{
	for (size_t b = 0; b < store_snapshot_blocks(dynamics->snapshot); b++) {
		double *out[MEASURE_COUNT] = {NULL};
		struct store_block block;
		int code = store_cursor_block(room->cursor, b, &block, error);

		if (code < 0)
			return code;
		block.epoch_count = epochs;
		out[MEASURE_EPOCHS] = room->epochs + block.first;
		out[MEASURE_CONFIDENCE] = room->confidence + block.first;
		out[MEASURE_VARIABILITY] = room->variability + block.first;
		measures_block(&block, dynamics->epochs, dynamics->window, out);
	}
	return 0;
}

/* Correlates the examples observed so far; `ranks` are those of `full`, if these are all examples. */
static void
correlate(const struct dynamics *dynamics, const double *full, const double *ranks, const double *part,
          struct room *room, uint64_t *examples, double *pearson, double *spearman)
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
	if (n < dynamics->count)
		correlation_ranks(room->x, n, room->items, room->x);
	correlation_ranks(room->y, n, room->items, room->y);
	*spearman = correlation_pearson(n < dynamics->count ? room->x : ranks, room->y, n);
}

static int
fill_row(void *context, unsigned thread, unsigned slot, size_t e, struct portolan_error *error)
{
	const struct early *early = context;
	struct room *room = &early->rooms[thread];
	struct early_epoch *row = &early->rows[e];
	int code = measure_prefix(early->dynamics, room, e + 1, error);

	(void)slot;
	if (code < 0)
		return code;
	row->epoch = early->dynamics->epochs[e];
	correlate(early->dynamics, early->confidence, early->confidence_ranks, room->confidence, room, &row->examples,
	          &row->confidence_pearson, &row->confidence_spearman);
	correlate(early->dynamics, early->variability, early->variability_ranks, room->variability, room,
	          &row->examples, &row->variability_pearson, &row->variability_spearman);
	return 0;
}

static void
rank(const struct dynamics *dynamics, const double *full, struct sort_item *items, double *ranks)
{
	for (size_t i = 0; i < dynamics->count; i++)
		ranks[i] = full[dynamics->order[i]];
	correlation_ranks(ranks, dynamics->count, items, ranks);
}

static int
fill_rows(struct early *early, struct portolan_error *error)
{
	const struct dynamics *dynamics = early->dynamics;
	struct parallel parallel = {.threads = dynamics->threads,
	                            .count = dynamics->epoch_count,
	                            .what = "epochs",
	                            .context = early,
	                            .work = fill_row};
	int code = 0;

	if (parallel.threads > dynamics->epoch_count)
		parallel.threads = (unsigned)dynamics->epoch_count;
	early->rooms = calloc(parallel.threads, sizeof(*early->rooms));
	if (!early->rooms)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	early->confidence_ranks = array_new(dynamics->count, sizeof(double), "ranks", error);
	early->variability_ranks = array_new(dynamics->count, sizeof(double), "ranks", error);
	if (!early->confidence_ranks || !early->variability_ranks)
		return PORTOLAN_E_MEMORY;
	while (early->room_count < parallel.threads && code >= 0)
		code = room_init(&early->rooms[early->room_count++], dynamics, error);
	if (code < 0)
		return code;
	rank(dynamics, early->confidence, early->rooms[0].items, early->confidence_ranks);
	rank(dynamics, early->variability, early->rooms[0].items, early->variability_ranks);
	return parallel_run(&parallel, error);
}

int
early_stopping(const struct dynamics *dynamics, struct early_epoch **rows, struct portolan_error *error)
{
	struct early early = {.dynamics = dynamics,
	                      .confidence = dynamics_measure(dynamics, MEASURE_CONFIDENCE),
	                      .variability = dynamics_measure(dynamics, MEASURE_VARIABILITY),
	                      .rows = calloc(dynamics->epoch_count, sizeof(*early.rows))};
	int code = early.rows ? fill_rows(&early, error) : error_set(error, PORTOLAN_E_MEMORY, "out of memory");

	for (unsigned r = 0; r < early.room_count; r++)
		room_free(&early.rooms[r]);
	free(early.rooms);
	array_free(early.confidence_ranks);
	array_free(early.variability_ranks);
	if (code < 0)
		free(early.rows);
	else
		*rows = early.rows;
	return code;
}
