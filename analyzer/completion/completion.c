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
check(void *context, struct portolan_error *error)
{
	const struct common_options *request = context;

	(void)error;
	if (request->action == ACTION_CANDIDATES || request->operand_count == 0)
		return 0;
	return options_wrong(request, "%s takes no operand: '%s'", action_names[request->action], request->operands[0]);
}

static int
run(void *context, struct portolan_error *error)
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

const struct command completion_command = {
        .name = "completion",
        .operands = "bash|zsh|fish",
        .summary = "print the completion of command lines for a shell",
        .examples = "bash\n"
                    "portolan completion bash > ~/.local/share/bash-completion/completions/portolan\n"
                    "zsh, in a folder of $fpath\n"
                    "portolan completion zsh > ~/.zsh/_portolan\n"
                    "fish\n"
                    "portolan completion fish > ~/.config/fish/completions/portolan.fish\n",
        .help = "Prints a script with which the shell completes commands, options, runs, measures, rules and files. "
                "An installation has it in place for all three.\n\n"
                "The scripts ask the program what may stand next: portolan completion candidates -- WORD... prints what may be written in place of the last WORD, one candidate a line, then a tab and what it is. "
                "A line that begins with a tab stands for the names of files.",
        .actions = action_names,
        .operand = "word",
        .most = INT16_MAX,
        .request_size = sizeof(struct common_options),
        .check = check,
        .run = run,
};
