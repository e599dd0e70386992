/*
 * parent.h: what the process that started this one is told.
 */
#ifndef COLLECTOR_PARENT_H
#define COLLECTOR_PARENT_H

#include <portolan/portolan.h>

#include <stdbool.h>
#include <sys/types.h>

/* Tells the service manager how this process is doing (sd_notify(3), without its library), in lines like "READY=1", at
 * $NOTIFY_SOCKET; does nothing where there is none. Failures are the manager's to notice. */
void parent_notify(const char *state);

/* Goes on in the background: returns only in a second process, with *parent the pipe to the first, or on failure. The
 * first waits until the second answers. Call before anything else is opened: neither LMDB nor libzmq survives fork().
 */
int parent_detach(int *parent, struct portolan_error *error);

/* Lets the first process end: with 0 if the message is empty, and stderr goes to STORE/portoland.log from now on; else
 * it prints the message and ends with 1. Not twice: *parent becomes -1, and then nothing happens. */
void parent_answer(int *parent, const char *store, const char *message);

/* From now on SIGTERM comes when `starter`, the parent, has ended, however that was. False: it has ended already. */
bool parent_follow(pid_t starter);

/* stderr goes to STORE/portoland.log from now on; stdin and stdout to nowhere. */
void parent_log_to_file(const char *store);

#endif
