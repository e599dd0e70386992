/*
 * terminal.h: draws a screen again and again in the same place of a terminal, for `portolan watch`; and tells what the
 * terminal can show: its size, also for the pager, and Unicode, also for `portolan show`.
 *
 * No mode of the terminal is changed, so none must be restored: the last screen stays however the program ends.
 */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>

struct terminal_size {
	unsigned columns, lines; /* a screen that is drawn leaves one of the lines free */
	bool unicode;
	bool styled; /* colours are wanted; set by the caller */
};

struct terminal {
	unsigned drawn; /* lines of the last screen */
};

/* Is standard output a terminal that can move its cursor? */
bool terminal_is_there(void);
bool terminal_is_unicode(void); /* is the user's locale one of UTF-8? */
/* The size now (80 × 24 where it is not known), and whether the user's locale is one of UTF-8. */
struct terminal_size terminal_size(void);

/* Draws `text`, which has `lines` lines, over what was drawn last. False: standard output cannot be written. */
bool terminal_draw(struct terminal *terminal, const char *text, unsigned lines);
/* Makes the next screen begin on an empty one: after a change of size, the drawn lines may be anywhere. */
bool terminal_clear(struct terminal *terminal);

#endif
