/* answers.h: the functions that answer requests, and those that they share. Each fills the answer; all are safe from
 * several threads. The requests are described in README.md. */
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

/* The view that the request names by run, epochs and version; return it later. False: `answer` has the reason. */
bool answer_take_view(struct server *server, const struct http_request *request, const struct view **view,
                      struct http_answer *answer);

/* Turns an error into an answer: 404 for a run that is not there, 409 for a version that is gone, … */
void answer_failure(struct http_answer *answer, int code, const struct portolan_error *error);

/* A number in the query, from least to most; `otherwise` if it is not given. False: `answer` says what it must be. */
bool answer_number(const struct http_request *request, const char *name, uint64_t least, uint64_t most,
                   uint64_t otherwise, uint64_t *number, struct http_answer *answer);

/* A report that becomes the answer: begin, write it, finish. False: out of memory, which `answer` says. */
bool answer_begin(struct report *report, struct http_answer *answer);
void answer_finish(struct report *report, struct http_answer *answer);

/* The same for a report whose writing may have failed with `code`: the answer is then that error. */
void answer_finish_or_fail(struct report *report, int code, const struct portolan_error *error,
                           struct http_answer *answer);

/* Sends what was written to an output of memory, which is discarded. */
void answer_output(struct output *output, const char *type, struct http_answer *answer);

/* The measure or user's column of the view that the query names with `name`; NULL: there is none, which `answer`
 * says. */
const struct dynamics_column *answer_column(const struct view *view, const struct http_request *request,
                                            const char *name, struct http_answer *answer);

/* Writes the view as the answer of api/view; texts may be NULL. */
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
