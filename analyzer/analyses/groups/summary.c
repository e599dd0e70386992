/*
 * summary.c: computes what `groups --data` prints (groups_summary.c): means and shares of attributes in a selection and
 * in the whole, with an interval for each difference.
 *
 * The values of all examples with one label are gathered first, those of the selection before the rest. How many rows a
 * column and a label give is known beforehand. So every thread writes its rows to their places.
 */
#include "summary.h"

#include "base/parallel.h"
#include "die/die.h"
#include "die/memory.h"
#include "statistics/bootstrap.h"

#include <math.h>

/* The memory of one thread: the values of one column for one label, those of the selection first; and the means or
 * shares of the bootstrap's draws from them. */
struct sample {
	double *numbers;
	int32_t *categories;
	double *replicates; /* of the selection, then of the rest: means, or shares by category */
};

struct work {
	const struct summary_request *request;
	int32_t *labels; /* the labels that occur, ascending; SUMMARY_ALL first, −1 last */
	size_t label_count;
	unsigned threads;
	struct sample *samples; /* by thread */
	struct summary_row *rows;
	size_t *first; /* by column: the number of its first row */
};

static int
summary_compare_labels(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b; /* as unsigned numbers, −1 is the largest */

	return (x > y) - (x < y);
}

/* Lists the labels. If there is only one, its rows would repeat those for all examples, so it is left out. */
static void
summary_find_labels(struct work *work)
{
	const struct summary_request *request = work->request;
	CLEANUP_ARRAY int32_t *sorted = memory_array(request->n, sizeof(*sorted), "gold labels");
	size_t count = 0;

	work->labels = memory_array(request->n + 1, sizeof(*work->labels), "gold labels");
	work->labels[work->label_count++] = SUMMARY_ALL;
	for (size_t i = 0; i < request->n; i++)
		sorted[i] = request->gold[i];
	qsort(sorted, request->n, sizeof(*sorted), summary_compare_labels);
	for (size_t i = 0; i < request->n; i++)
		if (i == 0 || sorted[i] != sorted[i - 1])
			work->labels[1 + count++] = sorted[i];
	if (count > 1)
		work->label_count += count;
}

/* How many rows the column has for each label. */
static size_t
summary_width(const struct summary_column *column)
{
	return column->numbers ? 1 : column->names->count;
}

/* Gathers the column's values for a label, those of the selection first. Returns how many there are; *selected: how
 * many belong to the selection. */
static size_t
summary_gather(const struct work *work, struct sample *sample, const struct summary_column *column, int32_t label,
               size_t *selected)
{
	const struct summary_request *request = work->request;
	size_t n = 0;

	for (int part = 0; part < 2; part++) {
		for (size_t i = 0; i < request->n; i++) {
			if (request->selected[i] != (part == 0) || (label != SUMMARY_ALL && request->gold[i] != label))
				continue;
			if (column->numbers && !isnan(column->numbers[i]))
				sample->numbers[n++] = column->numbers[i];
			else if (!column->numbers && column->categories[i] >= 0)
				sample->categories[n++] = column->categories[i];
		}
		if (part == 0)
			*selected = n;
	}
	return n;
}

/* Computes the interval of the difference between the selection and the whole, from the replicates of the selection and
 * of the rest. */
static void
summary_take_interval(const struct work *work, double *selection, const double *rest, struct summary_row *row)
{
	size_t replicates = work->request->replicates;
	double share = (double)(row->n - row->selected_n) / (double)row->n;

	for (size_t r = 0; r < replicates; r++)
		selection[r] = rest ? share * (selection[r] - rest[r]) : 0;
	bootstrap_interval(selection, replicates, work->request->level, &row->low, &row->high);
}

static double
summary_mean(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return n ? sum / (double)n : NAN;
}

/* The mean of all values for a label. They are added in the order of the positions, so the mean does not depend on the
 * selection. */
static double
summary_mean_of_label(const struct summary_request *request, const struct summary_column *column, int32_t label)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < request->n; i++) {
		if (isnan(column->numbers[i]) || (label != SUMMARY_ALL && request->gold[i] != label))
			continue;
		sum += column->numbers[i];
		n++;
	}
	return n ? sum / (double)n : NAN;
}

static void
summary_numbers(const struct work *work, const struct sample *sample, const struct summary_column *column,
                struct random_state *random, struct summary_row *row)
{
	size_t replicates = work->request->replicates, rest = row->n - row->selected_n;
	double *selection = sample->replicates, *others = sample->replicates + replicates;

	row->all = summary_mean_of_label(work->request, column, row->gold);
	row->selected = summary_mean(sample->numbers, row->selected_n);
	row->difference = row->selected - row->all;
	if (replicates == 0 || row->selected_n == 0)
		return;
	bootstrap_means(random, sample->numbers, row->selected_n, selection, replicates);
	if (rest)
		bootstrap_means(random, sample->numbers + row->selected_n, rest, others, replicates);
	summary_take_interval(work, selection, rest ? others : NULL, row);
}

