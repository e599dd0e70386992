/*
 * noise.c: portolan noise: finding mislabelled examples, with labels flipped on purpose or without.
 *
 * One command line for four actions: an option that the action does not take is wrong, not ignored.
 */
#include "commands.h"

#include "noise.h"

#include "plot/chart.h"
#include "program/message.h"
#include "program/number.h"

#include <portolan/error.h>

#include <string.h>

enum {
	KEY_FORMAT = 'f',
	KEY_FRACTION = OPTION_KEY,
	KEY_SEED,
	KEY_REGIONS,
	KEY_FLIPS,
	KEY_BEFORE,
	KEY_MODEL,
	KEY_BY,
	KEY_COUNT,
	KEY_THRESHOLD,
	KEY_PLOT
};

enum action { PLAN, FIT, APPLY, MIXTURE, ACTIONS };
static const char *const action_names[ACTIONS] = {"plan", "fit", "apply", "mixture"};
static int (*const actions[ACTIONS])(const struct noise_request *, struct portolan_error *) = {
        noise_action_plan, noise_action_fit, noise_action_apply, noise_action_mixture};

#define OF(action) (1u << (action))
static const struct {
	int key;
	const char *name;
	unsigned actions; /* that take it */
} takers[] = {
        {KEY_FORMAT, "--format", OF(APPLY) | OF(MIXTURE)},
        {KEY_FRACTION, "--fraction", OF(PLAN) | OF(APPLY) | OF(MIXTURE)},
        {KEY_SEED, "--seed", OF(PLAN) | OF(FIT)},
        {KEY_REGIONS, "--regions", OF(PLAN)},
        {KEY_FLIPS, "--flips", OF(FIT)},
        {KEY_BEFORE, "--before", OF(FIT)},
        {KEY_MODEL, "--model", OF(APPLY)},
        {KEY_BY, "--by", OF(MIXTURE)},
        {KEY_COUNT, "--count", OF(APPLY) | OF(MIXTURE)},
        {KEY_THRESHOLD, "--threshold", OF(APPLY) | OF(MIXTURE)},
        {KEY_PLOT, "--plot", OF(FIT) | OF(MIXTURE)},
};
#define TAKERS (sizeof(takers) / sizeof(takers[0]))

static int
take_number(const struct command *command, const char *option, const char *text, double *number)
{
	if (!number_parse(text, number) || *number < 0 || *number > 1)
		return options_wrong(command, "%s %s: a number from 0 to 1", option, text);
	return 0;
}

static int
take_cuts(struct noise_request *request, const struct command *command, const char *text)
{
	request->has_cuts = regions_parse_cuts(text, &request->cuts);
	return request->has_cuts
	               ? 0
	               : options_wrong(command, "--regions %s: say V,C, as in 0.3,0.5: a variability and a confidence",
	                               text);
}

static int
take_choice(const struct command *command, const char *what, const char *text, const char *const names[2], bool *second)
{
	int choice = options_choice(command, what, text, names, 2);

	*second = choice == 1;
	return choice < 0 ? STATUS_USAGE : 0;
}

/* Takes one option; its status when it is wrong, else 0. */
static int
take_option(struct noise_request *request, const struct command *command, int key, const char *text)
{
	static const char *const formats[] = {"csv", "jsonl"}, *const measures[] = {"confidence", "aum"};

	switch (key) {
	case KEY_FORMAT:
		return take_choice(command, "format", text, formats, &request->jsonl);
	case KEY_BY:
		return take_choice(command, "measure", text, measures, &request->by_aum);
	case KEY_FRACTION:
		request->size.has_fraction = true;
		return take_number(command, "--fraction", text, &request->size.fraction);
	case KEY_THRESHOLD:
		request->size.has_threshold = true;
		return take_number(command, "--threshold", text, &request->size.threshold);
	case KEY_COUNT:
		request->size.has_count = true;
		if (!number_parse_u64(text, strlen(text), &request->size.count) || request->size.count == 0)
			return options_wrong(command, "--count %s: a whole number from 1", text);
		return 0;
	case KEY_SEED:
		if (!number_parse_u64(text, strlen(text), &request->seed) || request->seed > INT64_MAX)
			return options_wrong(command, "--seed %s: a whole number", text);
		return 0;
	case KEY_REGIONS:
		return take_cuts(request, command, text);
	case KEY_FLIPS:
		request->flips = text;
		return 0;
	case KEY_BEFORE:
		request->before = text;
		return 0;
	case KEY_MODEL:
		request->model = text;
		return 0;
	default:
		request->plot = text;
		return 0;
	}
}

