/* select_answer.c: POST api/runs/RUN/select, evaluates a selection; GET api/selection, the selection kept last. */
#include "select_forms.h"

#include "output/report.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

/* Evaluates the selection on the view of its own epochs. */
static int
evaluate_selection(struct server *server, const char *version, struct picked *picked, struct portolan_error *error)
{
	const struct within_file file = {file_filters_keep, &picked->file};
	const struct dynamics *dynamics;
	int code = views_take(server->views, picked->run, within_epochs(picked->within), version, &picked->view, error);

	if (code < 0)
		return code;
	dynamics = &picked->view->dynamics;
	picked->file = (struct file_filters){server->texts, server->searches, picked->view};
	within_use_file(picked->within, &file);
	picked->order = malloc((dynamics->count + 1) * sizeof(*picked->order));
	if (!picked->order)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	return within_keep(picked->within, dynamics, dynamics->order, dynamics->count, picked->order, &picked->count,
	                   error);
}

/* One bit for each dense index; the caller's to free(). NULL: out of memory. */
static unsigned char *
mark_indices(const struct picked *picked)
{
	unsigned char *bits = calloc((size_t)picked->view->dynamics.info->rows / 8 + 1, 1);

	for (size_t i = 0; bits && i < picked->count; i++)
		bits[picked->order[i] / 8] |= (unsigned char)(1u << picked->order[i] % 8);
	return bits;
}

/* Keeps the picked examples that `view`, of the same run, has observed; `view` becomes picked->view. */
static int
carry_to_view(struct picked *picked, const struct view *view, struct portolan_error *error)
{
	const struct dynamics *from = &picked->view->dynamics, *to = &view->dynamics;
	unsigned char *chosen = mark_indices(picked);
	uint32_t *order = malloc((to->count + 1) * sizeof(*order));
	size_t count = 0;

	if (!chosen || !order) {
		free(chosen);
		free(order);
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	}
	for (size_t place = 0; place < to->count; place++) {
		uint32_t index = to->order[place];

		if (index < from->info->rows && chosen[index / 8] >> index % 8 & 1)
			order[count++] = index;
	}
	free(chosen);
	free(picked->order);
	picked->order = order;
	picked->count = count;
	picked->view = view;
	return 0;
}

/* With ?epochs= other than the selection's own, answers with the same examples in the view of those epochs. */
static int
pick_for(struct server *server, const struct http_request *request, struct picked *picked, struct portolan_error *error)
{
	const char *run = within_run(picked->within), *own = within_epochs(picked->within);
	const char *epochs = http_argument(request, "epochs"), *version = http_argument(request, "version");
	const struct view *view, *of_own;
	int code;

	if (run && strcmp(run, picked->run) != 0)
		return error_set(error, PORTOLAN_E_INVALID, "the selection is of run '%.100s', and asked of '%.100s'",
		                 run, picked->run);
	if (!epochs || strcmp(epochs, own ? own : "") == 0)
		return evaluate_selection(server, version, picked, error);
	code = views_take(server->views, picked->run, epochs, version, &view, error);
	if (code < 0)
		return code;
	code = evaluate_selection(server, NULL, picked, error);
	of_own = picked->view;
	if (code >= 0 && (of_own->inode != view->inode || of_own->dynamics.info->number != view->dynamics.info->number))
		code = error_set(error, VIEW_E_VERSION, "run '%s' has changed: load its view again", picked->run);
	if (code >= 0)
		code = carry_to_view(picked, view, error);
	views_return(server->views, picked->view == view ? of_own : view);
	return code;
}

void
answer_select(struct server *server, const struct http_request *request, const char *run, struct http_answer *answer)
{
	struct picked picked = {.run = run};
	struct portolan_error error;
	int code = within_parse(&picked.within, "the selection", request->body ? request->body : "", request->body_size,
	                        &error);

	if (code >= 0)
		code = pick_for(server, request, &picked, &error);
	if (code >= 0)
		select_send(server, request, &picked, answer);
	else
		answer_failure(answer, code, &error);
	if (picked.view)
		views_return(server->views, picked.view);
	free(picked.order);
	within_free(picked.within);
}

void
answer_selection(struct server *server, const struct http_request *request, struct http_answer *answer)
{
	const char *run = http_argument(request, "run");
	struct report report;
	uint64_t known;

	if (!run) {
		http_error(answer, 400, "which run? Add ?run=NAME");
		return;
	}
	if (!answer_number(request, "known", 0, INT64_MAX, UINT64_MAX, &known, answer))
		return;
	if (known == selections_serial(server->selections, run)) {
		http_lasting(answer, "application/json", "", 0);
		answer->status = 304;
	} else if (answer_begin(&report, answer)) {
		selections_report(&report, server->selections, run);
		answer_finish(&report, answer);
	}
}
