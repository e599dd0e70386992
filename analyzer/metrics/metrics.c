/* metrics.c: portolan metrics: every example's measures, in five formats. */
#include "export.h"
#include "measures/dynamics.h"
#include "options/format.h"
#include "output/output.h"

#include <portolan/error.h>

static const char *const format_names[] = {"csv", "tsv", "jsonl", "npy", "cartography", "aum", NULL};

struct metrics_request {
	struct common_options common;
	int format, convention; /* −1: not given */
	bool with_ci;
	bool for_people; /* on a terminal, where no format was asked for */
};

static int
check(void *context, struct portolan_error *error)
{
	struct metrics_request *request = context;
	const struct common_options *common = &request->common;

	(void)error;
	request->for_people = format_is_for_people(common) && request->convention <= NEVER_LEARNED_FLAG;
	if (format_choose(common, format_names, &request->format) != 0)
		return STATUS_USAGE;
	if (request->with_ci && request->format != TABLE_CARTOGRAPHY)
		return options_wrong(common,
		                     "--include-ci goes with --format cartography; the others have variability_ci");
	if (request->convention >= 0 && request->format == TABLE_AUM)
		return options_wrong(common, "--never-learned does not go with --format aum, which has no such column");
	if (request->convention == NEVER_LEARNED_FLAG && request->format == TABLE_CARTOGRAPHY)
		return options_wrong(
		        common,
		        "--never-learned flag: the format cartography has no such column; say 1000, epochs, infinity or 0");
	if (request->convention < 0)
		request->convention = request->format == TABLE_CARTOGRAPHY ? NEVER_LEARNED_1000 : NEVER_LEARNED_FLAG;
	return 0;
}

static int
write_metrics(struct dynamics *dynamics, const struct export_request *request, const char *path,
              struct portolan_error *error)
{
	struct output output;
	int code = output_open(&output, path, error);

	if (code < 0)
		return code;
	code = request->format == TABLE_NPY ? rows_check_npy(&output, error) : 0;
	if (code >= 0)
		code = export_run(dynamics, request, &output, error);
	if (code < 0) {
		output_discard(&output);
		return code;
	}
	return output_finish(&output, error);
}

/* Of a run that was opened. */
static int
show_metrics(struct dynamics *dynamics, struct portolan_error *error)
{
	int code = dynamics_hold(dynamics, error);

	return code < 0 ? code : table_show(dynamics, error);
}

static int
run(void *context, struct portolan_error *error)
{
	const struct metrics_request *request = context;
	const struct common_options *common = &request->common;
	const struct export_request export = {
	        .format = (enum table_format)request->format,
	        .convention = (enum never_learned)request->convention,
	        .with_ci = request->with_ci,
	};
	const struct dynamics_request wanted = {
	        .measures = table_measures(export.format, export.with_ci),
	        .gold = export.format <= TABLE_NPY,
	        .user = export.format <= TABLE_NPY,
	};
	const char *name = common->operands[0];
	struct dynamics dynamics;
	int code = dynamics_open(&dynamics, &common->query, name, &wanted, error);

	if (code < 0)
		return code;
	if (export.format == TABLE_AUM && !dynamics_measure_column(&dynamics, MEASURE_AUM))
		code = dynamics_no_measure(&dynamics, NULL, "aum", error);
	else if (request->for_people)
		code = show_metrics(&dynamics, error);
	else
		code = write_metrics(&dynamics, &export, common->output, error);
	if (code >= 0)
		code = dynamics_report(&dynamics, common->strict);
	dynamics_free(&dynamics);
	return code;
}

#define TO(member) .offset = offsetof(struct metrics_request, member)
static const struct option_spec options[] = {
        {"format", "FORMAT", OPTION_CHOICE, TO(format), 'f', .choices = format_names, .group = OPTION_GROUP_OUTPUT,
         .help = "The format: csv, tsv, jsonl, npy, cartography, or aum. Default: what FILE ends with, else csv; on a terminal aligned columns, of a long table its ends."},
        {"include-ci", NULL, OPTION_FLAG, TO(with_ci), .group = OPTION_GROUP_OUTPUT,
         .help = "Give cartography the variability with its confidence interval (variability_ci), as the published tool's option of this name has it; null where only one epoch was seen."},
        {"never-learned", "CONVENTION", OPTION_CHOICE, TO(convention), .choices = never_learned_names,
         .group = OPTION_GROUP_OUTPUT,
         .help = "What stands for the forgetting events of an example that was right in no epoch, as tools differ: "
                 "flag (its forgetting events, 0; the column never_learned tells; the default), 1000 (cartography's default), epochs (the number of epochs read), infinity (inf; in JSON 1e999, which readers take for it), or 0."},
        {0},
};

