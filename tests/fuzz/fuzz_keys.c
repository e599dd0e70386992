/* fuzz_keys: a key file, as a secret and as a public key. What is taken is 40 characters that stand in the input. */
#include "fuzz.h"

#include <keys.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned taken = 0;

	for (int kind = KEYS_SECRET; kind <= KEYS_PUBLIC; kind++) {
		struct portolan_error error = {0};
		char text[KEYS_TEXT_SIZE];

		if (keys_parse((const char *)data, size, (enum keys_kind)kind, text, &error) < 0) {
			require_line(&error, PORTOLAN_E_INVALID);
			continue;
		}
		taken++;
		require(strlen(text) == KEYS_TEXT_SIZE - 1 && memmem(data, size, text, strlen(text)));
	}
	require(taken <= 1);
	return 0;
}
