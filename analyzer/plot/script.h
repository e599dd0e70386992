/*
 * script.h: what the gnuplot scripts of all pictures have in common: how they begin, how they look, and any text in
 * quotes. Pure: writes to a stream, whose errors are the stream's.
 */
#ifndef PLOT_SCRIPT_H
#define PLOT_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum picture_format { PICTURE_PNG, PICTURE_SVG, PICTURE_PDF, PICTURE_GIF /* animated */ };

#define PLOT_FONT "DejaVu Sans"
#define PLOT_INK "#33363d"
#define PLOT_PALE "#8a8f99"

/* Stands in the first line of every script, whatever the version: what has it may be replaced. */
#define PLOT_SCRIPT_MARK ", drawn by portolan"

/* First line ("A data map, drawn by portolan …"), terminal and output. `picture` is a file name of letters, digits and
 * ._- only; the variable `picture` may be set before to draw it elsewhere. Whatever folder gnuplot is started in, the
 * script works in its own. Width and height are in pixels of a screen.
 */
void plot_script_begin(FILE *stream, const char *what, enum picture_format format, const char *picture, double width,
                       double height);

/* Frame, grid and tics, without a key. */
void plot_script_style(FILE *stream);

/* Text as gnuplot's single-quoted string: quotes become typographic, line ends spaces; control characters and what is
 * not UTF-8 are left out, what cannot be drawn becomes U+FFFD (can_draw NULL: all that DejaVu Sans may lack); cut with
 * … where it would be wider than `room`, in ems. */
void plot_quote(FILE *stream, const char *text, double room, bool (*can_draw)(uint32_t character));

#endif
