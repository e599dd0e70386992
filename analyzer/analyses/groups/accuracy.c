/*
 * accuracy.c: for `portolan groups --accuracy`: prints the share of right answers by class and by attribute, of one run
 * or of two side by side: "before" and "after" a change, recorded on the same examples (Yaghoobzadeh et al. 2021, Tables
 * 10 and 11).
 *
 * A run is read at its last epoch alone. There, correctness is 1 or 0.
 */
#include "accuracy.h"

#include "base/message.h"
#include "base/number.h"
#include "die/die.h"
#include "die/memory.h"
#include "fingerprint/other_labels.h"
#include "regions/classes.h"

#include <math.h>
#include <string.h>

#define ACCURACY_COLUMNS 15
#define ACCURACY_COLUMNS_OF_ONE_RUN 9
#define NOT_COUNTED 4

struct accuracy {
	const struct groups *groups;
	struct dynamics after; /* the second run */
	bool is_paired;
	uint8_t *answers;    /* by position: 2 × the first run's + the second's, each 0 or 1; or NOT_COUNTED */
	int32_t *values;     /* by position: the value of the attribute that is counted; −1: missing */
	double *sorted;      /* room for the numbers of an attribute */
	uint64_t alone[2];   /* how many examples only the first, or only the second run has */
	uint64_t relabelled; /* how many have another gold label in the second run */
	struct classes classes;
	size_t labels; /* how many rows a value has: one for all examples, and one for each of several classes */
	struct accuracy_row *rows;
	size_t count;
};

static void
accuracy_free(struct accuracy *accuracy)
{
	array_free(accuracy->answers);
	array_free(accuracy->values);
	array_free(accuracy->sorted);
	classes_free(&accuracy->classes);
	free(accuracy->rows);
	if (accuracy->is_paired)
		dynamics_free(&accuracy->after);
}

/* Loads a run at the last epoch of the range. `first` is the run that has the store open; NULL: none. */
static void
accuracy_load(const struct groups *groups, const char *run, const struct dynamics *first, struct dynamics *dynamics)
{
	const struct dynamics_request request = {.measures = MEASURE_BIT(MEASURE_CORRECTNESS), .gold = true};
	struct run_query query = groups->common.query;

	must(first ? dynamics_open_beside(dynamics, first, &query, run, &request, &failure)
	           : dynamics_open(dynamics, &query, run, &request, &failure));
	query.epoch_from = dynamics->epochs[dynamics->epoch_count - 1];
	query.epoch_to = query.epoch_from + 1;
	query.epochs_auto = false;
	dynamics_free(dynamics);
	must(first ? dynamics_load_beside(dynamics, first, &query, run, &request, &failure)
	           : dynamics_load(dynamics, &query, run, &request, &failure));
}

static void
accuracy_take_answers(struct accuracy *accuracy)
{
	const struct dynamics *dynamics = &accuracy->groups->dynamics;
	const double *correct = dynamics_measure(dynamics, MEASURE_CORRECTNESS);

	for (size_t i = 0; i < dynamics->count; i++)
		accuracy->answers[i] = correct[dynamics->order[i]] > 0 ? 3 : 0;
}

/* Joins the answers of the second run to those of the first, by id. Examples that only one run has do not count. */
static void
accuracy_join(struct accuracy *accuracy)
{
	const struct dynamics *dynamics = &accuracy->groups->dynamics, *after = &accuracy->after;
	const double *correct = dynamics_measure(after, MEASURE_CORRECTNESS);
	struct ids_index index;
	uint64_t shared;

	must(ids_index_init(&index, &after->ids, after->order, after->count, &failure));
	for (size_t i = 0; i < dynamics->count; i++) {
		char digits[NUMBER_ROOM];
		size_t length;
		const char *id = id_print(&dynamics->ids, dynamics->order[i], digits, &length);
		int64_t place = ids_index_find(&index, id, length);
		int32_t gold = dynamics->gold[dynamics->order[i]], label;

		if (place < 0) {
			accuracy->answers[i] = NOT_COUNTED;
			accuracy->alone[0]++;
			continue;
		}
		accuracy->answers[i] = (uint8_t)((accuracy->answers[i] & 2) | (correct[after->order[place]] > 0));
		label = after->gold[after->order[place]];
		accuracy->relabelled += gold >= 0 && label >= 0 && label != gold;
	}
	ids_index_free(&index);
	shared = dynamics->count - accuracy->alone[0];
	accuracy->alone[1] = after->count - shared;
	if (shared == 0)
		die("runs '%s' and '%s' have no example in common", dynamics->info->name, after->info->name);
}