/* Fills the rows of all categories of a column and label. Their column, label and counts are already set. */
static void
summary_categories(const struct work *work, const struct sample *sample, struct random_state *random,
                   struct summary_row *rows, size_t count)
{
	size_t replicates = work->request->replicates, selected = rows->selected_n, rest = rows->n - selected;
	double *others = sample->replicates + count * replicates;

	for (size_t i = 0; i < rows->n; i++) {
		struct summary_row *row = &rows[sample->categories[i]];

		row->all++;
		row->selected += i < selected;
	}
	for (size_t c = 0; c < count; c++) {
		rows[c].all = rows->n ? rows[c].all / (double)rows->n : NAN;
		rows[c].selected = selected ? rows[c].selected / (double)selected : NAN;
		rows[c].difference = rows[c].selected - rows[c].all;
	}
	if (replicates == 0 || selected == 0)
		return;
	bootstrap_shares(random, sample->categories, selected, count, sample->replicates, replicates);
	if (rest)
		bootstrap_shares(random, sample->categories + selected, rest, count, others, replicates);
	for (size_t c = 0; c < count; c++)
		summary_take_interval(work, sample->replicates + c * replicates, rest ? others + c * replicates : NULL,
		                      &rows[c]);
}

/* Computes the rows of one column and label. A worker of parallel_run(). */
static int
summary_work(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	const struct work *work = context;
	size_t index = part / work->label_count, label = part % work->label_count;
	const struct summary_column *column = &work->request->columns[index];
	size_t width = summary_width(column);
	struct summary_row *rows = &work->rows[work->first[index] + label * width];
	struct summary_row row = {.attribute = column->name, .gold = work->labels[label], .low = NAN, .high = NAN};
	struct sample *sample = &work->samples[thread];
	struct random_state random;

	(void)slot;
	(void)error;
	random_seed(&random, work->request->seed ^ ((uint64_t)(index + 1) << 40) ^ (uint32_t)row.gold);
	row.n = summary_gather(work, sample, column, row.gold, &row.selected_n);
	for (; row.category < width; row.category++) {
		size_t length;

		row.value = column->numbers ? NULL : names_text(column->names, (uint32_t)row.category, &length);
		rows[row.category] = row;
	}
	if (column->numbers)
		summary_numbers(work, sample, column, &random, rows);
	else if (width > 0)
		summary_categories(work, sample, &random, rows, width);
	return 0;
}

/* Allocates the memory of all threads. Fewer threads are used if there are fewer columns and labels. */
static void
summary_make_room(struct work *work)
{
	const struct summary_request *request = work->request;
	size_t samples = 2, tasks = request->column_count * work->label_count;

	for (size_t c = 0; c < request->column_count; c++)
		if (2 * summary_width(&request->columns[c]) > samples)
			samples = 2 * summary_width(&request->columns[c]);
	work->threads = request->threads > 0 ? request->threads : 1;
	if (work->threads > tasks)
		work->threads = tasks > 0 ? (unsigned)tasks : 1;
	work->samples = memory_new(work->threads, sizeof(*work->samples));
	for (unsigned t = 0; t < work->threads; t++)
		work->samples[t] = (struct sample){
		        .numbers = memory_array(request->n, sizeof(double), "values to draw from"),
		        .categories = memory_array(request->n, sizeof(int32_t), "values to draw from"),
		        .replicates = memory_new(samples * request->replicates, sizeof(double)),
		};
}

static void
summary_free(struct work *work)
{
	for (unsigned t = 0; t < work->threads; t++) {
		array_free(work->samples[t].numbers);
		array_free(work->samples[t].categories);
		free(work->samples[t].replicates);
	}
	free(work->samples);
	free(work->first);
	array_free(work->labels);
}

struct summary_row *
summary_make(const struct summary_request *request, size_t *count)
{
	CLEANUP(summary_free) struct work work = {.request = request};
	struct parallel parallel = {.what = "drawing samples", .context = &work, .work = summary_work};

	summary_find_labels(&work);
	work.first = memory_new(request->column_count + 1, sizeof(*work.first));
	for (size_t c = 0; c < request->column_count; c++)
		work.first[c + 1] = work.first[c] + summary_width(&request->columns[c]) * work.label_count;
	*count = work.first[request->column_count];
	work.rows = memory_new(*count, sizeof(*work.rows));
	summary_make_room(&work);
	parallel.threads = work.threads;
	parallel.count = request->column_count * work.label_count;
	must(parallel_run(&parallel, &failure));
	return work.rows;
}
