/*
 * early_stopping.c: computes how soon the measures of a run settle, for `portolan compare --early-stopping`: it
 * measures the run as it was after each of its epochs (measures/trace.h), and correlates that with the whole run.
 *
 * The table has a row for each epoch; its last row compares the measures with themselves. Running sums would save most of the reading, but differ from the
 * measures in the last bits; and reading is an eighth of the time, the rest is ranking. Threads share the epochs. The
 * ranks of the whole run's measures are computed once.
 */
#include "early_stopping.h"

#include "base/parallel.h"
#include "die/die.h"
#include "die/memory.h"
#include "measures/trace.h"
#include "plot/chart.h"
#include "statistics/correlation.h"

#include <math.h>

/* The memory of one thread: the measures over the epochs so far, and room to rank them. */
struct room {
	struct trace trace;
	double *x, *y;
	struct sort_item *items;
};

struct early {
	struct dynamics dynamics;               /* the run, with the columns that are needed and no others */
	const double *mean, *variability;       /* over all epochs, by dense index */
	double *mean_ranks, *variability_ranks; /* the ranks of these values, by place in the order */
	struct room *rooms;                     /* by thread */
	unsigned room_count;
	struct early_epoch *rows;
};

static void
early_free(struct early *early)
{
	for (unsigned r = 0; r < early->room_count; r++) {
		struct room *room = &early->rooms[r];

		trace_free(&room->trace);
		array_free(room->x);
		array_free(room->y);
		array_free(room->items);
	}
	free(early->rooms);
	array_free(early->mean_ranks);
	array_free(early->variability_ranks);
}

static enum measure
early_mean(const struct dynamics *dynamics)
{
	return dynamics->info->of_losses ? MEASURE_TASK_LOSS : MEASURE_CONFIDENCE;
}

/* Drops all columns but the mean and variability. A run that was loaded for early stopping has both. */
static void
early_choose_columns(struct dynamics *dynamics)
{
	const uint32_t needed =
	        MEASURE_BIT(MEASURE_EPOCHS) | MEASURE_BIT(early_mean(dynamics)) | MEASURE_BIT(MEASURE_VARIABILITY);
	size_t kept = 0;

	for (size_t c = 0; c < dynamics->column_count; c++)
		if (dynamics->columns[c].measure >= 0 && needed & MEASURE_BIT(dynamics->columns[c].measure))
			dynamics->columns[kept++] = dynamics->columns[c];
	dynamics->column_count = kept;
}

static void
early_init_room(struct room *room, const struct dynamics *dynamics)
{
	static const char what[] = "values to rank";
	size_t rows = store_snapshot_blocks(dynamics->snapshot) * STORE_CHUNK, n = dynamics->count;

	room->x = memory_array(n, sizeof(*room->x), what);
	room->y = memory_array(n, sizeof(*room->y), what);
	room->items = memory_array(2 * n, sizeof(*room->items), what);
	must(trace_init(&room->trace, dynamics, rows, &failure));
}

/* Correlates a measure over the epochs so far with the same measure over all epochs (`full`), for the examples observed
 * so far. `ranks`, those of all examples by `full`, are used if all examples were observed. */
static void
early_correlate(const struct dynamics *dynamics, const char *measure, const double *full, const double *ranks,
                struct room *room, uint64_t *examples, double *pearson, double *spearman)
{
	const double *epochs = trace_values(&room->trace, "epochs"), *part = trace_values(&room->trace, measure);
	size_t n = 0;

	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];

		if (!(epochs[row] > 0))
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
	int code = trace_all(&room->trace, e + 1, error);

	(void)slot;
	if (code < 0)
		return code;
	row->epoch = early->dynamics.epochs[e];
	early_correlate(&early->dynamics, measure_infos[early_mean(&early->dynamics)].name, early->mean,
	                early->mean_ranks, room, &row->examples, &row->mean_pearson, &row->mean_spearman);
	early_correlate(&early->dynamics, "variability", early->variability, early->variability_ranks, room,
	                &row->examples, &row->variability_pearson, &row->variability_spearman);
	return 0;
}

/* Ranks all examples by a measure over all epochs. The result is the caller's to array_free(). */
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
	struct early early = {.dynamics = *dynamics,
	                      .mean = dynamics_mean(dynamics),
	                      .variability = dynamics_measure(dynamics, MEASURE_VARIABILITY),
	                      .rows = memory_new(dynamics->epoch_count, sizeof(*early.rows))};
	struct parallel parallel = {.threads = dynamics->threads,
	                            .count = dynamics->epoch_count,
	                            .what = "epochs",
	                            .context = &early,
	                            .work = early_fill_row};

	early_choose_columns(&early.dynamics);
	if (parallel.threads > dynamics->epoch_count)
		parallel.threads = (unsigned)dynamics->epoch_count;
	early.rooms = memory_new(parallel.threads, sizeof(*early.rooms));
	while (early.room_count < parallel.threads)
		early_init_room(&early.rooms[early.room_count++], &early.dynamics);
	early.mean_ranks = early_rank(dynamics, early.mean, early.rooms[0].items);
	early.variability_ranks = early_rank(dynamics, early.variability, early.rooms[0].items);
	must(parallel_run(&parallel, &failure));
	return early.rows;
}

void
early_chart(const struct dynamics *run, const struct early_epoch *rows, size_t n, const struct picture *picture)
{
	CLEANUP_FREE double *x = memory_new(3 * n, sizeof(*x));
	double *mean = x + n, *variability = x + 2 * n;
	size_t settled = n; /* the first row from which on both measures correlate with the end by EARLY_LIKE or more */
	char caption[160];
	struct chart chart = {
	        .title = run->info->name,
	        .caption = caption,
	        .panel_count = 1,
	        .panels[0] = {.x_label = "after epoch",
	                      .x_whole = true,
	                      .y_label = "correlation (Pearson)",
	                      .y_max = 1.02,
	                      .series = {{run->info->of_losses ? "task loss" : "confidence", x, mean, n, CHART_POINTS,
	                                  0},
	                                 {"variability", x, variability, n, CHART_POINTS, 1}},
	                      .series_count = 2},
	};

	for (size_t e = 0; e < n; e++) {
		x[e] = rows[e].epoch;
		mean[e] = rows[e].mean_pearson;
		variability[e] = rows[e].variability_pearson;
		if (fmin(mean[e], variability[e]) < chart.panels[0].y_min)
			chart.panels[0].y_min = -1;
	}
	while (settled > 0 && mean[settled - 1] >= EARLY_LIKE && variability[settled - 1] >= EARLY_LIKE)
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
