/* gnuplot.h: the one place that starts gnuplot, and the program that knows its fonts. */
#ifndef GNUPLOT_H
#define GNUPLOT_H

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A gnuplot that was started; begins as GNUPLOT_NONE. */
struct gnuplot {
	pid_t child; /* 0: none */
	int messages, gate[2];
};
#define GNUPLOT_NONE ((struct gnuplot){0, -1, {-1, -1}})

/* Starts gnuplot, which makes itself ready, fonts and all, and waits for gnuplot_draw(), while whoever started it finds
 * out what is to be drawn. It will write to the file `picture` what the file `script` draws, with its variable `data` set
 * to a path of the file `data`; −1: there is none. They are open; their offsets do not matter, but for the picture's.
 * `uses_fonts`: the format is one of those whose fonts are this machine's. On success call gnuplot_draw() or
 * gnuplot_stop(). PORTOLAN_E_SYSTEM: gnuplot is not installed. */
int gnuplot_start(struct gnuplot *gnuplot, int script, int data, int picture, bool uses_fonts,
                  struct portolan_error *error);

/* Has it draw the script, which is written by now, and waits for its end. PORTOLAN_E_SYSTEM: it failed; the message has
 * what it said. */
int gnuplot_draw(struct gnuplot *gnuplot, int script, struct portolan_error *error);
void gnuplot_stop(struct gnuplot *gnuplot); /* may be called twice, and after gnuplot_draw() */

/* The characters that some font on this machine has (fontconfig's fc-list says so), a bit for each of PLOT_CHARACTERS;
 * the caller's to free(). NULL: that is not known. */
uint8_t *gnuplot_characters(void);

#endif
