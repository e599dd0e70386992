/* aflite_options.c: the words of portolan aflite; sizes that were not said depend on the data, so they come later. */
#include "aflite.h"

#include "base/parallel.h"
#include "options/format.h"
#include "options/glue_option.h"
#include "plot/chart.h"
#include "selection/manifest.h"

#include <string.h>

#define PARTITIONS 64
#define PARTITIONS_MOST 65536

#define TO(member) .offset = offsetof(struct aflite_request, member)
const struct option_spec aflite_option_table[] = {
        {"features", "X.npy", OPTION_INPUT, TO(input.features), .missing = "which features? --features X.npy",
         .often = true,
         .help = "A matrix, one row for each example: float16, float32 or float64, written by rows or by columns. It is mapped, and copied into memory."},
        {"labels", "FILE", OPTION_INPUT, TO(input.labels), .excludes = "run", .often = true,
         .help = "A label for each row: a NumPy array of whole numbers or strings, text with one a line, or, with --label-field, JSON lines, CSV or TSV."},
        {"label-field", "FIELD", OPTION_TEXT, TO(input.label_field), .needs = "labels",
         .help = "The field of the labels' file that holds the label."},
        {"run", "RUN", OPTION_RUN, TO(input.run),
         .help = "Take the gold labels of a run instead of --labels, and the rows of its examples; ids are printed then."},
        {"feature-ids", "FILE", OPTION_INPUT, TO(input.feature_ids),
         .help = "The ids of the rows: one a line or a NumPy array. Without it they are row numbers, from 0; without --run those of --data, whose records are then in the order of the rows."},
        {"exclude", "FILE", OPTION_INPUT, TO(input.exclude),
         .help = "Leave these examples out of everything: training, prediction and output. Their ids, or row numbers where there are none: one a line, or a NumPy array. The sample that the features' model was fine-tuned on, say (the paper's warm-up)."},
        {"target-size", "N", OPTION_WHOLE, TO(target), .least = 1, .most = UINT32_MAX, .group = OPTION_GROUP_HOW,
         .often = true,
         .help = "Stop at this many examples (the paper's n). With as many as there are, none is removed, and they are measured. Default: train size + 1."},
        {"partitions", "M", OPTION_WHOLE, TO(partitions), .least = 1, .most = PARTITIONS_MOST,
         .group = OPTION_GROUP_HOW, .help = "Classifiers in each phase (m). Default: 64."},
        {"train-size", "T", OPTION_WHOLE, TO(train), .least = 1, .most = UINT32_MAX, .group = OPTION_GROUP_HOW,
         .often = true, .help = "Examples that each classifier is trained on (t). Default: 10% of the rows."},
        {"slice", "K", OPTION_WHOLE, TO(slice), .least = 1, .most = UINT32_MAX, .group = OPTION_GROUP_HOW,
         .often = true, .help = "Remove at most this many in a phase (k). Default: 2% of the rows."},
        {"threshold", "P", OPTION_REAL, TO(threshold), .range = RANGE_FROM_TO, .to = 2, .group = OPTION_GROUP_HOW,
         .often = true,
         .help = "Remove only examples whose p is at least this (tau). Above 1 none is removed, and they are measured. Default: 0.75."},
        {"heuristic", "NAME", OPTION_CHOICE, TO(heuristic), .choices = slice_heuristic_names, .group = OPTION_GROUP_HOW,
         .help = "Which to remove: slice (the most predictable K), greedy (one at a time), or sample (K drawn with probability proportional to p). "
                 "Default: slice."},
        {"ties", "NAME", OPTION_CHOICE, TO(ties), .choices = slice_ties_names, .group = OPTION_GROUP_HOW,
         .help = "What decides among examples with the same p: margin (the mean distance, as logits, by which the classifiers prefer the label; the largest go first), hash (chance, by the seed), index (the row). "
                 "Default: margin."},
        {"standardise", NULL, OPTION_FLAG, TO(input.standardise), .group = OPTION_GROUP_HOW,
         .help = "Divide each feature by its standard deviation over all examples that take part. Features of very different size are fitted far faster then, and the penalty weighs alike on all."},
        {"ridge", "LAMBDA", OPTION_REAL, TO(ridge), .range = RANGE_ABOVE_TO, .to = 1e9, .group = OPTION_GROUP_HOW,
         .help = "The weight of the L2 penalty, scikit-learn's 1/C: LAMBDA/2 times the sum of squared weights. Default: 1."},
        {"groups", "FILE", OPTION_INPUT, TO(input.groups),
         .help = "A group for each row, written as labels are (near-duplicates, one author, one source): groups train, or are predicted, as a whole."},
        {"group-field", "FIELD", OPTION_TEXT, TO(input.group_field), .needs = "groups",
         .help = "The field of the groups' file that holds the group."},
        {"data", "FILE", OPTION_INPUT, TO(input.data), .needs = "id-field",
         .help = "Print the lines of your own FILE (JSON lines, CSV or TSV) in the place of ids: here, in --removed and in --baseline."},
        {"id-field", "FIELD", OPTION_TEXT, TO(input.id_field), .needs = "data",
         .help = "The field of FILE that holds the ids."},
        {"glue", NULL, OPTION_FLAG, TO(input.glue), .needs = "data", .group = OPTION_GROUP_HOW,
         .help = GLUE_HELP
         " Fields of the same file that --label-field and --group-field name are read so too, and what is passed over has no row of features. Lines are printed with as many fields as the header has."},
        {"removed", "FILE", OPTION_OUTPUT, TO(removed),
         .help = "Write the examples that were removed here, as those that are kept are printed."},
        {"baseline", "FILE", OPTION_OUTPUT, TO(baseline),
         .help = "Write a random subset of the same size here, to compare with."},
        {"seed", "N", OPTION_WHOLE, TO(seed), .group = OPTION_GROUP_HOW,
         .help = "Seed of the training sets and of what else is drawn. Default: 0."},
        {"checkpoint", "DIR", OPTION_FOLDER, TO(checkpoint), .group = OPTION_GROUP_HOW,
         .help = "Keep the state after each phase in this directory, and go on from there if there is one. It is removed at the end."},
        {"scores", "FILE", OPTION_OUTPUT, TO(scores),
         .help = "Write every example's phase of removal, p, margin and number of predictions: CSV, or what FILE ends with."},
        {"log", "FILE", OPTION_OUTPUT, TO(log),
         .help = "Write a line for each phase, and the last for the kept set: CSV, or what FILE ends with."},
        {"plot", "FILE", OPTION_OUTPUT, TO(plot), .often = true, .help = "Draw the phases: FILE.png, .svg or .pdf."},
        {"max-memory", "SIZE", OPTION_SIZE, TO(max_memory), .least = 1, .group = OPTION_GROUP_RESOURCES,
         .help = "Refuse to begin when it would take more: 2G, 512M. Default: what the system says is available."},
        {"no-manifest", NULL, OPTION_FLAG, TO(without_manifest), .group = OPTION_GROUP_OUTPUT,
         .help = "Do not write KEPT.manifest.json beside the output."},
        {0},
};

