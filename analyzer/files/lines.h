/* lines.h: lines of the user's own file, as they stand in it, into an output. */
#ifndef LINES_H
#define LINES_H

#include "join.h"
#include "output/table.h"

/* The format of the file's lines. */
enum table_format lines_format(const struct join *join);

/* What stands before the records: the byte order mark, and of CSV and TSV the header, with the columns of `more` after
 * it (NULL: none). */
void lines_head(struct output *output, const struct join *join, const struct table *more);

/* A record without its line end; of a file read as glue.h says without the fields that the header has not. */
void lines_record(struct output *output, const struct join *join, const struct record *record);

/* Its line end, or one where the file's last line has none. */
void lines_end(struct output *output, const struct record *record);

#endif
