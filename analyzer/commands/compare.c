/*
 * compare.c: portolan compare: how alike runs see the same examples, how soon one run knows what it will know, and runs
 * put together into one table.
 *
 * The runs are held side by side, as numbers per example: every pair is compared from memory. Put together
 * (--average), only two are held at a time.
 */
#include "commands.h"

#include "dynamics/arrays.h"
#include "compare_average.h"
#include "compare_report.h"

#include "output/report.h"
#include "compare/early_chart.h"
#include "compare/early_stopping.h"
#include "compare/pairs.h"
#include "dynamics/aggregate.h"
#include "plot/chart.h"
#include "plot/picture.h"
#include "program/message.h"
#include "program/number.h"
#include "program/options.h"
#include "selection/region_list.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	KEY_FORMAT = 'f',
	KEY_SHOW = OPTION_KEY,
	KEY_BY,
	KEY_FRACTION,
	KEY_SEED,
	KEY_REGIONS,
	KEY_EARLY,
	KEY_PLOT,
	KEY_AVERAGE
};

enum show { SHOW_CORRELATIONS, SHOW_REGIONS, SHOW_SELECTIONS, SHOW_EARLY, SHOWS };
static const char *const show_names[SHOWS] = {"correlations", "regions", "selection", "early-stopping"};

struct compare {
	struct options options;
	int show, format; /* −1: not given */
	struct selection_rule rule;
	const char *rule_text;
	double fraction; /* NaN: not given */
	uint64_t seed;
	struct region_cuts cuts;
	bool has_cuts, early, average;
	const char *plot;
	struct picture picture;
	struct dynamics *runs;
	size_t loaded;
};

static int
take_cuts(struct compare *compare, const struct command *command, const char *text)
{
	compare->has_cuts = regions_parse_cuts(text, &compare->cuts);
	return compare->has_cuts
	               ? 0
	               : options_wrong(command, "--regions %s: say V,C, as in 0.3,0.5: a variability and a confidence",
	                               text);
}

static int
take_rule(struct compare *compare, const struct command *command, const char *text)
{
	compare->rule_text = text;
	if (selection_rule_parse(text, &compare->rule))
		return compare->rule.kind != SELECT_K_CENTER
		               ? 0
		               : options_wrong(command,
		                               "--by k-center: only portolan select takes the features it needs");
	options_choice(command, "rule", text, selection_names, SELECTION_NAMES);
	return STATUS_USAGE;
}

/* Takes one option; its status when it is wrong, else 0. */
static int
take_option(struct compare *compare, const struct command *command, int key, const char *text)
{
	switch (key) {
	case KEY_SHOW:
		compare->show = options_choice(command, "table", text, show_names, SHOWS);
		compare->early = compare->early || compare->show == SHOW_EARLY;
		return compare->show < 0 ? STATUS_USAGE : 0;
	case KEY_FORMAT:
		compare->format =
		        options_choice(command, "format", text, compare_average_formats, COMPARE_AVERAGE_FORMATS);
		return compare->format < 0 ? STATUS_USAGE : 0;
	case KEY_BY:
		return take_rule(compare, command, text);
	case KEY_FRACTION:
		if (!number_parse(text, &compare->fraction) || !(compare->fraction > 0 && compare->fraction <= 1))
			return options_wrong(command, "--fraction %s: a number above 0, up to 1", text);
		return 0;
	case KEY_SEED:
		if (!number_parse_u64(text, strlen(text), &compare->seed))
			return options_wrong(command, "--seed %s: a whole number", text);
		return 0;
	case KEY_REGIONS:
		return take_cuts(compare, command, text);
	case KEY_EARLY:
		compare->early = true;
		return 0;
	case KEY_PLOT:
		compare->plot = text;
		return 0;
	default:
		compare->average = true;
		return 0;
	}
}

