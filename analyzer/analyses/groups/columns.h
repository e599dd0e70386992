/* columns.h: reads the columns that `portolan groups --data` summarises: columns of the user's file, and numbers
 * computed from its texts. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include "files/attributes.h"
#include "measures/dynamics.h"
#include "summary.h"

#define COLUMNS_MAX 64
#define COLUMNS_CATEGORIES_MAX 50 /* a column with more is left out unless it was asked for by name */

struct columns_request {
	const char *path, *id_field;
	bool glue;                      /* reads the file as files/glue.h says */
	const char *names[COLUMNS_MAX]; /* name_count columns; 0: all of the file but the ids */
	size_t name_count;
	const char *texts[2]; /* the fields of a pair of texts; NULL: none */
	const char *words;    /* "no,not,never": the words to look for in each text; NULL: none */
};

struct columns { /* must not move: names point into it */
	struct summary_column list[COLUMNS_MAX + 3];
	size_t count;
	struct attributes attributes;
	char passed_over[256]; /* names of the columns left out for too many categories, with commas */
	/* private */
	struct user_file file;
	struct names listed; /* all columns of the file, if none was asked for by name */
	double *made[3];     /* the values of columns that were computed from texts */
	char made_names[3][300];
};

/* Reads the columns for the examples of dynamics->order. A position is a place in that order. *columns begins as {0},
 * and is the caller's to columns_free(). */
void columns_read(struct columns *columns, const struct columns_request *request, const struct dynamics *dynamics);
void columns_free(struct columns *columns); /* may be called twice */

#endif
