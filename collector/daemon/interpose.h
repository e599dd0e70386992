/* interpose.h: what libzmq 4.3.4 cannot be told to leave undone is kept from it at the system's calls; see interpose.c.
 */
#ifndef COLLECTOR_INTERPOSE_H
#define COLLECTOR_INTERPOSE_H

#include <stdbool.h>
#include <stdint.h>

#define INTERPOSE_DESCRIPTORS 65536 /* connections with higher ones are not watched */

/* Whether libzmq's calls come here, once it has a socket: they do not when the program was linked in another way. */
bool interpose_works(void);

/* A whole message of this connection was taken out of libzmq. Any thread. */
void interpose_message_taken(int fd);

/* A connection whose descriptor is not below `limit` is closed at once. Before anything is bound. */
void interpose_limit(int limit);

/* How many connections were ended since the last call because they sent too much without the end of a message, */
uint64_t interpose_take_ended(void);
uint64_t interpose_take_surplus(void); /* … and how many were closed at once. */

#endif
