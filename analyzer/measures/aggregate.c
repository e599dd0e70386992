/*
 * aggregate.c: makes one set of examples and measures of several runs (aggregate.h): it adds the measures of each run
 * to those of the first, column by column.
 *
 * Both lists of examples ascend by id, so one pass over the two finds the shared examples, in whichever order they were
 * recorded.
 */
#include "aggregate.h"

#include "base/arrays.h"

#include "base/message.h"
#include "base/number.h"
#include "base/status.h"
#include "fingerprint/other_labels.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

int
dynamics_check_alike(const struct dynamics *a, const struct dynamics *b, struct portolan_error *error)
{
	const struct dynamics *integers = a->ids.kind == STORE_ID_INT ? a : b, *strings = integers == a ? b : a;
	const struct dynamics *losses = a->info->of_losses ? a : b, *labels = losses == a ? b : a;

	if (a->info->of_losses != b->info->of_losses)
		return error_set(
		        error, PORTOLAN_E_INVALID,
		        "run '%s' records losses (log_loss), run '%s' probabilities of labels: no measure of the "
		        "one is one of the other",
		        losses->info->name, labels->info->name);

	if (a->ids.kind == b->ids.kind)
		return 0;
	return error_set(error, PORTOLAN_E_INVALID,
	                 "the ids of run '%s' are integers, those of run '%s' strings: nothing to match them by",
	                 integers->info->name, strings->info->name);
}

size_t
dynamics_match(const struct dynamics *a, const struct dynamics *b, uint32_t *rows_a, uint32_t *rows_b)
{
	size_t i = 0, j = 0, count = 0;

	while (i < a->count && j < b->count) {
		int difference = ids_compare(&a->ids, a->order[i], &b->ids, b->order[j]);

		if (difference == 0) {
			rows_a[count] = a->order[i];
			rows_b[count++] = b->order[j];
		}
		i += difference <= 0;
		j += difference >= 0;
	}
	return count;
}

/* Are the runs' values of the column summed? */
static bool
is_summed(const struct dynamics_column *column)
{
	return column->measure == MEASURE_EPOCHS || column->measure == MEASURE_FORGETTING_EVENTS;
}

static void
drop_column(struct dynamics *dynamics, size_t index)
{
	array_free(dynamics->columns[index].values);
	dynamics->column_count--;
	memmove(&dynamics->columns[index], &dynamics->columns[index + 1],
	        (dynamics->column_count - index) * sizeof(dynamics->columns[0]));
}

/* The runs that are put together, and the examples of the other run that is being added. */
struct aggregate {
	struct dynamics *dynamics;
	enum aggregate_how how;
	uint8_t *runs; /* by dense index: how many runs have the example; all so far, unless how is AGGREGATE_ANY */
	uint32_t *mine, *theirs;
	size_t shared;
};

/* The difference of a measure. Equal infinities are the same number of what they stand for, as of events that count
 * infinitely often where an example was never learned: they differ by 0. */
static double
aggregate_difference(double value, double other)
{
	return isinf(value) && value == other ? 0 : value - other;
}

/* Adds the other run's values; means are divided at the end. */
static void
add_columns(struct aggregate *aggregate, const struct dynamics *other)
{
	struct dynamics *dynamics = aggregate->dynamics;

	for (size_t c = 0; c < dynamics->column_count;) {
		struct dynamics_column *column = &dynamics->columns[c];
		const struct dynamics_column *addend = dynamics_column(other, column->name);
		bool in_both = column->measure == MEASURE_NEVER_LEARNED;

		if (!addend) {
			drop_column(dynamics, c);
			continue;
		}
		for (size_t i = 0; i < aggregate->shared; i++) {
			double *value = &column->values[aggregate->mine[i]],
			       more = addend->values[aggregate->theirs[i]];

			if (aggregate->how == AGGREGATE_DIFFERENCE)
				*value =
				        column->measure == MEASURE_EPOCHS ? *value : aggregate_difference(*value, more);
			else if (aggregate->runs[aggregate->mine[i]] == 0)
				*value = more;
			else
				*value = in_both ? fmin(*value, more) : *value + more;
		}
		column->sometimes = column->sometimes || addend->sometimes;
		c++;
	}
	for (size_t i = 0; i < aggregate->shared; i++)
		aggregate->runs[aggregate->mine[i]]++;
}