static int
check_options(struct compare *compare, const struct command *command)
{
	const struct options *options = &compare->options;
	struct portolan_error error;

	if (options->operand_count == 0)
		return options_wrong(command, "which runs? portolan compare RUN RUN");
	if (compare->average && (compare->early || compare->show >= 0 || options->common.json))
		return options_wrong(command, "--average prints a table of examples: it goes with --format alone");
	if (compare->format >= 0 && !compare->average)
		return options_wrong(command, "--format is for --average; the comparison is CSV, or --json");
	if (compare->plot && !compare->early)
		return options_wrong(command, "--plot draws what --early-stopping finds: ask for that too");
	if (options->operand_count == 1 && !compare->early)
		return options_wrong(command, "'%s' with which other run? Or, of one run alone: --early-stopping",
		                     options->operands[0]);
	for (int r = 0; r < options->operand_count; r++)
		for (int s = 0; s < r; s++)
			if (strcmp(options->operands[r], options->operands[s]) == 0)
				return options_wrong(command, "run '%s' is named twice", options->operands[r]);
	if (options->operand_count > AGGREGATE_RUNS_MAX)
		return options_wrong(command, "at most %d runs at a time", AGGREGATE_RUNS_MAX);
	if (compare->plot && picture_init(&compare->picture, "--plot", compare->plot, CHART_DATA_ENDING, &error) < 0)
		return options_wrong(command, "%s", error.message);
	if (compare->show < 0)
		compare->show = compare->early ? SHOW_EARLY : SHOW_CORRELATIONS;
	if (isnan(compare->fraction)) /* the top third */
		compare->fraction = selection_rule_is_set(&compare->rule) ? 1 : 1.0 / 3;
	return 0;
}

/* Whether the pairs are looked at: not for early stopping alone. */
static bool
wants_pairs(const struct compare *compare)
{
	return compare->options.operand_count > 1 && (compare->options.common.json || compare->show != SHOW_EARLY);
}

static int
load_runs(struct compare *compare, struct portolan_error *error)
{
	size_t count = wants_pairs(compare) ? (size_t)compare->options.operand_count : 1;
	struct dynamics_request request = {
	        .measures = wants_pairs(compare) ? MEASURE_ALL
	                                         : MEASURE_BIT(MEASURE_CONFIDENCE) | MEASURE_BIT(MEASURE_VARIABILITY),
	        .user = wants_pairs(compare),
	};
	const struct common_options *common = &compare->options.common;
	char **names = compare->options.operands;

	compare->runs = calloc(count, sizeof(*compare->runs));
	if (!compare->runs)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu runs", count);
	for (size_t r = 0; r < count; r++) {
		int code = r == 0 ? dynamics_load(&compare->runs[0], common, names[0], &request, error)
		                  : dynamics_load_beside(&compare->runs[r], &compare->runs[r - 1], common, names[r],
		                                         &request, error);
		if (code < 0)
			return code;
		compare->loaded++;
	}
	return 0;
}

static void
free_runs(struct compare *compare)
{
	while (compare->loaded > 0) /* the store is the first one's */
		dynamics_free(&compare->runs[--compare->loaded]);
	free(compare->runs);
}

/* A rule by a user's own column can be judged only now. */
static int
check_rule(const struct compare *compare)
{
	const char *names[MEASURE_COUNT];

	for (unsigned m = 0; m < MEASURE_COUNT; m++)
		names[m] = measure_infos[m].name;
	for (size_t r = 0; r < compare->loaded; r++) {
		if (selection_rule_is_known(&compare->rule, &compare->runs[r]))
			continue;
		options_choice(compare->options.command, "measure", compare->rule.measure, names, MEASURE_COUNT);
		return STATUS_USAGE;
	}
	return 0;
}

static int
compare_pair(const struct compare *compare, size_t a, size_t b, uint8_t *const *regions, struct compare_pair *result,
             struct portolan_error *error)
{
	struct pair pair;
	int code = pair_init(&pair, &compare->runs[a], &compare->runs[b], error);

	if (code < 0)
		return code;
	result->run_a = pair.a->info->name;
	result->run_b = pair.b->info->name;
	result->examples = pair.shared;
	result->only_a = pair.a->count - pair.shared;
	result->only_b = pair.b->count - pair.shared;
	pair_moves(&pair, regions[a], regions[b], result->moves);
	code = pair_correlate(&pair, result->correlations, &result->correlation_count, error);
	if (code >= 0)
		code = pair_select(&pair, &compare->rule, compare->has_cuts ? &compare->cuts : NULL, compare->fraction,
		                   compare->seed, &result->overlap, error);
	pair_free(&pair);
	return code;
}

