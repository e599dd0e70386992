/* interrupt.c: the signals are blocked, and looked at with sigpending(), so there is no state but the kernel's. */
#include "interrupt.h"

#include <pthread.h>
#include <stddef.h>
#include <time.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

static sigset_t
all(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaddset(&set, signals[i]);
	return set;
}

void
interrupt_begin(struct interrupt *interrupt)
{
	sigset_t set = all();

	pthread_sigmask(SIG_BLOCK, &set, &interrupt->before);
}

int
interrupt_arrived(void)
{
	sigset_t waiting;

	if (sigpending(&waiting) < 0)
		return 0;
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (sigismember(&waiting, signals[i]))
			return signals[i];
	return 0;
}

void
interrupt_end(struct interrupt *interrupt)
{
	sigset_t set = all();

	while (sigtimedwait(&set, NULL, &(struct timespec){0}) > 0)
		;
	pthread_sigmask(SIG_SETMASK, &interrupt->before, NULL);
}
