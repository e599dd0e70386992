/* row_ids.h: says which example each row of the features belongs to, for input.c, where `portolan aflite` is given no
 * run that says so. */
#ifndef AFLITE_ROW_IDS_H
#define AFLITE_ROW_IDS_H

#include "base/ids.h"

struct row_ids_request {
	size_t rows;
	const char *features, *unit; /* the file of the rows, and "row" or "column": for messages */
	const char *list;            /* a list of ids, one for each row (files/list.h), or NULL */
	const char *data,
	        *id_field; /* else a user's file with a record for each row, in this order; NULL: rows have numbers */
	bool glue;         /* whether that file is read as files/glue.h says */
};

/* Reads the ids of all rows. Ends the program where there are more or fewer ids than rows, an id is missing, or two
 * rows have the same. */
void row_ids_read(struct ids *ids, const struct row_ids_request *request);

/* Checks that the records of the user's file have the ids of the list, row by row. Ends the program where one differs,
 * and as row_ids_read() does. */
void row_ids_check_order(const struct row_ids_request *request);

#endif
