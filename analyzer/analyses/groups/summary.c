/* summary.c: see summary.h. The values of a group are gathered first, those of the selection before the rest. */
#include "summary.h"

#include "base/arrays.h"
#include "base/parallel.h"
#include "statistics/bootstrap.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The memory of one thread: the values of a label, those of the selection first, and the draws from them. */
struct sample {
	double *numbers;
	int32_t *categories;
	double *replicates; /* two samples' means, or shares by category */
};

struct rows {
	struct summary_row *list;
	size_t count, room;
};

struct work {
	const struct summary_request *request;
	int32_t *labels; /* that occur, ascending; SUMMARY_ALL first, −1 last */
	size_t label_count;
	unsigned threads;
	struct sample *samples; /* by thread */
	struct rows *slots;     /* rows of one column and label */
	struct rows rows;
};

static int
no_memory(struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the summary");
}

static int
compare_labels(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b; /* −1 is the largest then */

	return (x > y) - (x < y);
}

/* Lists the labels. A single label would only repeat the row for all. */
static int
find_labels(struct work *work, struct portolan_error *error)
{
	const struct summary_request *request = work->request;
	int32_t *sorted = malloc((request->n + 1) * sizeof(*sorted));
	size_t count = 0;

	work->labels = malloc((request->n + 2) * sizeof(*work->labels));
	if (!sorted || !work->labels) {
		free(sorted);
		return no_memory(error);
	}
	work->labels[work->label_count++] = SUMMARY_ALL;
	if (request->n)
		memcpy(sorted, request->gold, request->n * sizeof(*sorted));
	qsort(sorted, request->n, sizeof(*sorted), compare_labels);
	for (size_t i = 0; i < request->n; i++)
		if (i == 0 || sorted[i] != sorted[i - 1])
			work->labels[1 + count++] = sorted[i];
	if (count > 1)
		work->label_count += count;
	free(sorted);
	return 0;
}

/* Gathers the column's values of a label, those of the selection first. */
static size_t
gather(const struct work *work, struct sample *sample, const struct summary_column *column, int32_t label,
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

static struct summary_row *
add_row(struct rows *rows, const struct summary_row *row)
{
	if (rows->count == rows->room) {
		size_t room = 2 * rows->room + 64;
		struct summary_row *grown = realloc(rows->list, room * sizeof(*grown));

		if (!grown)
			return NULL;
		rows->list = grown;
		rows->room = room;
	}
	rows->list[rows->count] = *row;
	return &rows->list[rows->count++];
}

/* Turns the replicates of the selection and of the rest into replicates of the difference, and takes their interval. */
static void
take_interval(const struct work *work, double *selection, const double *rest, struct summary_row *row)
{
	size_t replicates = work->request->replicates;
	double share = (double)(row->n - row->selected_n) / (double)row->n;

	for (size_t r = 0; r < replicates; r++)
		selection[r] = rest ? share * (selection[r] - rest[r]) : 0;
	bootstrap_interval(selection, replicates, work->request->level, &row->low, &row->high);
}

static double
mean_of(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return n ? sum / (double)n : NAN;
}

/* Adds in the order of the positions, so that the number does not depend on the selection. */
static double
mean_of_label(const struct summary_request *request, const struct summary_column *column, int32_t label)
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

static int
summarise_numbers(const struct work *work, const struct sample *sample, struct random_state *random,
                  struct summary_row row, struct rows *rows)
{
	size_t replicates = work->request->replicates, rest = row.n - row.selected_n;
	double *selection = sample->replicates, *others = sample->replicates + replicates;

	row.all = mean_of_label(work->request, row.column, row.gold);
	row.selected = mean_of(sample->numbers, row.selected_n);
	row.difference = row.selected - row.all;
	if (replicates && row.selected_n) {
		bootstrap_means(random, sample->numbers, row.selected_n, selection, replicates);
		if (rest)
			bootstrap_means(random, sample->numbers + row.selected_n, rest, others, replicates);
		take_interval(work, selection, rest ? others : NULL, &row);
	}
	return add_row(rows, &row) ? 0 : -1;
}

static void
count_categories(const struct sample *sample, struct summary_row *rows, size_t count)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct summary_row *row = &rows[sample->categories[i]];

		row->all++;
		row->selected += i < rows->selected_n;
	}
	for (size_t c = 0; c < count; c++) {
		rows[c].all = rows->n ? rows[c].all / (double)rows->n : NAN;
		rows[c].selected = rows->selected_n ? rows[c].selected / (double)rows->selected_n : NAN;
		rows[c].difference = rows[c].selected - rows[c].all;
	}
}

