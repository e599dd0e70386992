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

/* Adds the other run's values; means are divided at the end. */
static void
add_columns(struct dynamics *dynamics, const struct dynamics *other, const uint32_t *rows)
{
	for (size_t c = 0; c < dynamics->column_count;) {
		struct dynamics_column *column = &dynamics->columns[c];
		const struct dynamics_column *addend = dynamics_column(other, column->name);
		bool in_both = column->measure == MEASURE_NEVER_LEARNED;

		if (!addend) {
			drop_column(dynamics, c);
			continue;
		}
		for (size_t i = 0; i < dynamics->count; i++) {
			double *value = &column->values[dynamics->order[i]];

			*value = in_both ? fmin(*value, addend->values[rows[i]]) : *value + addend->values[rows[i]];
		}
		column->sometimes = column->sometimes || addend->sometimes;
		c++;
	}
}

static void
compare_labels(struct dynamics *dynamics, const struct dynamics *other, const uint32_t *rows,
               struct aggregate_report *report)
{
	for (size_t i = 0; dynamics->gold && i < dynamics->count; i++) {
		int32_t *mine = &dynamics->gold[dynamics->order[i]], theirs = other->gold[rows[i]];

		if (*mine < 0)
			*mine = theirs;
		else if (theirs >= 0 && theirs != *mine)
			report->other_labels++;
	}
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

static int
add_run(struct dynamics *dynamics, const struct dynamics *other, struct aggregate_report *report,
        struct portolan_error *error)
{
	uint32_t *rows;

	aggregate_note_run(report, other);
	if (dynamics_check_alike(dynamics, other, error) < 0)
		return PORTOLAN_E_INVALID;
	rows = array_new(other->count, sizeof(*rows), "examples to match", error);
	if (!rows)
		return PORTOLAN_E_MEMORY;
	dynamics->count = dynamics_match(dynamics, other, dynamics->order, rows);
	add_columns(dynamics, other, rows);
	compare_labels(dynamics, other, rows, report);
	array_free(rows);
	if (dynamics->trend && other->trend && dynamics->epoch_count == other->epoch_count)
		trend_add(dynamics->trend, other->trend, dynamics->epoch_count);
	if (dynamics->count == 0)
		return error_set(error, PORTOLAN_E_INVALID, "no example of run '%s' is in %s '%s': their ids differ",
		                 other->info->name, report->runs > 2 ? "all the runs before it, from" : "run",
		                 dynamics->info->name);
	return 0;
}

static void
divide(struct dynamics *dynamics, size_t runs)
{
	for (size_t c = 0; runs > 1 && c < dynamics->column_count; c++) {
		struct dynamics_column *column = &dynamics->columns[c];

		if (is_summed(column) || column->measure == MEASURE_NEVER_LEARNED)
			continue;
		column->integer = false;
		for (size_t i = 0; i < dynamics->count; i++)
			column->values[dynamics->order[i]] /= (double)runs;
	}
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

int
dynamics_load_aggregate(struct dynamics *dynamics, const struct run_query *query, char *const *runs, size_t count,
                        const struct dynamics_request *request, enum never_learned never_learned,
                        struct aggregate_report *report, struct portolan_error *error)
{
	struct dynamics_request wanted = *request;
	int code = check_runs(runs, count, error);

	if (wanted.measures & MEASURE_BIT(MEASURE_FORGETTING_EVENTS))
		wanted.measures |= MEASURE_BIT(MEASURE_NEVER_LEARNED);
	*report = (struct aggregate_report){0};
	if (code >= 0)
		code = dynamics_load(dynamics, query, runs[0], &wanted, error);
	if (code < 0)
		return code;
	never_learned_count(dynamics, never_learned);
	aggregate_note_run(report, dynamics);
	for (size_t r = 1; r < count && code >= 0; r++) {
		struct dynamics other;

		code = dynamics_load_beside(&other, dynamics, query, runs[r], &wanted, error);
		if (code < 0)
			break;
		never_learned_count(&other, never_learned);
		code = add_run(dynamics, &other, report, error);
		dynamics_free(&other);
	}
	if (code < 0) {
		dynamics_free(dynamics);
		return code;
	}
	divide(dynamics, count);
	report->shared = dynamics->count;
	return 0;
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
