/*
 * texts.h: reads the user's own file (--data): the texts of an example, its line, and columns. For the live page, for
 * the document that portolan map makes of it, and for portolan show.
 *
 * If another file takes its place, the opened one is still read. If the file itself is changed, texts_check() says so:
 * call it after reading, before the texts are shown. Columns that were read before stay right. Safe from several
 * threads.
 */
#ifndef TEXTS_H
#define TEXTS_H

#include "base/ids.h"
#include "attributes.h"

#include "output/report.h"

struct texts;

#define TEXTS_NONE SIZE_MAX

/* Opens the file, and finds the record of each id in it. `fields` are the fields that are shown as text. `glue`: the
 * file is read by the rules of files/glue.h. Errors name file, line and field. */
int texts_open(struct texts **texts, const char *path, const char *id_field, bool glue, const char *const *fields,
               size_t count, struct portolan_error *error);
void texts_free(struct texts *texts); /* NULL: nothing */

/* Was the file left as it was when it was opened? 0: yes, or `texts` is NULL. PORTOLAN_E_SYSTEM: it was changed, and
 * texts read from it may be wrong. */
int texts_check(const struct texts *texts, struct portolan_error *error);

size_t texts_records(const struct texts *texts); /* how many there are */

/* Writes three members: "fields", the names of the fields that are shown as text; "data_columns", those of all others,
 * from the header (CSV, TSV) or the first line (JSON); and "id_field". texts = NULL: two empty lists and null. */
void texts_report_fields(struct report *report, const struct texts *texts);

/* The number of an id's record; TEXTS_NONE: the id has none. texts_find_id() takes the id as text. */
size_t texts_find(const struct texts *texts, const struct ids *ids, uint32_t index);
size_t texts_find_id(const struct texts *texts, const char *id);

/* Has the file a field with this name? */
bool texts_has(const struct texts *texts, const char *name);
/* What a field of a record holds, if that is a text without '\0'; the caller's to free(). NULL: it holds none; or memory
 * is out. */
char *texts_value(const struct texts *texts, size_t record, const char *name);

#define TEXTS_NO_RECORD UINT32_MAX
/* Finds the record of each of the n examples in `order`. The array is by dense index, and the caller's to free();
 * TEXTS_NO_RECORD: the example has none. NULL: out of memory. */
uint32_t *texts_match(const struct texts *texts, const struct ids *ids, const uint32_t *order, size_t n);

/* Calls `visit` with each text of a record, in the order of the fields, until it says false. */
void texts_read(const struct texts *texts, size_t record,
                bool (*visit)(void *context, const char *name, const struct field *field), void *context);

/* Writes {field: text} for a record; the text is null if the record lacks the field. */
void texts_report(struct report *report, const char *key, const struct texts *texts, size_t record);

/* Does a text of the record contain `part`, which is not empty? A to Z count as a to z. */
bool texts_contain(const struct texts *texts, size_t record, const char *part);
/* Searches the records from … to − 1, and sets the bit of each that contains `part`; the lowest bit of a byte comes
 * first. */
void texts_search(const struct texts *texts, size_t from, size_t to, const char *part, unsigned char *bits);

/* The record's bytes in the file, without its line end. */
const char *texts_line(const struct texts *texts, size_t record, size_t *length);
/* The header line of CSV or TSV without its line end, and all bytes before it; NULL: the file has no header. */
const char *texts_header(const struct texts *texts, size_t *length);
const char *texts_ending(const struct texts *texts); /* "jsonl", "csv" or "tsv" */

/* Gives a column, by record. It is read at its first use, and then kept in arrays of arrays.h, which limits the memory
 * of all columns together. Errors are also those of texts_check(). */
int texts_column(struct texts *texts, const char *name, const struct attribute **column, struct portolan_error *error);

#endif
