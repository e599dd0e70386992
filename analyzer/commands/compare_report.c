/* compare_report.c: see compare_report.h. What is not defined is empty in CSV, null in JSON. */
#include "compare_report.h"

#include "output/report.h"
#include "output/text.h"

#include <math.h>
#include <string.h>

static void
write_runs(struct output *output, const struct compare_pair *pair)
{
	text_csv(output, pair->run_a, strlen(pair->run_a));
	output_bytes(output, ",", 1);
	text_csv(output, pair->run_b, strlen(pair->run_b));
}

struct average {
	const char *measure;
	size_t pairs;      /* that have the measure */
	uint64_t examples; /* the fewest */
	double pearson, spearman;
};

static const struct pair_correlation *
find_measure(const struct compare_pair *pair, const char *measure)
{
	for (size_t i = 0; i < pair->correlation_count; i++)
		if (strcmp(pair->correlations[i].measure, measure) == 0)
			return &pair->correlations[i];
	return NULL;
}

static struct average
average_of(const struct compare_result *result, const char *measure)
{
	struct average average = {.measure = measure, .examples = UINT64_MAX};
	size_t pearsons = 0, spearmans = 0;

	for (size_t p = 0; p < result->pair_count; p++) {
		const struct pair_correlation *row = find_measure(&result->pairs[p], measure);

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

/* The measures in the order of the first pair that has them; every measure once. */
static const char *
next_measure(const struct compare_result *result, size_t *pair, size_t *row)
{
	for (; *pair < result->pair_count; (*pair)++, *row = 0) {
		while (*row < result->pairs[*pair].correlation_count) {
			const char *measure = result->pairs[*pair].correlations[(*row)++].measure;
			bool before = false;

			for (size_t p = 0; p < *pair && !before; p++)
				before = find_measure(&result->pairs[p], measure) != NULL;
			if (!before)
				return measure;
		}
	}
	return NULL;
}

void
compare_write_correlations(struct output *output, const struct compare_result *result)
{
	size_t pair = 0, row = 0;
	const char *measure;

	output_text(output, "measure,run_a,run_b,examples,pearson,spearman\n");
	for (size_t p = 0; p < result->pair_count; p++) {
		for (size_t i = 0; i < result->pairs[p].correlation_count; i++) {
			const struct pair_correlation *line = &result->pairs[p].correlations[i];

			text_csv(output, line->measure, strlen(line->measure));
			output_bytes(output, ",", 1);
			write_runs(output, &result->pairs[p]);
			text_next_integer(output, line->examples);
			text_next_number(output, line->pearson);
			text_next_number(output, line->spearman);
			output_bytes(output, "\n", 1);
		}
	}
	while (result->pair_count > 1 && (measure = next_measure(result, &pair, &row)) != NULL) {
		struct average average = average_of(result, measure);

		text_csv(output, measure, strlen(measure));
		output_text(output, ",,");
		text_next_integer(output, average.examples);
		text_next_number(output, average.pearson);
		text_next_number(output, average.spearman);
		output_bytes(output, "\n", 1);
	}
}

void
compare_write_regions(struct output *output, const struct compare_result *result)
{
	output_text(output, "run_a,run_b,from,to,examples\n");
	for (size_t p = 0; p < result->pair_count; p++) {
		for (unsigned from = 0; from < REGION_COUNT; from++) {
			for (unsigned to = 0; to < REGION_COUNT; to++) {
				write_runs(output, &result->pairs[p]);
				output_printf(output, ",%s,%s", region_names[from], region_names[to]);
				text_next_integer(output, result->pairs[p].moves[from][to]);
				output_bytes(output, "\n", 1);
			}
		}
	}
}

/* Of what a selects, the share that b selects too; of what either selects, the share that both do; and what two
 * independent selections of these sizes would share. */
static double
overlap_share(const struct compare_pair *pair)
{
	return (double)pair->overlap.both / (double)pair->overlap.in_a;
}

static double
jaccard(const struct compare_pair *pair)
{
	const struct pair_overlap *overlap = &pair->overlap;

	return (double)overlap->both / (double)(overlap->in_a + overlap->in_b - overlap->both);
}

static double
share_by_chance(const struct compare_pair *pair)
{
	return (double)pair->overlap.in_b / (double)pair->examples;
}

void
compare_write_selections(struct output *output, const struct compare_result *result)
{
	output_text(output, "run_a,run_b,rule,examples,selected_a,selected_b,both,overlap,jaccard,by_chance\n");
	for (size_t p = 0; p < result->pair_count; p++) {
		const struct compare_pair *pair = &result->pairs[p];

		write_runs(output, pair);
		output_bytes(output, ",", 1);
		text_csv(output, result->rule, strlen(result->rule));
		text_next_integer(output, pair->examples);
		text_next_integer(output, pair->overlap.in_a);
		text_next_integer(output, pair->overlap.in_b);
		text_next_integer(output, pair->overlap.both);
		text_next_number(output, overlap_share(pair));
		text_next_number(output, jaccard(pair));
		text_next_number(output, share_by_chance(pair));
		output_bytes(output, "\n", 1);
	}
}

void
compare_write_epochs(struct output *output, const struct compare_result *result)
{
	output_text(output, "epoch,examples,confidence_pearson,confidence_spearman,variability_pearson,variability_spearman\n");
	for (size_t e = 0; e < result->epoch_count; e++) {
		const struct early_epoch *row = &result->epochs[e];

		text_integer(output, row->epoch);
		text_next_integer(output, row->examples);
		text_next_number(output, row->confidence_pearson);
		text_next_number(output, row->confidence_spearman);
		text_next_number(output, row->variability_pearson);
		text_next_number(output, row->variability_spearman);
		output_bytes(output, "\n", 1);
	}
}

static json_t *
correlations_json(const struct compare_result *result)
{
	json_t *list = json_array();

	for (size_t p = 0; p < result->pair_count; p++) {
		const struct compare_pair *pair = &result->pairs[p];

		for (size_t i = 0; i < pair->correlation_count; i++)
			json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:I, s:o, s:o}", "measure",
			                                      pair->correlations[i].measure, "run_a", pair->run_a,
			                                      "run_b", pair->run_b, "examples",
			                                      (json_int_t)pair->correlations[i].examples, "pearson",
			                                      report_number(pair->correlations[i].pearson), "spearman",
			                                      report_number(pair->correlations[i].spearman)));
	}
	return list;
}

