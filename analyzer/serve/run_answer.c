/* run_answer.c: GET api/view, api/progress and api/runs: what a run is now. */
#include "answers.h"
#include "view_report.h"

#include "base/cleanup.h"
#include "verdict/run_report.h"

#include <portolan/error.h>

#include <string.h>

int
answer_view(const struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	const char *known = http_argument(question->request, "known");
	CLEANUP(report_discard) struct report report = {0};
	int code;

	if (known && strcmp(known, question->view->version) == 0) {
		answer_unchanged(answer);
		return 0;
	}
	code = report_open_memory(&report, error);
	if (code < 0)
		return code;
	view_report(&report, question->view, question->server->texts);
	return answer_report(&report, answer, error);
}

int
answer_progress(const struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	char *text;
	int code = progress_look(question->server->progress, question->run, &text, error);

	if (code >= 0)
		http_bytes(answer, "application/json", text, strlen(text));
	return code;
}

int
answer_runs(const struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	struct open_stores *stores = question->server->stores;
	CLEANUP(report_discard) struct report report = {0};
	struct store *store;
	int code = open_stores_take(stores, &store, NULL, error);

	if (code < 0)
		return code;
	code = report_open_memory(&report, error);
	if (code >= 0)
		code = question->run ? run_report_one(&report, store, question->run, error)
		                     : run_report_all(&report, store, error);
	open_stores_return(stores, store);
	return code < 0 ? code : answer_report(&report, answer, error);
}
