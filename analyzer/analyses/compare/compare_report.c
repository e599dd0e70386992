/* compare_report.c: prints the results of `portolan compare`: one table, or all of them as JSON. What is not defined is
 * empty, and null in JSON. */
#include "compare_report.h"

#include "die/die.h"
#include "die/memory.h"

#include <string.h>

struct compare_move {
	const char *run_a, *run_b, *from, *to;
	uint64_t examples;
};

#define LINE(member) offsetof(struct pair_correlation, member)
#define MOVE(member) offsetof(struct compare_move, member)
#define PAIR(member) offsetof(struct compare_pair, member)
#define EPOCH(member) offsetof(struct early_epoch, member)

static const struct table_column correlation_columns[] = {{"measure", TABLE_TEXT, LINE(measure)},
                                                          {"run_a", TABLE_TEXT, LINE(run_a)},
                                                          {"run_b", TABLE_TEXT, LINE(run_b)},
                                                          {"examples", TABLE_U64, LINE(examples)},
                                                          {"pearson", TABLE_F64, LINE(pearson)},
                                                          {"spearman", TABLE_F64, LINE(spearman)},
                                                          {"pearson_low", TABLE_F64, LINE(interval.low)},
                                                          {"pearson_high", TABLE_F64, LINE(interval.high)}};
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
                                                    {"confidence_pearson", TABLE_F64, EPOCH(mean_pearson)},
                                                    {"confidence_spearman", TABLE_F64, EPOCH(mean_spearman)},
                                                    {"variability_pearson", TABLE_F64, EPOCH(variability_pearson)},
                                                    {"variability_spearman", TABLE_F64, EPOCH(variability_spearman)}};

static const struct table_column loss_epoch_columns[] = {
        {"epoch", TABLE_U32, EPOCH(epoch)},
        {"examples", TABLE_U64, EPOCH(examples)},
        {"task_loss_pearson", TABLE_F64, EPOCH(mean_pearson)},
        {"task_loss_spearman", TABLE_F64, EPOCH(mean_spearman)},
        {"variability_pearson", TABLE_F64, EPOCH(variability_pearson)},
        {"variability_spearman", TABLE_F64, EPOCH(variability_spearman)}};

static struct table
compare_epochs(const struct compare_result *result)
{
	return result->of_losses ? TABLE_OF(loss_epoch_columns, result->epochs, result->epoch_count)
	                         : TABLE_OF(epoch_columns, result->epochs, result->epoch_count);
}

/* Computes for one pair how much the selections a and b overlap. There are three such shares: of the examples of a,
 * those that are in b too; of the examples in either, those that are in both; and what the first share would be by
 * chance, if b were drawn independently. */
static double
compare_overlap(const void *row)
{
	const struct compare_pair *pair = row;

	return (double)pair->overlap.both / (double)pair->overlap.in_a;
}

static double
compare_jaccard(const void *row)
{
	const struct pair_overlap *overlap = &((const struct compare_pair *)row)->overlap;

	return (double)overlap->both / (double)(overlap->in_a + overlap->in_b - overlap->both);
}

static double
compare_by_chance(const void *row)
{
	const struct compare_pair *pair = row;

	return (double)pair->overlap.in_b / (double)pair->examples;
}

#define SELECTION_COLUMNS 10
static struct table
compare_selections(const struct compare_result *result, struct table_column columns[SELECTION_COLUMNS])
{
	const struct table_column list[SELECTION_COLUMNS] = {
	        {"run_a", TABLE_TEXT, PAIR(run_a)},
	        {"run_b", TABLE_TEXT, PAIR(run_b)},
	        {"rule", TABLE_TEXT, .values = &result->rule, .is_same = true},
	        {"examples", TABLE_U64, PAIR(examples)},
	        {"selected_a", TABLE_U64, PAIR(overlap.in_a)},
	        {"selected_b", TABLE_U64, PAIR(overlap.in_b)},
	        {"both", TABLE_U64, PAIR(overlap.both)},
	        {"overlap", TABLE_REAL_OF, .real = compare_overlap},
	        {"jaccard", TABLE_REAL_OF, .real = compare_jaccard},
	        {"by_chance", TABLE_REAL_OF, .real = compare_by_chance}};

	memcpy(columns, list, sizeof(list));
	return (struct table){.columns = columns,
	                      .column_count = SELECTION_COLUMNS,
	                      .rows = result->pair_count,
	                      .structs = result->pairs,
	                      .struct_size = sizeof(*result->pairs)};
}

static struct compare_move *
compare_moves(const struct compare_result *result, size_t *count)
{
	struct compare_move *moves = memory_new(REGION_COUNT * REGION_COUNT * result->pair_count, sizeof(*moves));

	*count = 0;
	for (const struct compare_pair *pair = result->pairs; pair < result->pairs + result->pair_count; pair++)
		for (unsigned from = 0; from < REGION_COUNT; from++)
			for (unsigned to = 0; to < REGION_COUNT; to++)
				moves[(*count)++] = (struct compare_move){pair->run_a, pair->run_b, region_names[from],
				                                          region_names[to], pair->moves[from][to]};
	return moves;
}

static void
compare_write_table(const char *path, enum table_format format, enum compare_table which,
                    const struct compare_result *result)
{
	CLEANUP_FREE struct compare_move *moves = NULL;
	struct table_column columns[SELECTION_COLUMNS];
	struct table table;
	size_t count;

	switch (which) {
	case COMPARE_CORRELATIONS:
		count = result->correlation_count + (result->pair_count > 1 ? result->mean_count : 0);
		table = TABLE_OF(correlation_columns, result->correlations, count);
		break;
	case COMPARE_REGIONS:
		moves = compare_moves(result, &count);
		table = TABLE_OF(move_columns, moves, count);
		break;
	case COMPARE_SELECTIONS:
		table = compare_selections(result, columns);
		break;
	default:
		table = compare_epochs(result);
	}
	must(table_write(&table, path, format, &failure));
}

/* Reports, for each pair of runs, how many examples are in which region in the one run and in the other. */
static void
compare_report_regions(struct report *report, const struct compare_result *result)
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

static void
compare_write_report(const char *path, const struct compare_result *result)
{
	struct table_column columns[SELECTION_COLUMNS];
	struct table selections = compare_selections(result, columns);
	const struct pair_correlation *list = result->correlations;
	size_t count = result->correlation_count;
	struct table epochs = compare_epochs(result);
	struct report report;

	must(report_open(&report, path, 2, &failure));
	report_begin(&report, NULL);
	table_report(&report, "pairs", &TABLE_OF(pair_columns, result->pairs, result->pair_count));
	table_report(&report, "correlations", &TABLE_OF(correlation_columns, list, count));
	table_report(&report, "averages", &TABLE_OF(average_columns, list + count, result->mean_count));
	if (!result->of_losses)
		compare_report_regions(&report, result);
	table_report(&report, "selections", &selections);
	if (result->epochs) {
		report_begin(&report, "early_stopping");
		report_text(&report, "run", result->epochs_of);
		table_report(&report, "epochs", &epochs);
		report_end(&report);
	}
	report_end(&report);
	must(report_close(&report, &failure));
}

void
compare_write(const struct common_options *common, enum table_format format, enum compare_table table,
              const struct compare_result *result)
{
	if (common->json)
		compare_write_report(common->output, result);
	else
		compare_write_table(common->output, format, table, result);
}
