/* salvage.c: portolan salvage: copies what can be read of a damaged store; portoland does it. */
#include "handover.h"
#include "options/options.h"

struct salvage_request {
	struct common_options common;
	const char *new;
};

static const struct option_spec options[] = {
        {"output", "NEW", OPTION_FOLDER, .offset = offsetof(struct salvage_request, new), .letter = 'o',
         .group = OPTION_GROUP_OUTPUT, .often = true, .missing = "say which store to make with -o NEW",
         .help = "The new store, which must not exist. It appears when it is complete."},
        {0},
};

const struct command salvage_command = {
        .name = "salvage",
        .operands = "STORE",
        .summary = "copy what can be read of a damaged store",
        .examples = "what is left\n"
                    "portolan salvage portolan-store -o salvaged\n"
                    "is it sound, and what is missing?\n"
                    "portolan check --store salvaged\n",
        .help = "Copies every record of STORE whose checksum holds to NEW, which becomes a store. "
                "A run none of whose pages is damaged comes back as it was. "
                "Of another run every observation comes back that is left whole, with its id; and what was left is said: epochs, chunks (of at most 16,320 examples of an epoch), examples whose ids are lost, observations, and records damaged or missing. "
                "Where an example was observed twice in an epoch and the later observation is lost, the earlier one comes back.\n\n"
                "STORE is only read. "
                "No collector may serve it meanwhile: stop it first. "
                "Each run is copied by a process of its own. "
                "If the page of the last commit is damaged, the store comes back as the commit before left it, and this is said. "
                "NEW has the id of STORE, so that clients send it what they spooled. Handed over to portoland.\n\n"
                "Exit status: 0 everything was copied; 3 something was left; 1 nothing can be read.",
        .common = COMMON_JSON,
        .options = options,
        .operand = "directory",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct salvage_request),
        .run = handover,
};
