/* noise_plan.c: noise plan: which labels to change on purpose before training again: flips, or threshold samples. */
#include "noise.h"

#include "base/arrays.h"
#include "flips.h"
#include "selection/manifest.h"
#include "threshold_samples.h"

/* As beside a selection: what is planned is one. */
static void
describe_plan(const struct noise_request *request, const struct flips *flips, struct report *report)
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
write_manifest(const struct noise_request *request, const struct dynamics *dynamics, const struct flips *flips,
               struct portolan_error *error)
{
	const struct common_options *common = &request->common;
	uint32_t *rows = array_new(flips->count, sizeof(*rows), "flips", error);
	struct manifest manifest;
	struct report *report = &manifest.report;
	int code = rows ? manifest_open(&manifest, "noise plan", common->output, dynamics, common->query.store, error)
	                : PORTOLAN_E_MEMORY;

	for (size_t i = 0; code >= 0 && i < flips->count; i++)
		rows[i] = flips->flips[i].row;
	if (code >= 0) {
		report_whole(report, "chosen", flips->count);
		manifest_classes(report, dynamics, rows, flips->count);
		describe_plan(request, flips, report);
		manifest_add_range(report, dynamics);
		report_end(report);
		code = manifest_close(&manifest, error);
	}
	array_free(rows);
	return code;
}

/* The flips, and beside their file how they were drawn. */
static int
write_plan(const struct noise_request *request, const struct dynamics *dynamics, const struct flips *flips,
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
	return code >= 0 && with_manifest ? write_manifest(request, dynamics, flips, error) : code;
}

static int
draw(const struct noise_request *request, const struct dynamics *dynamics, struct flips *flips,
     struct portolan_error *error)
{
	const struct suspects_size *size = &request->size;

	if (request->method == NOISE_METHOD_AUM)
		return threshold_samples_plan(dynamics, size->has_fraction ? size->fraction : 0, request->set,
		                              request->seed, flips, error);
	return flips_plan(dynamics, request->has_cuts ? &request->cuts : NULL, size->fraction, request->seed, flips,
	                  error);
}

int
noise_action_plan(const struct noise_request *request, struct portolan_error *error)
{
	const uint32_t regions = MEASURE_BIT(MEASURE_CONFIDENCE) | MEASURE_BIT(MEASURE_VARIABILITY);
	const struct dynamics_request wanted = {.measures = request->method == NOISE_METHOD_AUM ? 0 : regions,
	                                        .gold = true};
	const struct common_options *common = &request->common;
	struct dynamics dynamics;
	struct flips flips;
	int code = dynamics_load(&dynamics, &common->query, request->run, &wanted, error);

	if (code < 0)
		return code;
	code = draw(request, &dynamics, &flips, error);
	if (code >= 0) {
		code = write_plan(request, &dynamics, &flips, error);
		flips_free(&flips);
	}
	if (code >= 0) {
		dynamics_report_variability(&dynamics, wanted.measures);
		code = dynamics_report(&dynamics, common->strict);
	}
	dynamics_free(&dynamics);
	return code;
}
