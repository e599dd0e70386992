/* keygen.c: portolan keygen: keys for a collector that other machines may reach; portoland makes them. */
#include "handover.h"
#include "options/options.h"

struct keygen_request {
	struct common_options common;
	const char *client;
};

static const struct option_spec options[] = {
        {"client", "NAME", OPTION_TEXT, .offset = offsetof(struct keygen_request, client), .group = OPTION_GROUP_HOW},
        {0},
};

extern const struct help help_keygen;

const struct command keygen_command = {
        .name = "keygen",
        .operands = "DIR [--client NAME]",
        .help = &help_keygen,
        .common = COMMON_STORE,
        .options = options,
        .operand = "directory",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct keygen_request),
        .run = handover,
};
