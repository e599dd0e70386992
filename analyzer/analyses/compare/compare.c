/*
 * compare.c: the command `portolan compare`: computes how alike the measures of several runs are, or how soon the
 * measures of one run settle; or prints one table of measures for several runs.
 *
 * The measures of all runs are held at once, and every pair is compared from memory. For the one table (--average),
 * only two runs are held at a time.
 */
#include "compare_report.h"

#include "base/message.h"
#include "base/number.h"
#include "die/die.h"
#include "die/memory.h"
#include "early_stopping.h"
#include "fingerprint/other_labels.h"
#include "measures/aggregate.h"
#include "options/format.h"
#include "pairs.h"
#include "plot/chart.h"
#include "plot/picture.h"
#include "regions/regions.h"
#include "scatter.h"
#include "selection/rule_options.h"
#include "tables/run_table.h"

#include <progress.h>

#include <math.h>
#include <string.h>

static const char *const show_names[] = {"correlations", "regions", "selection", "early-stopping",
                                         NULL}; /* enum compare_table */

struct compare {
	struct common_options common;
	int show, format;  /* −1: not given */
	int never_learned; /* enum never_learned */
	struct selection_rule rule;
	const char *rule_text;
	double fraction;
	uint64_t seed;
	struct region_cuts cuts;
	bool has_cuts, early, average;
	bool any; /* with `average`: examples that any run has */
	const char *plot, *scatter;
	uint64_t sample; /* of --scatter: the most dots */
	struct picture picture;
	struct dynamics *runs;
	size_t loaded;
};

static int
compare_take_cuts(void *context, char *text)
{
	struct compare *compare = context;

	compare->has_cuts = true;
	return rule_parse_cuts(&compare->common, text, &compare->cuts);
}

static int
compare_take_rule(void *context, char *text)
{
	struct compare *compare = context;

	compare->rule_text = text;
	return rule_parse_plain(&compare->common, text, &compare->rule);
}

static bool
compare_wants_picture(const struct compare *compare)
{
	return compare->plot || compare->scatter;
}

static int
compare_check(void *context, struct portolan_error *error)
{
	struct compare *compare = context;
	struct common_options *common = &compare->common;
	int status;

	compare->early = compare->early || compare->show == COMPARE_EPOCHS;
	if (compare->plot && !compare->early)
		return options_wrong(common, "--plot draws what --early-stopping finds: ask for that too");
	if (compare->plot && common->operand_count > 1)
		return options_wrong(common, "--plot draws one run, and '%s' is another: draw it by itself",
		                     common->operands[1]);
	if (common->operand_count == 1 && !compare->early)
		return options_wrong(common, "'%s' with which other run? Or, of one run alone: --early-stopping",
		                     common->operands[0]);
	for (int r = 0; r < common->operand_count; r++)
		for (int s = 0; s < r; s++)
			if (strcmp(common->operands[r], common->operands[s]) == 0)
				return options_wrong(common, "run '%s' is named twice", common->operands[r]);
	if (compare->scatter && (compare->early || common->operand_count != 2))
		return options_wrong(common, "--scatter draws what two runs measured%s",
		                     compare->early ? ", and not their epochs" : ": name two");
	if (compare_wants_picture(compare) &&
	    picture_init(&compare->picture, PICTURE_CHART, compare->plot ? "--plot" : "--scatter",
	                 compare->plot ? compare->plot : compare->scatter, common->script, error) < 0)
		return PORTOLAN_E_INVALID;
	if (compare->show < 0)
		compare->show = compare->early ? COMPARE_EPOCHS : COMPARE_CORRELATIONS;
	if (!option_given(common, "by"))
		selection_rule_parse(compare->rule_text, &compare->rule);
	if (!option_given(common, "fraction")) /* by default selections are the top third */
		compare->fraction = selection_rule_is_set(&compare->rule) ? 1 : 1.0 / 3;
	if (!compare->average)
		return format_choose_rows(common, &compare->format);
	status = format_choose(common, table_format_names, &compare->format);
	if (status == 0 && format_is_for_people(common))
		compare->format = TABLE_ALIGNED;
	return status;
}

