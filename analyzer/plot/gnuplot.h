/* gnuplot.h: runs gnuplot for picture.c, and asks fontconfig which fonts and characters this machine has for its
 * pictures. */
#ifndef GNUPLOT_H
#define GNUPLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A gnuplot that is running. */
struct gnuplot {
	pid_t child;
	int messages, gate[2];
	bool told; /* gnuplot_draw() could write into the gate */
};

/* Starts gnuplot, which loads its fonts and waits for gnuplot_draw(); meanwhile the caller writes the script. All files
 * are open, and `picture` is written from its current offset on. gnuplot will run the script in the file `script` and
 * draw into the file `picture`. The script's variable `data` will name the file `data` (−1: there is none).
 * `uses_fonts`: the picture's format takes the fonts of this machine. If gnuplot is not installed, the program ends. */
void gnuplot_start(struct gnuplot *gnuplot, int script, int data, int picture, bool uses_fonts);

/* Lets gnuplot draw the script, which must be complete, and returns at once. */
void gnuplot_draw(struct gnuplot *gnuplot, int script);

/* Waits until gnuplot has drawn the script, and has ended. If gnuplot fails, the program ends with gnuplot's own
 * message. */
void gnuplot_wait(const struct gnuplot *gnuplot);

/* Asks fc-list of fontconfig which characters the fonts on this machine have: a bit for each of PLOT_CHARACTERS; the
 * caller's to free(). NULL: not known. */
uint8_t *gnuplot_characters(void);

/* Asks fc-match of fontconfig which family of fonts is drawn where the font `name` is asked for: its names, with commas
 * between; the caller's to free(). NULL: not known. */
char *gnuplot_family(const char *name);

#endif
