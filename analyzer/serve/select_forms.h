/* select_forms.h: a selection that was evaluated, and the forms of its answer. */
#ifndef SELECT_FORMS_H
#define SELECT_FORMS_H

#include "answers.h"
#include "file_filters.h"

#include "selection/within.h"

/* A selection, and the examples that it selects. */
struct picked {
	const char *run;
	struct within *within;
	struct file_filters file; /* of its filters */
	const struct view *view;
	uint32_t *order; /* dense indices by ascending id */
	size_t count;
};

/* Answers in the form that ?as= names; without it with the ids. May change picked->order. */
void select_send(struct server *server, const struct http_request *request, struct picked *picked,
                 struct http_answer *answer);

/* ?as=rows: a page of the table. Changes picked->order. */
void select_send_rows(struct server *server, const struct http_request *request, struct picked *picked,
                      struct http_answer *answer);

#endif
