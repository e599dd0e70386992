/* table_format.h: the names of the table formats, for the code that writes tables, and for the code that reads users'
 * own files. */
#ifndef TABLE_FORMAT_H
#define TABLE_FORMAT_H

/* In the order of table_format_names. TABLE_ALIGNED: columns below one another, for people. */
enum table_format { TABLE_CSV, TABLE_TSV, TABLE_JSONL, TABLE_NPY, TABLE_ALIGNED };
extern const char *const table_format_names[]; /* the words for --format: of the first four formats; ends with NULL */

#endif