static int
summarise_categories(const struct work *work, const struct sample *sample, struct random_state *random,
                     struct summary_row row, struct rows *rows)
{
	size_t replicates = work->request->replicates, count = row.column->names->count;
	size_t rest = row.n - row.selected_n;
	double *others = sample->replicates + count * replicates;

	for (row.category = 0; row.category < count; row.category++) {
		row.all = row.selected = 0;
		if (!add_row(rows, &row))
			return -1;
	}
	if (count == 0)
		return 0;
	count_categories(sample, rows->list, count);
	if (replicates == 0 || row.selected_n == 0)
		return 0;
	bootstrap_shares(random, sample->categories, row.selected_n, count, sample->replicates, replicates);
	if (rest)
		bootstrap_shares(random, sample->categories + row.selected_n, rest, count, others, replicates);
	for (size_t c = 0; c < count; c++)
		take_interval(work, sample->replicates + c * replicates, rest ? others + c * replicates : NULL,
		              &rows->list[c]);
	return 0;
}

/* One column and label, in a worker's thread. */
static int
summarise(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	const struct work *work = context;
	size_t index = part / work->label_count;
	const struct summary_column *column = &work->request->columns[index];
	struct summary_row row = {
	        .column = column, .gold = work->labels[part % work->label_count], .low = NAN, .high = NAN};
	struct sample *sample = &work->samples[thread];
	struct random_state random;
	int code;

	work->slots[slot].count = 0;
	random_seed(&random, work->request->seed ^ ((uint64_t)(index + 1) << 40) ^ (uint32_t)row.gold);
	row.n = gather(work, sample, column, row.gold, &row.selected_n);
	code = column->numbers ? summarise_numbers(work, sample, &random, row, &work->slots[slot])
	                       : summarise_categories(work, sample, &random, row, &work->slots[slot]);
	return code < 0 ? no_memory(error) : 0;
}

static int
keep_rows(void *context, unsigned slot, size_t part, struct portolan_error *error)
{
	struct work *work = context;
	const struct rows *rows = &work->slots[slot];

	(void)part;
	for (size_t i = 0; i < rows->count; i++)
		if (!add_row(&work->rows, &rows->list[i]))
			return no_memory(error);
	return 0;
}

/* The memory of all threads; fewer threads are used if there are fewer columns and labels. */
static int
make_room(struct work *work, struct portolan_error *error)
{
	const struct summary_request *request = work->request;
	size_t samples = 2, tasks = request->column_count * work->label_count;

	for (size_t c = 0; c < request->column_count; c++)
		if (!request->columns[c].numbers && 2 * request->columns[c].names->count > samples)
			samples = 2 * request->columns[c].names->count;
	work->threads = request->threads > 0 ? request->threads : 1;
	if (work->threads > tasks)
		work->threads = tasks > 0 ? (unsigned)tasks : 1;
	work->samples = calloc(work->threads, sizeof(*work->samples));
	work->slots = calloc(parallel_slots(work->threads), sizeof(*work->slots));
	for (unsigned t = 0; work->samples && t < work->threads; t++) {
		struct sample *sample = &work->samples[t];

		sample->numbers = array_new(request->n, sizeof(*sample->numbers), "values to draw from", error);
		sample->categories = array_new(request->n, sizeof(*sample->categories), "values to draw from", error);
		sample->replicates = malloc((samples * request->replicates + 1) * sizeof(double));
		if (!sample->numbers || !sample->categories)
			return PORTOLAN_E_MEMORY;
		if (!sample->replicates)
			return no_memory(error);
	}
	return work->samples && work->slots ? 0 : no_memory(error);
}

static void
free_room(struct work *work)
{
	for (unsigned t = 0; work->samples && t < work->threads; t++) {
		array_free(work->samples[t].numbers);
		array_free(work->samples[t].categories);
		free(work->samples[t].replicates);
	}
	for (unsigned s = 0; work->slots && s < parallel_slots(work->threads); s++)
		free(work->slots[s].list);
	free(work->samples);
	free(work->slots);
	free(work->labels);
}

int
summary_make(const struct summary_request *request, struct summary_row **rows, size_t *count,
             struct portolan_error *error)
{
	struct work work = {.request = request};
	struct parallel parallel = {
	        .what = "drawing samples", .context = &work, .work = summarise, .deliver = keep_rows};
	int code = find_labels(&work, error);

	if (code >= 0)
		code = make_room(&work, error);
	if (code >= 0) {
		parallel.threads = work.threads;
		parallel.count = request->column_count * work.label_count;
		code = parallel_run(&parallel, error);
	}
	free_room(&work);
	if (code < 0) {
		free(work.rows.list);
		return code;
	}
	*rows = work.rows.list;
	*count = work.rows.count;
	return 0;
}
