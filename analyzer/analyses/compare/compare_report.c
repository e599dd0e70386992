/* compare_report.c: writes the results of portolan compare. What is not defined is empty, and null in JSON. */
#include "compare_report.h"

#include <math.h>
#include <string.h>

static const struct rows_column correlation_columns[] = {{"measure", ROWS_TEXT}, {"run_a", ROWS_TEXT},
                                                         {"run_b", ROWS_TEXT},   {"examples", ROWS_WHOLE},
                                                         {"pearson", ROWS_REAL}, {"spearman", ROWS_REAL}};
static const struct rows_column average_columns[] = {{"measure", ROWS_TEXT},
                                                     {"pairs", ROWS_WHOLE},
                                                     {"examples", ROWS_WHOLE},
                                                     {"pearson", ROWS_REAL},
                                                     {"spearman", ROWS_REAL}};
static const struct rows_column region_columns[] = {
        {"run_a", ROWS_TEXT}, {"run_b", ROWS_TEXT}, {"from", ROWS_TEXT}, {"to", ROWS_TEXT}, {"examples", ROWS_WHOLE}};
static const struct rows_column pair_columns[] = {{"run_a", ROWS_TEXT},
                                                  {"run_b", ROWS_TEXT},
                                                  {"examples", ROWS_WHOLE},
                                                  {"only_a", ROWS_WHOLE},
                                                  {"only_b", ROWS_WHOLE}};
static const struct rows_column selection_columns[] = {
        {"run_a", ROWS_TEXT},       {"run_b", ROWS_TEXT},       {"rule", ROWS_TEXT},  {"examples", ROWS_WHOLE},
        {"selected_a", ROWS_WHOLE}, {"selected_b", ROWS_WHOLE}, {"both", ROWS_WHOLE}, {"overlap", ROWS_REAL},
        {"jaccard", ROWS_REAL},     {"by_chance", ROWS_REAL}};
static const struct rows_column epoch_columns[] = {{"epoch", ROWS_WHOLE},
                                                   {"examples", ROWS_WHOLE},
                                                   {"confidence_pearson", ROWS_REAL},
                                                   {"confidence_spearman", ROWS_REAL},
                                                   {"variability_pearson", ROWS_REAL},
                                                   {"variability_spearman", ROWS_REAL}};

struct average {
	const char *measure;
	size_t pairs;      /* that have the measure */
	uint64_t examples; /* the fewest */
	double pearson, spearman;
};

static const struct pair_correlation *
report_find_measure(const struct compare_pair *pair, const char *measure)
{
	for (size_t i = 0; i < pair->correlation_count; i++)
		if (strcmp(pair->correlations[i].measure, measure) == 0)
			return &pair->correlations[i];
	return NULL;
}

static struct average
report_average(const struct compare_result *result, const char *measure)
{
	struct average average = {.measure = measure, .examples = UINT64_MAX};
	size_t pearsons = 0, spearmans = 0;

	for (size_t p = 0; p < result->pair_count; p++) {
		const struct pair_correlation *row = report_find_measure(&result->pairs[p], measure);

		if (!row)
			continue;
		average.pairs++;
		average.examples = row->examples < average.examples ? row->examples : average.examples;
		if (isfinite(row->pearson)) {
			average.pearson += row->pearson;
			pearsons++;
		}
		if (isfinite(row->spearman)) {
			average.spearman += row->spearman;
			spearmans++;
		}
	}
	average.pearson = pearsons ? average.pearson / (double)pearsons : NAN;
	average.spearman = spearmans ? average.spearman / (double)spearmans : NAN;
	return average;
}

/* Returns the next measure, in the order of the first pair that has it; each measure once; NULL at the end. */
static const char *
report_next_measure(const struct compare_result *result, size_t *pair, size_t *row)
{
	for (; *pair < result->pair_count; (*pair)++, *row = 0) {
		while (*row < result->pairs[*pair].correlation_count) {
			const char *measure = result->pairs[*pair].correlations[(*row)++].measure;
			bool before = false;

			for (size_t p = 0; p < *pair && !before; p++)
				before = report_find_measure(&result->pairs[p], measure) != NULL;
			if (!before)
				return measure;
		}
	}
	return NULL;
}

static void
report_correlations(struct rows *rows, const struct compare_result *result)
{
	for (size_t p = 0; p < result->pair_count; p++) {
		for (size_t i = 0; i < result->pairs[p].correlation_count; i++) {
			const struct pair_correlation *line = &result->pairs[p].correlations[i];

			rows_text(rows, line->measure);
			rows_text(rows, result->pairs[p].run_a);
			rows_text(rows, result->pairs[p].run_b);
			rows_whole(rows, line->examples);
			rows_real(rows, line->pearson);
			rows_real(rows, line->spearman);
		}
	}
}

/* Adds the means over all pairs. In the table of correlations they have no runs. */
static void
report_averages(struct rows *rows, const struct compare_result *result)
{
	size_t pair = 0, row = 0;
	const char *measure;

	while ((measure = report_next_measure(result, &pair, &row)) != NULL) {
		struct average average = report_average(result, measure);

		rows_text(rows, measure);
		if (rows->columns == average_columns) {
			rows_whole(rows, average.pairs);
		} else {
			rows_empty(rows);
			rows_empty(rows);
		}
		rows_whole(rows, average.examples);
		rows_real(rows, average.pearson);
		rows_real(rows, average.spearman);
	}
}