static void
compare_labels(const struct aggregate *aggregate, const struct dynamics *other, struct aggregate_report *report)
{
	for (size_t i = 0; other->gold && i < aggregate->shared; i++) {
		int32_t *mine = &aggregate->dynamics->gold[aggregate->mine[i]];
		int32_t theirs = other->gold[aggregate->theirs[i]];

		if (*mine < 0)
			*mine = theirs;
		else if (theirs >= 0 && theirs != *mine)
			report->other_labels++;
	}
}

/* Examples that only the other run has keep the numbers of their classes, so these must mean the same in both runs. */
static int
check_classes(const struct dynamics *dynamics, const struct dynamics *other, struct portolan_error *error)
{
	for (uint64_t k = 0; k < dynamics->info->label_count && k < other->info->label_count; k++) {
		const char *mine = store_snapshot_label(dynamics->snapshot, k);
		const char *theirs = store_snapshot_label(other->snapshot, k);

		if (mine && theirs && strcmp(mine, theirs) != 0)
			return error_set(error, PORTOLAN_E_INVALID,
			                 "run '%s' calls class %llu '%.100s', and run '%s' calls it '%.100s': examples "
			                 "that only one run has cannot be put together with the others",
			                 dynamics->info->name, (unsigned long long)k, mine, other->info->name, theirs);
	}
	return 0;
}

void
aggregate_note_run(struct aggregate_report *report, const struct dynamics *run)
{
	snprintf(report->run[report->runs].name, sizeof(report->run[0].name), "%s", run->info->name);
	report->run[report->runs].examples = run->count;
	report->run[report->runs].gaps = run->gaps;
	report->run[report->runs].recording = run->info->state == STORE_RECORDING;
	report->run[report->runs].verdict = run->verdict;
	report->runs++;
}

/* Makes room in an array by dense index, which had `used` rows, for all that there are now. */
static int
grow(void **array, size_t used, size_t rows, size_t size, struct portolan_error *error)
{
	void *grown = array_grow(*array, used, rows, size, "examples of further runs", error);

	if (!grown)
		return PORTOLAN_E_MEMORY;
	*array = grown;
	return 0;
}

/* Puts the other run's id at the end, with no values yet. */
static int
append_id(struct dynamics *dynamics, const struct dynamics *other, uint32_t row, struct portolan_error *error)
{
	char digits[NUMBER_ROOM];
	size_t length;
	const char *text = id_print(&other->ids, row, digits, &length);

	return ids_append_text(&dynamics->ids, text, length, error);
}

/* Adds the examples that only the other run has, of which no run has values yet. */
static int
append_others(struct aggregate *aggregate, const struct dynamics *other, struct portolan_error *error)
{
	struct dynamics *dynamics = aggregate->dynamics;
	size_t i = 0, j = 0, count = 0, used = dynamics->ids.rows;
	uint32_t *order = array_new(dynamics->count + other->count, sizeof(*order), "examples in order", error);
	int code = order ? 0 : PORTOLAN_E_MEMORY;

	while (code >= 0 && (i < dynamics->count || j < other->count)) {
		int difference = i == dynamics->count ? 1
		                 : j == other->count  ? -1
		                                      : ids_compare(&dynamics->ids, dynamics->order[i], &other->ids,
		                                                    other->order[j]);

		if (difference > 0)
			code = append_id(dynamics, other, other->order[j], error);
		order[count++] = difference > 0 ? (uint32_t)dynamics->ids.rows - 1 : dynamics->order[i];
		i += difference <= 0;
		j += difference >= 0;
	}
	for (size_t c = 0; code >= 0 && c < dynamics->column_count; c++)
		code = grow((void **)&dynamics->columns[c].values, used, dynamics->ids.rows, sizeof(double), error);
	if (code >= 0 && dynamics->gold)
		code = grow((void **)&dynamics->gold, used, dynamics->ids.rows, sizeof(*dynamics->gold), error);
	if (code >= 0)
		code = grow((void **)&aggregate->runs, used, dynamics->ids.rows, sizeof(*aggregate->runs), error);
	if (code < 0) {
		array_free(order);
		return code;
	}
	for (size_t row = used; dynamics->gold && row < dynamics->ids.rows; row++)
		dynamics->gold[row] = -1;
	array_free(dynamics->order);
	dynamics->order = order;
	dynamics->count = count;
	return 0;
}

