/* select_files.c: one ranking, one file for each size, and beside each what made it. */
#include "select_files.h"

#include "dynamics/arrays.h"
#include "program/message.h"
#include "output/claims.h"
#include "output/report.h"

#include <portolan/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
select_has_manifest(const struct select_request *request)
{
	return !request->without_manifest &&
	       (request->fraction_count > 0 || manifest_is_possible(request->common.output));
}

/* "subsets/hard.txt" and "0.1" make "subsets/hard-0.1.txt"; the caller's to free(). */
static char *
name_file(const char *output, const char *fraction)
{
	const char *slash = strrchr(output, '/'), *base = slash ? slash + 1 : output, *dot = strrchr(base, '.');
	char *name;
	int length = (int)(dot && dot > base ? (size_t)(dot - output) : strlen(output));

	return asprintf(&name, "%.*s-%s%s", length, output, fraction, output + length) < 0 ? NULL : name;
}

static json_t *
describe_rule(const char *text, size_t length, const struct selection_rule *rule)
{
	char ranks[400];

	selection_rule_describe(rule, ranks, sizeof(ranks));
	return json_pack("{s:s%, s:s}", "by", text, length, "ranks", ranks);
}

static json_t *
describe_mixes(const struct select_request *request)
{
	json_t *mixes = json_array();

	for (size_t i = 0; i < request->plan.mix_count; i++) {
		const char *text = request->mix_rules[i];
		json_t *mix = describe_rule(text, (size_t)(strrchr(text, '=') - text), &request->plan.mixes[i].rule);

		json_object_set_new(mix, "fraction", json_real(request->plan.mixes[i].fraction));
		json_array_append_new(mixes, mix);
	}
	return mixes;
}

static json_t *
describe_runs(const struct select_request *request)
{
	json_t *runs = json_array();

	for (size_t r = 1; r < request->run_count; r++)
		json_array_append_new(runs, json_string(request->runs[r]));
	return runs;
}

static json_t *
describe_lists(const struct select_request *request, bool is_exclusion)
{
	json_t *lists = json_array();

	for (size_t i = 0; i < request->list_count; i++) {
		const struct pool_list *list = &request->lists[i];

		if (list->is_exclusion == is_exclusion)
			json_array_append_new(lists,
			                      json_pack("{s:o, s:I, s:I}", "file", report_text(list->path), "ids",
			                                (json_int_t)list->ids, "unknown", (json_int_t)list->unknown));
	}
	return lists;
}

/* What was asked for beside the rule; what was not asked for is not there. */
static json_t *
describe_parameters(const struct select_request *request, const struct selection_plan *plan,
                    const struct dynamics *dynamics)
{
	json_t *p = json_object();

	if (plan->count > 0)
		json_object_set_new(p, "count", json_integer((json_int_t)plan->count));
	else if (plan->has_size)
		json_object_set_new(p, "fraction", json_real(plan->fraction));
	if (request->has_threshold)
		json_object_set_new(p, "threshold", json_real(request->threshold));
	if (plan->top_share < 1)
		json_object_set_new(p, "both_ends", json_real(plan->top_share));
	if (plan->classes != SELECTION_CLASSES_ANY)
		json_object_set_new(p, "classes",
		                    json_string(plan->classes == SELECTION_CLASSES_EACH ? "per-class" : "stratified"));
	if (plan->mix_count > 0)
		json_object_set_new(p, "mix", describe_mixes(request));
	if (request->list_count > 0)
		json_object_set_new(p, "only", describe_lists(request, false));
	if (request->list_count > 0)
		json_object_set_new(p, "exclude", describe_lists(request, true));
	if (request->run_count > 1)
		json_object_set_new(p, "with", describe_runs(request));
	if (request->has_cuts)
		json_object_set_new(p, "regions",
		                    json_pack("{s:f, s:f}", "variability", request->cuts.variability, "confidence",
		                              request->cuts.confidence));
	if (request->features)
		json_object_set_new(p, "features", report_text(request->features));
	if (request->feature_ids)
		json_object_set_new(p, "feature_ids", report_text(request->feature_ids));
	manifest_add_range(p, dynamics);
	json_object_set_new(p, "seed", json_integer((json_int_t)request->seed));
	json_object_set_new(
	        p, "format",
	        json_string(request->format == SELECT_LINES ? "lines" : select_format_names[request->format]));
	if (request->join)
		json_object_set_new(p, "join", report_text(request->join));
	if (request->join)
		json_object_set_new(p, "id_field", report_text(request->id_field));
	json_object_set_new(p, "with_measures", json_boolean(request->with_measures));
	return p;
}

