/*
 * parent.h: lets the collector go on in the background, and tells the process that started it, or the service manager,
 * whether it serves.
 */
#ifndef COLLECTOR_PARENT_H
#define COLLECTOR_PARENT_H

#include <portolan/portolan.h>

#include <stdbool.h>
#include <sys/types.h>

/* Sends this process's state to the service manager at $NOTIFY_SOCKET (sd_notify(3), without its library), in lines
 * like "READY=1"; does nothing if there is none. Failures are ignored: the manager notices them. */
void parent_notify(const char *state);

/* Goes on in the background: returns only in a second process, with *parent the pipe to the first, or on failure. The
 * first waits until the second answers. Call before anything else is opened: neither LMDB nor libzmq survives fork().
 */
int parent_detach(int *parent, struct portolan_error *error);

/* Lets the first process end. If the message is empty, it ends with 0, and stderr of this process goes to
 * STORE/portoland.log from now on; else it prints the message and ends with 1. *parent becomes -1, and a second call
 * does nothing. */
void parent_answer(int *parent, const char *store, const char *message);

/* From now on this process gets SIGTERM when `starter`, its parent, has ended in any way. False: it has ended
 * already. */
bool parent_follow(pid_t starter);

/* stderr goes to STORE/portoland.log from now on; stdin and stdout to nowhere. */
void parent_log_to_file(const char *store);

#endif
