/* select_forms.h: a selection that the live page or a program has sent, with the examples that it selects; and the
 * functions that answer with these examples, in the form that was asked for (?as=). */
#ifndef SELECT_FORMS_H
#define SELECT_FORMS_H

#include "answers.h"
#include "file_filters.h"

#include "regions/within.h"

/* A selection, and the examples of question->view that it selects. */
struct picked {
	struct within *within;
	struct file_filters file; /* for its filters on the user's file; has the view of the selection's own epochs */
	uint32_t *order;          /* dense indices by ascending id */
	size_t count;
};

/* Answers in the form that ?as= names; without ?as=, with the ids. May change picked->order. */
int select_send(const struct question *question, struct picked *picked, struct http_answer *answer,
                struct portolan_error *error);

/* Answers ?as=rows: with one page of the table. Changes picked->order. */
int select_send_rows(const struct question *question, struct picked *picked, struct http_answer *answer,
                     struct portolan_error *error);

#endif