static int
compare_pairs(const struct compare *compare, struct compare_result *result, struct portolan_error *error)
{
	size_t count = compare->loaded;
	uint8_t **regions = calloc(count, sizeof(*regions));
	int code = 0;

	result->pairs = calloc(count * (count - 1) / 2, sizeof(*result->pairs));
	if (!regions || !result->pairs)
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu runs", count);
	for (size_t r = 0; r < count && code >= 0; r++)
		code = region_list(&compare->runs[r], compare->has_cuts ? &compare->cuts : NULL, &regions[r], error);
	for (size_t a = 0; a < count && code >= 0; a++)
		for (size_t b = a + 1; b < count && code >= 0; b++)
			code = compare_pair(compare, a, b, regions, &result->pairs[result->pair_count++], error);
	for (size_t r = 0; regions && r < count; r++)
		array_free(regions[r]);
	free(regions);
	return code;
}

static int
write_result(const struct compare *compare, const struct compare_result *result, struct portolan_error *error)
{
	static void (*const writers[SHOWS])(struct output *, const struct compare_result *) = {
	        compare_write_correlations, compare_write_regions, compare_write_selections, compare_write_epochs};
	struct output output;
	int code = output_open(&output, compare->options.common.output, error);

	if (code < 0)
		return code;
	if (!compare->options.common.json)
		writers[compare->show](&output, result);
	else if (report_write(&output, compare_json(result)) < 0)
		output_fail(&output);
	return output_finish(&output, error);
}

/* An exit status. */
static int
report_gaps(const struct compare *compare, const struct compare_result *result)
{
	struct aggregate_report report = {.shared = UINT64_MAX};
	bool apart = false;
	int status;

	for (size_t r = 0; r < compare->loaded; r++)
		aggregate_note_run(&report, &compare->runs[r]);
	status = aggregate_report_gaps(&report, compare->options.common.strict);
	for (size_t p = 0; p < result->pair_count; p++) {
		const struct compare_pair *pair = &result->pairs[p];
		char only_a[NUMBER_ROOM], only_b[NUMBER_ROOM];

		if (pair->only_a + pair->only_b == 0)
			continue;
		number_print_grouped(pair->only_a, only_a);
		number_print_grouped(pair->only_b, only_b);
		message_warning("not compared: %s examples that only run '%s' has, %s that only run '%s' has", only_a,
		                pair->run_a, only_b, pair->run_b);
		apart = true;
	}
	return apart && compare->options.common.strict ? STATUS_INCOMPLETE : status;
}

/* An exit status, or a negative code. */
static int
compare_runs(struct compare *compare, struct portolan_error *error)
{
	struct compare_result result = {.rule = compare->rule_text};
	int status = compare->plot ? picture_check(&compare->picture, error) : 0;

	if (status >= 0)
		status = load_runs(compare, error);
	if (status >= 0 && wants_pairs(compare))
		status = check_rule(compare);
	if (status == 0 && wants_pairs(compare))
		status = compare_pairs(compare, &result, error);
	if (status == 0 && compare->early) {
		result.epoch_count = compare->runs[0].epoch_count;
		result.epochs_of = compare->runs[0].info->name;
		status = early_stopping(&compare->runs[0], &result.epochs, error);
	}
	if (status == 0)
		status = write_result(compare, &result, error);
	if (status == 0 && compare->plot)
		status = early_chart(result.epochs_of, result.epochs, result.epoch_count, &compare->picture, error);
	if (status == 0)
		status = report_gaps(compare, &result);
	free(result.pairs);
	free(result.epochs);
	free_runs(compare);
	return status;
}

