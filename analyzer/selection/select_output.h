/* select_output.h: printing a selection. */
#ifndef SELECT_OUTPUT_H
#define SELECT_OUTPUT_H

#include "measures/dynamics.h"
#include "options/options.h"
#include "output/output.h"

enum select_format { SELECT_IDS, SELECT_CSV, SELECT_TSV, SELECT_JSONL, SELECT_NPY, SELECT_LINES };
extern const char *const select_format_names[]; /* those a user can ask for, then NULL: all but SELECT_LINES */

struct select_output_options {
	const struct common_options *common;
	enum select_format format;
	const char *path;            /* NULL: standard output */
	const char *join, *id_field; /* NULL: no join */
	bool glue;                   /* the joined file is read as files/glue.h says */
	bool with_measures;
	bool for_people; /* with measures, in aligned columns; */
	bool with_all;   /* every row of these, not the ends of a long list */
};

/* Prints the chosen examples (dense indices, in rank order). STATUS_DONE; STATUS_INCOMPLETE when ids are missing from
 * the joined file, which is also said on stderr; STATUS_USAGE when the lines of the joined file are not what the
 * name of the output says; a negative code on failure. */
int select_output(const struct select_output_options *options, const struct dynamics *dynamics, const uint32_t *chosen,
                  size_t count, struct portolan_error *error);

#endif
