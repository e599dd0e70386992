/*
 * fork.h: which process this is, without asking the kernel. A forked child inherits a run's memory but neither its
 * thread nor its socket; it must know before it touches either, also within a log call, which makes no system call.
 */
#ifndef CLIENT_FORK_H
#define CLIENT_FORK_H

/* The number of forks between the first process that asked and this one. */
unsigned fork_generation(void);

#endif
