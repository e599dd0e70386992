/* rm.c: portolan rm: removes a run; portoland does it. */
#include "commands.h"

#include "program/handover.h"

const struct command rm_command = {
        .name = "rm",
        .operands = "RUN",
        .summary = "remove a run from the store",
        .examples = "remove one run\n"
                    "portolan rm snli/seed1\n",
        .help = "Removes the run and all that was recorded of it; its name is free at once. Handed over to portoland, "
                "which "
                "writes stores.",
        .common = COMMON_STORE,
        .run = handover_to_collector,
};
