/* select_rows.h: the table of a selection. */
#ifndef SELECT_ROWS_H
#define SELECT_ROWS_H

#include "answers.h"
#include "picked.h"

/* ?as=rows: a page of the table. Changes picked->order. */
int select_send_rows(const struct question *question, struct picked *picked, struct http_answer *answer,
                     struct portolan_error *error);

#endif
