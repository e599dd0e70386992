/*
 * interruption.h: keeps the signals by which a user ends portoland (SIGINT, SIGTERM, SIGHUP) waiting until it has
 * tidied up. A signal that this process was started to ignore, as nohup does with SIGHUP, ends nothing. It is not
 * blocked, as the kernel keeps a blocked signal even where it is ignored.
 *
 * No handler runs, so no step is interrupted in the middle. Block before threads are made, which inherit it.
 */
#ifndef COLLECTOR_INTERRUPTION_H
#define COLLECTOR_INTERRUPTION_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct interruption {
	sigset_t signals, before; /* the signals that wait; all that were blocked before */
};

static inline void
interruption_block(struct interruption *interruption)
{
	static const int all[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action;

	sigemptyset(&interruption->signals);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (sigaction(all[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&interruption->signals, all[i]);
	pthread_sigmask(SIG_BLOCK, &interruption->signals, &interruption->before);
}

/* Has one of the signals come? */
static inline bool
interruption_came(const struct interruption *interruption)
{
	sigset_t waiting, ours;

	return sigpending(&waiting) == 0 && sigandset(&ours, &waiting, &interruption->signals) == 0 &&
	       !sigisemptyset(&ours);
}

/* Takes the signals that have come, so that they end nothing: what they were to end is done. */
static inline void
interruption_forget(const struct interruption *interruption)
{
	const struct timespec at_once = {0};

	while (sigtimedwait(&interruption->signals, NULL, &at_once) > 0)
		;
}

#endif
