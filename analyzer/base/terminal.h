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
	unsigned columns, lines; /* a line of it stays free */
	bool unicode;
	bool styled; /* in colours: the caller sets it */
};

struct terminal {
	unsigned drawn; /* lines of the last screen */
};

/* Standard output is a terminal that can move its cursor. */
bool terminal_is_there(void);
bool terminal_is_unicode(void); /* the user's locale is one of UTF-8 */
/* The size now (80 × 24 where it is not known), and whether the user's locale is one of UTF-8. */
struct terminal_size terminal_size(void);

/* Draws `text`, lines of it, over what was drawn last. False: standard output cannot be written. */
bool terminal_draw(struct terminal *terminal, const char *text, unsigned lines);
/* After a change of size the drawn lines may be anywhere, so the next screen begins on an empty one. */
bool terminal_clear(struct terminal *terminal);

#endif