/* Adds the rows of an attribute: by class, then by value. `values` are those of the examples. */
static void
accuracy_add(struct accuracy *accuracy, struct accuracy_row row, const int32_t *values, size_t width,
             const char *(*name)(const struct summary_column *column, size_t value),
             const struct summary_column *column)
{
	const struct dynamics *dynamics = &accuracy->groups->dynamics;
	struct accuracy_row *rows = &accuracy->rows[accuracy->count];

	for (size_t r = 0; r < accuracy->labels * width; r++) {
		row.gold = r < width ? SUMMARY_ALL : accuracy->classes.labels[r / width - 1];
		row.value = name ? name(column, r % width) : NULL;
		rows[r] = row;
	}
	accuracy->count += accuracy->labels * width;
	for (size_t i = 0; i < dynamics->count; i++) {
		uint8_t answer = accuracy->answers[i];
		size_t class;

		if (answer == NOT_COUNTED || values[i] < 0)
			continue;
		rows[values[i]].answers.counts[answer >> 1][answer & 1]++;
		class = classes_find(&accuracy->classes, dynamics->gold[dynamics->order[i]]);
		if (accuracy->labels > 1)
			rows[(1 + class) * width + (size_t)values[i]].answers.counts[answer >> 1][answer & 1]++;
	}
}

static int
accuracy_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The value from which on numbers are high, so that the halves are as even as they can be: the median, or, where many
 * have it, the next larger value, if that makes them more even. NaN: there are no numbers. */
static double
accuracy_find_cut(struct accuracy *accuracy, const double *numbers)
{
	double *sorted = accuracy->sorted;
	size_t n = 0, low, high;

	for (size_t i = 0; i < accuracy->groups->dynamics.count; i++)
		if (accuracy->answers[i] != NOT_COUNTED && !isnan(numbers[i]))
			sorted[n++] = numbers[i];
	if (n == 0)
		return NAN;
	qsort(sorted, n, sizeof(*sorted), accuracy_compare);
	for (low = n / 2; low > 0 && sorted[low - 1] == sorted[n / 2];)
		low--;
	for (high = n / 2; high < n && sorted[high] == sorted[n / 2];)
		high++;
	return high < n && 2 * high - n < n - 2 * low ? sorted[high] : sorted[n / 2];
}

/* The --cut of a column; NULL: it has none. */
static const struct accuracy_cut *
accuracy_given_cut(const struct groups *groups, const struct summary_column *column)
{
	for (size_t c = groups->cut_count; c-- > 0;)
		if (column->numbers && strcmp(groups->cuts[c].attribute, column->name) == 0)
			return &groups->cuts[c];
	return NULL;
}

static const char *
accuracy_name_half(const struct summary_column *column, size_t value)
{
	(void)column;
	return value ? "high" : "low";
}

static const char *
accuracy_name_category(const struct summary_column *column, size_t value)
{
	size_t length;

	return names_text(column->names, (uint32_t)value, &length);
}

static void
accuracy_add_column(struct accuracy *accuracy, const struct summary_column *column)
{
	struct accuracy_row row = {.attribute = column->name, .cut = NAN};
	const struct accuracy_cut *given = accuracy_given_cut(accuracy->groups, column);

	if (!column->numbers) {
		accuracy_add(accuracy, row, column->categories, column->names->count, accuracy_name_category, column);
		return;
	}
	row.cut = given ? given->at : accuracy_find_cut(accuracy, column->numbers);
	for (size_t i = 0; i < accuracy->groups->dynamics.count; i++)
		accuracy->values[i] = isnan(column->numbers[i]) ? -1 : column->numbers[i] >= row.cut;
	accuracy_add(accuracy, row, accuracy->values, 2, accuracy_name_half, column);
}

