/* digest.h: the checksum of an output, for its manifest: XXH128, as xxh128sum prints it. Bytes are added as they are
 * written, or read. One owner, one thread. */
#ifndef OUTPUT_DIGEST_H
#define OUTPUT_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define DIGEST_ROOM 33 /* 32 hexadecimal digits and NUL */

struct digest;

/* NULL: out of memory. */
struct digest *digest_new(void);
void digest_free(struct digest *digest); /* NULL: nothing */
void digest_add(struct digest *digest, const void *data, size_t size);

/* The number of all bytes added so far, and their checksum. */
uint64_t digest_print(const struct digest *digest, char hex[DIGEST_ROOM]);

#endif