static json_t *
averages_json(const struct compare_result *result)
{
	json_t *list = json_array();
	size_t pair = 0, row = 0;
	const char *measure;

	while ((measure = next_measure(result, &pair, &row)) != NULL) {
		struct average average = average_of(result, measure);

		json_array_append_new(
		        list, json_pack("{s:s, s:I, s:I, s:o, s:o}", "measure", measure, "pairs",
		                        (json_int_t)average.pairs, "examples", (json_int_t)average.examples, "pearson",
		                        report_number(average.pearson), "spearman", report_number(average.spearman)));
	}
	return list;
}

static json_t *
moves_json(const struct compare_pair *pair)
{
	json_t *moves = json_object();

	for (unsigned from = 0; from < REGION_COUNT; from++) {
		json_t *row = json_object();

		for (unsigned to = 0; to < REGION_COUNT; to++)
			json_object_set_new(row, region_names[to], json_integer((json_int_t)pair->moves[from][to]));
		json_object_set_new(moves, region_names[from], row);
	}
	return moves;
}

static void
pairs_json(const struct compare_result *result, json_t *pairs, json_t *regions, json_t *selections)
{
	for (size_t p = 0; p < result->pair_count; p++) {
		const struct compare_pair *pair = &result->pairs[p];

		json_array_append_new(pairs, json_pack("{s:s, s:s, s:I, s:I, s:I}", "run_a", pair->run_a, "run_b",
		                                       pair->run_b, "examples", (json_int_t)pair->examples, "only_a",
		                                       (json_int_t)pair->only_a, "only_b", (json_int_t)pair->only_b));
		json_array_append_new(regions, json_pack("{s:s, s:s, s:o}", "run_a", pair->run_a, "run_b", pair->run_b,
		                                         "moves", moves_json(pair)));
		json_array_append_new(
		        selections,
		        json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "run_a", pair->run_a, "run_b",
		                  pair->run_b, "rule", result->rule, "examples", (json_int_t)pair->examples,
		                  "selected_a", (json_int_t)pair->overlap.in_a, "selected_b",
		                  (json_int_t)pair->overlap.in_b, "both", (json_int_t)pair->overlap.both, "overlap",
		                  report_number(overlap_share(pair)), "jaccard", report_number(jaccard(pair)),
		                  "by_chance", report_number(share_by_chance(pair))));
	}
}

static json_t *
epochs_json(const struct compare_result *result)
{
	json_t *list = json_array();

	for (size_t e = 0; e < result->epoch_count; e++) {
		const struct early_epoch *row = &result->epochs[e];

		json_array_append_new(list, json_pack("{s:I, s:I, s:o, s:o, s:o, s:o}", "epoch", (json_int_t)row->epoch,
		                                      "examples", (json_int_t)row->examples, "confidence_pearson",
		                                      report_number(row->confidence_pearson), "confidence_spearman",
		                                      report_number(row->confidence_spearman), "variability_pearson",
		                                      report_number(row->variability_pearson), "variability_spearman",
		                                      report_number(row->variability_spearman)));
	}
	return json_pack("{s:s, s:o}", "run", result->epochs_of, "epochs", list);
}

json_t *
compare_json(const struct compare_result *result)
{
	json_t *pairs = json_array(), *regions = json_array(), *selections = json_array();
	json_t *report;

	pairs_json(result, pairs, regions, selections);
	report = json_pack("{s:o, s:o, s:o, s:o, s:o}", "pairs", pairs, "correlations", correlations_json(result),
	                   "averages", averages_json(result), "regions", regions, "selections", selections);
	if (report && result->epochs)
		json_object_set_new(report, "early_stopping", epochs_json(result));
	return report;
}
