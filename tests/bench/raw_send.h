/* raw_send.h: how long libzmq needs to bring messages from a thread to another over tcp loopback, and for nothing else. */
#ifndef RAW_SEND_H
#define RAW_SEND_H

#include <stddef.h>
#include <stdint.h>

/* The seconds until all messages, of so many bytes each, have come, after the first. Both ends have a context of their
 * own, and so a thread of libzmq's, as the client and the collector have; as few messages are on their way as there.
 * `keys`: encrypted with CURVE, by the keys in this directory; NULL: as they are. */
double raw_send(const char *keys, uint64_t messages, size_t bytes);

#endif
