/*
 * interrupt.h: being asked to stop (Ctrl-C, SIGTERM, SIGHUP) by a program that has something to put in order first.
 * Between begin and end these signals wait, and are asked for; no handler runs, so nothing is cut in the middle.
 */
#ifndef COLLECTOR_INTERRUPT_H
#define COLLECTOR_INTERRUPT_H

#include <signal.h>

struct interrupt {
	sigset_t before;
};

void interrupt_begin(struct interrupt *interrupt);
/* The signal that has arrived and waits, or 0. Answers 0 as well where none are made to wait. */
int interrupt_arrived(void);
/* Forgets what has arrived: it has been obeyed. */
void interrupt_end(struct interrupt *interrupt);

#endif
