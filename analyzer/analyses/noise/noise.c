/*
 * noise.c: portolan noise: finding mislabelled examples, with labels changed on purpose or without.
 *
 * One command line for several actions: an option that the action does not take is wrong, not ignored.
 */
#include "noise.h"

#include "options/format.h"
#include "plot/chart.h"
#include "selection/manifest.h"
#include "selection/rule_options.h"

#include <string.h>

enum action { PLAN, FIT, APPLY, MIXTURE, AUM, CONFIDENT };
static const char *const action_names[] = {"plan", "fit", "apply", "mixture", "aum", "confident", NULL};
static int (*const actions[])(const struct noise_request *, struct portolan_error *) = {
        noise_action_plan,    noise_action_fit, noise_action_apply,
        noise_action_mixture, noise_action_aum, noise_action_confident};
static const char *const measure_names[] = {"confidence", "aum", NULL};
static const char *const method_names[] = {"flips", "aum", NULL}; /* by enum noise_method */

static int
take_cuts(void *context, char *text)
{
	struct noise_request *request = context;

	request->has_cuts = true;
	return rule_parse_cuts(&request->common, text, &request->cuts);
}

static int
check_plan(const struct noise_request *request)
{
	const struct common_options *common = &request->common;
	bool flips = request->method == NOISE_METHOD_FLIPS;

	if (flips && !request->size.has_fraction)
		return options_wrong(common, "plan: how many labels to flip? as in --fraction 0.01");
	if (!common->output)
		return options_wrong(common, "plan: where to? -o FLIPS.tsv (- is standard output)");
	if (flips && option_given(common, "set"))
		return options_wrong(common, "plan: --set goes with --method aum");
	if (!flips && request->has_cuts)
		return options_wrong(common,
		                     "plan: --regions does not go with --method aum, which draws from all regions");
	return 0;
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
	if (common->action == PLAN && check_plan(request) != 0)
		return STATUS_USAGE;
	if (common->action == FIT && (!common->output || strcmp(common->output, "-") == 0))
		return options_wrong(common, "fit: where to write the model? -o MODEL");
	if (common->action != FIT && common->json)
		return options_wrong(common,
		                     "%s prints a table, not a report; for JSON, a line for each row: --format jsonl",
		                     action_names[common->action]);
	if (request->plot &&
	    picture_init(&request->picture, PICTURE_CHART, "--plot", request->plot, common->script, error) < 0)
		return PORTOLAN_E_INVALID;
	if (common->action == FIT)
		return format_of_one(common, "-o", common->output, "json");
	if (common->action == PLAN) {
		status = format_of_one(common, "-o", common->output, "tsv");
		return status ? status : manifest_claim(common->output, error);
	}
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
         .actions = "plan apply mixture aum confident", .often = true,
         .help = "Take this fraction: plan changes labels, of the examples; the others print, of those scored. Default of plan --method aum: 1/(classes + 1) of those with a label."},
        {"method", "METHOD", OPTION_CHOICE, TO(method), .choices = method_names, .actions = "plan", .often = true,
         .help = "What the labels are changed for: flips, for fit; aum: threshold samples, for aum. Default: flips."},
        {"set", "K", OPTION_WHOLE, TO(set), .least = 1, .actions = "plan",
         .help = "With --method aum: the K-th set of threshold samples. Sets of the same seed share no example. Default: 1."},
        {"seed", "N", OPTION_WHOLE, TO(seed), .most = INT64_MAX, .actions = "plan fit", .group = OPTION_GROUP_HOW,
         .help = "Seed of random draws. Default: 0."},
        {"regions", "V,C", OPTION_TEXT, .take = take_cuts, .actions = "plan", .group = OPTION_GROUP_HOW,
         .help = "Where regions are cut: easy-to-learn is variability below V and confidence C or more. Default: below the top third, and 0.5."},
        {"flips", "FILE", OPTION_INPUT, TO(flips), .actions = "fit",
         .missing = "fit: which labels were flipped? --flips FLIPS.tsv, as noise plan wrote it", .often = true,
         .help = "What noise plan wrote."},
        {"before", "RUN", OPTION_RUN, TO(before), .needs = "plot", .actions = "fit",
         .help = "Draw the run before flipping beside the retrained one."},
        {"model", "FILE", OPTION_INPUT, TO(model), .actions = "apply",
         .missing = "apply: which model? --model MODEL, as noise fit wrote it", .often = true,
         .help = "What noise fit wrote."},
        {"by", "MEASURE", OPTION_CHOICE, TO(by_aum), .choices = measure_names, .actions = "mixture",
         .help = "Which measure: confidence or aum. Default: confidence."},
        {"threshold-samples", "FILE", OPTION_INPUT, TO(threshold_samples), .actions = "aum",
         .missing =
                 "aum: which are the threshold samples? --threshold-samples FILE, as noise plan --method aum wrote it",
         .often = true, .help = "What noise plan --method aum wrote."},
        {"count", "N", OPTION_WHOLE, TO(size.count), .least = 1, .excludes = "fraction threshold",
         .actions = "apply mixture aum confident", .often = true,
         .help = "Print the first N; with --suspects, of the suspects. Default: all."},
        {"threshold", "S", OPTION_REAL, TO(size.threshold), .range = RANGE_FROM_TO, .to = 1,
         .excludes = "fraction suspects", .actions = "apply mixture aum",
         .help = "Print those with a score of S or more."},
        {"suspects", NULL, OPTION_FLAG, TO(size.only_called), .excludes = "fraction",
         .actions = "apply mixture aum confident", .often = true,
         .help = "Print the suspects: those that the method's own cut calls mislabelled."},
        {"format", "FORMAT", OPTION_CHOICE, TO(format), 'f', .choices = rows_format_names,
         .actions = "apply mixture aum confident", .group = OPTION_GROUP_OUTPUT,
         .help = "The format: csv, tsv, jsonl or npy. Default: what FILE ends with, else csv; on a terminal aligned columns, of a long table its ends."},
        {"plot", "FILE", OPTION_OUTPUT, TO(plot), .actions = "fit mixture", .often = true,
         .help = "Draw the densities: FILE.png, FILE.svg or FILE.pdf."},
        {0},
};

