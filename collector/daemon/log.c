/*
 * log.c: writes the collector's log for people, each line with one write(). The collector logs where it serves, what
 * goes wrong, and what it did; nothing else.
 */
#include "log.h"

#include <visible.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void
log_line(const char *format, ...)
{
	char line[1024];
	time_t seconds = time(NULL);
	struct tm parts;
	va_list arguments;
	size_t used, length;
	ssize_t ignored;

	localtime_r(&seconds, &parts);
	used = strftime(line, sizeof(line), "%Y-%m-%d %H:%M:%S portoland: ", &parts);
	va_start(arguments, format);
	vsnprintf(line + used, sizeof(line) - used - 1, format, arguments);
	va_end(arguments);
	/* A line may quote text that strangers sent: it stays one line, and no control character reaches a terminal. */
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	visible_line(line + used, sizeof(line) - used - 1);
	length = strlen(line);
	line[length] = '\n';
	ignored = write(STDERR_FILENO, line, length + 1);
	(void)ignored;
}
