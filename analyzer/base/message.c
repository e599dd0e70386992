/*
 * message.c: writes the notes, warnings and errors of all commands to stderr, each as one line.
 *
 * A line is composed first and written with one call, so that lines of programs that share a terminal or a log file do
 * not mix. Quoted text (a file's header, a name) may hold anything: control characters are shown as question marks, so
 * that it stays one line, and invisible characters by their numbers. Failures to write a message are ignored, as they
 * could not be reported.
 */
#include "message.h"

#include "style.h"

#include <progress.h>
#include <visible.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MESSAGE_MAX 2048

static bool is_quiet;

void
message_set_quiet(bool quiet)
{
	is_quiet = quiet;
	progress_set_quiet(quiet);
}

bool
message_is_quiet(void)
{
	return is_quiet;
}

/* Prints a line that begins "portolan: warning: ". The style covers the kind of message ("warning"), or the whole
 * beginning where no kind is named. */
__attribute__((format(printf, 3, 0))) static void
message_line(const char *kind, enum style manner, const char *format, va_list arguments)
{
	const char *begin = style(STDERR_FILENO, manner), *end = *begin ? style(STDERR_FILENO, STYLE_PLAIN) : "";
	char line[MESSAGE_MAX];
	size_t used = (size_t)(*kind ? snprintf(line, sizeof(line), "portolan: %s%s:%s ", begin, kind, end)
	                             : snprintf(line, sizeof(line), "%sportolan:%s ", begin, end));

	vsnprintf(line + used, sizeof(line) - used - 1, format, arguments);
	for (char *c = line + used; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	visible_line(line + used, sizeof(line) - used - 1);
	used += strlen(line + used);
	line[used++] = '\n';
	if (write(STDERR_FILENO, line, used) < 0)
		return;
}

void
message_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	message_line("", STYLE_ERROR, format, arguments);
	va_end(arguments);
}

void
message_note(const char *format, ...)
{
	va_list arguments;

	if (is_quiet)
		return;
	va_start(arguments, format);
	message_line("", STYLE_BOLD, format, arguments);
	va_end(arguments);
}

void
message_warning(const char *format, ...)
{
	va_list arguments;

	if (is_quiet)
		return;
	va_start(arguments, format);
	message_line("warning", STYLE_WARNING, format, arguments);
	va_end(arguments);
}
