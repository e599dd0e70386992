/*
 * answers.h: the functions that answer the live page's requests: what each is given, and what all of them share.
 * README.md describes the requests.
 *
 * A function answers in one of three ways. It writes JSON to question->report. Or it writes other bytes to that
 * report's output, and sets their type in `answer`. Or it fills `answer` itself. It returns 0, or the code of an error,
 * and then the server answers with that error. The functions are safe from several threads.
 */
#ifndef ANSWERS_H
#define ANSWERS_H

#include "background.h"
#include "fingerprints.h"
#include "http.h"
#include "progress.h"
#include "run_data.h"
#include "selections.h"
#include "settings.h"
#include "tags.h"
#include "files/texts.h"
#include "views.h"

#include "output/report.h"

/* What all requests share: server.c makes it. */
struct server {
	const struct server_settings *settings;
	struct open_stores *stores;
	struct views *views;
	struct run_datas *datas; /* the texts of runs */
	struct selections *selections;
	struct tags *tags; /* NULL: no --tags */
	struct progress *progress;
	struct background *background;
	struct fingerprints *fingerprints;
};

/* A request, and the run and the view that it is about. */
struct question {
	struct server *server;
	const struct http_request *request;
	struct report *report;       /* for the answer; empty */
	const char *run;             /* its name; NULL: the request is not about one run */
	const struct view *view;     /* of that run; NULL: the request is not about a view, */
	const struct run_data *data; /* or else what texts it has; never NULL then */
};

/* Answers 304: nothing has changed since the request was last answered. */
void answer_unchanged(struct http_answer *answer);

/* Reads the number `name` of the query: least … most; `otherwise` if it is not given. PORTOLAN_E_INVALID. */
int answer_number(const struct http_request *request, const char *name, uint64_t least, uint64_t most,
                  uint64_t otherwise, uint64_t *number, struct portolan_error *error);

/* Is the scale that the query names with `name` logarithmic? "log", or "linear", which it is by default.
 * PORTOLAN_E_INVALID: it is another text. */
int answer_is_log(const struct http_request *request, const char *name, bool *is_log, struct portolan_error *error);

/* Is question->run in the store? STORE_E_NO_RUN. */
int answer_find_run(const struct question *question, struct portolan_error *error);

typedef int answer_function(const struct question *question, struct http_answer *answer, struct portolan_error *error);

answer_function answer_runs; /* about all runs, or only question->run */
answer_function answer_metrics;
answer_function answer_progress, answer_selection, answer_select;          /* about a run */
answer_function answer_tags, answer_tag, answer_media, answer_fingerprint; /* about a run */
answer_function answer_view, answer_axis, answer_points, answer_legend, answer_bins, answer_inside, answer_match,
        answer_example, answer_classes, answer_report, answer_suspects; /* about a view */

#endif