static void
accuracy_check_cuts(const struct groups *groups, const struct columns *columns)
{
	for (size_t c = 0; c < groups->cut_count; c++) {
		size_t i = 0;

		while (i < columns->count && accuracy_given_cut(groups, &columns->list[i]) != &groups->cuts[c])
			i++;
		if (i == columns->count)
			die("--cut %s: no attribute of numbers has this name, or it is given twice",
			    groups->cuts[c].attribute);
	}
}

/* Counts the answers: overall, then by each attribute; and computes the shares. */
static void
accuracy_count(struct accuracy *accuracy, const struct columns *columns)
{
	const struct dynamics *dynamics = &accuracy->groups->dynamics;
	double deviations = proportion_deviations(accuracy->groups->level);
	size_t width = 1;

	must(classes_make(&accuracy->classes, dynamics->gold, dynamics->order, dynamics->count, &failure));
	accuracy->labels = accuracy->classes.count > 1 ? 1 + accuracy->classes.count : 1;
	for (size_t c = 0; c < columns->count; c++)
		width += columns->list[c].numbers ? 2 : columns->list[c].names->count;
	accuracy->rows = memory_new(width * accuracy->labels, sizeof(*accuracy->rows));
	accuracy->values = memory_array(dynamics->count, sizeof(*accuracy->values), "values of attributes");
	accuracy->sorted = memory_array(dynamics->count, sizeof(*accuracy->sorted), "numbers of attributes");
	accuracy_add(accuracy, (struct accuracy_row){.cut = NAN}, accuracy->values, 1, NULL, NULL);
	for (size_t c = 0; c < columns->count; c++)
		accuracy_add_column(accuracy, &columns->list[c]);
	for (size_t r = 0; r < accuracy->count; r++) {
		struct accuracy_row *row = &accuracy->rows[r];
		const uint64_t(*counts)[2] = row->answers.counts;

		row->examples = counts[0][0] + counts[0][1] + counts[1][0] + counts[1][1];
		row->before = proportion_of(counts[1][0] + counts[1][1], row->examples, deviations);
		row->after = proportion_of(counts[0][1] + counts[1][1], row->examples, deviations);
		row->difference = proportion_difference(&row->answers, deviations);
	}
}

static void
accuracy_write_report(const struct accuracy *accuracy, const struct columns *columns, const struct table *table)
{
	const struct groups *groups = accuracy->groups;
	struct report report;

	must(report_open(&report, groups->common.output, 2, &failure));
	report_begin(&report, NULL);
	report_text(&report, "run", groups->dynamics.info->name);
	report_whole(&report, "epoch", groups->dynamics.epochs[0]);
	if (accuracy->is_paired) {
		report_text(&report, "after_run", accuracy->after.info->name);
		report_whole(&report, "after_epoch", accuracy->after.epochs[0]);
	}
	report_whole(&report, "examples", accuracy->rows[0].examples);
	if (groups->columns.path)
		groups_report_file(groups, columns, &report);
	report_real(&report, "level", groups->level);
	table_report(&report, "rows", table);
	report_end(&report);
	must(report_close(&report, &failure));
}