int
aflite_check(void *context, struct portolan_error *error)
{
	struct aflite_request *request = context;
	const struct common_options *common = &request->common;
	int status;

	if (!request->input.labels && !request->input.run)
		return options_wrong(common, "which labels? one of --labels FILE and --run RUN");
	if (request->input.data && strcmp(request->input.data, "-") == 0)
		return options_wrong(common, "--data - cannot be read twice: give it as a file");
	if (request->heuristic == SLICE_GREEDY && request->slice > 1)
		return options_wrong(common, "--heuristic greedy removes one at a time: leave out --slice");
	if (request->target > 0 && request->train >= request->target)
		return options_wrong(common, "--train-size %llu must be below --target-size %llu",
		                     (unsigned long long)request->train, (unsigned long long)request->target);
	if (request->plot &&
	    picture_init(&request->picture, PICTURE_CHART, "--plot", request->plot, common->script, error) < 0)
		return PORTOLAN_E_INVALID;
	status = format_of_table(common, "--log", request->log, ROWS_CSV, &request->log_format);
	if (status == 0)
		status = format_of_table(common, "--scores", request->scores, ROWS_CSV, &request->scores_format);
	if (status != 0)
		return status;
	return request->without_manifest ? 0 : manifest_claim(common->output, error);
}

/* Of the rows, rounded half up; at least 1. */
static size_t
percent(size_t rows, size_t percentage)
{
	size_t share = (rows * percentage + 50) / 100;

	return share ? share : 1;
}

struct filter_options
aflite_filter_options(const struct aflite_request *request, size_t examples)
{
	struct filter_options options = {
	        .target = request->target,
	        .partitions = request->partitions ? request->partitions : PARTITIONS,
	        .train = request->train ? request->train : percent(examples, 10),
	        .slice = request->slice ? request->slice : percent(examples, 2),
	        .threshold = request->threshold,
	        .heuristic = (enum slice_heuristic)request->heuristic,
	        .ties = (enum slice_ties)request->ties,
	        .seed = request->seed,
	        .lambda = request->ridge,
	        .threads = parallel_threads(request->common.query.threads),
	        .kernels = kernels_best(),
	};

	if (options.heuristic == SLICE_GREEDY)
		options.slice = 1;
	if (options.target == 0)
		options.target = options.train + 1;
	return options;
}
