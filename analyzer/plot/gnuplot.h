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

/* Starts gnuplot, which loads its fonts and waits for gnuplot_draw(); meanwhile the caller prepares the script. gnuplot
 * will draw the file `script` into the file `picture`; the script's variable `data` names the file `data`; −1: there is
 * none. All files are open. Only the offset of the picture matters. `uses_fonts`: the format takes the fonts of this
 * machine. On success call gnuplot_draw() or gnuplot_stop(). PORTOLAN_E_SYSTEM: gnuplot is not installed. */
int gnuplot_start(struct gnuplot *gnuplot, int script, int data, int picture, bool uses_fonts,
                  struct portolan_error *error);

/* Lets gnuplot draw the script, which must be complete now, and waits for its end. PORTOLAN_E_SYSTEM: gnuplot failed;
 * the message has its own. */
int gnuplot_draw(struct gnuplot *gnuplot, int script, struct portolan_error *error);
void gnuplot_stop(struct gnuplot *gnuplot); /* may be called twice, and after gnuplot_draw() */

/* The characters that fonts on this machine have, as fontconfig's fc-list reports: a bit for each of PLOT_CHARACTERS;
 * the caller's to free(). NULL: not known. */
uint8_t *gnuplot_characters(void);

/* The family that is drawn for the font `name`, as fontconfig's fc-match reports, with its other names after commas; the
 * caller's to free(). NULL: not known. */
char *gnuplot_family(const char *name);

#endif
