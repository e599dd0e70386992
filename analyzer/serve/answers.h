/*
 * answers.h: the functions that answer requests, and those that they share. The requests are described in README.md.
 *
 * Each function fills the answer and returns 0, or a code of the error, which answer_failure() makes the answer of. All
 * are safe from several threads.
 */
#ifndef ANSWERS_H
#define ANSWERS_H

#include "http.h"
#include "progress.h"
#include "searches.h"
#include "selections.h"
#include "server.h"
#include "texts.h"
#include "views.h"

#include "output/report.h"

struct server {
	struct server_settings settings;
	struct open_stores *stores;
	struct views *views;
	struct texts *texts;       /* NULL: no --data */
	struct searches *searches; /* of the texts; NULL likewise */
	struct selections *selections;
	struct progress *progress;
};

/* A request, and the run and the view that it is about. */
struct question {
	struct server *server;
	const struct http_request *request;
	const char *run;         /* its name; NULL: the answer is not about one */
	const struct view *view; /* of that run, by epochs and version; NULL likewise */
};

/* Turns an error into an answer: 400 for a wrong request, 404 for a run that is not there, 409 for a version that is
 * gone, 503 for the rest. */
void answer_failure(struct http_answer *answer, int code, const struct portolan_error *error);

/* Nothing has changed since the request was last answered. */
void answer_unchanged(struct http_answer *answer);

/* A number in the query, from least to most; `otherwise` if it is not given. PORTOLAN_E_INVALID. */
int answer_number(const struct http_request *request, const char *name, uint64_t least, uint64_t most,
                  uint64_t otherwise, uint64_t *number, struct portolan_error *error);

/* The measure or user's column of the view that the query names with `name`. PORTOLAN_E_INVALID. */
int answer_column(const struct question *question, const char *name, const struct dynamics_column **column,
                  struct portolan_error *error);

/* Makes the bytes of an output of memory the answer; the output is empty then. PORTOLAN_E_MEMORY. */
int answer_output(struct output *output, const char *type, struct http_answer *answer, struct portolan_error *error);
int answer_report(struct report *report, struct http_answer *answer, struct portolan_error *error); /* JSON */

typedef int answer_function(const struct question *question, struct http_answer *answer, struct portolan_error *error);

answer_function answer_runs; /* all, or question->run */
answer_function answer_metrics;
answer_function answer_progress, answer_selection, answer_select; /* of a run */
answer_function answer_view, answer_points, answer_legend, answer_bins, answer_inside, answer_match,
        answer_example; /* of a view */

#endif