/* Are pairs of runs compared? Not if only early stopping was asked for. */
static bool
compare_wants_pairs(const struct compare *compare)
{
	return compare->common.operand_count > 1 && (compare->common.json || compare->show != COMPARE_EPOCHS);
}

static void
compare_load_runs(struct compare *compare)
{
	bool pairs = compare_wants_pairs(compare);
	struct dynamics_request request = {
	        .measures = pairs ? MEASURE_ALL
	                          : MEASURE_BIT(MEASURE_CONFIDENCE) | MEASURE_BIT(MEASURE_TASK_LOSS) |
	                                    MEASURE_BIT(MEASURE_VARIABILITY),
	        .user = pairs,
	        .losses = compare->show != COMPARE_REGIONS && !compare->has_cuts,
	        .trend = true,
	};
	const struct run_query *query = &compare->common.query;
	size_t count = pairs ? (size_t)compare->common.operand_count : 1;
	char **names = compare->common.operands;

	compare->runs = memory_new(count, sizeof(*compare->runs));
	must(dynamics_load(&compare->runs[0], query, names[0], &request, &failure));
	for (compare->loaded = 1; compare->loaded < count; compare->loaded++)
		must(dynamics_load_beside(&compare->runs[compare->loaded], &compare->runs[0], query,
		                          names[compare->loaded], &request, &failure));
	other_labels_warn(compare->runs[0].store, (const char *const *)names, count);
}

static void
compare_pair(const struct compare *compare, size_t a, size_t b, uint8_t *const *regions, struct compare_result *result)
{
	struct compare_pair *compared = &result->pairs[result->pair_count++];
	CLEANUP(pair_free) struct pair pair;

	pair_init(&pair, &compare->runs[a], &compare->runs[b]);
	compared->run_a = pair.a->info->name;
	compared->run_b = pair.b->info->name;
	compared->examples = pair.shared;
	compared->only_a = pair.a->count - pair.shared;
	compared->only_b = pair.b->count - pair.shared;
	if (!result->of_losses)
		pair_moves(&pair, regions[a], regions[b], compared->moves);
	result->correlation_count += pair_correlate(&pair, result->correlations + result->correlation_count);
	compared->overlap = pair_select(&pair, &compare->rule, compare->has_cuts ? &compare->cuts : NULL,
	                                compare->fraction, compare->seed);
}

/* The means of a measure's correlations over the pairs that have it. A correlation that is not defined does not
 * count. */
static struct pair_correlation
compare_mean(const struct pair_correlation *list, size_t count, const char *measure)
{
	struct pair_correlation mean = {.measure = measure, .examples = UINT64_MAX, .interval = {NAN, NAN}};
	size_t pearsons = 0, spearmans = 0;

	for (const struct pair_correlation *one = list; one < list + count; one++) {
		if (strcmp(one->measure, measure) != 0)
			continue;
		mean.pairs++;
		mean.examples = one->examples < mean.examples ? one->examples : mean.examples;
		if (isfinite(one->pearson)) {
			mean.pearson += one->pearson;
			pearsons++;
		}
		if (isfinite(one->spearman)) {
			mean.spearman += one->spearman;
			spearmans++;
		}
	}
	mean.pearson = pearsons ? mean.pearson / (double)pearsons : NAN;
	mean.spearman = spearmans ? mean.spearman / (double)spearmans : NAN;
	return mean;
}

/* Appends the means to the correlations of the pairs: one for each measure, in the order of the first pair that
 * has it. */
static void
compare_add_means(struct compare_result *result)
{
	struct pair_correlation *list = result->correlations;

	for (size_t i = 0; i < result->correlation_count; i++) {
		size_t first = 0;

		while (strcmp(list[first].measure, list[i].measure) != 0)
			first++;
		if (first == i)
			list[result->correlation_count + result->mean_count++] =
			        compare_mean(list, result->correlation_count, list[i].measure);
	}
}

