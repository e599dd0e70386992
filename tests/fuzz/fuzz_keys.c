/* fuzz_keys: a key file, as a secret and as a public key. What is taken is 40 characters that stand in the input. */
#include <keys.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(bool holds)
{
	if (!holds)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned taken = 0;

	for (int kind = KEYS_SECRET; kind <= KEYS_PUBLIC; kind++) {
		struct portolan_error error = {0};
		char text[KEYS_TEXT_SIZE];

		if (keys_parse((const char *)data, size, (enum keys_kind)kind, text, &error) < 0) {
			require(error.code == PORTOLAN_E_INVALID && error.message[0] && !strchr(error.message, '\n'));
			continue;
		}
		taken++;
		require(strlen(text) == KEYS_TEXT_SIZE - 1 && memmem(data, size, text, strlen(text)));
	}
	require(taken <= 1);
	return 0;
}