static const struct noise_request defaults = {.set = 1, .format = -1};

const struct command noise_command = {
        .name = "noise",
        .operands = "plan|fit|apply|mixture|aum|confident RUN",
        .summary = "find examples that are likely mislabelled",
        .examples =
                "which labels to flip: 1% of the examples, among the easy ones\n"
                "portolan noise plan snli/seed1 --fraction 0.01 -o flips.tsv\n"
                "after training again with these flipped: what do flipped examples look like?\n"
                "portolan noise fit snli/flipped --flips flips.tsv -o model.json --before snli/seed1 --plot flips.svg\n"
                "which examples of the original data look like that?\n"
                "portolan noise apply snli/seed1 --model model.json --count 100\n"
                "without training again\n"
                "portolan noise mixture snli/seed1 --threshold 0.9 --plot mixture.svg\n"
                "which examples to give a class of their own, before training again\n"
                "portolan noise plan snli/seed1 --method aum -o samples.tsv\n"
                "which examples have a lower margin than these samples?\n"
                "portolan noise aum snli/samples --threshold-samples samples.tsv --suspects\n"
                "confident learning, on a run recorded out of fold\n"
                "portolan noise confident snli/out-of-fold --suspects -o suspects.csv\n",
        .help = "The procedure of Swayamdipta et al. 2020, section 5, takes plan, fit and apply, all with the same --epochs. That of Pleiss et al. 2020, section 3.2, takes plan --method aum and aum. mixture and confident need no labels changed.\n\n"
                "plan draws examples at random from the easy-to-learn region and prints id, old and new label (class numbers), separated by tabs; every other class is as likely. "
                "Beside FLIPS.tsv stands FLIPS.tsv.manifest.json: how it was made. "
                "Train again with the new labels, and record that as a run of its own.\n\n"
                "plan --method aum draws threshold samples in the same form, from all examples with a label: N/(c + 1) of N examples with c classes, all with one new label, the number of an extra class. "
                "Train again with one class more. The samples are not judged themselves: another set (--set 2), and a third training, do that.\n\n"
                "fit trains a classifier with one feature, confidence (logistic regression, as scikit-learn's with its defaults), on flipped against as many clean examples, half of them, and reports precision, recall and F1 on the other half, and how many flips are among the first 1% and 2% of the suspects; with --json as JSON. "
                "The model is a small JSON file.\n\n"
                "Scores are printed as id,score, the most suspect first: of equal scores the lower confidence (or aum) comes first, then the lower id. --suspects prints those that the method's own cut calls mislabelled. No score is the probability of a wrong label.\n\n"
                "apply scores by that classifier. It was trained on as many flipped as clean examples. Its cut: above 0.5.\n\n"
                "mixture fits two overlapping groups to confidence (beta distributions, after Arazo et al. 2019, section 3.1) or to aum (normal distributions), and scores by the low group's share of the density. Its cut: above 0.5. "
                "That group holds hard examples as well as mislabelled ones, so the cut calls too many of a hard data set.\n\n"
                "aum scores by the share of the threshold samples that have a higher aum. Its cut: more than 1%, so an aum below their 99th percentile. "
                "The paper takes the epochs before the learning rate first drops (--epochs).\n\n"
                "confident is confident learning (Northcutt et al. 2021, section 3.1), and scores by 1 − confidence; those that its cut calls come first. A label is called wrong where another class has at least the average probability of the examples with its label, and the most probable class is another one; as cleanlab's filter_by=\"confident_learning\" does. "
                "The probabilities are means over the epochs. A run holds those of the label and of the predicted class, so of one epoch nearly every answer is exact, of several only where the others cannot change it; the rest is not called, and counted. "
                "Record out of fold, as the paper does: a model trained on a wrong label may believe it.",
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
