/* interpose.h: changes the behaviour of libzmq 4.3.4 where it has no option, by replacing calls of the system; see
 * interpose.c.
 */
#ifndef COLLECTOR_INTERPOSE_H
#define COLLECTOR_INTERPOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTERPOSE_DESCRIPTORS 65536 /* connections with higher descriptors are not watched */

/* Has each of the calls come here since interpose_forget_calls()? False: `missing` names those that have not. Reading
 * counts for a connection that was accepted here. See proof.h. */
void interpose_forget_calls(void);
bool interpose_took_all(char *missing, size_t size);

/* Notes that a whole message of this connection was taken out of libzmq. Any thread. */
void interpose_message_taken(int fd);

/* Makes a connection whose descriptor is not below `limit` be closed at once. Call before anything is bound. */
void interpose_limit(int limit);

/* How many connections were ended since the last call, because they sent too much without ending a message, … */
uint64_t interpose_take_ended(void);
uint64_t interpose_take_surplus(void); /* … and how many were closed at once. */

#endif
