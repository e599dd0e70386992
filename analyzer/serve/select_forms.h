/* select_forms.h: the forms in which the selected examples are answered. */
#ifndef SELECT_FORMS_H
#define SELECT_FORMS_H

#include "answers.h"
#include "picked.h"

/* Answers in the form that ?as= names; without it with the ids. May change picked->order. */
int select_send(const struct question *question, struct picked *picked, struct http_answer *answer,
                struct portolan_error *error);

#endif