/* Finds the examples of the other run among those that are put together. */
static int
match_run(struct aggregate *aggregate, const struct dynamics *other, struct portolan_error *error)
{
	struct dynamics *dynamics = aggregate->dynamics;
	bool any = aggregate->how == AGGREGATE_ANY;
	int code = any ? append_others(aggregate, other, error) : 0;

	aggregate->mine = aggregate->theirs = NULL;
	if (code < 0)
		return code;
	aggregate->theirs = array_new(other->count, sizeof(uint32_t), "examples to match", error);
	aggregate->mine = any ? array_new(other->count, sizeof(uint32_t), "examples to match", error) : dynamics->order;
	if (!aggregate->theirs || !aggregate->mine)
		return PORTOLAN_E_MEMORY;
	aggregate->shared = dynamics_match(dynamics, other, aggregate->mine, aggregate->theirs);
	if (!any)
		dynamics->count = aggregate->shared;
	return 0;
}

static int
add_run(struct aggregate *aggregate, const struct dynamics *other, struct aggregate_report *report,
        struct portolan_error *error)
{
	struct dynamics *dynamics = aggregate->dynamics;
	int code;

	aggregate_note_run(report, other);
	if (dynamics_check_alike(dynamics, other, error) < 0)
		return PORTOLAN_E_INVALID;
	if (aggregate->how == AGGREGATE_ANY && dynamics->gold && other->gold &&
	    check_classes(dynamics, other, error) < 0)
		return PORTOLAN_E_INVALID;
	code = match_run(aggregate, other, error);
	if (code >= 0) {
		add_columns(aggregate, other);
		compare_labels(aggregate, other, report);
	}
	if (aggregate->how == AGGREGATE_ANY)
		array_free(aggregate->mine);
	array_free(aggregate->theirs);
	if (code < 0)
		return code;
	if (aggregate->how != AGGREGATE_DIFFERENCE && dynamics->trend && other->trend &&
	    dynamics->epoch_count == other->epoch_count)
		trend_add(dynamics->trend, other->trend, dynamics->epoch_count);
	if (dynamics->count == 0)
		return error_set(error, PORTOLAN_E_INVALID, "no example of run '%s' is in %s '%s': their ids differ",
		                 other->info->name, report->runs > 2 ? "all the runs before it, from" : "run",
		                 dynamics->info->name);
	return 0;
}

static void
divide(const struct aggregate *aggregate)
{
	struct dynamics *dynamics = aggregate->dynamics;

	for (size_t c = 0; c < dynamics->column_count; c++) {
		struct dynamics_column *column = &dynamics->columns[c];

		if (is_summed(column) || column->measure == MEASURE_NEVER_LEARNED)
			continue;
		column->integer = false;
		for (size_t i = 0; i < dynamics->count; i++)
			column->values[dynamics->order[i]] /= (double)aggregate->runs[dynamics->order[i]];
	}
}

/* A difference of counts may be below 0, which no column of counts holds. */
static void
make_real(struct dynamics *dynamics)
{
	for (size_t c = 0; c < dynamics->column_count; c++)
		dynamics->columns[c].integer =
		        dynamics->columns[c].integer && dynamics->columns[c].measure == MEASURE_EPOCHS;
}

static int
check_runs(char *const *runs, size_t count, struct portolan_error *error)
{
	if (count > AGGREGATE_RUNS_MAX)
		return error_set(error, PORTOLAN_E_INVALID, "%zu runs: at most %d can be put together", count,
		                 AGGREGATE_RUNS_MAX);
	for (size_t r = 0; r < count; r++)
		for (size_t s = 0; s < r; s++)
			if (strcmp(runs[r], runs[s]) == 0)
				return error_set(error, PORTOLAN_E_INVALID, "run '%s' is named twice", runs[r]);
	return 0;
}

/* Takes the epochs of --minus-epochs in place of those of --epochs. */
static int
take_epochs(struct run_query *query, const char *epochs, struct portolan_error *error)
{
	query->epochs_given = true;
	query->epochs_auto = false;
	if (run_query_parse_epochs(epochs, &query->epoch_from, &query->epoch_to) && query->epoch_from < query->epoch_to)
		return 0;
	return error_set(error, PORTOLAN_E_INVALID, "--minus-epochs %s: say A:B, as 2:5", epochs);
}

