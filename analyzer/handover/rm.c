/* rm.c: portolan rm: removes a run; portoland does it. On a terminal it asks first. */
#include "base/message.h"
#include "handover.h"
#include "options/options.h"

#include <stdio.h>
#include <unistd.h>

struct rm_request {
	struct common_options common;
	bool yes;
};

/* Asks whether to remove the run, and waits for the answer. */
static bool
rm_confirm(const char *run, const char *store)
{
	char answer[16];

	message_set_quiet(false); /* a question is no closing line */
	message_note("remove run '%s', and all that was recorded of it, from %s? [y/N]", run, store);
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static int
rm_run(void *context, struct portolan_error *error)
{
	const struct rm_request *request = context;
	const struct common_options *common = &request->common;
	const char *run = common->operands[0];

	if (request->yes || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO) || rm_confirm(run, common->query.store))
		return handover(context, error);
	message_error("run '%s' was not removed", run);
	return STATUS_FAILED;
}

static const struct option_spec options[] = {
        {"yes", NULL, OPTION_FLAG, .offset = offsetof(struct rm_request, yes), .letter = 'y',
         .group = OPTION_GROUP_HOW},
        {0},
};

extern const struct help help_rm;

const struct command rm_command = {
        .name = "rm",
        .operands = "RUN",
        .help = &help_rm,
        .common = COMMON_STORE,
        .options = options,
        .operand = "run",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct rm_request),
        .run = rm_run,
};
