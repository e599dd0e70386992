/* folder.h: the folder of a path, for code that opens it, or looks what lies in it. */
#ifndef FOLDER_H
#define FOLDER_H

#include <string.h>

/* The folder of the file at `path`: "FOLDER/", or ".". The caller's to free(). NULL: out of memory. */
static inline char *
folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
}

#endif