/* What an action needs, and what does not go together. */
static int
check_needs(struct noise_request *request, const struct command *command, enum action action)
{
	const struct common_options *common = &request->options.common;
	struct portolan_error error;

	if (action == PLAN && !request->size.has_fraction)
		return options_wrong(command, "plan: how many labels to flip? as in --fraction 0.01");
	if (action == PLAN && !common->output)
		return options_wrong(command, "plan: where to? -o FLIPS.tsv (- is standard output)");
	if (action == FIT && !request->flips)
		return options_wrong(command,
		                     "fit: which labels were flipped? --flips FLIPS.tsv, as noise plan wrote it");
	if (action == FIT && (!common->output || strcmp(common->output, "-") == 0))
		return options_wrong(command, "fit: where to write the model? -o MODEL");
	if (action == APPLY && !request->model)
		return options_wrong(command, "apply: which model? --model MODEL, as noise fit wrote it");
	if (action != FIT && common->json)
		return options_wrong(command, "%s prints a table, not a report: see --format", action_names[action]);
	if (request->before && !request->plot)
		return options_wrong(command, "--before is drawn beside the retrained run: ask for --plot too");
	if (request->size.has_count + request->size.has_fraction + request->size.has_threshold > 1)
		return options_wrong(command, "one of --count, --fraction and --threshold");
	if (request->options.common.script && !request->plot)
		return options_wrong(command, "--script goes with --plot");
	if (request->plot && picture_init(&request->picture, PICTURE_CHART, "--plot", request->plot,
	                                  request->options.common.script, &error) < 0)
		return options_wrong(command, "%s", error.message);
	return 0;
}

/* The action's number, or a negative number when the command line is wrong. `given` has bit i for takers[i]. */
static int
find_action(struct noise_request *request, const struct command *command, unsigned given)
{
	const struct options *options = &request->options;
	int action;

	if (options->operand_count == 0) {
		options_wrong(command, "which action? portolan noise plan, fit, apply or mixture");
		return -1;
	}
	action = options_choice(command, "action", options->operands[0], action_names, ACTIONS);
	if (action < 0)
		return -1;
	if (options->operand_count != 2) {
		if (options->operand_count < 2)
			options_wrong(command, "%s: of which run?", action_names[action]);
		else
			options_wrong(command, "%s: one run at a time: '%s' is one too many", action_names[action],
			              options->operands[2]);
		return -1;
	}
	for (size_t i = 0; i < TAKERS; i++) {
		if (given & 1u << i && !(takers[i].actions & OF(action))) {
			options_wrong(command, "%s does not take %s", action_names[action], takers[i].name);
			return -1;
		}
	}
	request->run = options->operands[1];
	return check_needs(request, command, (enum action)action) != 0 ? -1 : action;
}

static int
run(const struct command *command, int argc, char **argv)
{
	struct noise_request request = {0};
	struct portolan_error error;
	unsigned given = 0;
	int key, status, action;

	options_begin(&request.options, command, argc, argv);
	while ((key = options_next(&request.options)) > 0) {
		status = take_option(&request, command, key, request.options.argument);
		if (status != 0)
			return status;
		for (size_t i = 0; i < TAKERS; i++)
			given |= takers[i].key == key ? 1u << i : 0;
	}
	if (key != OPTIONS_END)
		return request.options.status;
	action = find_action(&request, command, given);
	if (action < 0)
		return STATUS_USAGE;
	status = actions[action](&request, &error);
	if (status < 0) {
		message_error("%s", error.message);
		return STATUS_FAILED;
	}
	return status;
}

