/* select_files.c: writes the files of `portolan select` (select_files.h). The examples are ranked once; each size gets
 * a file, and beside it a manifest. */
#include "select_files.h"

#include "base/message.h"
#include "base/status.h"
#include "die/die.h"
#include "die/memory.h"
#include "manifest.h"
#include "output/claims.h"
#include "select_labels.h"
#include "select_output.h"
#include "share_hint.h"
#include "why.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool
select_has_manifest(const struct select_request *request)
{
	return !request->without_manifest &&
	       (request->fraction_count > 0 || manifest_is_possible(request->common.output));
}

/* Adds the members of the manifest that describe a rule. */
static void
select_add_rule(struct report *report, const char *text, size_t length, const struct selection_rule *rule)
{
	char ranks[400];

	selection_rule_describe(rule, ranks, sizeof(ranks));
	report_bytes(report, "by", text, length);
	report_text(report, "ranks", ranks);
}

static void
select_add_mixes(struct report *report, const struct select_request *request)
{
	report_begin_list(report, "mix");
	for (size_t i = 0; i < request->plan.mix_count; i++) {
		const char *text = request->mix_rules[i];

		report_begin(report, NULL);
		select_add_rule(report, text, (size_t)(strrchr(text, '=') - text), &request->plan.mixes[i].rule);
		report_real(report, "fraction", request->plan.mixes[i].fraction);
		report_end(report);
	}
	report_end(report);
}

static void
select_add_lists(struct report *report, const char *key, const struct select_request *request, bool is_exclusion)
{
	static const struct table_column columns[] = {{"file", TABLE_TEXT, offsetof(struct pool_list, path)},
	                                              {"ids", TABLE_U64, offsetof(struct pool_list, ids)},
	                                              {"unknown", TABLE_U64, offsetof(struct pool_list, unknown)}};
	struct table table = TABLE_OF(columns, request->lists, 0);
	uint32_t order[POOL_LISTS_MAX];

	for (uint32_t i = 0; i < request->list_count; i++)
		if (request->lists[i].is_exclusion == is_exclusion)
			order[table.rows++] = i;
	table.order = order;
	table_report(report, key, &table);
}

static void
select_add_size(struct report *report, const struct select_request *request, const struct selection_plan *plan)
{
	if (plan->count > 0)
		report_whole(report, "count", plan->count);
	else if (plan->smallest)
		report_text(report, "count", "smallest");
	else if (plan->has_size)
		report_real(report, "fraction", plan->fraction);
	if (plan->offset_count > 0)
		report_whole(report, "offset", plan->offset_count);
	else if (plan->offset > 0)
		report_real(report, "offset", plan->offset);
	if (plan->published)
		report_text(report, "sizes", "published");
	if (request->has_threshold)
		report_real(report, "threshold", request->threshold);
	if (plan->top_share < 1)
		report_real(report, "both_ends", plan->top_share);
	if (plan->rule.strata > 0) {
		report_whole(report, "strata", plan->rule.strata);
		report_real(report, "cut", plan->rule.cut);
	}
	if (plan->classes != SELECTION_CLASSES_ANY)
		report_text(report, "classes", plan->classes == SELECTION_CLASSES_EACH ? "per-class" : "stratified");
}

/* Adds the members about the examples that were chosen from. */
static void
select_add_pool(struct report *report, const struct select_request *request)
{
	if (request->within)
		report_json(report, "within", request->within->object);
	if (request->list_count > 0) {
		select_add_lists(report, "only", request, false);
		select_add_lists(report, "exclude", request, true);
	}
	if (request->common.query.minus) {
		report_text(report, "minus", request->common.query.minus);
		if (request->common.query.minus_epochs)
			report_text(report, "minus_epochs", request->common.query.minus_epochs);
	} else if (request->run_count > 1) {
		report_begin_list(report, "with");
		for (size_t r = 1; r < request->run_count; r++)
			report_text(report, NULL, request->runs[r]);
		report_end(report);
		if (request->any_run)
			report_flag(report, "union", true);
	}
}

/* Adds the options that were given beside the rule. */
static void
select_add_parameters(struct report *report, const struct select_request *request, const struct selection_plan *plan,
                      const struct dynamics *dynamics)
{
	report_begin(report, "parameters");
	select_add_size(report, request, plan);
	if (plan->mix_count > 0)
		select_add_mixes(report, request);
	select_add_pool(report, request);
	if (request->has_cuts)
		manifest_add_cuts(report, &request->cuts);
	if (plan->rule.kind == SELECT_DUAL_BETA)
		report_real(report, "c_d", request->beta_c);
	if (plan->rule.kind == SELECT_S2L)
		REPORT_WHOLES(report, {"clusters", request->clusters}, {"starts", request->starts});
	if (request->source_field)
		report_text(report, "sources", request->source_field);
	if (request->source_file)
		report_text(report, "sources_data", request->source_file);
	if (request->features)
		report_text(report, "features", request->features);
	if (request->feature_ids)
		report_text(report, "feature_ids", request->feature_ids);
	manifest_add_range(report, dynamics);
	if (request->never_learned != NEVER_LEARNED_FLAG)
		report_text(report, "never_learned", never_learned_names[request->never_learned]);
	if (request->common.query.never)
		report_text(report, "never", never_names[request->common.query.never]);
	if (!isnan(request->common.query.loss_threshold))
		report_real(report, "loss_threshold", request->common.query.loss_threshold);
	if (request->common.query.window)
		report_whole(report, "window", request->common.query.window);
	report_whole(report, "seed", request->seed);
	report_text(report, "format",
	            request->format == SELECT_LINES ? "lines"
	            : request->format == SELECT_IDS ? "ids"
	                                            : table_format_names[request->format]);
	if (request->join)
		report_text(report, "join", request->join);
	if (request->id_field)
		report_text(report, "id_field", request->id_field);
	if (request->glue)
		report_flag(report, "glue", true);
	report_flag(report, "with_measures", request->with_measures);
	if (request->without_suspects)
		report_flag(report, "without_suspects", true);
	if (request->label_field)
		report_text(report, "label_field", request->label_field);
	report_end(report);
}

