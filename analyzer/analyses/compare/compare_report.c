/* compare_report.c: writes the results of portolan compare. What is not defined is empty, and null in JSON. */
#include "compare_report.h"

#include "die/memory.h"

#include <math.h>
#include <string.h>

/* A correlation of a pair, or the mean over the pairs that have the measure: without runs. */
struct report_line {
	const char *measure, *run_a, *run_b;
	uint64_t pairs, examples; /* examples: the fewest of a pair */
	double pearson, spearman;
};

struct report_move {
	const char *run_a, *run_b, *from, *to;
	uint64_t examples;
};

#define LINE(member) offsetof(struct report_line, member)
#define MOVE(member) offsetof(struct report_move, member)
#define PAIR(member) offsetof(struct compare_pair, member)
#define EPOCH(member) offsetof(struct early_epoch, member)

static const struct table_column correlation_columns[] = {
        {"measure", TABLE_TEXT, LINE(measure)}, {"run_a", TABLE_TEXT, LINE(run_a)},
        {"run_b", TABLE_TEXT, LINE(run_b)},     {"examples", TABLE_U64, LINE(examples)},
        {"pearson", TABLE_F64, LINE(pearson)},  {"spearman", TABLE_F64, LINE(spearman)}};
static const struct table_column average_columns[] = {{"measure", TABLE_TEXT, LINE(measure)},
                                                      {"pairs", TABLE_U64, LINE(pairs)},
                                                      {"examples", TABLE_U64, LINE(examples)},
                                                      {"pearson", TABLE_F64, LINE(pearson)},
                                                      {"spearman", TABLE_F64, LINE(spearman)}};
static const struct table_column move_columns[] = {{"run_a", TABLE_TEXT, MOVE(run_a)},
                                                   {"run_b", TABLE_TEXT, MOVE(run_b)},
                                                   {"from", TABLE_TEXT, MOVE(from)},
                                                   {"to", TABLE_TEXT, MOVE(to)},
                                                   {"examples", TABLE_U64, MOVE(examples)}};
static const struct table_column pair_columns[] = {{"run_a", TABLE_TEXT, PAIR(run_a)},
                                                   {"run_b", TABLE_TEXT, PAIR(run_b)},
                                                   {"examples", TABLE_U64, PAIR(examples)},
                                                   {"only_a", TABLE_U64, PAIR(only_a)},
                                                   {"only_b", TABLE_U64, PAIR(only_b)}};
static const struct table_column epoch_columns[] = {{"epoch", TABLE_U32, EPOCH(epoch)},
                                                    {"examples", TABLE_U64, EPOCH(examples)},
                                                    {"confidence_pearson", TABLE_F64, EPOCH(confidence_pearson)},
                                                    {"confidence_spearman", TABLE_F64, EPOCH(confidence_spearman)},
                                                    {"variability_pearson", TABLE_F64, EPOCH(variability_pearson)},
                                                    {"variability_spearman", TABLE_F64, EPOCH(variability_spearman)}};

/* Three shares of the selections a and b: of the examples of a, those that are in b too; of the examples in either,
 * those that are in both; and the first share if b were drawn independently. */
static double
report_overlap(const void *row)
{
	const struct compare_pair *pair = row;

	return (double)pair->overlap.both / (double)pair->overlap.in_a;
}

static double
report_jaccard(const void *row)
{
	const struct pair_overlap *overlap = &((const struct compare_pair *)row)->overlap;

	return (double)overlap->both / (double)(overlap->in_a + overlap->in_b - overlap->both);
}

static double
report_by_chance(const void *row)
{
	const struct compare_pair *pair = row;

	return (double)pair->overlap.in_b / (double)pair->examples;
}

#define SELECTION_COLUMNS 10
static struct table
report_selections(const struct compare_result *result, struct table_column columns[SELECTION_COLUMNS])
{
	const struct table_column list[SELECTION_COLUMNS] = {
	        {"run_a", TABLE_TEXT, PAIR(run_a)},
	        {"run_b", TABLE_TEXT, PAIR(run_b)},
	        {"rule", TABLE_TEXT, .values = &result->rule, .is_same = true},
	        {"examples", TABLE_U64, PAIR(examples)},
	        {"selected_a", TABLE_U64, PAIR(overlap.in_a)},
	        {"selected_b", TABLE_U64, PAIR(overlap.in_b)},
	        {"both", TABLE_U64, PAIR(overlap.both)},
	        {"overlap", TABLE_REAL_OF, .real = report_overlap},
	        {"jaccard", TABLE_REAL_OF, .real = report_jaccard},
	        {"by_chance", TABLE_REAL_OF, .real = report_by_chance}};

	memcpy(columns, list, sizeof(list));
	return (struct table){.columns = columns,
	                      .column_count = SELECTION_COLUMNS,
	                      .rows = result->pair_count,
	                      .structs = result->pairs,
	                      .struct_size = sizeof(*result->pairs)};
}

/* Adds up the correlations of a measure over all pairs, and divides. A correlation that is not defined does not
 * count. */
