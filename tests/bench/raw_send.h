/* raw_send.h: how long libzmq needs to bring messages from one thread to another over tcp loopback, and for nothing else. */
#ifndef RAW_SEND_H
#define RAW_SEND_H

#include <stddef.h>
#include <stdint.h>

/* The seconds from the first of the messages, of so many bytes each, to the last. Both ends have a context of their own,
 * and so a thread of libzmq's of their own, as the client and the collector have. `keys`: encrypted with CURVE, by the
 * keys in this directory; NULL: as they are. */
double raw_send(const char *keys, uint64_t messages, size_t bytes);

#endif
