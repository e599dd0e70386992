/* backup.c: portolan backup: a copy of the store; portoland makes it. */
#include "handover.h"
#include "options/options.h"

extern const struct help help_backup;

const struct command backup_command = {
        .name = "backup",
        .operands = "DIR",
        .help = &help_backup,
        .common = COMMON_STORE,
        .operand = "directory",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct common_options),
        .run = handover,
};