static struct report_line
report_average(const struct report_line *lines, size_t count, const char *measure)
{
	struct report_line average = {.measure = measure, .examples = UINT64_MAX};
	size_t pearsons = 0, spearmans = 0;

	for (const struct report_line *line = lines; line < lines + count; line++) {
		if (strcmp(line->measure, measure) != 0)
			continue;
		average.pairs++;
		average.examples = line->examples < average.examples ? line->examples : average.examples;
		if (isfinite(line->pearson)) {
			average.pearson += line->pearson;
			pearsons++;
		}
		if (isfinite(line->spearman)) {
			average.spearman += line->spearman;
			spearmans++;
		}
	}
	average.pearson = pearsons ? average.pearson / (double)pearsons : NAN;
	average.spearman = spearmans ? average.spearman / (double)spearmans : NAN;
	return average;
}

/* Lists the correlations of all pairs, and behind them the averages of all measures, in the order of the first pair that
 * has the measure. *count and *averages: how many. */
static struct report_line *
report_lines(const struct compare_result *result, size_t *count, size_t *averages)
{
	struct report_line *lines = memory_new(2 * DYNAMICS_COLUMNS_MAX * result->pair_count, sizeof(*lines));

	*count = *averages = 0;
	for (size_t p = 0; p < result->pair_count; p++) {
		const struct compare_pair *pair = &result->pairs[p];

		for (size_t i = 0; i < pair->correlation_count; i++) {
			const struct pair_correlation *one = &pair->correlations[i];

			lines[(*count)++] = (struct report_line){.measure = one->measure,
			                                         .run_a = pair->run_a,
			                                         .run_b = pair->run_b,
			                                         .examples = one->examples,
			                                         .pearson = one->pearson,
			                                         .spearman = one->spearman};
		}
	}
	for (size_t i = 0; i < *count; i++) {
		size_t first = 0;

		while (strcmp(lines[first].measure, lines[i].measure) != 0)
			first++;
		if (first == i)
			lines[*count + (*averages)++] = report_average(lines, *count, lines[i].measure);
	}
	return lines;
}

static struct report_move *
report_moves(const struct compare_result *result, size_t *count)
{
	struct report_move *moves = memory_new(REGION_COUNT * REGION_COUNT * result->pair_count, sizeof(*moves));

	*count = 0;
	for (const struct compare_pair *pair = result->pairs; pair < result->pairs + result->pair_count; pair++)
		for (unsigned from = 0; from < REGION_COUNT; from++)
			for (unsigned to = 0; to < REGION_COUNT; to++)
				moves[(*count)++] = (struct report_move){pair->run_a, pair->run_b, region_names[from],
				                                         region_names[to], pair->moves[from][to]};
	return moves;
}

static int
report_write_table(const char *path, enum table_format format, enum compare_table which,
                   const struct compare_result *result, struct portolan_error *error)
{
	CLEANUP_FREE struct report_move *moves = NULL;
	CLEANUP_FREE struct report_line *lines = NULL;
	struct table_column columns[SELECTION_COLUMNS];
	size_t count, averages;
	struct table table;

	switch (which) {
	case COMPARE_CORRELATIONS:
		lines = report_lines(result, &count, &averages);
		table = TABLE_OF(correlation_columns, lines, count + (result->pair_count > 1 ? averages : 0));
		break;
	case COMPARE_REGIONS:
		moves = report_moves(result, &count);
		table = TABLE_OF(move_columns, moves, count);
		break;
	case COMPARE_SELECTIONS:
		table = report_selections(result, columns);
		break;
	default:
		table = TABLE_OF(epoch_columns, result->epochs, result->epoch_count);
	}
	return table_write(&table, path, format, error);
}

/* Reports how many examples move from region to region: an object for each pair. */
static void
report_regions(struct report *report, const struct compare_result *result)
{
	report_begin_list(report, "regions");
	for (const struct compare_pair *pair = result->pairs; pair < result->pairs + result->pair_count; pair++) {
		report_begin(report, NULL);
		report_text(report, "run_a", pair->run_a);
		report_text(report, "run_b", pair->run_b);
		report_begin(report, "moves");
		for (unsigned from = 0; from < REGION_COUNT; from++) {
			report_begin(report, region_names[from]);
			for (unsigned to = 0; to < REGION_COUNT; to++)
				report_whole(report, region_names[to], pair->moves[from][to]);
			report_end(report);
		}
		report_end(report);
		report_end(report);
	}
	report_end(report);
}

static int
report_write(const char *path, const struct compare_result *result, struct portolan_error *error)
{
	struct table_column columns[SELECTION_COLUMNS];
	struct table selections = report_selections(result, columns);
	size_t count, averages;
	CLEANUP_FREE struct report_line *lines = report_lines(result, &count, &averages);
	struct report report;
	int code = report_open(&report, path, 2, error);

	if (code < 0)
		return code;
	report_begin(&report, NULL);
	table_report(&report, "pairs", &TABLE_OF(pair_columns, result->pairs, result->pair_count));
	table_report(&report, "correlations", &TABLE_OF(correlation_columns, lines, count));
	table_report(&report, "averages", &TABLE_OF(average_columns, lines + count, averages));
	report_regions(&report, result);
	table_report(&report, "selections", &selections);
	if (result->epochs) {
		report_begin(&report, "early_stopping");
		report_text(&report, "run", result->epochs_of);
		table_report(&report, "epochs", &TABLE_OF(epoch_columns, result->epochs, result->epoch_count));
		report_end(&report);
	}
	report_end(&report);
	return report_close(&report, error);
}

int
compare_write(const struct common_options *common, enum table_format format, enum compare_table table,
              const struct compare_result *result, struct portolan_error *error)
{
	return common->json ? report_write(common->output, result, error)
	                    : report_write_table(common->output, format, table, result, error);
}
