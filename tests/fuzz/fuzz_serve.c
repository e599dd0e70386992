/*
 * fuzz_serve: command lines of portoland, whose parser prints and opens nothing. An endpoint open to other machines
 * must never be taken without keys, whatever else is said.
 *
 * The input: arguments that end with a NUL or a newline.
 */
#include "fuzz.h"

#include <options.h>

#define MOST_ARGUMENTS 24

static void
check_address(const struct address *address)
{
	require(memchr(address->text, '\0', sizeof(address->text)));
	require(strncmp(address->text, address->is_ipc ? "ipc://" : "tcp://", 6) == 0);
	require(!address->path ||
	        (address->path > address->text && address->path < address->text + sizeof(address->text)));
	require(address_is_same(address, address));
	if (!address->is_ipc && strncmp(address->text, "tcp://127.", 10) != 0 &&
	    strcmp(address->text, "tcp://[::1]") != 0)
		require(address->is_public || address->ipv6 || strstr(address->text, "localhost"));
}

static void
check_options(const struct options *options)
{
	require(*options->store);
	require(options->command <= OPTIONS_VERSION);
	require(options->listen_count <= OPTIONS_MAX_LISTEN && options->max_memory > 0);
	if (options->command != OPTIONS_SERVE)
		return;
	require(options->listen_count > 0);
	for (size_t i = 0; i < options->listen_count; i++) {
		check_address(&options->listen[i]);
		require(!options->listen[i].is_public || options->keys);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	char *argv[MOST_ARGUMENTS + 2] = {(char *)(uintptr_t) "portoland"}, *text, *rest, *word;
	struct portolan_error error = {0};
	struct options options;
	size_t count = 1;
	int code;

	if (size > 4096)
		return 0;
	text = input_text(&input, size);
	for (size_t i = 0; i < size; i++)
		text[i] = text[i] ? text[i] : '\n';
	for (word = strtok_r(text, "\n", &rest); word && count <= MOST_ARGUMENTS; word = strtok_r(NULL, "\n", &rest))
		argv[count++] = word;
	code = options_parse(&options, (int)count, argv, &error);
	if (code < 0)
		require_message(&error, code);
	else
		check_options(&options);
	free(text);
	return 0;
}
