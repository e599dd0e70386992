/* fork.c: the one mutable global of the library, as pthread_atfork() gives its handlers no argument. */
#include "fork.h"

#include <pthread.h>
#include <stdatomic.h>

static _Atomic unsigned generation;
static pthread_once_t registered = PTHREAD_ONCE_INIT;

static void
in_child(void)
{
	atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
}

static void
register_handler(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

unsigned
fork_generation(void)
{
	pthread_once(&registered, register_handler);
	return atomic_load_explicit(&generation, memory_order_relaxed);
}
