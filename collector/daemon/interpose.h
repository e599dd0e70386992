/* interpose.h: changes the behaviour of libzmq 4.3.4 where it has no option, by replacing calls of the system; see
 * interpose.c.
 */
#ifndef COLLECTOR_INTERPOSE_H
#define COLLECTOR_INTERPOSE_H

#include <stdbool.h>
#include <stdint.h>

#define INTERPOSE_DESCRIPTORS 65536 /* connections with higher descriptors are not watched */

/* Do libzmq's calls come here? Ask once it has a socket; they do not if the program was linked in another way. */
bool interpose_works(void);

/* Notes that a whole message of this connection was taken out of libzmq. Any thread. */
void interpose_message_taken(int fd);

/* Makes a connection whose descriptor is not below `limit` be closed at once. Call before anything is bound. */
void interpose_limit(int limit);

/* How many connections were ended since the last call, because they sent too much without ending a message, … */
uint64_t interpose_take_ended(void);
uint64_t interpose_take_surplus(void); /* … and how many were closed at once. */

#endif
