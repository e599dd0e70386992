/* export.h: for `portolan metrics`: writes all measures of a run as a table, by ascending id, in bounded memory. */
#ifndef EXPORT_H
#define EXPORT_H

#include "published.h"

struct export_request {
	enum published form;
	enum table_format format; /* TABLE_CSV … TABLE_NPY */
	enum never_learned convention;
};

/*
 * Writes the table of `run`. The run was opened with the measures that published_measures() names and, if the table has
 * no published form (PUBLISHED_NOT), with the gold labels and the users' columns. Keeps within
 * run->max_memory, apart from the memory that the store needs for an epoch in progress. Sums up the run as scan_run() does. The caller finishes the output.
 */
void export_run(struct dynamics *run, const struct export_request *request, struct output *output);

#endif
