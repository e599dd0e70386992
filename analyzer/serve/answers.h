/* answers.h: the functions that answer requests, and what they share. Each fills the answer; all are safe from several
 * threads. The requests are described in README.md. */
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
	struct views *views;
	struct texts *texts;       /* NULL: no --data */
	struct searches *searches; /* of the texts; NULL likewise */
	struct selections *selections;
	struct progress *progress;
};

/* The view that the request's run, epochs and version name. False: `answer` says why not. Return it. */
bool answer_take_view(struct server *server, const struct http_request *request, const struct view **view,
                      struct http_answer *answer);

/* The error as an answer: 404 for a run that is not there, 409 for a version that is gone, … */
void answer_failure(struct http_answer *answer, int code, const struct portolan_error *error);

/* A number of the query, from least to most; `otherwise` if it is not given. False: `answer` says what it must be. */
bool answer_number(const struct http_request *request, const char *name, uint64_t least, uint64_t most,
                   uint64_t otherwise, uint64_t *number, struct http_answer *answer);

/* A report that becomes the answer: begin, write it, finish. False: `answer` says that there is no memory. */
bool answer_begin(struct report *report, struct http_answer *answer);
void answer_finish(struct report *report, struct http_answer *answer);

/* The same of a report whose writing may have failed, with `code`: then that is the answer. */
void answer_finish_or_fail(struct report *report, int code, const struct portolan_error *error,
                           struct http_answer *answer);

/* Sends what was written to an output of memory, which is discarded. */
void answer_output(struct output *output, const char *type, struct http_answer *answer);

/* A measure, or a user's column, of the view that the query names with `name`; NULL: `answer` says so. */
const struct dynamics_column *answer_column(const struct view *view, const struct http_request *request,
                                            const char *name, struct http_answer *answer);

/* The view as api/view has it; texts may be NULL. */
void view_report(struct report *report, const struct view *view, const struct texts *texts);

void answer_runs(struct server *server, const struct http_request *request, const char *run,
                 struct http_answer *answer); /* NULL: all */
void answer_progress(struct server *server, const struct http_request *request, struct http_answer *answer);
void answer_view(struct server *server, const struct http_request *request, struct http_answer *answer);
void answer_points(struct server *server, const struct http_request *request, struct http_answer *answer);
void answer_legend(struct server *server, const struct http_request *request, struct http_answer *answer);
void answer_bins(struct server *server, const struct http_request *request, struct http_answer *answer);
void answer_inside(struct server *server, const struct http_request *request, struct http_answer *answer);
void answer_match(struct server *server, const struct http_request *request, struct http_answer *answer);
void answer_example(struct server *server, const struct http_request *request, struct http_answer *answer);
void answer_selection(struct server *server, const struct http_request *request, struct http_answer *answer);
void answer_select(struct server *server, const struct http_request *request, const char *run,
                   struct http_answer *answer);
void answer_metrics(struct server *server, const struct http_request *request, struct http_answer *answer);

#endif