static void
compare_pairs(const struct compare *compare, struct compare_result *result)
{
	size_t count = compare->loaded, pairs = count * (count - 1) / 2;
	CLEANUP_FREE uint8_t **regions = memory_new(count, sizeof(*regions));
	struct progress progress;

	result->pairs = memory_new(pairs, sizeof(*result->pairs));
	result->correlations = memory_new(2 * DYNAMICS_COLUMNS_MAX * pairs, sizeof(*result->correlations));
	for (size_t r = 0; r < count && !result->of_losses; r++)
		must(region_list(&compare->runs[r], compare->has_cuts ? &compare->cuts : NULL, &regions[r], &failure));
	progress_begin(&progress, "comparing", pairs);
	for (size_t a = 0; a < count; a++)
		for (size_t b = a + 1; b < count; b++) {
			compare_pair(compare, a, b, regions, result);
			progress_show(&progress, result->pair_count);
		}
	progress_clear(&progress);
	for (size_t r = 0; r < count; r++)
		array_free(regions[r]);
	compare_add_means(result);
}

/* Warns of what is incomplete in the runs, and of examples that only one run of a pair has. Returns an exit status. */
static int
compare_report_gaps(const struct compare *compare, const struct compare_result *result)
{
	struct aggregate_report report = {.shared = UINT64_MAX};
	struct dynamics_request ranked = {0};
	bool apart = false;
	int status;

	if (compare->show == COMPARE_REGIONS)
		ranked.measures = MEASURE_BIT(MEASURE_VARIABILITY);
	if (compare->show == COMPARE_SELECTIONS)
		selection_rule_request(&compare->rule, &ranked);
	for (size_t r = 0; r < compare->loaded; r++) {
		dynamics_report_variability(&compare->runs[r], ranked.measures);
		aggregate_note_run(&report, &compare->runs[r]);
	}
	status = aggregate_report_gaps(&report, compare->common.strict);
	for (size_t p = 0; p < result->pair_count; p++) {
		const struct compare_pair *pair = &result->pairs[p];

		if (pair->only_a + pair->only_b == 0)
			continue;
		message_warning("not compared: %s examples that only run '%s' has, %s that only run '%s' has",
		                NUMBER_GROUPED(pair->only_a), pair->run_a, NUMBER_GROUPED(pair->only_b), pair->run_b);
		apart = true;
	}
	return apart && compare->common.strict ? STATUS_INCOMPLETE : status;
}

static void
compare_free(struct compare_result *result)
{
	free(result->pairs);
	free(result->correlations);
	free(result->epochs);
}

/* Compares the runs with one another, or the epochs of one run. Returns an exit status. */
static int
compare_runs(struct compare *compare)
{
	CLEANUP(compare_free) struct compare_result result = {.rule = compare->rule_text};
	bool pairs = compare_wants_pairs(compare);

	if (compare_wants_picture(compare))
		must(picture_check(&compare->picture, &failure));
	compare_load_runs(compare);
	result.of_losses = compare->runs[0].info->of_losses;
	for (size_t r = 1; r < compare->loaded; r++)
		must(dynamics_check_alike(&compare->runs[0], &compare->runs[r], &failure));
	selection_rule_settle(&compare->rule, &compare->runs[0]);
	for (size_t r = 0; r < compare->loaded && pairs; r++)
		if (rule_check(&compare->common, &compare->rule, &compare->runs[r]) != 0)
			return STATUS_USAGE;
	if (pairs)
		compare_pairs(compare, &result);
	if (compare->early) {
		result.epoch_count = compare->runs[0].epoch_count;
		result.epochs_of = compare->runs[0].info->name;
		result.epochs = early_stopping(&compare->runs[0]);
	}
	compare_write(&compare->common, (enum table_format)compare->format, (enum compare_table)compare->show, &result);
	if (compare->plot)
		early_chart(&compare->runs[0], result.epochs, result.epoch_count, &compare->picture);
	if (compare->scatter)
		scatter_draw(&compare->runs[0], &compare->runs[1], compare->sample, compare->seed, &compare->picture);
	return compare_report_gaps(compare, &result);
}

