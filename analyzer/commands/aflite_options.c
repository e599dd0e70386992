/* aflite_options.c: the words of portolan aflite; sizes that were not said depend on the data, so they come later. */
#include "aflite.h"

#include "plot/chart.h"
#include "program/number.h"
#include "program/parallel.h"

#include <string.h>
#include <sys/stat.h>

enum {
	KEY_FEATURES = OPTION_KEY,
	KEY_LABELS,
	KEY_LABEL_FIELD,
	KEY_RUN,
	KEY_FEATURE_IDS,
	KEY_TARGET,
	KEY_PARTITIONS,
	KEY_TRAIN,
	KEY_SLICE,
	KEY_THRESHOLD,
	KEY_HEURISTIC,
	KEY_TIES,
	KEY_GROUPS,
	KEY_GROUP_FIELD,
	KEY_BASELINE,
	KEY_SEED,
	KEY_CHECKPOINT,
	KEY_SCORES,
	KEY_LOG,
	KEY_PLOT,
	KEY_MAX_MEMORY,
	KEY_NO_MANIFEST,
};

#define PARTITIONS 64
#define PARTITIONS_MOST 65536
#define SLICE_MOST UINT32_MAX

const struct command_option aflite_option_table[] = {
        {"features", KEY_FEATURES, "X.npy",
         "A matrix of float16, float32 or float64, one row for each example. It is mapped, and copied into memory."},
        {"labels", KEY_LABELS, "FILE",
         "A label for each row: a NumPy array of whole numbers or strings, text with one a line, or, with "
         "--label-field, JSON lines, CSV or TSV."},
        {"label-field", KEY_LABEL_FIELD, "NAME",
         "The column, or JSON field, of the labels' file that holds the label."},
        {"run", KEY_RUN, "RUN",
         "Instead of --labels: take the gold labels of a run, and the rows of its examples; ids are printed then."},
        {"feature-ids", KEY_FEATURE_IDS, "FILE",
         "With --run: the ids of the rows, one a line or a NumPy array. Without it row 0 is that of id 0."},
        {"target-size", KEY_TARGET, "N", "Remove no further than this (the paper's n). Default: train size + 1."},
        {"partitions", KEY_PARTITIONS, "M", "Classifiers in each phase (m). Default: 64."},
        {"train-size", KEY_TRAIN, "T", "Examples each of them is trained on (t). Default: 10% of the rows."},
        {"slice", KEY_SLICE, "K", "Remove so many in a phase, at most (k). Default: 2% of the rows."},
        {"threshold", KEY_THRESHOLD, "P",
         "Remove only examples that this share of their predictions gets right (tau). Default: 0.75."},
        {"heuristic", KEY_HEURISTIC, "NAME",
         "slice: the most predictable K; greedy: one at a time; sample: K drawn with probability proportional to p. "
         "Default: slice."},
        {"ties", KEY_TIES, "NAME",
         "What decides among examples with the same p: margin (the mean distance, as logits, by which the classifiers "
         "prefer the label; the largest go first), hash (chance, by the seed), index (the row). Default: margin."},
        {"groups", KEY_GROUPS, "FILE",
         "A group for each row, written as labels are (near-duplicates, one author, one source): groups train, or are "
         "predicted, as a whole."},
        {"group-field", KEY_GROUP_FIELD, "NAME",
         "The column, or JSON field, of the groups' file that holds the group."},
        {"baseline", KEY_BASELINE, "FILE", "Write a random subset of the same size here, to compare with."},
        {"seed", KEY_SEED, "N", "Seed of the training sets and of what else is drawn. Default: 0."},
        {"checkpoint", KEY_CHECKPOINT, "DIR",
         "Keep the state after each phase in this directory, and go on from there if there is one. It is removed at "
         "the end."},
        {"scores", KEY_SCORES, "FILE.csv",
         "Write every example's phase of removal, p, margin and number of predictions."},
        {"log", KEY_LOG, "FILE.csv", "Write a line for each phase."},
        {"plot", KEY_PLOT, "FILE", "Draw the phases: FILE.png, .svg or .pdf."},
        {"max-memory", KEY_MAX_MEMORY, "SIZE",
         "Refuse to begin when it would take more: 2G, 512M. Default: what the system says is available."},
        {"no-manifest", KEY_NO_MANIFEST, NULL, "Do not write KEPT.manifest.json beside the output."},
        {0},
};

static int
take_count(const struct command *command, const char *option, const char *text, uint64_t most, size_t *count)
{
	uint64_t value;

	if (!number_parse_u64(text, strlen(text), &value) || value == 0 || value > most)
		return options_wrong(command, "%s %s: a whole number from 1 to %llu", option, text,
		                     (unsigned long long)most);
	*count = (size_t)value;
	return 0;
}

static int
take_number(struct aflite_request *request, const struct command *command, int key, const char *text)
{
	switch (key) {
	case KEY_TARGET:
		return take_count(command, "--target-size", text, UINT32_MAX, &request->target);
	case KEY_PARTITIONS:
		return take_count(command, "--partitions", text, PARTITIONS_MOST, &request->partitions);
	case KEY_TRAIN:
		return take_count(command, "--train-size", text, UINT32_MAX, &request->train);
	case KEY_SLICE:
		return take_count(command, "--slice", text, SLICE_MOST, &request->slice);
	case KEY_THRESHOLD:
		if (!number_parse(text, &request->threshold) || request->threshold < 0 || request->threshold > 1)
			return options_wrong(command, "--threshold %s: a number from 0 to 1", text);
		return 0;
	case KEY_SEED:
		if (!number_parse_u64(text, strlen(text), &request->seed))
			return options_wrong(command, "--seed %s: a whole number", text);
		return 0;
	default:
		if (!number_parse_size(text, &request->max_memory) || request->max_memory == 0)
			return options_wrong(command, "--max-memory %s: say a size, as 512M or 2G", text);
		return 0;
	}
}

