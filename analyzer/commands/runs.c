/* runs.c: portolan runs: the runs in the store, one line each. */
#include "commands.h"

#include "../message.h"
#include "../options.h"
#include "../output.h"
#include "../text.h"

#include <portolan/store.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *
state_name(const struct store_run_info *run)
{
	return run->state == STORE_RECORDING ? "recording" : "closed";
}

static const char *
mode_name(const struct store_run_info *run)
{
	return run->mode == PORTOLAN_TRAIN_FORWARD ? "train-forward" : "epoch-end";
}

/* ISO 8601, UTC. */
static void
print_time(int64_t seconds, char text[32])
{
	time_t when = (time_t)seconds;
	struct tm parts;

	if (!gmtime_r(&when, &parts) || strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
		text[0] = '\0';
}

static void
write_csv(struct output *output, const struct store_run_info *runs, size_t count)
{
	output_text(output, "name,examples,epochs,observations,state,mode,created\n");
	for (size_t i = 0; i < count; i++) {
		char created[32];

		print_time(runs[i].created, created);
		text_csv(output, runs[i].name, strlen(runs[i].name));
		output_printf(output, ",%llu,%llu,%llu,%s,%s,%s\n", (unsigned long long)runs[i].examples,
		              (unsigned long long)runs[i].epochs, (unsigned long long)runs[i].observations,
		              state_name(&runs[i]), mode_name(&runs[i]), created);
	}
}

static json_t *
run_as_json(const struct store_run_info *run)
{
	char created[32];

	print_time(run->created, created);
	return json_pack("{s:s, s:I, s:I, s:I, s:s, s:s, s:s}", "name", run->name, "examples",
	                 (json_int_t)run->examples, "epochs", (json_int_t)run->epochs, "observations",
	                 (json_int_t)run->observations, "state", state_name(run), "mode", mode_name(run), "created",
	                 created);
}

static void
write_json(struct output *output, const struct store_run_info *runs, size_t count)
{
	json_t *list = json_array();
	char *text;

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, run_as_json(&runs[i]));
	text = json_dumps(list, JSON_INDENT(2));
	json_decref(list);
	if (!text) {
		output_fail(output);
		return;
	}
	output_text(output, text);
	output_text(output, "\n");
	free(text);
}

static int
list_runs(const struct common_options *common, struct portolan_error *error)
{
	struct store_run_info *runs;
	struct output output;
	struct store *store;
	size_t count;
	int code = store_open(common->store, &store, error);

	if (code < 0)
		return code;
	code = store_runs(store, &runs, &count, error);
	store_close(store);
	if (code < 0)
		return code;
	code = output_open(&output, common->output, error);
	if (code >= 0) {
		if (common->json)
			write_json(&output, runs, count);
		else
			write_csv(&output, runs, count);
		code = output_finish(&output, error);
	}
	free(runs);
	return code;
}

static int
run(const struct command *command, int argc, char **argv)
{
	struct portolan_error error;
	struct options options;

	options_begin(&options, command, argc, argv);
	if (options_next(&options) != OPTIONS_END)
		return options.status;
	if (options.operand_count > 0)
		return options_wrong(command, "takes no operand: '%s'", options.operands[0]);
	if (list_runs(&options.common, &error) < 0) {
		message_error("%s", error.message);
		return STATUS_FAILED;
	}
	return STATUS_DONE;
}

const struct command runs_command = {
        .name = "runs",
        .operands = "",
        .summary = "list the runs in the store",
        .examples = "the runs, as a table\n"
                    "portolan runs | column -s, -t\n"
                    "as JSON, of another store\n"
                    "portolan runs --json --store /data/portolan-store\n",
        .help = "Prints one line per run, as CSV: name,examples,epochs,observations,state,mode,created. state is "
                "recording "
                "(a session is live) or closed; mode is epoch-end or train-forward; created is UTC.",
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_JSON | COMMON_STRICT,
        .run = run,
};
