/* text.h: writes single values into an output as CSV, TSV and JSON have them; and prints numbers in the short form for
 * people. For the code that writes tables and reports. */
#ifndef TEXT_H
#define TEXT_H

#include "base/ids.h"
#include "output.h"

/* Writes one field of CSV, quoted by RFC 4180 if it must be. */
void text_csv(struct output *output, const char *text, size_t length);
/* Writes one field of CSV, with a ' before a text that a spreadsheet would take for a formula, as it begins with = + -
 * @, a tab or a line end. */
void text_csv_for_spreadsheets(struct output *output, const char *text, size_t length);
/* Writes one field of TSV, which knows no quotes: characters that would end the field become spaces. */
void text_tsv(struct output *output, const char *text, size_t length);
/* Writes a JSON string with its quotes; the bytes must be UTF-8. */
void text_json(struct output *output, const char *text, size_t length);
/* Writes a finite number as the shortest text that reads back the same. */
void text_number(struct output *output, double value);
void text_integer(struct output *output, uint64_t value);
/* Writes an id as it is, without quotes. */
void text_id(struct output *output, const struct ids *ids, uint32_t index);

/* How many columns of a terminal the text takes; 0 if it has control characters. */
size_t text_width(const char *text, size_t length);

/* Prints a finite number for people, as 0.833 or 12,345, into `text`, which has room for TEXT_SHORT_ROOM bytes. Returns
 * its length. */
#define TEXT_SHORT_ROOM 32
size_t text_print_short(double value, char *text);

#endif
