/* import.c: portolan import: recorded files become a run; portoland does it. */
#include "handover.h"
#include "options/options.h"

struct import_request {
	struct common_options common;
	const char *run;
	bool overwrite;
};

#define TO(member) .offset = offsetof(struct import_request, member)
static const struct option_spec options[] = {
        {"run", "NAME", OPTION_TEXT, TO(run), .group = OPTION_GROUP_HOW},
        {"overwrite", NULL, OPTION_FLAG, TO(overwrite), .group = OPTION_GROUP_HOW},
        {0},
};
#undef TO

extern const struct help help_import;

const struct command import_command = {
        .name = "import",
        .operands = "DIR|FILE [--run NAME]",
        .help = &help_import,
        .common = COMMON_STORE,
        .options = options,
        .operand = "file",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct import_request),
        .run = handover,
};
