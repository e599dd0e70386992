/* noise_plan.c: noise plan, which chooses labels to be changed on purpose before training again. */
#include "noise.h"

#include "flips.h"
#include "die/memory.h"
#include "selection/manifest.h"

/* Adds what the manifest of a selection has: the rule, and its parameters. */
static void
plan_describe(const struct noise_request *request, const struct flips *flips, struct report *report)
{
	report_begin(report, "rule");
	report_text(report, "by", request->method == NOISE_METHOD_AUM ? "labelled examples" : "region:easy-to-learn");
	report_text(report, "ranks", "random, xoshiro256**");
	report_end(report);
	report_begin(report, "parameters");
	if (request->method == NOISE_METHOD_AUM) {
		report_text(report, "method", "aum");
		report_whole(report, "extra_class", (uint64_t)flips->flips[0].new_label);
		report_whole(report, "set", request->set);
	}
	if (request->size.has_fraction)
		report_real(report, "fraction", request->size.fraction);
	report_whole(report, "seed", request->seed);
	if (request->has_cuts)
		manifest_add_cuts(report, &request->cuts);
}

static int
plan_write_manifest(const struct noise_request *request, const struct dynamics *dynamics, const struct flips *flips,
                    struct portolan_error *error)
{
	const struct common_options *common = &request->common;
	CLEANUP_ARRAY uint32_t *rows = memory_array(flips->count, sizeof(*rows), "flips");
	struct manifest manifest;
	struct report *report = &manifest.report;
	int code = manifest_open(&manifest, "noise plan", common->output, dynamics, common->query.store, error);

	if (code < 0)
		return code;
	for (size_t i = 0; i < flips->count; i++)
		rows[i] = flips->flips[i].row;
	report_whole(report, "chosen", flips->count);
	manifest_classes(report, dynamics, rows, flips->count);
	plan_describe(request, flips, report);
	manifest_add_range(report, dynamics);
	report_end(report);
	return manifest_close(&manifest, error);
}

/* Writes the file of changes, and beside it how they were drawn. */
static int
plan_write(const struct noise_request *request, const struct dynamics *dynamics, const struct flips *flips,
           struct portolan_error *error)
{
	const char *path = request->common.output;
	bool with_manifest = manifest_is_possible(path);
	struct output output;
	int code = output_open(&output, path, error);

	if (code < 0)
		return code;
	flips_write(&output, dynamics, flips);
	code = output_finish(&output, error);
	return code >= 0 && with_manifest ? plan_write_manifest(request, dynamics, flips, error) : code;
}

int
noise_action_plan(const struct noise_request *request, struct portolan_error *error)
{
	const uint32_t regions = MEASURE_BIT(MEASURE_CONFIDENCE) | MEASURE_BIT(MEASURE_VARIABILITY);
	const struct suspects_size *size = &request->size;
	const struct common_options *common = &request->common;
	bool samples = request->method == NOISE_METHOD_AUM;
	const struct dynamics_request wanted = {.measures = samples ? 0 : regions, .gold = true};
	CLEANUP(dynamics_free) struct dynamics dynamics = {.store = NULL};
	CLEANUP(flips_free) struct flips flips = {.count = 0};
	int code = dynamics_load(&dynamics, &common->query, request->run, &wanted, error);

	if (code < 0)
		return code;
	if (samples)
		code = flips_plan_samples(&dynamics, size->has_fraction ? size->fraction : 0, request->set,
		                          request->seed, &flips, error);
	else
		code = flips_plan(&dynamics, request->has_cuts ? &request->cuts : NULL, size->fraction, request->seed,
		                  &flips, error);
	if (code >= 0)
		code = plan_write(request, &dynamics, &flips, error);
	if (code < 0)
		return code;
	dynamics_report_variability(&dynamics, wanted.measures);
	return dynamics_report(&dynamics, common->strict);
}