static const struct metrics_request defaults = {.format = -1, .convention = -1};

const struct command metrics_command = {
        .name = "metrics",
        .operands = "RUN",
        .summary = "print every example's measures",
        .examples = "all measures, for a spreadsheet or pandas\n"
                    "portolan metrics snli/seed1 -o measures.csv\n"
                    "for numpy.load(), leaving the first epoch out\n"
                    "portolan metrics snli/seed1 --epochs 1: -o measures.npy\n"
                    "for the tools published with Dataset Cartography\n"
                    "portolan metrics snli/seed1 --format cartography -o td_metrics.jsonl\n"
                    "ten million examples with shuffled ids, in little memory\n"
                    "portolan metrics big --max-memory 256M -o measures.npy\n",
        .help = "Prints one line per example observed in the epochs, by ascending id: id, gold (class index), epochs (observed), confidence, variability, correctness (a fraction), forgetting_events, never_learned, first_learned, threshold_closeness, variability_ci, always_right_after, always_wrong_after, then, as far as the run has the signals, aum, el2n, aleatoric, entropy, max_prob, loss, where it is as long as a window (--window) dyn_unc and dual, where it has whole distributions too tdds, and the means of your own columns (mean_loss of one called loss, as a measure is), and label where the run names its classes. "
                "Empty means: not defined for this example.\n\n"
                "p(gold) is the probability that the model gives the gold label, the class that the data name. confidence is its mean over the epochs; variability its standard deviation; correctness the share of epochs at which the model was right, the gold label being the most probable class. "
                "A forgetting event is an epoch at which the model is wrong after one at which it was right, and forgetting_events is their number; never_learned is 1 for an example that it was never right about; first_learned is the first epoch at which it was right; always_right_after and always_wrong_after are the epoch from which on it was right, or wrong, to the end. "
                "aum is the mean margin: the gold label's logit less the highest other one. threshold_closeness is confidence (1 - confidence); variability_ci is variability with its confidence interval (Chang et al. 2017); aleatoric is the mean of p(gold) (1 - p(gold)); entropy and max_prob are the means of the entropy over all classes and of the highest probability.\n\n"
                "loss is the mean of -ln p of the gold label, the cross-entropy; a probability of 0 counts as 2^-150, the least that it may have been. "
                "el2n is the L2 norm of the error (Paul et al. 2021); its L1 form is 2 (1 - p), so 2 (1 - confidence), and its order that of confidence:asc.\n\n"
                "Two pruning scores look at windows of J epochs that an example was observed at. With the mean m and the sample standard deviation s of p(gold) within each: "
                "dyn_unc is the mean of s over all windows (Dyn-Unc; He et al. 2024, section 3), dual the mean of (1 - m) s (DUAL; Cho et al. 2025, section 3, who stop after 30 epochs: --epochs :30). "
                "The code published with either gives ten times that; that of Dyn-Unc leaves the last epoch out. tdds (Zhang et al. 2024, section 3) is of whole distributions, which are no signal: it is there for runs that have each class's probability as a column of your own, prob_0, prob_1, ... without a gap. The last window counts 0.9, the one before 0.09, and so on, as published.\n\n"
                "Numbers are as short as can be while reading back exactly. jsonl has null for what is empty. npy is one structured array with the same fields; whole numbers that may be empty are -1 there, others NaN.\n\n"
                "cartography writes guid, index (order of first appearance), threshold_closeness, confidence, variability, correctness (a count) and forgetfulness (forgetting events; 1000: never learned), as td_metrics.jsonl has them. aum writes sample_id and aum, as aum_values.csv has them, by ascending id; examples without are left out.\n\n"
                "In npy, ids and labels that are text are as wide as the longest, 4 bytes a character. "
                "csv is read unchanged with pandas.read_csv(FILE, dtype={\"id\": str}, keep_default_na=False): otherwise the ids 007, NA and null become 7 and nothing; na_values={\"aum\": \"\"} then names the columns that may be empty.\n\n"
                "The run is read once. "
                "Where its ids were declared, or first logged in their order, its rows are written as they come, and nothing is held. "
                "Otherwise npy needs some 44 bytes an example for the order, and the other formats, and npy on a pipe, hold the run. "
                "A thread takes about 65 KB per epoch and signal, and 10 MB. What waits in the log of an epoch in progress comes on top.",
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_WINDOW | COMMON_STRICT | COMMON_THREADS |
                  COMMON_MEMORY,
        .options = options,
        .operand = "run",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct metrics_request),
        .defaults = &defaults,
        .check = check,
        .run = run,
};
