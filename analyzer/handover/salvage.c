/* salvage.c: portolan salvage: copies what can be read of a damaged store; portoland does it. */
#include "handover.h"
#include "options/options.h"

struct salvage_request {
	struct common_options common;
	const char *new;
};

static const struct option_spec options[] = {
        {"output", "NEW", OPTION_FOLDER, .offset = offsetof(struct salvage_request, new), .letter = 'o',
         .group = OPTION_GROUP_OUTPUT, .often = true, .missing = "say which store to make with -o NEW"},
        {0},
};

extern const struct help help_salvage;

const struct command salvage_command = {
        .name = "salvage",
        .operands = "STORE",
        .help = &help_salvage,
        .common = COMMON_JSON,
        .options = options,
        .operand = "directory",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct salvage_request),
        .run = handover,
};
