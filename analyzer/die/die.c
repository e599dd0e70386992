/* die.c: ends a command of portolan that cannot go on: says why, removes its unfinished outputs, and exits (die.h). */
#include "die.h"

#include "base/message.h"
#include "base/status.h"
#include "output/unfinished.h"

#include <progress.h>

#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

_Thread_local struct portolan_error failure;

static int (*die_end)(const char *message);
static atomic_flag is_dying = ATOMIC_FLAG_INIT;
static _Atomic(pid_t) die_children[DIE_CHILDREN];

void
die_through(int (*end)(const char *message))
{
	die_end = end;
}

/* Puts `to` in the place of the first entry that is `from`. */
static void
die_replace_child(pid_t from, pid_t to)
{
	for (size_t c = 0; c < DIE_CHILDREN; c++) {
		pid_t expected = from;

		if (atomic_compare_exchange_strong(&die_children[c], &expected, to))
			return;
	}
}

void
die_with(pid_t child)
{
	die_replace_child(0, child);
}

void
die_without(pid_t child)
{
	die_replace_child(child, 0);
}

static void
die_end_children(void)
{
	for (size_t c = 0; c < DIE_CHILDREN; c++) {
		pid_t child = atomic_load(&die_children[c]);

		if (child > 0 && kill(child, SIGKILL) == 0)
			waitpid(child, NULL, 0);
	}
}

void
die(const char *format, ...)
{
	char message[sizeof(failure.message)];
	va_list arguments;
	int status = STATUS_FAILED;

	while (atomic_flag_test_and_set(&is_dying))
		pause(); /* another thread is dying, and ends the program */
	progress_end();
	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	if (die_end)
		status = die_end(message);
	else
		message_error("%s", message);
	die_end_children();
	unfinished_remove();
	fflush(stdout);
	_exit(status); /* exit() would free what other threads still use */
}

int
must(int code)
{
	if (code < 0)
		die("%s", failure.message);
	return code;
}