static int
run(const struct command *command, int argc, char **argv)
{
	struct compare compare = {.show = -1, .format = -1, .fraction = NAN, .rule_text = "ambiguous"};
	struct portolan_error error;
	int key, status;

	selection_rule_parse(compare.rule_text, &compare.rule);
	options_begin(&compare.options, command, argc, argv);
	while ((key = options_next(&compare.options)) > 0) {
		status = take_option(&compare, command, key, compare.options.argument);
		if (status != 0)
			return status;
	}
	if (key != OPTIONS_END)
		return compare.options.status;
	if (check_options(&compare, command) != 0)
		return STATUS_USAGE;
	status = compare.average ? compare_average(&compare.options, compare.format, &error)
	                         : compare_runs(&compare, &error);
	if (status < 0) {
		message_error("%s", error.message);
		return STATUS_FAILED;
	}
	return status;
}

static const struct command_option compare_options[] = {
        {"show", KEY_SHOW, "TABLE",
         "correlations, regions (how examples move between them), selection (how far the same examples are selected), "
         "or "
         "early-stopping. Default: correlations."},
        {"by", KEY_BY, "RULE", "The rule of the selection, as for portolan select. Default: ambiguous."},
        {"fraction", KEY_FRACTION, "F", "How much it selects. Default: a third; of forgettable and region: rules all."},
        {"seed", KEY_SEED, "N", "Seed of the rule random. Default: 0."},
        {"regions", KEY_REGIONS, "V,C",
         "Ambiguous is variability V or more; of the rest, easy-to-learn is confidence C or more. Default: each run's "
         "own top third, and 0.5."},
        {"early-stopping", KEY_EARLY, NULL,
         "Of the first run: after each epoch, how alike confidence and variability are to those of all epochs."},
        {"plot", KEY_PLOT, "FILE", "Draw that curve too: FILE.png, FILE.svg or FILE.pdf."},
        {"average", KEY_AVERAGE, NULL, "Print the runs as one table of measures, one line per example that all have."},
        {"format", KEY_FORMAT, "FORMAT", "Of --average: csv, jsonl or npy. Default: csv."},
        {0},
};

const struct command compare_command = {
        .name = "compare",
        .operands = "RUN RUN...",
        .summary = "compare the measures of several runs",
        .examples = "do seeds agree? The correlation of every measure, for each pair and on average\n"
                    "portolan compare snli/seed1 snli/seed2 snli/seed3\n"
                    "everything, as JSON\n"
                    "portolan compare snli/seed1 snli/seed2 --json\n"
                    "is the most variable third the same?\n"
                    "portolan compare snli/bert snli/roberta --show selection --by ambiguous\n"
                    "after how many epochs could training have stopped?\n"
                    "portolan compare snli/seed1 --early-stopping --plot early.svg\n"
                    "one table of all seeds\n"
                    "portolan compare snli/seed1 snli/seed2 snli/seed3 --average -o seeds.csv\n",
        .help = "Matches the examples of the runs by id and prints, as CSV, measure,run_a,run_b,examples,pearson,"
                "spearman for "
                "every pair of runs and every measure that both have. Of three runs or more, lines without runs "
                "follow: "
                "the means "
                "over the pairs for which the correlation is defined. examples counts those that have the measure in "
                "both runs; "
                "a correlation with something constant is not defined, and empty. Equal values share the mean of their "
                "ranks.\n\n"
                "With --show regions: run_a,run_b,from,to,examples. --show selection: "
                "run_a,run_b,rule,examples,selected_a,"
                "selected_b,both,overlap,jaccard,by_chance; overlap is the share of run_a's selection that is run_b's "
                "too, "
                "by_chance what it would be if the two had nothing to do with one another. The selection is made among "
                "the "
                "examples that both runs have.\n\n"
                "With --early-stopping (Swayamdipta et al. 2020, Fig. 6): epoch,examples,confidence_pearson,"
                "confidence_spearman,"
                "variability_pearson,variability_spearman; one run is enough. --json has all of it, early stopping "
                "where asked for.\n\n"
                "With --average: the columns of portolan metrics, as means over the runs, empty where empty in any; "
                "epochs "
                "and "
                "forgetting_events are sums, never_learned is 1 where no run learned the example. The gold label is "
                "the "
                "first run's.",
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_JSON | COMMON_STRICT | COMMON_THREADS |
                  COMMON_MEMORY,
        .options = compare_options,
        .run = run,
};
