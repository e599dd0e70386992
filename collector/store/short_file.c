/*
 * short_file.c: ends a program that has a store open with a message, not a crash, where the store's file turns out to
 * be too short, or too damaged, to be read.
 *
 * LMDB reads through a map of the file. If the file is shorter than its data (a copy that was broken off, a file system
 * that lost its end), or the disk does not answer, reading is a SIGBUS. The file's size does not show this beforehand:
 * free pages at the end may never have been written.
 *
 * Where LMDB notices itself that a page is damaged, it calls abort(). The program ends with a message instead.
 */
#include "environment.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static bool (*take_other)(void *address, const char **path);

static void
short_file_say(const char *text)
{
	ssize_t ignored = write(STDERR_FILENO, text, strlen(text));

	(void)ignored;
}

static void
short_file_on_bus_error(int number, siginfo_t *info, void *context)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	const char *path = NULL;

	(void)context;
	if (info->si_code != BUS_ADRERR) {
		signal(number, SIG_DFL);
		raise(number);
		return;
	}
	if (take_other && take_other(info->si_addr, &path))
		return;
	while (atomic_flag_test_and_set(&said)) /* another thread prints the message, and ends the process */
		pause();
	short_file_say(program_invocation_short_name);
	if (path) {
		short_file_say(": ");
		short_file_say(path);
		short_file_say(
		        " was cut short while it was read, or its disk cannot be read: run this again when it is whole\n");
	} else {
		short_file_say(
		        ": the store is damaged: data.mdb ends before its data does, or its disk cannot be read; restore it "
		        "from a backup, or copy what can be read: portolan salvage STORE -o NEW\n");
	}
	_exit(1);
}

void
store_expect_short_file(bool (*take)(void *address, const char **path))
{
	struct sigaction action = {.sa_sigaction = short_file_on_bus_error, .sa_flags = SA_SIGINFO};

	take_other = take;
	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}

/* Other threads may be at work, so nothing is closed. What was committed stays. */
void
store_environment_end(MDB_env *env, const char *assertion)
{
	const char *path = "";

	mdb_env_get_path(env, &path);
	dprintf(STDERR_FILENO, "%s: store '%s' is damaged: LMDB cannot read on (%s); " STORE_DAMAGE_REMEDY "\n",
	        program_invocation_short_name, path, assertion, path);
	_exit(1);
}
