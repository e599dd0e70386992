/*
 * early_stopping.c: computes the measures from the run's own blocks, cut off after each epoch.
 *
 * A block without its last epochs is a block. So the functions that compute the measures compute them here too, from the
 * same snapshot, and the last row compares the measures with themselves. Running sums would save most of the reading, but
 * differ from the measures in the last bits; and reading is an eighth of the time, the rest is ranking. Threads share
 * the epochs. The ranks of the whole run's measures are computed once.
 */
#include "early_stopping.h"

#include "base/parallel.h"
#include "die/die.h"
#include "die/memory.h"
#include "plot/chart.h"
#include "statistics/correlation.h"

#include <math.h>

/* The memory of one thread: the measures over the epochs so far, by dense index, and room to rank them. */
struct room {
	struct store_cursor *cursor;
	double *confidence, *variability, *epochs;
	double *x, *y;
	struct sort_item *items;
};

struct early {
	const struct dynamics *dynamics;
	const double *confidence, *variability;       /* over all epochs, by dense index */
	double *confidence_ranks, *variability_ranks; /* by place in the order */
	struct room *rooms;                           /* by thread */
	unsigned room_count;
	struct early_epoch *rows;
};

static void
early_free(struct early *early)
{
	for (unsigned r = 0; r < early->room_count; r++) {
		const struct room *room = &early->rooms[r];

		store_cursor_close(room->cursor);
		array_free(room->confidence);
		array_free(room->variability);
		array_free(room->epochs);
		array_free(room->x);
		array_free(room->y);
		array_free(room->items);
	}
	free(early->rooms);
	array_free(early->confidence_ranks);
	array_free(early->variability_ranks);
}

static void
early_init_room(struct room *room, const struct dynamics *dynamics)
{
	static const char what[] = "values to rank";
	size_t rows = store_snapshot_blocks(dynamics->snapshot) * STORE_CHUNK, n = dynamics->count;

	*room = (struct room){
	        .confidence = memory_array(rows, sizeof(double), what),
	        .variability = memory_array(rows, sizeof(double), what),
	        .epochs = memory_array(rows, sizeof(double), what),
	        .x = memory_array(n, sizeof(double), what),
	        .y = memory_array(n, sizeof(double), what),
	        .items = memory_array(2 * n, sizeof(*room->items), what),
	};
	must(store_cursor_open(dynamics->snapshot, &room->cursor, &failure));
}

/* Computes the measures over the first `epochs` epochs of the run. */
static int
early_measure(const struct dynamics *dynamics, struct room *room, size_t epochs, struct portolan_error *error)
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

/* Correlates a measure so far, `part`, with that of all epochs, `full`, over the examples observed so far. `ranks`, of
 * all examples by `full`, serve where all were observed. */
static void
early_correlate(const struct dynamics *dynamics, const double *full, const double *ranks, const double *part,
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
early_fill_row(void *context, unsigned thread, unsigned slot, size_t e, struct portolan_error *error)
{
	const struct early *early = context;
	struct room *room = &early->rooms[thread];
	struct early_epoch *row = &early->rows[e];
	int code = early_measure(early->dynamics, room, e + 1, error);

	(void)slot;
	if (code < 0)
		return code;
	row->epoch = early->dynamics->epochs[e];
	early_correlate(early->dynamics, early->confidence, early->confidence_ranks, room->confidence, room,
	                &row->examples, &row->confidence_pearson, &row->confidence_spearman);
	early_correlate(early->dynamics, early->variability, early->variability_ranks, room->variability, room,
	                &row->examples, &row->variability_pearson, &row->variability_spearman);
	return 0;
}

/* Ranks all examples by a measure; the caller's to array_free(). */
static double *
early_rank(const struct dynamics *dynamics, const double *full, struct sort_item *items)
{
	double *ranks = memory_array(dynamics->count, sizeof(*ranks), "ranks");

	for (size_t i = 0; i < dynamics->count; i++)
		ranks[i] = full[dynamics->order[i]];
	correlation_ranks(ranks, dynamics->count, items, ranks);
	return ranks;
}

struct early_epoch *
early_stopping(const struct dynamics *dynamics)
{
	CLEANUP(early_free)
	struct early early = {.dynamics = dynamics,
	                      .confidence = dynamics_measure(dynamics, MEASURE_CONFIDENCE),
	                      .variability = dynamics_measure(dynamics, MEASURE_VARIABILITY),
	                      .rows = memory_new(dynamics->epoch_count, sizeof(*early.rows))};
	struct parallel parallel = {.threads = dynamics->threads,
	                            .count = dynamics->epoch_count,
	                            .what = "epochs",
	                            .context = &early,
	                            .work = early_fill_row};

	if (parallel.threads > dynamics->epoch_count)
		parallel.threads = (unsigned)dynamics->epoch_count;
	early.rooms = memory_new(parallel.threads, sizeof(*early.rooms));
	while (early.room_count < parallel.threads)
		early_init_room(&early.rooms[early.room_count++], dynamics);
	early.confidence_ranks = early_rank(dynamics, early.confidence, early.rooms[0].items);
	early.variability_ranks = early_rank(dynamics, early.variability, early.rooms[0].items);
	must(parallel_run(&parallel, &failure));
	return early.rows;
}

void
early_chart(const char *run, const struct early_epoch *rows, size_t n, const struct picture *picture)
{
	CLEANUP_FREE double *x = memory_new(3 * n, sizeof(*x));
	double *confidence = x + n, *variability = x + 2 * n;
	size_t settled = n; /* the first row from which on both measures are as in the end */
	char caption[160];
	struct chart chart = {
	        .title = run,
	        .caption = caption,
	        .panel_count = 1,
	        .panels[0] = {.x_label = "after epoch",
	                      .x_whole = true,
	                      .y_label = "correlation (Pearson)",
	                      .y_max = 1.02,
	                      .series = {{"confidence", x, confidence, n, CHART_POINTS, 0},
	                                 {"variability", x, variability, n, CHART_POINTS, 1}},
	                      .series_count = 2},
	};

	for (size_t e = 0; e < n; e++) {
		x[e] = rows[e].epoch;
		confidence[e] = rows[e].confidence_pearson;
		variability[e] = rows[e].variability_pearson;
		if (fmin(confidence[e], variability[e]) < chart.panels[0].y_min)
			chart.panels[0].y_min = -1;
	}
	while (settled > 0 && confidence[settled - 1] >= EARLY_LIKE && variability[settled - 1] >= EARLY_LIKE)
		settled--;
	if (n == 1)
		snprintf(caption, sizeof(caption), "one epoch: there is nothing to compare it with");
	else if (settled < n)
		snprintf(caption, sizeof(caption),
		         "the measures so far against those of all %zu epochs: both %g or more from epoch %u on", n,
		         EARLY_LIKE, (unsigned)rows[settled].epoch);
	else
		snprintf(caption, sizeof(caption), "the measures so far against those of all %zu epochs", n);
	chart_draw(&chart, picture);
}
