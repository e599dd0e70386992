/* fuzz_rights: the file of a client's key with its limits. What is taken stands in the input; with a strange line added,
 * the same file is not taken. */
#include "fuzz.h"

#include <rights.h>

#include <stdlib.h>

/* Appends a line to the file: the result is no longer understood, and so lets nobody in. */
static void
require_strange_line_bars(const uint8_t *data, size_t size)
{
	static const char strange[] = "\nfrom = \"here\"\n";
	struct portolan_error error = {0};
	struct rights rights = {0};
	char key[KEYS_TEXT_SIZE], *text;
	bool unclear = false;

	if (size + sizeof(strange) - 1 > KEYS_MAX_FILE)
		return;
	text = malloc(size + sizeof(strange) - 1);
	require(text != NULL);
	memcpy(text, data, size);
	memcpy(text + size, strange, sizeof(strange) - 1);
	require(rights_parse(text, size + sizeof(strange) - 1, key, &rights, &unclear, &error) == PORTOLAN_E_INVALID);
	require(unclear && !rights_are_limited(&rights));
	free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct portolan_error error = {0};
	struct rights rights = {0};
	char key[KEYS_TEXT_SIZE];
	bool unclear = false;
	size_t length;

	if (rights_parse((const char *)data, size, key, &rights, &unclear, &error) < 0) {
		require_line(&error, PORTOLAN_E_INVALID);
		require(!rights_are_limited(&rights));
		return 0;
	}
	require(!unclear);
	require(memmem(data, size, key, KEYS_TEXT_SIZE - 1) != NULL);
	length = strlen(rights.prefix);
	require(length == 0 ||
	        (memmem(data, size, rights.prefix, length) && wire_name_is_valid(rights.prefix, length, false)));
	require(rights_admit_run(&rights, rights.prefix, length));
	require(length == 0 || !rights_admit_run(&rights, rights.prefix, length - 1));
	require(!rights.keeps_runs || memmem(data, size, "no", 2));
	require_strange_line_bars(data, size);
	return 0;
}