static void
accuracy_write(const struct accuracy *accuracy, const struct columns *columns)
{
	const struct groups *groups = accuracy->groups;
	CLEANUP_FREE struct table_cell *gold = memory_new(accuracy->count, sizeof(*gold));
	const struct table_column all[ACCURACY_COLUMNS] = {
	        {"attribute", TABLE_TEXT, offsetof(struct accuracy_row, attribute)},
	        {"value", TABLE_TEXT, offsetof(struct accuracy_row, value)},
	        {"cut", TABLE_F64, offsetof(struct accuracy_row, cut)},
	        {"gold", TABLE_CELL, .values = gold},
	        {"label", TABLE_LABEL, offsetof(struct accuracy_row, gold), .of = groups->dynamics.snapshot},
	        {"examples", TABLE_U64, offsetof(struct accuracy_row, examples)},
	        {"accuracy", TABLE_F64, offsetof(struct accuracy_row, before.share)},
	        {"low", TABLE_F64, offsetof(struct accuracy_row, before.low)},
	        {"high", TABLE_F64, offsetof(struct accuracy_row, before.high)},
	        {"after_accuracy", TABLE_F64, offsetof(struct accuracy_row, after.share)},
	        {"after_low", TABLE_F64, offsetof(struct accuracy_row, after.low)},
	        {"after_high", TABLE_F64, offsetof(struct accuracy_row, after.high)},
	        {"difference", TABLE_F64, offsetof(struct accuracy_row, difference.share)},
	        {"difference_low", TABLE_F64, offsetof(struct accuracy_row, difference.low)},
	        {"difference_high", TABLE_F64, offsetof(struct accuracy_row, difference.high)}};
	struct table_column list[ACCURACY_COLUMNS];
	struct table table = TABLE_OF(list, accuracy->rows, accuracy->count);

	table.column_count = 0;
	for (size_t r = 0; r < accuracy->count; r++)
		gold[r] = groups_gold_cell(groups, accuracy->rows[r].gold);
	for (size_t c = 0; c < (accuracy->is_paired ? ACCURACY_COLUMNS : ACCURACY_COLUMNS_OF_ONE_RUN); c++)
		if (!groups_is_for_people(groups) || all[c].type != TABLE_LABEL)
			list[table.column_count++] = all[c];
	if (groups->common.json)
		accuracy_write_report(accuracy, columns, &table);
	else
		must(table_write(&table, groups->common.output, (enum table_format)groups->format, &failure));
}

/* Warns of what the runs lack, and of examples that did not count. Returns an exit status. */
static int
accuracy_report_runs(const struct accuracy *accuracy)
{
	const struct dynamics *runs[2] = {&accuracy->groups->dynamics, &accuracy->after};
	bool strict = accuracy->groups->common.strict;
	int status = STATUS_DONE;

	for (size_t r = 0; r < (accuracy->is_paired ? 2 : 1); r++) {
		int gaps = dynamics_report(runs[r], strict);
		uint64_t rows = runs[r]->ids.rows, absent = rows - runs[r]->count;

		if (absent > 0 && runs[r]->info->declared < rows) /* else it has been said */
			message_warning("run '%s': not observed at epoch %u: %s of %s examples", runs[r]->info->name,
			                (unsigned)runs[r]->epochs[0], NUMBER_GROUPED(absent), NUMBER_GROUPED(rows));
		if (accuracy->alone[r] > 0)
			message_warning("left out, as only run '%s' has them: %s examples", runs[r]->info->name,
			                NUMBER_GROUPED(accuracy->alone[r]));
		if (gaps || (strict && absent + accuracy->alone[r] > 0))
			status = STATUS_INCOMPLETE;
	}
	if (accuracy->relabelled > 0)
		message_warning("run '%s' has another gold label for %s examples: each answer is judged by its own "
		                "run's label, and classes are those of '%s'",
		                runs[1]->info->name, NUMBER_GROUPED(accuracy->relabelled), runs[0]->info->name);
	return status;
}

int
groups_measure_accuracy(struct groups *groups)
{
	struct dynamics *dynamics = &groups->dynamics;
	CLEANUP(accuracy_free)
	struct accuracy accuracy = {.groups = groups, .is_paired = groups->common.operand_count > 1};
	CLEANUP(columns_free) struct columns columns = {.count = 0};
	int status, of_file = STATUS_DONE;

	accuracy_load(groups, groups->common.operands[0], NULL, dynamics);
	accuracy.answers = memory_array(dynamics->count, sizeof(*accuracy.answers), "answers");
	accuracy_take_answers(&accuracy);
	if (accuracy.is_paired) {
		accuracy_load(groups, groups->common.operands[1], dynamics, &accuracy.after);
		accuracy_join(&accuracy);
		other_labels_warn(dynamics->store, (const char *const *)groups->common.operands, 2);
	}
	if (groups->columns.path)
		columns_read(&columns, &groups->columns, dynamics);
	accuracy_check_cuts(groups, &columns);
	accuracy_count(&accuracy, &columns);
	if (groups->plot)
		accuracy_draw(groups, accuracy.rows, accuracy.count,
		              accuracy.is_paired ? accuracy.after.info->name : NULL);
	accuracy_write(&accuracy, &columns);
	if (groups->columns.path)
		of_file = groups_warn_of_file(groups, &columns);
	status = accuracy_report_runs(&accuracy);
	return status ? status : of_file;
}
