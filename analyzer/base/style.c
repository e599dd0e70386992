/*
 * style.c: gives the escape sequences by which messages and tables become bold or coloured on a terminal (style.h).
 *
 * The sequences are those of ECMA-48, with the eight colours that every terminal has, and whose shades its user has
 * chosen.
 */
#include "style.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const style_when_names[] = {"auto", "always", "never", NULL};

static enum style_when chosen;

void
style_choose(enum style_when when)
{
	chosen = when;
}

static bool
is_styled(int fd)
{
	const char *refused = getenv("NO_COLOR"), *kind = getenv("TERM");

	if (chosen != STYLE_AUTO)
		return chosen == STYLE_ALWAYS;
	return !(refused && *refused) && kind && *kind && strcmp(kind, "dumb") != 0 && isatty(fd);
}

const char *
style(int fd, enum style style)
{
	static const char *const sequences[STYLES] = {
	        [STYLE_PLAIN] = "\033[0m",
	        [STYLE_BOLD] = "\033[1m",
	        [STYLE_ERROR] = "\033[1;31m",
	        [STYLE_WARNING] = "\033[33m",
	};

	return is_styled(fd) ? sequences[style] : "";
}