static void
report_all_correlations(struct rows *rows, const struct compare_result *result)
{
	report_correlations(rows, result);
	if (result->pair_count > 1)
		report_averages(rows, result);
}

static void
report_regions(struct rows *rows, const struct compare_result *result)
{
	for (size_t p = 0; p < result->pair_count; p++) {
		for (unsigned from = 0; from < REGION_COUNT; from++) {
			for (unsigned to = 0; to < REGION_COUNT; to++) {
				rows_text(rows, result->pairs[p].run_a);
				rows_text(rows, result->pairs[p].run_b);
				rows_text(rows, region_names[from]);
				rows_text(rows, region_names[to]);
				rows_whole(rows, result->pairs[p].moves[from][to]);
			}
		}
	}
}

static void
report_pairs(struct rows *rows, const struct compare_result *result)
{
	for (size_t p = 0; p < result->pair_count; p++) {
		const struct compare_pair *pair = &result->pairs[p];

		rows_text(rows, pair->run_a);
		rows_text(rows, pair->run_b);
		rows_whole(rows, pair->examples);
		rows_whole(rows, pair->only_a);
		rows_whole(rows, pair->only_b);
	}
}

/* Adds to the counts of the selections a and b three shares: of the examples of a, those that are in b too; of the
 * examples in either, those that are in both; and the first share if b were drawn independently. */
static void
report_selections(struct rows *rows, const struct compare_result *result)
{
	for (size_t p = 0; p < result->pair_count; p++) {
		const struct compare_pair *pair = &result->pairs[p];
		const struct pair_overlap *overlap = &pair->overlap;
		double in_a = (double)overlap->in_a, in_b = (double)overlap->in_b, both = (double)overlap->both;

		rows_text(rows, pair->run_a);
		rows_text(rows, pair->run_b);
		rows_text(rows, result->rule);
		rows_whole(rows, pair->examples);
		rows_whole(rows, overlap->in_a);
		rows_whole(rows, overlap->in_b);
		rows_whole(rows, overlap->both);
		rows_real(rows, both / in_a);
		rows_real(rows, both / (in_a + in_b - both));
		rows_real(rows, in_b / (double)pair->examples);
	}
}

static void
report_epochs(struct rows *rows, const struct compare_result *result)
{
	for (size_t e = 0; e < result->epoch_count; e++) {
		const struct early_epoch *row = &result->epochs[e];

		rows_whole(rows, row->epoch);
		rows_whole(rows, row->examples);
		rows_real(rows, row->confidence_pearson);
		rows_real(rows, row->confidence_spearman);
		rows_real(rows, row->variability_pearson);
		rows_real(rows, row->variability_spearman);
	}
}

typedef void add_rows(struct rows *rows, const struct compare_result *result);

static int
report_write_table(const char *path, enum rows_format format, enum compare_table table,
                   const struct compare_result *result, struct portolan_error *error)
{
	static const struct {
		const struct rows_column *columns;
		size_t count;
		add_rows *add;
	} tables[] = {
	        [COMPARE_CORRELATIONS] = {correlation_columns, ROWS_COUNT(correlation_columns),
	                                  report_all_correlations},
	        [COMPARE_REGIONS] = {region_columns, ROWS_COUNT(region_columns), report_regions},
	        [COMPARE_SELECTIONS] = {selection_columns, ROWS_COUNT(selection_columns), report_selections},
	        [COMPARE_EPOCHS] = {epoch_columns, ROWS_COUNT(epoch_columns), report_epochs},
	};
	struct rows rows;
	int code = rows_open(&rows, path, format, tables[table].columns, tables[table].count, error);

	if (code < 0)
		return code;
	tables[table].add(&rows, result);
	return rows_close(&rows, error);
}

static void
report_rows(struct report *report, const char *key, const struct compare_result *result,
            const struct rows_column *columns, size_t count, add_rows *add)
{
	struct rows rows;

	rows_begin(&rows, report, key, columns, count);
	add(&rows, result);
	rows_end(&rows);
}

static void
report_moves(struct report *report, const struct compare_result *result)
{
	report_begin_list(report, "regions");
	for (size_t p = 0; p < result->pair_count; p++) {
		const struct compare_pair *pair = &result->pairs[p];

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
	struct report report;
	int code = report_open(&report, path, 2, error);

	if (code < 0)
		return code;
	report_begin(&report, NULL);
	report_rows(&report, "pairs", result, pair_columns, ROWS_COUNT(pair_columns), report_pairs);
	report_rows(&report, "correlations", result, correlation_columns, ROWS_COUNT(correlation_columns),
	            report_correlations);
	report_rows(&report, "averages", result, average_columns, ROWS_COUNT(average_columns), report_averages);
	report_moves(&report, result);
	report_rows(&report, "selections", result, selection_columns, ROWS_COUNT(selection_columns), report_selections);
	if (result->epochs) {
		report_begin(&report, "early_stopping");
		report_text(&report, "run", result->epochs_of);
		report_rows(&report, "epochs", result, epoch_columns, ROWS_COUNT(epoch_columns), report_epochs);
		report_end(&report);
	}
	report_end(&report);
	return report_close(&report, error);
}

int
compare_write(const struct common_options *common, enum rows_format format, enum compare_table table,
              const struct compare_result *result, struct portolan_error *error)
{
	return common->json ? report_write(common->output, result, error)
	                    : report_write_table(common->output, format, table, result, error);
}
