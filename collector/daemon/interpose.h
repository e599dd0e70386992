/*
 * interpose.h: keeps peers from using up this process's memory or descriptors, or aborting it, through libzmq 4.3.4,
 * which has no option for that: some calls of the system are replaced (interpose.c).
 */
#ifndef COLLECTOR_INTERPOSE_H
#define COLLECTOR_INTERPOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTERPOSE_DESCRIPTORS 65536 /* connections with higher descriptors are not watched */

/* Shows, before other users can reach the collector, that the libzmq that is loaded calls the replacements: sends itself
 * a message over TCP on loopback or, where none comes that way, over a socket that needs no network. False: some calls
 * did not come to them, or could not be made; `missing` (of `size` bytes) names them: "accept4, recv". Takes some
 * milliseconds; where loopback is down, a second. */
bool interpose_is_proven(char *missing, size_t size);

/* Notes that a whole message of this connection was taken out of libzmq. Any thread. */
void interpose_message_taken(int fd);

/* Makes a connection whose descriptor is not below `limit` be closed at once. Call before anything is bound. */
void interpose_limit(int limit);

/* How many connections were ended since the last call, because they sent too much without ending a message, … */
uint64_t interpose_take_ended(void);
uint64_t interpose_take_surplus(void); /* … and how many were closed at once. */

#endif
