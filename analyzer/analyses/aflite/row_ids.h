/* row_ids.h: says which example each row of the features belongs to, for input.c, where `portolan aflite` is given no
 * run that says so. */
#ifndef AFLITE_ROW_IDS_H
#define AFLITE_ROW_IDS_H

#include "base/ids.h"

struct row_ids_request {
	size_t rows;
	const char *features; /* the file of the rows, for messages */
	const char *list;     /* a list of ids (files/list.h), or NULL */
	const char *data,
	        *id_field; /* else a user's file with a record for each row, in this order; NULL: rows have numbers */
	bool glue;         /* whether that file is read as files/glue.h says */
};

/* Ends the program where there are more or fewer ids than rows, or an id is missing, or there twice. */
void row_ids_read(struct ids *ids, const struct row_ids_request *request);

/* Ends the program as above, and where a record of the user's file has another id than the list has for its row. */
void row_ids_check_order(const struct row_ids_request *request);

#endif
