/* lines.h: writes records of the user's own file into an output, as they stand in the file. For the commands that
 * filter a user's file: `portolan select` and `aflite`. */
#ifndef LINES_H
#define LINES_H

#include "join.h"
#include "output/table.h"

/* Writes what comes before the records: the byte order mark, and, in CSV and TSV, the header. The columns of `more`
 * follow those of the header; NULL: there are none. */
void lines_head(struct output *output, const struct join *join, const struct table *more);

/* Writes a record without its line end. If the file is read as glue.h says, fields beyond the header's are left out. */
void lines_record(struct output *output, const struct join *join, const struct record *record);

/* Writes the record's line end; a newline where the file's last line has none. */
void lines_end(struct output *output, const struct record *record);

#endif