/* `why`: the last selection added to it is this one; NULL: not asked for. */
static void
select_write_manifest(const struct select_request *request, const struct selection_plan *plan,
                      const struct selection_source *source, const uint32_t *chosen, size_t count, const char *output,
                      const struct why *why)
{
	struct manifest manifest;
	struct report *report = &manifest.report;

	manifest_open(&manifest, "select", output, source->dynamics, request->common.query.store);
	REPORT_WHOLES(report, {"eligible", source->count}, {"chosen", count});
	provenance_add_classes(report, source->dynamics, chosen, count);
	report_begin(report, "rule");
	select_add_rule(report, request->rule, strlen(request->rule), &plan->rule);
	report_end(report);
	select_add_parameters(report, request, plan, source->dynamics);
	select_labels_report(request->labels, request, report);
	if (why)
		why_report(why, why->chosen_count - 1, report);
	manifest_close(&manifest);
}

static void
select_warn_fewer(const struct selection_plan *plan, size_t eligible, size_t count, size_t asked)
{
	const char *why = count == asked        ? "there are no more examples to choose from"
	                  : plan->mix_count > 0 ? "the rules rank no more"
	                                        : "the rule ranks no more";

	if (plan->count > asked && plan->classes != SELECTION_CLASSES_EACH)
		asked = (size_t)plan->count;
	if (plan->has_size && count < asked)
		message_warning("%zu selected instead of %zu: %s", count, asked, why);
	else if (plan->has_size && asked == 0 && eligible > 0)
		message_warning("%g of %zu examples%s is none: ask for a larger --fraction", plan->fraction, eligible,
		                plan->classes == SELECTION_CLASSES_EACH ? ", class by class," : "");
}

/* Writes one selection into one file. */
static int
select_write_file(const struct select_request *request, const struct selection_plan *plan,
                  const struct selection_source *source, const struct selection_ranking *ranking, const char *output,
                  struct why *why)
{
	size_t count, asked;
	CLEANUP_ARRAY uint32_t *chosen = selection_plan_take(plan, source, ranking, &count, &asked);
	int status;

	select_warn_fewer(plan, source->count, count, asked);
	share_hint(request, source->count, count);
	if (why)
		why_add(why, chosen, count);
	status = select_output(request, output, source->dynamics, chosen, count);
	if (status != STATUS_USAGE && select_has_manifest(request))
		select_write_manifest(request, plan, source, chosen, count, output, why);
	return status;
}

int
select_write_files(const struct select_request *request, const struct selection_source *source)
{
	struct selection_plan plan = request->plan;
	struct selection_ranking ranking;
	struct why why, *asked = request->why ? &why : NULL;
	int status = STATUS_DONE;

	must(selection_plan_check(&plan, source, &failure));
	if (asked)
		why_open(&why, request, source->dynamics,
		         request->labels->has_suspects ? request->labels->suspects.is_called : NULL);
	selection_plan_rank(&plan, source, request->fractions, request->fraction_count, &ranking);
	for (size_t i = 0; i < request->file_count && status != STATUS_USAGE; i++) {
		int of_file;

		if (request->fraction_count > 0)
			plan.fraction = request->fractions[i];
		of_file = select_write_file(request, &plan, source, &ranking, request->files[i], asked);
		status = of_file > status ? of_file : status;
	}
	selection_ranking_free(&ranking);
	if (asked && status != STATUS_USAGE)
		(request->common.json ? why_write_json : why_print)(&why);
	if (asked)
		why_close(&why);
	return status;
}

/* Names the file of a fraction: "subsets/hard.txt" and "0.1" make "subsets/hard-0.1.txt". */
static char *
select_name_file(const char *output, const char *fraction)
{
	const char *slash = strrchr(output, '/'), *base = slash ? slash + 1 : output, *dot = strrchr(base, '.');
	int length = (int)(dot && dot > base ? (size_t)(dot - output) : strlen(output));

	return memory_text("%.*s-%s%s", length, output, fraction, output + length);
}

int
select_claim_files(struct select_request *request, struct portolan_error *error)
{
	int code = 0;

	request->file_count = request->fraction_count > 0 ? request->fraction_count : 1;
	for (size_t i = 0; i < request->file_count && code >= 0; i++) {
		request->files[i] = request->fraction_count > 0
		                            ? select_name_file(request->common.output, request->fraction_names[i])
		                            : (char *)(uintptr_t)request->common.output;
		if (request->fraction_count > 0)
			code = claims_add_output("the file", request->files[i], error);
		if (code >= 0 && select_has_manifest(request))
			code = manifest_claim(request->files[i], error);
	}
	if (code < 0)
		select_free_files(request);
	return code;
}

void
select_free_files(struct select_request *request)
{
	for (size_t i = 0; i < request->file_count && request->fraction_count > 0; i++)
		free(request->files[i]);
	request->file_count = 0;
}
