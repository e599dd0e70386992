/* metrics.c: portolan metrics: every example's measures, in four formats. */
#include "commands.h"

#include "dynamics/dynamics.h"
#include "program/message.h"
#include "program/options.h"
#include "output/output.h"
#include "output/table.h"

#include <portolan/error.h>

#include <string.h>

enum format { FORMAT_CSV, FORMAT_JSONL, FORMAT_NPY, FORMAT_CARTOGRAPHY };

static const char *const format_names[] = {"csv", "jsonl", "npy", "cartography"};
#define FORMATS (sizeof(format_names) / sizeof(format_names[0]))

static uint32_t
measures_of(enum format format)
{
	if (format != FORMAT_CARTOGRAPHY)
		return MEASURE_ALL;
	return MEASURE_BIT(MEASURE_THRESHOLD_CLOSENESS) | MEASURE_BIT(MEASURE_CONFIDENCE) |
	       MEASURE_BIT(MEASURE_VARIABILITY) | MEASURE_BIT(MEASURE_CORRECTNESS) |
	       MEASURE_BIT(MEASURE_FORGETTING_EVENTS);
}

/* Without --format, the name of the file tells. */
static enum format
format_of_file(const char *path)
{
	const char *dot = path ? strrchr(path, '.') : NULL;

	for (int f = FORMAT_CSV; dot && f <= FORMAT_NPY; f++)
		if (strcmp(dot + 1, format_names[f]) == 0)
			return (enum format)f;
	return FORMAT_CSV;
}

static int
write_table(const struct dynamics *dynamics, enum format format, struct output *output, struct portolan_error *error)
{
	switch (format) {
	case FORMAT_CSV:
		table_write_csv(output, dynamics, dynamics->order, dynamics->count);
		return 0;
	case FORMAT_JSONL:
		table_write_jsonl(output, dynamics, dynamics->order, dynamics->count);
		return 0;
	case FORMAT_NPY:
		if (output_is_terminal(output))
			return error_set(error, PORTOLAN_E_INVALID,
			                 "npy is binary: say where it goes with -o FILE.npy");
		return table_write_npy(output, dynamics, dynamics->order, dynamics->count, error);
	case FORMAT_CARTOGRAPHY:
		table_write_cartography(output, dynamics, dynamics->order, dynamics->count);
		return 0;
	}
	return 0;
}

static int
write_metrics(const struct dynamics *dynamics, enum format format, const char *path, struct portolan_error *error)
{
	struct output output;
	int code = output_open(&output, path, error);

	if (code < 0)
		return code;
	code = write_table(dynamics, format, &output, error);
	if (code < 0) {
		output_discard(&output);
		return code;
	}
	return output_finish(&output, error);
}

static int
run(const struct command *command, int argc, char **argv)
{
	struct dynamics dynamics;
	struct dynamics_request request;
	struct portolan_error error;
	struct options options;
	int key, code, format = -1;

	options_begin(&options, command, argc, argv);
	while ((key = options_next(&options)) > 0) {
		format = options_choice(command, "format", options.argument, format_names, FORMATS);
		if (format < 0)
			return STATUS_USAGE;
	}
	if (key != OPTIONS_END)
		return options.status;
	if (options_one_operand(&options, "run") != 0)
		return STATUS_USAGE;
	if (format < 0)
		format = format_of_file(options.common.output);
	request = (struct dynamics_request){
	        .measures = measures_of((enum format)format),
	        .gold = format != FORMAT_CARTOGRAPHY,
	        .user = format != FORMAT_CARTOGRAPHY,
	};
	code = dynamics_load(&dynamics, &options.common, options.operands[0], &request, &error);
	if (code >= 0) {
		code = write_metrics(&dynamics, (enum format)format, options.common.output, &error);
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
        {"format", 'f', "FORMAT", "csv, jsonl, npy, or cartography. Default: what FILE ends with, else csv."},
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
                    "portolan metrics snli/seed1 --format cartography -o td_metrics.jsonl\n",
        .help = "Prints one line per example observed in the epochs, by ascending id: id, gold (class index), epochs "
                "(observed), "
                "confidence, variability, correctness (a fraction), forgetting_events, never_learned, first_learned, "
                "threshold_closeness, variability_ci, always_right_after, always_wrong_after, then, as far as the run "
                "has the signals, "
                "aum, el2n, aleatoric, entropy and the means of your own columns, and label where the run names its "
                "classes. "
                "Empty means: not defined for this example.\n\n"
                "Numbers are as short as can be while reading back exactly. jsonl has null for what is empty. npy is "
                "one "
                "structured array with the same fields; whole numbers that may be empty are -1 there, others NaN.\n\n"
                "cartography writes guid, index (order of first appearance), threshold_closeness, confidence, "
                "variability, "
                "correctness (a count) and forgetfulness (forgetting events; 1000: never learned), as td_metrics.jsonl "
                "has them.",
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_STRICT,
        .options = options,
        .run = run,
};
