/* gnuplot.h: runs gnuplot for picture.c, and asks fontconfig which fonts and characters this machine has for its
 * pictures. */
#ifndef GNUPLOT_H
#define GNUPLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A gnuplot that was started. */
struct gnuplot {
	pid_t child;
	int messages, gate[2];
};

/* Starts gnuplot, which loads its fonts and waits for gnuplot_draw(); meanwhile the caller prepares the script. gnuplot
 * will draw the file `script` into the file `picture`; the script's variable `data` names the file `data`; −1: there is
 * none. All files are open. Only the offset of the picture matters. `uses_fonts`: the format takes the fonts of this
 * machine. If gnuplot is not installed, the program ends. */
void gnuplot_start(struct gnuplot *gnuplot, int script, int data, int picture, bool uses_fonts);

/* Lets gnuplot draw the script, which must be complete now, and waits for its end. If gnuplot fails, the program ends
 * with gnuplot's own message. */
void gnuplot_draw(const struct gnuplot *gnuplot, int script);

/* The characters that fonts on this machine have, as fontconfig's fc-list reports: a bit for each of PLOT_CHARACTERS;
 * the caller's to free(). NULL: not known. */
uint8_t *gnuplot_characters(void);

/* The family that is drawn for the font `name`, as fontconfig's fc-match reports, with its other names after commas; the
 * caller's to free(). NULL: not known. */
char *gnuplot_family(const char *name);

#endif
