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
        {"run", "NAME", OPTION_TEXT, TO(run), .group = OPTION_GROUP_HOW,
         .help = "The name of the new run. A spool file knows its own; with NAME it becomes a run of that name."},
        {"overwrite", NULL, OPTION_FLAG, TO(overwrite), .group = OPTION_GROUP_HOW,
         .help = "Replace the run of that name, when all is imported."},
        {0},
};
#undef TO

const struct command import_command = {
        .name = "import",
        .operands = "DIR|FILE [--run NAME]",
        .summary = "make a run of recorded files",
        .examples = "training dynamics in the format of Dataset Cartography\n"
                    "portolan import training_dynamics --run snli/published\n"
                    "what a run recorded while no collector could be reached\n"
                    "portolan import portolan-spool/5f0c7a41d2b96e83.spool\n",
        .help = "Reads dynamics_epoch_N.jsonl files (guid, logits_epoch_N, gold) from DIR, or from the training_dynamics in it (what the published tools take as --model_dir), in numeric order of N; or a spool FILE that a client left. "
                "Handed over to portoland, which writes stores; exit status 3: lines were refused.",
        .common = COMMON_STORE,
        .options = options,
        .operand = "file",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct import_request),
        .run = handover,
};
