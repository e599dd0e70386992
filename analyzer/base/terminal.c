/*
 * terminal.c: redraws the screen of `portolan watch` in place, and tells the size of the terminal (terminal.h).
 *
 * The sequences are those of ECMA-48, which every terminal of today knows: cursor up, erase to the end of the line and
 * of the screen. Automatic wrapping is off while a screen is drawn, so that a line that turns out too wide (characters
 * of double width) is cut, not broken.
 */
#include "terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool
terminal_is_there(void)
{
	const char *kind = getenv("TERM");

	return isatty(STDOUT_FILENO) && kind && *kind && strcmp(kind, "dumb") != 0;
}

bool
terminal_is_unicode(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool unicode = locale && strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;

	if (locale)
		freelocale(locale);
	return unicode;
}

struct terminal_size
terminal_size(void)
{
	struct terminal_size size = {.columns = 80, .lines = 24, .unicode = terminal_is_unicode()};
	struct winsize window;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 && window.ws_row > 0) {
		size.columns = window.ws_col;
		size.lines = window.ws_row;
	}
	return size;
}

bool
terminal_draw(struct terminal *terminal, const char *text, unsigned lines)
{
	fputs("\033[?7l\r", stdout);
	if (terminal->drawn)
		fprintf(stdout, "\033[%uA", terminal->drawn);
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\033[K", stdout);
		fputc(*text, stdout);
	}
	fputs("\033[J\033[?7h", stdout);
	terminal->drawn = lines;
	return fflush(stdout) == 0;
}

bool
terminal_clear(struct terminal *terminal)
{
	terminal->drawn = 0;
	fputs("\033[H\033[2J", stdout);
	return fflush(stdout) == 0;
}