static const char **
text_of(struct aflite_request *request, int key)
{
	switch (key) {
	case KEY_FEATURES:
		return &request->features;
	case KEY_LABELS:
		return &request->labels;
	case KEY_LABEL_FIELD:
		return &request->label_field;
	case KEY_RUN:
		return &request->run;
	case KEY_FEATURE_IDS:
		return &request->feature_ids;
	case KEY_GROUPS:
		return &request->groups;
	case KEY_GROUP_FIELD:
		return &request->group_field;
	case KEY_BASELINE:
		return &request->baseline;
	case KEY_CHECKPOINT:
		return &request->checkpoint;
	case KEY_SCORES:
		return &request->scores;
	case KEY_LOG:
		return &request->log;
	case KEY_PLOT:
		return &request->plot;
	default:
		return NULL;
	}
}

int
aflite_take_option(struct aflite_request *request, const struct command *command, int key, const char *text)
{
	const char **to = text_of(request, key);

	if (to) {
		*to = text;
		return 0;
	}
	if (key == KEY_NO_MANIFEST) {
		request->without_manifest = true;
		return 0;
	}
	if (key == KEY_HEURISTIC) {
		request->heuristic = options_choice(command, "heuristic", text, slice_heuristic_names, 3);
		return request->heuristic < 0 ? STATUS_USAGE : 0;
	}
	if (key == KEY_TIES) {
		request->ties = options_choice(command, "way of breaking ties", text, slice_ties_names, 3);
		return request->ties < 0 ? STATUS_USAGE : 0;
	}
	return take_number(request, command, key, text);
}

/* One output over another, or over what is read, would be lost without a word; devices can take several. */
static int
check_files(const struct aflite_request *request, const struct command *command)
{
	const struct {
		const char *option, *path;
	} files[] = {{"--features", request->features},
	             {"--labels", request->labels},
	             {"--feature-ids", request->feature_ids},
	             {"--groups", request->groups},
	             {"--log", request->log},
	             {"--scores", request->scores},
	             {"--baseline", request->baseline},
	             {"--plot", request->plot},
	             {"--output", request->options.common.output}};
	const size_t inputs = 4, count = sizeof(files) / sizeof(files[0]);
	struct stat status;

	for (size_t b = inputs; b < count; b++)
		for (size_t a = 0; a < b && files[b].path; a++)
			if (files[a].path && strcmp(files[a].path, files[b].path) == 0 &&
			    (stat(files[b].path, &status) != 0 || S_ISREG(status.st_mode)))
				return options_wrong(command, "%s and %s are both %s", files[a].option, files[b].option,
				                     files[b].path);
	return 0;
}

int
aflite_check_options(struct aflite_request *request, const struct command *command)
{
	struct portolan_error error;

	if (request->options.operand_count > 0)
		return options_wrong(command, "'%s' is one word too many", request->options.operands[0]);
	if (!request->features)
		return options_wrong(command, "which features? --features X.npy");
	if (!request->labels == !request->run)
		return options_wrong(command, "which labels? one of --labels FILE and --run RUN");
	if (request->label_field && !request->labels)
		return options_wrong(command, "--label-field goes with --labels");
	if (request->group_field && !request->groups)
		return options_wrong(command, "--group-field goes with --groups");
	if (request->feature_ids && !request->run)
		return options_wrong(command, "--feature-ids goes with --run");
	if (request->heuristic == SLICE_GREEDY && request->slice != SIZE_MAX && request->slice != 1)
		return options_wrong(command, "--heuristic greedy removes one at a time: leave out --slice");
	if (request->train != SIZE_MAX && request->target != SIZE_MAX && request->train >= request->target)
		return options_wrong(command, "--train-size %zu must be below --target-size %zu", request->train,
		                     request->target);
	if (request->options.common.script && !request->plot)
		return options_wrong(command, "--script goes with --plot");
	if (request->plot && picture_init(&request->picture, PICTURE_CHART, "--plot", request->plot,
	                                  request->options.common.script, &error) < 0)
		return options_wrong(command, "%s", error.message);
	return check_files(request, command);
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
	        .partitions = request->partitions == SIZE_MAX ? PARTITIONS : request->partitions,
	        .train = request->train == SIZE_MAX ? percent(examples, 10) : request->train,
	        .slice = request->slice == SIZE_MAX ? percent(examples, 2) : request->slice,
	        .threshold = request->threshold,
	        .heuristic = (enum slice_heuristic)request->heuristic,
	        .ties = (enum slice_ties)request->ties,
	        .seed = request->seed,
	        .lambda = 1,
	        .threads = parallel_threads(request->options.common.threads),
	        .kernels = kernels_best(),
	};

	if (options.heuristic == SLICE_GREEDY)
		options.slice = 1;
	if (options.target == SIZE_MAX)
		options.target = options.train + 1;
	return options;
}
