/*
 * select_passes.c: what is chosen is written as it is found, so that no list of it is kept.
 *
 * The head of an npy file says how many there are: such a selection is made twice, and first only counted.
 */
#include "select_files.h"

#include "selection/passes.h"

#include <portolan/error.h>

#include <stdlib.h>

struct writing {
	const struct passes *passes;
	const struct select_output_options *options;
	struct output *output;
	uint32_t *chosen; /* by class */
};

static int
write_rows(void *context, const struct dynamics *part, const uint32_t *rows, size_t count, struct portolan_error *error)
{
	const struct writing *writing = context;

	for (size_t i = 0; i < count; i++)
		writing->chosen[classes_find(&writing->passes->census.classes,
		                             part->gold ? part->gold[rows[i]] : -1)]++;
	select_output_rows(writing->output, writing->options, part, rows, count);
	return output_check(writing->output, error);
}

static int
write_selection(struct writing *writing, const struct selection_plan *plan, struct portolan_error *error)
{
	const struct passes *passes = writing->passes;
	size_t count = 0, asked;
	int code = select_output_check(writing->output, writing->options, error);

	if (code >= 0 && writing->options->format == SELECT_NPY)
		code = passes_take(passes, plan, NULL, NULL, &count, &asked, error);
	if (code < 0)
		return code;
	select_output_head(writing->output, writing->options, passes->run, count);
	code = passes_take(passes, plan, write_rows, writing, &count, &asked, error);
	if (code >= 0)
		select_warn_fewer(plan, count, asked);
	return code;
}

static int
write_manifest(const struct writing *writing, const struct select_request *request, const struct selection_plan *plan,
               const char *path, struct portolan_error *error)
{
	const struct census *census = &writing->passes->census;
	const struct dynamics *run = writing->passes->run;
	size_t chosen = 0;

	for (size_t c = 0; c < census->classes.count; c++)
		chosen += writing->chosen[c];
	return select_write_manifest(request, plan, run, run->count, chosen,
	                             manifest_classes_counted(run, &census->classes, census->sizes, writing->chosen),
	                             path, error);
}

static int
write_one(void *context, const struct select_request *request, const struct selection_plan *plan, const char *path,
          struct portolan_error *error)
{
	const struct passes *passes = context;
	struct select_output_options options = select_output_options(request, path);
	struct output output;
	struct writing writing = {.passes = passes, .options = &options, .output = &output};
	int code;

	writing.chosen = calloc(passes->census.classes.count, sizeof(*writing.chosen));
	if (!writing.chosen)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu classes",
		                 passes->census.classes.count);
	code = output_open(&output, path, error);
	if (code >= 0) {
		code = write_selection(&writing, plan, error);
		if (code >= 0)
			code = output_finish(&output, error);
		else
			output_discard(&output);
	}
	if (code >= 0 && select_has_manifest(request))
		code = write_manifest(&writing, request, plan, path, error);
	free(writing.chosen);
	return code < 0 ? code : STATUS_DONE;
}

/* The measure may be one that the run has no signals for. */
static int
check_columns(const struct select_request *request, const struct dynamics *run, struct portolan_error *error)
{
	struct selection_rule rules[SELECTION_PARTS_MAX];
	size_t count = selection_plan_parts(&request->plan, rules);

	for (size_t p = 0; p < count; p++)
		if (rules[p].kind == SELECT_MEASURE && !dynamics_column(run, rules[p].measure))
			return selection_no_signal(&rules[p], run, error);
	return 0;
}

int
select_in_passes(const struct select_request *request, struct dynamics *run, struct portolan_error *error)
{
	struct passes_request source = {
	        .cuts = request->has_cuts ? &request->cuts : NULL,
	        .threshold = request->has_threshold ? &request->threshold : NULL,
	        .seed = request->seed,
	};
	struct passes passes;
	int code = check_columns(request, run, error);

	if (code >= 0)
		code = passes_open(&passes, run, &request->plan, &source, error);
	if (code < 0)
		return code;
	code = select_each_file(request, write_one, &passes, error);
	passes_close(&passes);
	return code;
}
