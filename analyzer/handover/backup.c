/* backup.c: portolan backup: a copy of the store; portoland makes it. */
#include "handover.h"
#include "options/options.h"

const struct command backup_command = {
        .name = "backup",
        .operands = "DIR",
        .summary = "copy the store while it is in use",
        .examples = "a copy that is a store\n"
                    "portolan backup /backup/portolan-store\n"
                    "is it sound?\n"
                    "portolan check --store /backup/portolan-store\n",
        .help = "Copies the store, as its last commit left it, to DIR, which must not exist, or be an empty directory. "
                "The copy is a store: every command reads it, and a collector can go on with it. "
                "Recording goes on meanwhile. "
                "DIR appears when it is complete. "
                "Sessions that are live count as live in the copy until a collector opens it.\n\n"
                "To restore, stop the collector and put the copy in the store's place. Handed over to portoland.",
        .common = COMMON_STORE,
        .operand = "directory",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct common_options),
        .run = handover,
};
