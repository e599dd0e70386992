/*
 * html_file.h: the map of a run as one file: the live page with its data inside, which opens from disk without a
 * server.
 *
 * It holds the examples' ids, gold labels and measures (float64), or of more than `sample` examples a random sample of
 * them; p(gold) and correctness by epoch, if the file then has at most HTML_FILE_MOST bytes; and the requested texts.
 * page/file_source.js reads it.
 */
#ifndef HTML_FILE_H
#define HTML_FILE_H

#include "measures/dynamics.h"
#include "selection/regions.h"

#define HTML_FILE_MOST 100000000u

struct html_file_request {
	const struct run_query *query;
	const char *output; /* the file */
	const char *run;
	const char *data, *id_field; /* the user's own file, and its ids; NULL: none */
	bool glue;                   /* `data` is read as files/glue.h says */
	const char *const *text_fields;
	size_t text_count;
	const char *x, *y,
	        *colour;   /* measures; the colour also "gold", "none", or a column of `data`; NULL: correctness */
	const char *title; /* NULL: none */
	const struct region_cuts *cuts; /* NULL: the run's own */
	uint64_t sample, seed;
};

#define HTML_FILE_REASON 256

struct html_file {
	struct dynamics dynamics;        /* all of the run's; to html_file_free() */
	size_t examples;                 /* in the file */
	uint64_t bytes;                  /* of the file */
	char left_out[HTML_FILE_REASON]; /* what, and why; "": nothing */
};

/* PORTOLAN_E_INVALID: the run has no such measure, or `data` no such field. On failure nothing is left of the file. */
int html_file_write(struct html_file *file, const struct html_file_request *request, struct portolan_error *error);
void html_file_free(struct html_file *file); /* after a failure too */

#endif
