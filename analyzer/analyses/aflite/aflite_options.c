/*
 * aflite_options.c: the options of `portolan aflite`, and the checks of what the user typed. Sizes that were not given
 * (target, training set, slice) depend on the number of examples, so aflite_filter_options() sets them once that is
 * known.
 */
#include "aflite.h"

#include "base/parallel.h"
#include "options/format.h"
#include "plot/chart.h"
#include "selection/manifest.h"

#include <string.h>

#define PARTITIONS 64
#define PARTITIONS_MOST 65536

#define TO(member) .offset = offsetof(struct aflite_request, member)
const struct option_spec aflite_option_table[] = {
        {"features", "X.npy", OPTION_INPUT, TO(input.features), .often = true},
        {"labels", "FILE", OPTION_INPUT, TO(input.labels), .excludes = "run", .often = true},
        {"label-field", "FIELD", OPTION_TEXT, TO(input.label_field), .needs = "labels"},
        {"run", "RUN", OPTION_RUN, TO(input.run)},
        {"feature-ids", "FILE", OPTION_INPUT, TO(input.feature_ids)},
        {"exclude", "FILE", OPTION_INPUT, TO(input.exclude)},
        {"scores-of-models", "FILE", OPTION_INPUT, TO(input.models),
         .excludes = "partitions train-size model standardise ridge groups checkpoint max-memory"},
        {"target-size", "N", OPTION_WHOLE, TO(target), .least = 1, .most = UINT32_MAX, .group = OPTION_GROUP_HOW,
         .often = true},
        {"partitions", "M", OPTION_WHOLE, TO(partitions), .least = 1, .most = PARTITIONS_MOST,
         .group = OPTION_GROUP_HOW},
        {"train-size", "T", OPTION_WHOLE, TO(train), .least = 1, .most = UINT32_MAX, .group = OPTION_GROUP_HOW,
         .often = true},
        {"slice", "K", OPTION_WHOLE, TO(slice), .least = 1, .most = UINT32_MAX, .group = OPTION_GROUP_HOW,
         .often = true},
        {
                "threshold",
                "P",
                OPTION_REAL,
                TO(threshold),
                .range = RANGE_FROM_TO,
                .to = 2,
                .group = OPTION_GROUP_HOW,
        },
        {"heuristic", "NAME", OPTION_CHOICE, TO(heuristic), .choices = slice_heuristic_names,
         .group = OPTION_GROUP_HOW},
        {"ties", "NAME", OPTION_CHOICE, TO(ties), .choices = slice_ties_names, .group = OPTION_GROUP_HOW},
        {"model", "NAME", OPTION_CHOICE, TO(model), .choices = filter_model_names, .group = OPTION_GROUP_HOW},
        {"standardise", NULL, OPTION_FLAG, TO(input.standardise), .group = OPTION_GROUP_HOW},
        {"ridge", "LAMBDA", OPTION_REAL, TO(ridge), .range = RANGE_ABOVE_TO, .to = 1e9, .group = OPTION_GROUP_HOW},
        {"groups", "FILE", OPTION_INPUT, TO(input.groups)},
        {"group-field", "FIELD", OPTION_TEXT, TO(input.group_field), .needs = "groups"},
        {"data", "FILE", OPTION_INPUT, TO(input.data), .needs = "id-field"},
        {"id-field", "FIELD", OPTION_TEXT, TO(input.id_field), .needs = "data"},
        {"glue", NULL, OPTION_FLAG, TO(input.glue), .needs = "data", .group = OPTION_GROUP_HOW},
        {"removed", "FILE", OPTION_OUTPUT, TO(removed)},
        {"baseline", "FILE", OPTION_OUTPUT, TO(baseline)},
        {"seed", "N", OPTION_WHOLE, TO(seed), .group = OPTION_GROUP_HOW},
        {"checkpoint", "DIR", OPTION_FOLDER, TO(checkpoint), .group = OPTION_GROUP_HOW},
        {"scores", "FILE", OPTION_OUTPUT, TO(scores)},
        {"log", "FILE", OPTION_OUTPUT, TO(log)},
        {"plot", "FILE", OPTION_OUTPUT, TO(plot), .often = true},
        {"max-memory", "SIZE", OPTION_SIZE, TO(max_memory), .least = 1, .group = OPTION_GROUP_RESOURCES},
        {"no-manifest", NULL, OPTION_FLAG, TO(without_manifest), .group = OPTION_GROUP_OUTPUT},
        {0},
};

int
aflite_check(void *context, struct portolan_error *error)
{
	struct aflite_request *request = context;
	const struct common_options *common = &request->common;
	int status;

	if (!request->input.features && !request->input.models)
		return options_wrong(common, "which features? --features X.npy");
	if (request->input.models && request->ties == SLICE_TIES_MARGIN)
		return options_wrong(common,
		                     "--ties margin needs margins, and --scores-of-models has none: say hash or index");
	if (!request->input.labels && !request->input.run && !request->input.models)
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
	status = format_of_table(common, "--log", request->log, TABLE_CSV, &request->log_format);
	if (status == 0)
		status = format_of_table(common, "--scores", request->scores, TABLE_CSV, &request->scores_format);
	if (status != 0)
		return status;
	return request->without_manifest ? 0 : manifest_claim(common->output, error);
}

/* A percentage of the rows, rounded half up; at least 1. */
static size_t
options_percent(size_t rows, size_t percentage)
{
	size_t share = (rows * percentage + 50) / 100;

	return share ? share : 1;
}

struct filter_options
aflite_filter_options(const struct aflite_request *request, size_t examples, size_t models)
{
	struct filter_options options = {
	        .target = request->target,
	        .partitions = request->partitions ? request->partitions : PARTITIONS,
	        .train = request->train ? request->train : options_percent(examples, 10),
	        .slice = request->slice ? request->slice : options_percent(examples, 2),
	        .threshold = request->threshold,
	        .heuristic = (enum slice_heuristic)request->heuristic,
	        .ties = (enum slice_ties)request->ties,
	        .seed = request->seed,
	        .lambda = request->ridge,
	        .hinge = request->model == 1,
	        .threads = parallel_threads(request->common.query.threads),
	        .kernels = kernels_best(),
	};

	if (request->ties < 0)
		options.ties = request->input.models ? SLICE_TIES_HASH : SLICE_TIES_MARGIN;
	if (request->input.models) {
		options.partitions = models;
		options.train = 0;
		options.slice = request->slice ? options.slice : examples;
	}
	if (options.heuristic == SLICE_GREEDY)
		options.slice = 1;
	if (options.target == 0)
		options.target = options.train + 1;
	return options;
}
