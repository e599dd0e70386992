/*
 * noise.c: the command `portolan noise`, which finds mislabelled examples. It takes the command line of its six
 * actions; other files carry the actions out.
 *
 * The actions share one command line. An option that the action does not take is wrong, not ignored.
 */
#include "noise.h"

#include "options/format.h"
#include "output/table.h"
#include "plot/chart.h"
#include "selection/manifest.h"
#include "selection/rule_options.h"

#include <string.h>

enum action { PLAN, FIT, APPLY, MIXTURE, AUM, CONFIDENT };
static const char *const action_names[] = {"plan", "fit", "apply", "mixture", "aum", "confident", NULL};
static int (*const actions[])(const struct noise_request *) = {noise_action_plan,  noise_action_fit,
                                                               noise_action_apply, noise_action_mixture,
                                                               noise_action_aum,   noise_action_confident};
static const char *const measure_names[] = {"confidence", "aum", "loss", "variability", NULL}; /* by enum noise_by */
static const enum measure measures[] = {MEASURE_CONFIDENCE, MEASURE_AUM, MEASURE_LOSS, MEASURE_VARIABILITY};
static const char *const method_names[] = {"flips", "aum", NULL}; /* by enum noise_method */

enum measure
noise_measure(const struct noise_request *request)
{
	return measures[request->by];
}

static int
noise_take_cuts(void *context, char *text)
{
	struct noise_request *request = context;

	request->has_cuts = true;
	return rule_parse_cuts(&request->common, text, &request->cuts);
}

static int
noise_check_plan(const struct noise_request *request)
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

/* Checks that the action has the options that it needs, and that the options go together. */
static int
noise_check(void *context, struct portolan_error *error)
{
	struct noise_request *request = context;
	const struct common_options *common = &request->common;
	struct suspects_size *size = &request->size;
	int status;

	request->run = common->operands[0];
	size->has_count = option_given(common, "count");
	size->has_fraction = option_given(common, "fraction");
	size->has_threshold = option_given(common, "threshold");
	if (common->action == PLAN && noise_check_plan(request) != 0)
		return STATUS_USAGE;
	if (common->action == FIT && (!common->output || strcmp(common->output, "-") == 0))
		return options_wrong(common, "fit: where to write the model? -o MODEL");
	if (request->by != NOISE_BY_CONFIDENCE && (common->action == FIT) != (request->by == NOISE_BY_VARIABILITY))
		return options_wrong(common, "%s: --by %s: say confidence%s", action_names[common->action],
		                     measure_names[request->by],
		                     common->action == FIT ? " or variability" : ", aum or loss");
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
	status = format_choose(common, table_format_names, &request->format);
	if (status == 0 && format_is_for_people(common))
		request->format = TABLE_ALIGNED;
	return status;
}

static int
noise_run(void *context, struct portolan_error *error)
{
	const struct noise_request *request = context;

	(void)error;
	return actions[request->common.action](request);
}

#define TO(member) .offset = offsetof(struct noise_request, member)
static const struct option_spec noise_options[] = {
        {"fraction", "F", OPTION_REAL, TO(size.fraction), .range = RANGE_ABOVE_TO, .to = 1,
         .actions = "plan apply mixture aum confident", .often = true},
        {"method", "METHOD", OPTION_CHOICE, TO(method), .choices = method_names, .actions = "plan", .often = true},
        {"set", "K", OPTION_WHOLE, TO(set), .least = 1, .actions = "plan"},
        {"seed", "N", OPTION_WHOLE, TO(seed), .most = INT64_MAX, .actions = "plan fit", .group = OPTION_GROUP_HOW},
        {"regions", "V,C", OPTION_TEXT, .take = noise_take_cuts, .actions = "plan", .group = OPTION_GROUP_HOW},
        {"flips", "FILE", OPTION_INPUT, TO(flips), .actions = "fit",
         .missing = "fit: which labels were flipped? --flips FLIPS.tsv, as noise plan wrote it", .often = true},
        {"before", "RUN", OPTION_RUN, TO(before), .needs = "plot", .actions = "fit"},
        {"model", "FILE", OPTION_INPUT, TO(model), .actions = "apply",
         .missing = "apply: which model? --model MODEL, as noise fit wrote it", .often = true},
        {"by", "MEASURE", OPTION_CHOICE, TO(by), .choices = measure_names, .actions = "fit mixture"},
        {"threshold-samples", "FILE", OPTION_INPUT, TO(threshold_samples), .actions = "aum",
         .missing =
                 "aum: which are the threshold samples? --threshold-samples FILE, as noise plan --method aum wrote it",
         .often = true},
        {"count", "N", OPTION_WHOLE, TO(size.count), .least = 1, .excludes = "fraction threshold",
         .actions = "apply mixture aum confident", .often = true},
        {"threshold", "S", OPTION_REAL, TO(size.threshold), .range = RANGE_FROM_TO, .to = 1,
         .excludes = "fraction suspects", .actions = "apply mixture aum"},
        {"suspects", NULL, OPTION_FLAG, TO(size.only_called), .excludes = "fraction",
         .actions = "apply mixture aum confident", .often = true},
        {"format", "FORMAT", OPTION_CHOICE, TO(format), 'f', .choices = table_format_names,
         .actions = "apply mixture aum confident", .group = OPTION_GROUP_OUTPUT},
        {"plot", "FILE", OPTION_OUTPUT, TO(plot), .actions = "fit mixture", .often = true},
        {0},
};

static const struct noise_request defaults = {.set = 1, .format = -1};

extern const struct help help_noise;

const struct command noise_command = {
        .name = "noise",
        .operands = "plan|fit|apply|mixture|aum|confident RUN",
        .help = &help_noise,
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_JSON | COMMON_STRICT | COMMON_THREADS |
                  COMMON_MEMORY | COMMON_SCRIPT,
        .options = noise_options,
        .actions = action_names,
        .operand = "run",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct noise_request),
        .defaults = &defaults,
        .check = noise_check,
        .run = noise_run,
};
