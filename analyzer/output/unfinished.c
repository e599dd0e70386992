/*
 * unfinished.c: removes a command's unfinished files when a signal ends the program (unfinished.h).
 *
 * Their paths are in a table that a signal handler can read; a free entry is NULL. A file that the table has no room
 * for is left behind by a signal. A signal that the caller has chosen to ignore (nohup) stays ignored. One that the
 * command waits for itself (watch, serve) is blocked, and does not come here.
 */
#include "unfinished.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#define PATHS_MAX 64

static _Atomic(const char *) paths[PATHS_MAX];
static atomic_flag has_handlers = ATOMIC_FLAG_INIT;

void
unfinished_remove(void)
{
	for (size_t p = 0; p < PATHS_MAX; p++) {
		const char *path = atomic_load(&paths[p]);

		if (path)
			unlink(path);
	}
}

/* Handles a signal, which ends the program when this returns: by then it has its default effect, and is no longer
 * blocked. */
static void
remove_and_end(int number)
{
	unfinished_remove();
	raise(number);
}

static void
install_handlers(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction action = {.sa_handler = remove_and_end, .sa_flags = (int)SA_RESETHAND};
	struct sigaction before;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
			sigaction(numbers[i], &action, NULL);
}

/* Puts `to` in the place of the first entry that equals `from`. */
static void
replace_path(const char *from, const char *to)
{
	for (size_t p = 0; p < PATHS_MAX; p++) {
		const char *expected = from;

		if (atomic_compare_exchange_strong(&paths[p], &expected, to))
			return;
	}
}

void
unfinished_add(const char *path)
{
	if (!atomic_flag_test_and_set(&has_handlers))
		install_handlers();
	replace_path(NULL, path);
}

void
unfinished_forget(const char *path)
{
	if (path)
		replace_path(path, NULL);
}
