/*
 * script.h: writes the variables of a gnuplot script, for maps and charts, such that no text of the user's can become a
 * command. A script is the variables, which C writes, and after them a template that draws with them. A template is a
 * file NAME.gp, of which the build makes a string.
 */
#ifndef PLOT_SCRIPT_H
#define PLOT_SCRIPT_H

#include "output/output.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum picture_format { PICTURE_PNG, PICTURE_SVG, PICTURE_PDF, PICTURE_GIF /* animated */ };

/* The templates for the beginning of every script, and for charts. */
extern const char script_begin[], script_chart[];

/* Decodes the UTF-8 character at `text`; returns how many bytes it has; 0: it is not UTF-8. */
size_t plot_decode(const unsigned char *text, uint32_t *character);

/* The width of a text in ems: an estimate, rather too wide than too narrow. */
double plot_width(const char *text);

/* Set variables of the script. A text becomes gnuplot's single-quoted string: its quotes become typographic, its line
 * ends spaces; control characters and what is not UTF-8 are left out. It is cut, with …, where it would be wider than
 * `room` ems. A name loses its middle instead, since names that begin alike mostly end differently. Errors are the
 * stream's. */
void script_set(FILE *stream, const char *name, double value);
void script_set_all(FILE *stream, const char *names, const double *values); /* `names`: with a space between them */
void script_set_text(FILE *stream, const char *name, const char *text, double room);

/* Declare arrays of the same size, and set an item of each. Items count from 1. Setting a text or name does not end its
 * line in the script: another item must follow. */
void script_declare(FILE *stream, const char *names, size_t size);
void script_set_items(FILE *stream, const char *names, size_t item, const double *values);
void script_set_text_item(FILE *stream, const char *name, size_t item, const char *text, double room);
void script_set_name_item(FILE *stream, const char *name, size_t item, const char *text, double room);

/* Does DejaVu Sans, which gnuplot-nox brings along, have all characters of this script? */
bool plot_is_common(const char *text);

/* Copies a script, with U+FFFD for each character that is neither in DejaVu Sans nor in `drawn` (a bit for each
 * character; NULL: no others). Returns where `text` has the first such character; NULL: it has none. */
const char *plot_replace_undrawn(struct output *output, const char *text, const uint8_t *drawn);
#define PLOT_CHARACTERS 0x110000

#endif
