/* metrics.c: portolan metrics: every example's measures, in five formats. */
#include "commands.h"

#include "dynamics/dynamics.h"
#include "program/message.h"
#include "program/options.h"
#include "output/export.h"
#include "output/output.h"

#include <portolan/error.h>

#include <string.h>

static const char *const format_names[TABLE_FORMATS] = {"csv", "jsonl", "npy", "cartography", "aum"};
static const char *const convention_names[NEVER_LEARNED_CONVENTIONS] = {"flag", "1000", "epochs", "infinity", "0"};

enum { OPTION_INCLUDE_CI = OPTION_KEY, OPTION_NEVER_LEARNED };

/* Without --format, the name of the file tells. */
static enum table_format
format_of_file(const char *path)
{
	const char *dot = path ? strrchr(path, '.') : NULL;

	for (int f = TABLE_CSV; dot && f <= TABLE_NPY; f++)
		if (strcmp(dot + 1, format_names[f]) == 0)
			return (enum table_format)f;
	return TABLE_CSV;
}

/* Takes the command line; 0, or the status to end with. */
static int
read_options(struct options *options, struct export_request *request, const char **run, bool *stopped)
{
	const struct command *command = options->command;
	int key, format = -1, convention = -1;

	*stopped = true;
	while ((key = options_next(options)) > 0) {
		if (key == 'f' &&
		    (format = options_choice(command, "format", options->argument, format_names, TABLE_FORMATS)) < 0)
			return STATUS_USAGE;
		if (key == OPTION_NEVER_LEARNED &&
		    (convention = options_choice(command, "convention", options->argument, convention_names,
		                                 NEVER_LEARNED_CONVENTIONS)) < 0)
			return STATUS_USAGE;
		request->with_ci |= key == OPTION_INCLUDE_CI;
	}
	if (key != OPTIONS_END)
		return options->status;
	if (options_one_operand(options, "run") != 0)
		return STATUS_USAGE;
	request->format = format < 0 ? format_of_file(options->common.output) : (enum table_format)format;
	if (request->with_ci && request->format != TABLE_CARTOGRAPHY)
		return options_wrong(command,
		                     "--include-ci goes with --format cartography; the others have variability_ci");
	if (convention >= 0 && request->format == TABLE_AUM)
		return options_wrong(command,
		                     "--never-learned does not go with --format aum, which has no such column");
	if (convention == NEVER_LEARNED_FLAG && request->format == TABLE_CARTOGRAPHY)
		return options_wrong(command,
		                     "--never-learned flag: the format cartography has no such column; say 1000, "
		                     "epochs, infinity or 0");
	if (convention < 0)
		convention = request->format == TABLE_CARTOGRAPHY ? NEVER_LEARNED_1000 : NEVER_LEARNED_FLAG;
	request->convention = (enum never_learned)convention;
	*run = options->operands[0];
	*stopped = false;
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
	if (request->format == TABLE_NPY && output_is_terminal(&output))
		code = error_set(error, PORTOLAN_E_INVALID, "npy is binary: say where it goes with -o FILE.npy");
	else
		code = export_run(dynamics, request, &output, error);
	if (code < 0) {
		output_discard(&output);
		return code;
	}
	return output_finish(&output, error);
}

static int
run(const struct command *command, int argc, char **argv)
{
	struct export_request request = {0};
	struct dynamics dynamics;
	struct dynamics_request wanted;
	struct portolan_error error;
	struct options options;
	const char *name;
	bool stopped;
	int code;

	options_begin(&options, command, argc, argv);
	code = read_options(&options, &request, &name, &stopped);
	if (stopped)
		return code;
	wanted = (struct dynamics_request){
	        .measures = table_measures(request.format, request.with_ci),
	        .gold = request.format <= TABLE_NPY,
	        .user = request.format <= TABLE_NPY,
	};
	code = dynamics_open(&dynamics, &options.common, name, &wanted, &error);
	if (code >= 0) {
		if (request.format == TABLE_AUM && !dynamics_measure_column(&dynamics, MEASURE_AUM))
			code = error_set(&error, PORTOLAN_E_INVALID,
			                 "run '%s' was recorded without the signal that aum needs: log logits", name);
		else
			code = write_metrics(&dynamics, &request, options.common.output, &error);
		if (code >= 0) {
			dynamics_report_first_epoch(&dynamics);
			code = dynamics_report_gaps(&dynamics, options.common.strict);
		}
		dynamics_free(&dynamics);
	}
	if (code < 0) {
		message_error("%s", error.message);
		return STATUS_FAILED;
	}
	return code;
}

static const struct command_option options[] = {
        {"format", 'f', "FORMAT", "csv, jsonl, npy, cartography, or aum. Default: what FILE ends with, else csv."},
        {"include-ci", OPTION_INCLUDE_CI, NULL,
         "With cartography: variability is that with its confidence interval (variability_ci), as the published tool's "
         "option of this name has it; null where only one epoch was seen."},
        {"never-learned", OPTION_NEVER_LEARNED, "CONVENTION",
         "What stands as the number of forgetting events of an example that was right in no epoch, since tools differ: "
         "flag "
         "(its forgetting events, 0; the column never_learned tells; the default), 1000 (cartography's default), "
         "epochs (the "
         "number of epochs read), infinity (inf; in JSON 1e999, which readers take for it), or 0."},
        {0},
};

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
        .help = "Prints one line per example observed in the epochs, by ascending id: id, gold (class index), epochs "
                "(observed), "
                "confidence, variability, correctness (a fraction), forgetting_events, never_learned, first_learned, "
                "threshold_closeness, variability_ci, always_right_after, always_wrong_after, then, as far as the run "
                "has the signals, "
                "aum, el2n, aleatoric, entropy, max_prob and the means of your own columns, and label where the run "
                "names its "
                "classes. "
                "Empty means: not defined for this example.\n\n"
                "Numbers are as short as can be while reading back exactly. jsonl has null for what is empty. npy is "
                "one "
                "structured array with the same fields; whole numbers that may be empty are -1 there, others NaN.\n\n"
                "cartography writes guid, index (order of first appearance), threshold_closeness, confidence, "
                "variability, "
                "correctness (a count) and forgetfulness (forgetting events; 1000: never learned), as td_metrics.jsonl "
                "has them. aum writes sample_id and aum, as aum_values.csv has them, by ascending id; examples without "
                "are "
                "left out.\n\n"
                "In npy, ids and labels that are text are as wide as the longest, 4 bytes a character. csv is read "
                "unchanged with pandas.read_csv(FILE, dtype={\"id\": str}, keep_default_na=False): otherwise the ids "
                "007, NA and null become 7 and nothing; na_values={\"aum\": \"\"} then names the columns that may be "
                "empty.\n\n"
                "The run is read once. Where its ids were declared, or first logged in their order, its rows are "
                "written as they come, and nothing is held. Otherwise npy needs some 44 bytes an example for the "
                "order, and the other formats, and npy on a pipe, hold the run. A thread takes about 65 KB per epoch "
                "and signal, and 10 MB. What waits in the log of an epoch in progress comes on top.",
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_STRICT | COMMON_THREADS | COMMON_MEMORY,
        .options = options,
        .run = run,
};
