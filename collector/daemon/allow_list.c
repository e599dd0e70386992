/*
 * allow_list.c: goes through KEYS/clients once, when the collector starts.
 *
 * A file that admits nobody is no error: the list may be mended while the collector runs. But who is refused because of
 * it sits elsewhere, and whoever runs the collector is here now.
 */
#include "allow_list.h"

#include "log.h"

#include <keys.h>
#include <portolan/error.h>

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LINES_MAX 10

static bool
is_named_public(const char *name)
{
	size_t length = strlen(name);

	return length > 4 && strcmp(name + length - 4, ".pub") == 0;
}

void
allow_list_check(const char *directory)
{
	char path[PATH_MAX], key[KEYS_TEXT_SIZE];
	struct portolan_error error;
	const struct dirent *entry;
	DIR *list = opendir(directory);
	size_t bad = 0;

	while (list && (entry = readdir(list))) {
		if (entry->d_name[0] == '.' ||
		    snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name) >= (int)sizeof(path))
			continue;
		if (!is_named_public(entry->d_name))
			error_set(&error, PORTOLAN_E_INVALID,
			          "keys: %.300s admits nobody: only files NAME.pub are read", path);
		else if (keys_read(path, KEYS_PUBLIC, key, NULL, &error) == 0)
			continue;
		if (bad++ < LINES_MAX)
			log_line("%s", error.message);
	}
	if (list)
		closedir(list);
	if (bad > LINES_MAX)
		log_line("keys: %zu more files in %.300s admit nobody", bad - LINES_MAX, directory);
}
