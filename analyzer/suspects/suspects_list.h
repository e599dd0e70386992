/* suspects_list.h: makes a table of the suspects of a run, with the texts that the user's own file has of them; and the
 * file of corrections that a person edits (corrections.h). */
#ifndef SUSPECTS_LIST_H
#define SUSPECTS_LIST_H

#include "calibration.h"
#include "output/table.h"
#include "suspects.h"

#define SUSPECTS_TEXTS_MAX 16
#define SUSPECTS_COLUMNS (6 + SUSPECTS_TEXTS_MAX)

/* Where the texts come from: --data, --id-field, --glue, --text. */
struct suspects_data {
	const char *path; /* NULL: there is no file */
	const char *id_field;
	bool glue;
	const char *fields[SUSPECTS_TEXTS_MAX];
	size_t field_count; /* 0: all fields of the file but the id */
};

struct suspects_list { /* begins as {0} */
	/* rank, id, label, suggested, score, where it was calibrated probability, then the texts. Labels are names of
	 * classes where the run names classes */
	struct table table;
	size_t missing; /* how many of the listed examples the file does not have */
	/* private */
	struct table_column columns[SUSPECTS_COLUMNS];
	struct suspects_row *rows;
	struct table_bytes *texts; /* a row of them for each suspect */
	char **names;              /* of the text columns */
	size_t text_count;
	size_t text_column; /* the first of them */
};

/* Lists the first `count` of the ranking. The run and the suspects must stay as long as the list. `calibration` may be
 * NULL. */
void suspects_list_make(struct suspects_list *list, const struct suspects *suspects,
                        const struct calibration *calibration, const struct dynamics *dynamics, size_t count,
                        const struct suspects_data *data);
void suspects_list_free(struct suspects_list *list); /* may be called twice */

/* Writes the listed examples as corrections to be edited. */
void suspects_list_correct(const struct suspects_list *list, const struct dynamics *dynamics, const char *path);

#endif
