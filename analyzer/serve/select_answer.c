/* select_answer.c: answers two requests of the live page and of programs: POST api/runs/RUN/select, which asks for the
 * examples that a selection selects, and GET api/selection, which asks for the selection last kept. */
#include "select_forms.h"

#include "base/cleanup.h"
#include "output/report.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

/* Evaluates the selection on `view`, which has the epochs that the selection names. */
static int
select_evaluate(const struct view *view, struct picked *picked, struct portolan_error *error)
{
	const struct within_file file = {file_filters_keep, file_filters_values, &picked->file};
	const struct dynamics *dynamics = &view->dynamics;

	picked->file = (struct file_filters){view->data->texts, view->data->searches, view};
	picked->within->file = file;
	picked->order = malloc((dynamics->count + 1) * sizeof(*picked->order));
	if (!picked->order)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	return within_keep(picked->within, dynamics, dynamics->order, dynamics->count, picked->order, &picked->count,
	                   error);
}

/* Keeps those picked examples of the view `own` that `view`, of the same run, has observed too. */
static int
select_carry(struct picked *picked, const struct view *own, const struct view *view, struct portolan_error *error)
{
	const struct dynamics *from = &own->dynamics, *to = &view->dynamics;
	CLEANUP_FREE unsigned char *chosen = NULL; /* one bit for each dense index */
	uint32_t *order;
	size_t count = 0;

	if (own->inode != view->inode || from->info->number != to->info->number)
		return error_set(error, VIEW_E_VERSION, "run '%s' has changed: load its view again", to->info->name);
	chosen = calloc((size_t)from->info->rows / 8 + 1, 1);
	order = malloc((to->count + 1) * sizeof(*order));
	if (!chosen || !order) {
		free(order);
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	}
	for (size_t i = 0; i < picked->count; i++)
		chosen[picked->order[i] / 8] |= (unsigned char)(1u << picked->order[i] % 8);
	for (size_t place = 0; place < to->count; place++) {
		uint32_t index = to->order[place];

		if (index < from->info->rows && chosen[index / 8] >> index % 8 & 1)
			order[count++] = index;
	}
	free(picked->order);
	picked->order = order;
	picked->count = count;
	return 0;
}

/* Takes the view that the answer is about: that of ?epochs=, or else that of the selection's own epochs. In either
 * case, the selection is evaluated on its own epochs. */
static int
select_pick(struct question *question, struct picked *picked, struct portolan_error *error)
{
	const struct http_request *request = question->request;
	struct views *views = question->server->views;
	const char *run = picked->within->run, *own = picked->within->epochs;
	const char *epochs = http_argument(request, "epochs"), *version = http_argument(request, "version");
	bool of_own = !epochs || strcmp(epochs, own ? own : "") == 0;
	const struct view *view;
	int code;

	if (run && strcmp(run, question->run) != 0)
		return error_set(error, PORTOLAN_E_INVALID, "the selection is of run '%.100s', and asked of '%.100s'",
		                 run, question->run);
	code = views_take(views, question->run, of_own ? own : epochs, version, &question->view, error);
	if (code >= 0)
		question->data = question->view->data;
	if (code < 0 || of_own)
		return code < 0 ? code : select_evaluate(question->view, picked, error);
	code = views_take(views, question->run, own, NULL, &view, error);
	if (code < 0)
		return code;
	code = select_evaluate(view, picked, error);
	return code < 0 ? code : select_carry(picked, view, question->view, error);
}

int
answer_select(const struct question *asked, struct http_answer *answer, struct portolan_error *error)
{
	const struct http_request *request = asked->request;
	struct question question = *asked;
	struct picked picked = {0};
	int code = within_parse(&picked.within, "the selection", request->body ? request->body : "", request->body_size,
	                        error);

	if (code >= 0)
		code = select_pick(&question, &picked, error);
	if (code >= 0)
		code = select_send(&question, &picked, answer, error);
	if (picked.file.view && picked.file.view != question.view)
		views_return(question.server->views, picked.file.view);
	if (question.view)
		views_return(question.server->views, question.view);
	free(picked.order);
	within_free(picked.within);
	return code;
}

int
answer_selection(const struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	struct selections *selections = question->server->selections;
	uint64_t known;
	int code = answer_number(question->request, "known", 0, INT64_MAX, UINT64_MAX, &known, error);

	if (code < 0)
		return code;
	if (known == selections_serial(selections, question->run))
		answer_unchanged(answer);
	else
		selections_report(question->report, selections, question->run);
	return 0;
}
