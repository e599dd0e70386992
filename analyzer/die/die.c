/* die.c: ends the program from where a command cannot go on. */
#include "die.h"

#include "base/message.h"
#include "base/status.h"
#include "output/unfinished.h"

#include <progress.h>

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

_Thread_local struct portolan_error failure;

static int (*die_end)(const char *message);
static atomic_flag is_dying = ATOMIC_FLAG_INIT;

void
die_through(int (*end)(const char *message))
{
	die_end = end;
}

void
die(const char *format, ...)
{
	char message[sizeof(failure.message)];
	va_list arguments;
	int status = STATUS_FAILED;

	while (atomic_flag_test_and_set(&is_dying))
		pause(); /* for another thread to end the program */
	progress_end();
	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	if (die_end)
		status = die_end(message);
	else
		message_error("%s", message);
	unfinished_remove();
	fflush(stdout);
	_exit(status); /* exit() would take from other threads what they still use */
}

int
must(int code)
{
	if (code < 0)
		die("%s", failure.message);
	return code;
}
