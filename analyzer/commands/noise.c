/*
 * noise.c: portolan noise: finding mislabelled examples, with labels flipped on purpose or without.
 *
 * One command line for four actions: an option that the action does not take is wrong, not ignored.
 */
#include "noise.h"

#include "options/format.h"
#include "plot/chart.h"
#include "rule_options.h"
#include "selection/manifest.h"

#include <string.h>

enum action { PLAN, FIT, APPLY, MIXTURE };
static const char *const action_names[] = {"plan", "fit", "apply", "mixture", NULL};
static int (*const actions[])(const struct noise_request *, struct portolan_error *) = {
        noise_action_plan, noise_action_fit, noise_action_apply, noise_action_mixture};
static const char *const measure_names[] = {"confidence", "aum", NULL};

static int
take_cuts(void *context, char *text)
{
	struct noise_request *request = context;

	request->has_cuts = true;
	return rule_parse_cuts(&request->common, text, &request->cuts);
}

/* Checks that each action has the options it needs, and that options go together. */
static int
check(void *context, struct portolan_error *error)
{
	struct noise_request *request = context;
	const struct common_options *common = &request->common;
	struct suspects_size *size = &request->size;
	int status;

	request->run = common->operands[0];
	size->has_count = option_given(common, "count");
	size->has_fraction = option_given(common, "fraction");
	size->has_threshold = option_given(common, "threshold");
	if (common->action == PLAN && !size->has_fraction)
		return options_wrong(common, "plan: how many labels to flip? as in --fraction 0.01");
	if (common->action == PLAN && !common->output)
		return options_wrong(common, "plan: where to? -o FLIPS.tsv (- is standard output)");
	if (common->action == FIT && (!common->output || strcmp(common->output, "-") == 0))
		return options_wrong(common, "fit: where to write the model? -o MODEL");
	if (common->action != FIT && common->json)
		return options_wrong(common, "%s prints a table, not a report: see --format",
		                     action_names[common->action]);
	if (request->plot &&
	    picture_init(&request->picture, PICTURE_CHART, "--plot", request->plot, common->script, error) < 0)
		return PORTOLAN_E_INVALID;
	if (common->action == PLAN)
		return manifest_claim(common->output, error);
	if (common->action == FIT)
		return 0;
	status = format_choose(common, rows_format_names, &request->format);
	if (status == 0 && format_is_for_people(common))
		request->format = ROWS_ALIGNED;
	return status;
}

static int
run(void *context, struct portolan_error *error)
{
	const struct noise_request *request = context;

	return actions[request->common.action](request, error);
}

#define TO(member) .offset = offsetof(struct noise_request, member)
static const struct option_spec noise_options[] = {
        {"fraction", "F", OPTION_REAL, TO(size.fraction), .range = RANGE_ABOVE_TO, .to = 1,
         .actions = "plan apply mixture",
         .often = true, .help = "Flip or print this fraction: plan flips, of the examples; apply and mixture print, of the suspects."},
        {"seed", "N", OPTION_WHOLE, TO(seed), .most = INT64_MAX, .actions = "plan fit",
         .group = OPTION_GROUP_HOW, .help = "Seed of what is drawn at random. Default: 0."},
        {"regions", "V,C", OPTION_TEXT, .take = take_cuts, .actions = "plan",
         .group = OPTION_GROUP_HOW, .help = "Where regions are cut: easy-to-learn is variability below V and confidence C or more. Default: below the top third, and 0.5."},
        {"flips", "FILE", OPTION_INPUT, TO(flips), .actions = "fit",
         .missing = "fit: which labels were flipped? --flips FLIPS.tsv, as noise plan wrote it",
         .often = true, .help = "What noise plan wrote."},
        {"before", "RUN", OPTION_RUN, TO(before), .needs = "plot", .actions = "fit",
         .often = true, .help = "Draw the run before flipping beside the retrained one."},
        {"model", "FILE", OPTION_INPUT, TO(model), .actions = "apply",
         .missing = "apply: which model? --model MODEL, as noise fit wrote it", .often = true, .help = "What noise fit wrote."},
        {"by", "MEASURE", OPTION_CHOICE, TO(by_aum), .choices = measure_names, .actions = "mixture",
         .help = "Which measure: confidence or aum. Default: confidence."},
        {"count", "N", OPTION_WHOLE, TO(size.count), .least = 1, .excludes = "fraction threshold",
         .actions = "apply mixture", .often = true, .help = "Print the first N suspects. Default: all."},
        {"threshold", "S", OPTION_REAL, TO(size.threshold), .range = RANGE_FROM_TO, .to = 1, .excludes = "fraction",
         .actions = "apply mixture", .help = "Print those with a score of S or more."},
        {"format", "FORMAT", OPTION_CHOICE, TO(format), 'f', .choices = rows_format_names, .actions = "apply mixture",
         .group = OPTION_GROUP_OUTPUT, .help = "The format: csv, tsv, jsonl or npy. Default: what FILE ends with, else csv; on a terminal aligned columns."},
        {"plot", "FILE", OPTION_OUTPUT, TO(plot), .actions = "fit mixture",
         .often = true, .help = "Draw the densities: FILE.png, FILE.svg or FILE.pdf."},
        {0},
};

static const struct noise_request defaults = {.format = -1};

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
        .help = "The procedure of Swayamdipta et al. 2020, section 5, takes plan, fit and apply, all with the same --epochs; mixture needs no flips.\n\n"
                "plan draws examples at random from the easy-to-learn region and prints id, old and new label (class numbers), separated by tabs; every other class is as likely. "
                "Beside FLIPS.tsv stands FLIPS.tsv.manifest.json: how it was made. "
                "Train again with the new labels, and record that as a run of its own.\n\n"
                "fit trains a classifier with one feature, confidence (logistic regression, as scikit-learn's with its defaults), on flipped against as many clean examples, half of them, and reports precision, recall and F1 on the other half, and how many flips are among the first 1% and 2% of the suspects; with --json as JSON. "
                "The model is a small JSON file.\n\n"
                "apply prints id,score, the most suspect first: the probability of being mislabelled; of equal scores the lower confidence comes first, then the lower id.\n\n"
                "mixture fits two overlapping groups to confidence (beta distributions, after Arazo et al. 2019) or to aum (normal distributions) and prints id,score: the probability of belonging to the low group; of equal scores the lower value comes first, then the lower id. "
                "That group holds what is hard as well as what is mislabelled.",
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_JSON | COMMON_STRICT | COMMON_THREADS |
                  COMMON_MEMORY | COMMON_SCRIPT,
        .options = noise_options,
        .actions = action_names,
        .operand = "run",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct noise_request),
        .defaults = &defaults,
        .check = check,
        .run = run,
};