/* Prints one table of measures for all runs. Returns an exit status. */
static int
compare_average(const struct compare *compare)
{
	const struct dynamics_request request = {.measures = MEASURE_ALL, .gold = true, .user = true, .losses = true};
	const struct common_options *common = &compare->common;
	CLEANUP(dynamics_free) struct dynamics dynamics = {.store = NULL};
	struct aggregate_report report;

	must(dynamics_load_aggregate(&dynamics, &common->query, common->operands, (size_t)common->operand_count,
	                             &request, (enum never_learned)compare->never_learned,
	                             compare->any ? AGGREGATE_ANY : AGGREGATE_SHARED, &report, &failure));
	must(run_table_write(&dynamics, common->output, (enum table_format)compare->format, &failure));
	return aggregate_report_gaps(&report, common->strict);
}

static int
compare_run(void *context, struct portolan_error *error)
{
	struct compare *compare = context;
	int status = compare->average ? compare_average(compare) : compare_runs(compare);

	(void)error;
	while (compare->loaded > 0) /* the other runs use the store of the first, so it is freed last */
		dynamics_free(&compare->runs[--compare->loaded]);
	free(compare->runs);
	return status;
}

#define TO(member) .offset = offsetof(struct compare, member)
static const struct option_spec compare_options[] = {
        {"show", "TABLE", OPTION_CHOICE, TO(show), .choices = show_names, .group = OPTION_GROUP_OUTPUT, .often = true},
        {"by", "RULE", OPTION_RULE, .take = compare_take_rule, .often = true},
        {"fraction", "F", OPTION_REAL, TO(fraction), .range = RANGE_ABOVE_TO, .to = 1},
        {"scatter", "FILE", OPTION_OUTPUT, TO(scatter), .often = true},
        {"sample", "N", OPTION_WHOLE, TO(sample), .least = 1, .needs = "scatter", .group = OPTION_GROUP_HOW},
        {"seed", "N", OPTION_WHOLE, TO(seed), .group = OPTION_GROUP_HOW},
        {"regions", "V,C", OPTION_TEXT, .take = compare_take_cuts, .group = OPTION_GROUP_HOW},
        {"early-stopping", NULL, OPTION_FLAG, TO(early), .often = true},
        {"plot", "FILE", OPTION_OUTPUT, TO(plot), .often = true},
        {"average", NULL, OPTION_FLAG, TO(average), .excludes = "early-stopping show json plot scatter",
         .group = OPTION_GROUP_OUTPUT, .often = true},
        {"never-learned", "CONVENTION", OPTION_CHOICE, TO(never_learned), .choices = never_learned_names,
         .needs = "average", .group = OPTION_GROUP_HOW},
        {"union", NULL, OPTION_FLAG, TO(any), .needs = "average", .group = OPTION_GROUP_HOW},
        {"format", "FORMAT", OPTION_CHOICE, TO(format), 'f', .choices = table_format_names, .needs = "average",
         .group = OPTION_GROUP_OUTPUT},
        {0},
};

static const struct compare defaults = {.show = -1,
                                        .format = -1,
                                        .never_learned = NEVER_LEARNED_EPOCHS,
                                        .rule_text = "ambiguous",
                                        .sample = SCATTER_SAMPLE};

extern const struct help help_compare;

const struct command compare_command = {
        .name = "compare",
        .operands = "RUN RUN...",
        .help = &help_compare,
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_WINDOW | COMMON_JSON | COMMON_STRICT |
                  COMMON_THREADS | COMMON_MEMORY | COMMON_SCRIPT,
        .options = compare_options,
        .operand = "run",
        .least = 1,
        .most = AGGREGATE_RUNS_MAX,
        .request_size = sizeof(struct compare),
        .defaults = &defaults,
        .check = compare_check,
        .run = compare_run,
};
