/* completion.c: portolan completion: prints the completion scripts of three shells, and answers their questions. */
#include "base/message.h"
#include "candidates.h"
#include "options/options.h"
#include "output/output.h"

#include <errno.h>
#include <string.h>

/* completion/bash.sh, zsh.zsh, fish.fish, as they are installed too. */
extern const char script_bash[], script_zsh[], script_fish[];

enum { ACTION_CANDIDATES = 3 };
static const char *const action_names[] = {"bash", "zsh", "fish", "candidates", NULL};
static const char *const scripts[] = {script_bash, script_zsh, script_fish};

static int
completion_check(void *context, struct portolan_error *error)
{
	const struct common_options *request = context;

	(void)error;
	if (request->action == ACTION_CANDIDATES || request->operand_count == 0)
		return 0;
	return options_wrong(request, "%s takes no operand: '%s'", action_names[request->action], request->operands[0]);
}

static int
completion_run(void *context, struct portolan_error *error)
{
	const struct common_options *request = context;
	struct output output;
	int code;

	if (request->action == ACTION_CANDIDATES) {
		candidates_print(stdout, request->commands, request->operands, request->operand_count);
		if (fflush(stdout) == 0)
			return STATUS_DONE;
		message_error("cannot write standard output: %s", strerror(errno));
		return STATUS_FAILED;
	}
	code = output_open(&output, NULL, error);
	if (code < 0)
		return code;
	output_text(&output, scripts[request->action]);
	return output_finish(&output, error);
}

extern const struct help help_completion;

const struct command completion_command = {
        .name = "completion",
        .operands = "bash|zsh|fish",
        .help = &help_completion,
        .actions = action_names,
        .operand = "word",
        .most = INT16_MAX,
        .request_size = sizeof(struct common_options),
        .check = completion_check,
        .run = completion_run,
};
