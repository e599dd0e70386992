/* digest.c: the checksum of an output (digest.h), computed by xxhash. */
#include "digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdio.h>
#include <stdlib.h>

struct digest {
	XXH3_state_t *state;
	uint64_t bytes;
};

struct digest *
digest_new(void)
{
	struct digest *digest = calloc(1, sizeof(*digest));

	if (!digest)
		return NULL;
	digest->state = XXH3_createState();
	if (!digest->state) {
		free(digest);
		return NULL;
	}
	XXH3_128bits_reset(digest->state);
	return digest;
}

void
digest_free(struct digest *digest)
{
	if (!digest)
		return;
	XXH3_freeState(digest->state);
	free(digest);
}

void
digest_add(struct digest *digest, const void *data, size_t size)
{
	XXH3_128bits_update(digest->state, data, size);
	digest->bytes += size;
}

uint64_t
digest_print(const struct digest *digest, char hex[DIGEST_ROOM])
{
	XXH128_hash_t hash = XXH3_128bits_digest(digest->state);

	snprintf(hex, DIGEST_ROOM, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
	return digest->bytes;
}
