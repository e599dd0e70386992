/* keygen.c: portolan keygen: keys for a collector that other machines may reach; portoland makes them. */
#include "handover.h"
#include "options/options.h"

struct keygen_request {
	struct common_options common;
	const char *client;
};

static const struct option_spec options[] = {
        {"client", "NAME", OPTION_TEXT, .offset = offsetof(struct keygen_request, client), .group = OPTION_GROUP_HOW,
         .help = "Make keys for one more client of the collector whose keys are in DIR."},
        {0},
};

const struct command keygen_command = {
        .name = "keygen",
        .operands = "DIR [--client NAME]",
        .summary = "make keys for a collector and its clients",
        .examples = "keys for a collector and a first client\n"
                    "portolan keygen keys\n"
                    "a key of its own for the machine gpu7\n"
                    "portolan keygen keys --client gpu7\n",
        .help = "Makes DIR/server.key (secret, for portoland --keys DIR), DIR/server.pub, DIR/client.key (secret) and DIR/clients/client.pub. "
                "A client gives a directory with client.key and server.pub as keys=.\n\n"
                "With --client, makes DIR/NAME/ with client.key and server.pub, to be moved to where the client runs, and DIR/clients/NAME.pub. "
                "The collector lets in whose public key is in DIR/clients, as it is at that moment: removing the file shuts the client out from its next connection on.\n\n"
                "Nothing that exists is overwritten. Handed over to portoland.",
        .common = COMMON_STORE,
        .options = options,
        .operand = "directory",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct keygen_request),
        .run = handover,
};
