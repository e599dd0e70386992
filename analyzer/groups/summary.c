/* summary.c: see summary.h. The values of a group are gathered first, those of the selection before the rest. */
#include "summary.h"

#include "program/progress.h"
#include "statistics/bootstrap.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct work {
	const struct summary_request *request;
	struct progress progress;
	uint64_t done;
	int32_t *labels; /* that occur, ascending; SUMMARY_ALL first, −1 last */
	size_t label_count;
	double *numbers; /* of the group at hand: the selection's, then the rest's */
	int32_t *categories;
	double *replicates; /* two samples' means, or shares by category */
	struct summary_row *rows;
	size_t row_count, row_room;
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

/* Which labels there are; one alone says nothing that all do not say. */
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

/* Gathers the column's values of a label; the selection's first. */
static size_t
gather(struct work *work, const struct summary_column *column, int32_t label, size_t *selected)
{
	const struct summary_request *request = work->request;
	size_t n = 0;

	for (int part = 0; part < 2; part++) {
		for (size_t i = 0; i < request->n; i++) {
			if (request->selected[i] != (part == 0) || (label != SUMMARY_ALL && request->gold[i] != label))
				continue;
			if (column->numbers && !isnan(column->numbers[i]))
				work->numbers[n++] = column->numbers[i];
			else if (!column->numbers && column->categories[i] >= 0)
				work->categories[n++] = column->categories[i];
		}
		if (part == 0)
			*selected = n;
	}
	return n;
}

static struct summary_row *
add_row(struct work *work, const struct summary_row *row)
{
	if (work->row_count == work->row_room) {
		size_t room = 2 * work->row_room + 64;
		struct summary_row *grown = realloc(work->rows, room * sizeof(*grown));

		if (!grown)
			return NULL;
		work->rows = grown;
		work->row_room = room;
	}
	work->rows[work->row_count] = *row;
	return &work->rows[work->row_count++];
}

/* Turns replicates of the selection and of the rest into those of the difference, and takes their interval. */
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

/* In the order of the positions, so that it is the same number whatever is selected. */
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
summarise_numbers(struct work *work, struct random_state *random, struct summary_row row)
{
	size_t replicates = work->request->replicates, rest = row.n - row.selected_n;
	double *selection = work->replicates, *others = work->replicates + replicates;

	row.all = mean_of_label(work->request, row.column, row.gold);
	row.selected = mean_of(work->numbers, row.selected_n);
	row.difference = row.selected - row.all;
	if (replicates && row.selected_n) {
		bootstrap_means(random, work->numbers, row.selected_n, selection, replicates);
		if (rest)
			bootstrap_means(random, work->numbers + row.selected_n, rest, others, replicates);
		take_interval(work, selection, rest ? others : NULL, &row);
	}
	return add_row(work, &row) ? 0 : -1;
}

static void
count_categories(const struct work *work, struct summary_row *rows, size_t count)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct summary_row *row = &rows[work->categories[i]];

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
summarise_categories(struct work *work, struct random_state *random, struct summary_row row)
{
	size_t replicates = work->request->replicates, count = row.column->name_count, first = work->row_count;
	size_t rest = row.n - row.selected_n;
	double *others = work->replicates + count * replicates;

	for (row.category = 0; row.category < count; row.category++) {
		row.all = row.selected = 0;
		if (!add_row(work, &row))
			return -1;
	}
	if (count == 0)
		return 0;
	count_categories(work, &work->rows[first], count);
	if (replicates == 0 || row.selected_n == 0)
		return 0;
	bootstrap_shares(random, work->categories, row.selected_n, count, work->replicates, replicates);
	if (rest)
		bootstrap_shares(random, work->categories + row.selected_n, rest, count, others, replicates);
	for (size_t c = 0; c < count; c++)
		take_interval(work, work->replicates + c * replicates, rest ? others + c * replicates : NULL,
		              &work->rows[first + c]);
	return 0;
}

static int
summarise_column(struct work *work, size_t index, struct portolan_error *error)
{
	const struct summary_column *column = &work->request->columns[index];
	size_t samples = column->numbers ? 2 : 2 * column->name_count;
	int code = 0;

	free(work->replicates);
	work->replicates = malloc((samples * work->request->replicates + 1) * sizeof(double));
	if (!work->replicates)
		return no_memory(error);
	for (size_t l = 0; l < work->label_count && code >= 0; l++) {
		struct summary_row row = {.column = column, .gold = work->labels[l], .low = NAN, .high = NAN};
		struct random_state random;

		random_seed(&random, work->request->seed ^ ((uint64_t)(index + 1) << 40) ^ (uint32_t)row.gold);
		row.n = gather(work, column, row.gold, &row.selected_n);
		code = column->numbers ? summarise_numbers(work, &random, row)
		                       : summarise_categories(work, &random, row);
		progress_update(&work->progress, ++work->done);
	}
	return code < 0 ? no_memory(error) : 0;
}

int
summary_make(const struct summary_request *request, struct summary_row **rows, size_t *count,
             struct portolan_error *error)
{
	struct work work = {.request = request};
	int code = find_labels(&work, error);

	work.numbers = malloc((request->n + 1) * sizeof(*work.numbers));
	work.categories = malloc((request->n + 1) * sizeof(*work.categories));
	if (code >= 0 && (!work.numbers || !work.categories))
		code = no_memory(error);
	if (code >= 0)
		progress_begin(&work.progress, "drawing samples", request->column_count * work.label_count);
	for (size_t c = 0; c < request->column_count && code >= 0; c++)
		code = summarise_column(&work, c, error);
	progress_end(&work.progress);
	free(work.labels);
	free(work.numbers);
	free(work.categories);
	free(work.replicates);
	if (code < 0) {
		free(work.rows);
		return code;
	}
	*rows = work.rows;
	*count = work.row_count;
	return 0;
}
