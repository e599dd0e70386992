/* pager.c: shows a long help text through the user's pager (pager.h). A user who leaves the pager before the end closes
 * the pipe, which is no failure. */
#include "pager.h"

#include "base/terminal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* The statuses with which the shell ends that starts the pager, if it cannot run it. */
#define NOT_RUNNABLE 126
#define NOT_FOUND 127

size_t
pager_lines(const char *text, size_t length, size_t columns)
{
	size_t lines = 0, used = 0;

	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\n') {
			lines += used ? (used + columns - 1) / columns : 1;
			used = 0;
		} else {
			used += (text[i] & 0xc0) != 0x80;
		}
	}
	return lines;
}

static int
pager_write_plainly(const char *text, size_t length)
{
	fwrite(text, 1, length, stdout);
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : -1;
}

/* Shows the text through the pager. False: that could not be run, and has shown nothing. */
static bool
pager_run(const char *pager, const char *text, size_t length)
{
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	FILE *pipe;
	int status = -1;

	setenv("LESS", "FRX", 0); /* less then ends at once where all fits, and leaves the text on the screen */
	pipe = popen(pager, "w");
	if (pipe) {
		fwrite(text, 1, length, pipe);
		status = pclose(pipe);
	}
	signal(SIGPIPE, before);
	return status != -1 &&
	       !(WIFEXITED(status) && (WEXITSTATUS(status) == NOT_RUNNABLE || WEXITSTATUS(status) == NOT_FOUND));
}

int
pager_show(const char *text, size_t length)
{
	const char *pager = getenv("PAGER");
	struct terminal_size size = terminal_size();

	if (!terminal_is_there() || pager_lines(text, length, size.columns) < size.lines)
		return pager_write_plainly(text, length);
	if (pager_run(pager && *pager ? pager : "less 2>/dev/null", text, length))
		return 0;
	return pager_write_plainly(text, length);
}
