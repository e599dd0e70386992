/* row_ids.h: the ids of the rows of features that belong to no run. */
#ifndef AFLITE_ROW_IDS_H
#define AFLITE_ROW_IDS_H

#include "base/ids.h"

struct row_ids_request {
	size_t rows;
	const char *features; /* the file of the rows, for messages */
	const char *list;     /* of ids, see list.h; else */
	const char *data,
	        *id_field; /* a user's file with a record for each row, in this order; else the rows' numbers */
	bool glue;         /* it is read as files/glue.h says */
};

/* PORTOLAN_E_INVALID: another number of ids than rows, no id, an id twice. After a failure free them, too. */
int row_ids_read(struct ids *ids, const struct row_ids_request *request, struct portolan_error *error);

/* PORTOLAN_E_INVALID: also if a record of the user's file has another id than the list has for this row. */
int row_ids_check_order(const struct row_ids_request *request, struct portolan_error *error);

#endif
