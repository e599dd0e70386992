/*
 * held.c: keeps a list of the spool files that this process has locked, so that its forked children can let them go.
 *
 * A child of fork() has a copy of every descriptor. So it holds the lock on a file as long as it lives, even if the
 * process that recorded was killed. Therefore the child first closes all files of this list. A fork waits while a file
 * is being opened, so that the list is complete.
 */
#include "held.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static struct held *all; /* the list, guarded by `mutex` */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void
held_before_fork(void)
{
	pthread_mutex_lock(&mutex);
}

static void
held_after_fork_in_parent(void)
{
	pthread_mutex_unlock(&mutex);
}

static void
held_after_fork_in_child(void)
{
	for (; all; all = all->next) {
		close(all->file);
		all->file = -1;
	}
	pthread_mutex_unlock(&mutex);
}

static void
held_register_handlers(void)
{
	pthread_atfork(held_before_fork, held_after_fork_in_parent, held_after_fork_in_child);
}

int
held_open(struct held *held, const char *path, int flags)
{
	static pthread_once_t registered = PTHREAD_ONCE_INIT;

	pthread_once(&registered, held_register_handlers);
	pthread_mutex_lock(&mutex);
	held->file = open(path, flags | O_CLOEXEC, 0600);
	if (held->file >= 0) {
		held->next = all;
		all = held;
	}
	pthread_mutex_unlock(&mutex);
	return held->file;
}

void
held_close(struct held *held)
{
	struct held **link = &all;

	if (held->file < 0)
		return;
	pthread_mutex_lock(&mutex);
	while (*link && *link != held)
		link = &(*link)->next;
	if (*link)
		*link = held->next;
	close(held->file);
	held->file = -1;
	pthread_mutex_unlock(&mutex);
}

bool
held_has(const char *path)
{
	struct stat wanted, open;
	bool found = false;

	if (stat(path, &wanted) < 0)
		return false;
	pthread_mutex_lock(&mutex);
	for (const struct held *held = all; held && !found; held = held->next)
		found = fstat(held->file, &open) == 0 && open.st_ino == wanted.st_ino && open.st_dev == wanted.st_dev;
	pthread_mutex_unlock(&mutex);
	return found;
}