static int
write_manifest(const struct select_request *request, const struct selection_plan *plan,
               const struct selection_source *source, const uint32_t *chosen, size_t count, const char *output,
               struct portolan_error *error)
{
	const struct dynamics *dynamics = source->dynamics;
	json_t *manifest = manifest_new("select", dynamics, request->common.store);
	int failed = !manifest;

	failed |= json_object_set_new(manifest, "eligible", json_integer((json_int_t)source->count)) < 0;
	failed |= json_object_set_new(manifest, "chosen", json_integer((json_int_t)count)) < 0;
	failed |= json_object_set_new(manifest, "classes", manifest_classes(dynamics, chosen, count)) < 0;
	failed |= json_object_set_new(manifest, "rule",
	                              describe_rule(request->rule, strlen(request->rule), &plan->rule)) < 0;
	failed |= json_object_set_new(manifest, "parameters", describe_parameters(request, plan, dynamics)) < 0;
	if (failed) {
		json_decref(manifest);
		manifest = NULL;
	}
	return manifest_write(manifest, output, error);
}

static void
warn_fewer(const struct selection_plan *plan, size_t count, size_t asked)
{
	const char *why = count == asked        ? "there are no more examples to choose from"
	                  : plan->mix_count > 0 ? "the rules rank no more"
	                                        : "the rule ranks no more";

	if (plan->count > asked && plan->classes != SELECTION_CLASSES_EACH)
		asked = (size_t)plan->count;
	if (plan->has_size && count < asked)
		message_warning("%zu selected instead of %zu: %s", count, asked, why);
}

/* One selection into one file. */
static int
write_file(const struct select_request *request, const struct selection_plan *plan,
           const struct selection_source *source, const struct selection_ranking *ranking, const char *output,
           struct portolan_error *error)
{
	const struct select_output_options options = {
	        .common = &request->common,
	        .format = (enum select_format)request->format,
	        .path = output,
	        .join = request->join,
	        .id_field = request->id_field,
	        .with_measures = request->with_measures,
	};
	uint32_t *chosen;
	size_t count, asked;
	int code, status = selection_plan_take(plan, source, ranking, &chosen, &count, &asked, error);

	if (status < 0)
		return status;
	warn_fewer(plan, count, asked);
	status = select_output(&options, source->dynamics, chosen, count, error);
	if (status >= 0 && status != STATUS_USAGE && select_has_manifest(request)) {
		code = write_manifest(request, plan, source, chosen, count, output, error);
		status = code < 0 ? code : status;
	}
	array_free(chosen);
	return status;
}

int
select_write_files(const struct select_request *request, const struct selection_source *source,
                   struct portolan_error *error)
{
	struct selection_plan plan = request->plan;
	struct selection_ranking ranking;
	int code = selection_plan_rank(&plan, source, request->fractions, request->fraction_count, &ranking, error);
	int status = STATUS_DONE;

	for (size_t i = 0; i < request->file_count && code >= 0 && code != STATUS_USAGE; i++) {
		if (request->fraction_count > 0)
			plan.fraction = request->fractions[i];
		code = write_file(request, &plan, source, &ranking, request->files[i], error);
		status = code > status ? code : status;
	}
	selection_ranking_free(&ranking);
	return code < 0 ? code : status;
}

void
select_free_files(struct select_request *request)
{
	for (size_t i = 0; i < request->file_count && request->fraction_count > 0; i++)
		free((char *)request->files[i]);
	request->file_count = 0;
}

static int
name_files(struct select_request *request, struct portolan_error *error)
{
	if (request->fraction_count == 0)
		request->files[request->file_count++] = request->common.output;
	for (size_t i = 0; i < request->fraction_count; i++) {
		request->files[i] = name_file(request->common.output, request->fraction_names[i]);
		if (!request->files[i])
			return error_set(error, PORTOLAN_E_MEMORY, "out of memory for a file's name");
		request->file_count++;
	}
	return 0;
}

int
select_claim_files(struct select_request *request, struct portolan_error *error)
{
	int code = name_files(request, error);

	for (size_t i = 0; i < request->file_count && code >= 0; i++) {
		if (request->fraction_count > 0)
			code = claims_add_output("the file", request->files[i], error);
		if (code >= 0 && select_has_manifest(request))
			code = manifest_claim(request->files[i], error);
	}
	if (code < 0)
		select_free_files(request);
	return code;
}
