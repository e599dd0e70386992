/* written.c: tells the user at the end of a command which files it has written (written.h). The first few are named;
 * all others are counted. */
#include "written.h"

#include "base/message.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMED 4

static struct {
	char *names[NAMED];
	unsigned named, more;
} written;

void
written_add(const char *path)
{
	for (unsigned i = 0; i < written.named; i++)
		if (strcmp(written.names[i], path) == 0)
			return;
	if (written.named == NAMED || !(written.names[written.named] = strdup(path)))
		written.more++;
	else
		written.named++;
}

/* Prints a file's size as "1.3 MB": in powers of 1000, as in file managers. */
static void
print_size(FILE *stream, const char *path)
{
	static const char *const units[] = {"kB", "MB", "GB", "TB"};
	struct stat status;
	double size;
	size_t unit = 0;

	if (stat(path, &status) < 0)
		return;
	if (status.st_size < 1000) {
		fprintf(stream, " (%lld bytes)", (long long)status.st_size);
		return;
	}
	for (size = (double)status.st_size / 1000; size >= 999.5 && unit < 3; unit++)
		size /= 1000;
	fprintf(stream, size < 9.95 ? " (%.1f %s)" : " (%.0f %s)", size, units[unit]);
}

void
written_say(void)
{
	char *line = NULL;
	size_t size;
	FILE *stream;

	if (written.named == 0 || message_is_quiet() || !isatty(STDERR_FILENO))
		return;
	stream = open_memstream(&line, &size);
	if (!stream)
		return;
	for (unsigned i = 0; i < written.named; i++) {
		bool is_last = i + 1 == written.named && written.more == 0;

		fprintf(stream, "%s%s", i == 0 ? "" : is_last ? " and " : ", ", written.names[i]);
		print_size(stream, written.names[i]);
	}
	if (written.more > 0)
		fprintf(stream, " and %u more", written.more);
	fclose(stream);
	message_note("wrote %s", line);
	free(line);
}