int
dynamics_load_aggregate(struct dynamics *dynamics, const struct run_query *query, char *const *runs, size_t count,
                        const struct dynamics_request *request, enum never_learned never_learned,
                        enum aggregate_how how, struct aggregate_report *report, struct portolan_error *error)
{
	struct dynamics_request wanted = *request;
	struct aggregate aggregate = {.dynamics = dynamics, .how = how};
	struct run_query others = *query;
	int code = check_runs(runs, count, error);

	if (code >= 0 && query->minus_epochs)
		code = take_epochs(&others, query->minus_epochs, error);
	if (wanted.measures & MEASURE_BIT(MEASURE_FORGETTING_EVENTS))
		wanted.measures |= MEASURE_BIT(MEASURE_NEVER_LEARNED);
	wanted.measures |= MEASURE_BIT(MEASURE_EPOCHS); /* every column is put together, so all have values */
	*report = (struct aggregate_report){0};
	if (code >= 0)
		code = dynamics_load(dynamics, query, runs[0], &wanted, error);
	if (code < 0)
		return code;
	never_learned_count(dynamics, never_learned);
	aggregate_note_run(report, dynamics);
	aggregate.runs = array_new(dynamics->ids.rows, sizeof(*aggregate.runs), "counts of runs", error);
	code = aggregate.runs ? 0 : PORTOLAN_E_MEMORY;
	for (size_t i = 0; code >= 0 && i < dynamics->count; i++)
		aggregate.runs[dynamics->order[i]] = 1;
	for (size_t r = 1; r < count && code >= 0; r++) {
		struct dynamics other;

		code = dynamics_load_beside(&other, dynamics, &others, runs[r], &wanted, error);
		if (code < 0)
			break;
		never_learned_count(&other, never_learned);
		code = add_run(&aggregate, &other, report, error);
		dynamics_free(&other);
	}
	if (code >= 0 && how == AGGREGATE_DIFFERENCE)
		make_real(dynamics);
	else if (code >= 0 && count > 1)
		divide(&aggregate);
	if (code >= 0)
		other_labels_warn(dynamics->store, (const char *const *)runs, count);
	report->shared = how == AGGREGATE_ANY ? UINT64_MAX : dynamics->count;
	array_free(aggregate.runs);
	if (code < 0)
		dynamics_free(dynamics);
	return code < 0 ? code : 0;
}

int
dynamics_load_minus(struct dynamics *dynamics, const struct run_query *query, const char *run,
                    const struct dynamics_request *request, enum never_learned never_learned,
                    struct aggregate_report *report, struct portolan_error *error)
{
	char *const runs[] = {(char *)run, (char *)query->minus};

	return dynamics_load_aggregate(dynamics, query, runs, 2, request, never_learned, AGGREGATE_DIFFERENCE, report,
	                               error);
}

int
aggregate_report_gaps(const struct aggregate_report *report, bool strict)
{
	bool incomplete = report->other_labels > 0;

	for (size_t r = 0; r < report->runs; r++) {
		const char *name = report->run[r].name, *all = NUMBER_GROUPED(report->run[r].examples);
		uint64_t gaps = report->run[r].gaps;
		uint64_t apart =
		        report->run[r].examples > report->shared ? report->run[r].examples - report->shared : 0;

		incomplete = verdict_warn(&report->run[r].verdict, name) || incomplete;
		if (report->run[r].recording)
			message_warning("run '%s' is still being recorded; this is what is stored so far", name);
		if (gaps > 0)
			message_warning("run '%s': %s of %s examples were not observed in all epochs", name,
			                NUMBER_GROUPED(gaps), all);
		if (apart > 0)
			message_warning("run '%s': %s of %s examples are not in every run, and left out", name,
			                NUMBER_GROUPED(apart), all);
		incomplete = incomplete || report->run[r].recording || gaps > 0 || apart > 0;
	}
	if (report->other_labels > 0)
		message_warning("%s gold labels differ between the runs; the first run's are shown",
		                NUMBER_GROUPED(report->other_labels));
	return incomplete && strict ? STATUS_INCOMPLETE : STATUS_DONE;
}