static const struct command_option noise_options[] = {
        {"fraction", KEY_FRACTION, "F",
         "plan: flip this fraction of the examples. apply, mixture: print this fraction of the suspects."},
        {"seed", KEY_SEED, "N", "plan, fit: seed of what is drawn at random. Default: 0."},
        {"regions", KEY_REGIONS, "V,C",
         "plan: easy-to-learn is variability below V and confidence C or more. Default: below the top third, and 0.5."},
        {"flips", KEY_FLIPS, "FILE", "fit: what noise plan wrote."},
        {"before", KEY_BEFORE, "RUN", "fit: draw the run before flipping beside the retrained one."},
        {"model", KEY_MODEL, "FILE", "apply: what noise fit wrote."},
        {"by", KEY_BY, "MEASURE", "mixture: confidence or aum. Default: confidence."},
        {"count", KEY_COUNT, "N", "apply, mixture: print the first N suspects. Default: all."},
        {"threshold", KEY_THRESHOLD, "S", "apply, mixture: print those with a score of S or more."},
        {"format", KEY_FORMAT, "FORMAT", "apply, mixture: csv or jsonl. Default: csv."},
        {"plot", KEY_PLOT, "FILE",
         "fit, mixture: draw the densities: FILE.png, FILE.svg or FILE.pdf; script and data are left beside."},
        {0},
};

const struct command noise_command = {
        .name = "noise",
        .operands = "plan|fit|apply|mixture RUN",
        .summary = "find examples that are likely mislabelled",
        .examples =
                "which labels to flip: 1% of the examples, among the easy ones\n"
                "portolan noise plan snli/seed1 --fraction 0.01 -o flips.tsv\n"
                "after training again with these flipped: what do flipped examples look like?\n"
                "portolan noise fit snli/flipped --flips flips.tsv -o model.json --before snli/seed1 --plot flips.svg\n"
                "who looks like that in the original data?\n"
                "portolan noise apply snli/seed1 --model model.json --count 100\n"
                "without training again\n"
                "portolan noise mixture snli/seed1 --threshold 0.9 --plot mixture.svg\n",
        .help = "plan, fit and apply are the procedure of Swayamdipta et al. 2020, section 5. plan draws examples at "
                "random from the easy-to-learn region and prints id, old and new label (class numbers), separated by "
                "tabs; every other class is as likely. Beside FLIPS.tsv stands FLIPS.tsv.manifest.json: how it was "
                "made. Train again with the new labels, and record that as a run of "
                "its "
                "own.\n\n"
                "fit trains a classifier with one feature, confidence (logistic regression, as scikit-learn's with its "
                "defaults), on flipped against as many clean examples, half of them, and reports precision, recall and "
                "F1 on the other half, and how many flips are among the first 1% and 2% of the suspects; with --json "
                "as "
                "JSON. The model is a small JSON file. apply prints id,score, the most suspect first: the probability "
                "of "
                "being mislabelled; of equal scores the lower confidence comes first (for mixture: the lower value), "
                "then the "
                "lower id. Give all three the same --epochs.\n\n"
                "mixture needs no flips: it fits two overlapping groups to confidence (beta distributions, after Arazo "
                "et al. 2019) or to aum (normal distributions) and prints id,score: the probability of belonging to "
                "the "
                "low group. That group holds what is hard as well as what is mislabelled.",
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_JSON | COMMON_STRICT | COMMON_THREADS |
                  COMMON_MEMORY | COMMON_SCRIPT,
        .options = noise_options,
        .run = run,
};
