/* content.c: brings the bytes of a user's file into memory: a regular file by mapping it, a pipe by reading it. */
#include "content.h"

#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void
content_close(struct content *content)
{
	if (content->mapping)
		mapping_free(content->mapping);
	else
		free((void *)content->bytes);
	*content = (struct content){0};
}

static int
read_all(struct content *content, int fd)
{
	size_t room = 1 << 20;
	char *bytes = malloc(room);

	while (bytes) {
		ssize_t got = read(fd, bytes + content->size, room - content->size);

		if (got == 0) {
			content->bytes = bytes;
			return 0;
		}
		if (got < 0 && errno != EINTR)
			break;
		content->size += got > 0 ? (size_t)got : 0;
		if (content->size == room) {
			char *larger = realloc(bytes, room *= 2);

			if (!larger)
				break;
			bytes = larger;
		}
	}
	free(bytes);
	return -1;
}

static int
content_take(struct content *content, int fd, const char *path, bool is_input)
{
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -1;
	if (S_ISDIR(status.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	if (S_ISREG(status.st_mode) && status.st_size > 0 && !is_input)
		content->mapping = mapping_new(fd, &status, path);
	if (!content->mapping)
		return read_all(content, fd);
	content->bytes = mapping_bytes(content->mapping);
	content->size = (size_t)status.st_size;
	return 0;
}

int
content_open(struct content *content, const char *path, struct portolan_error *error)
{
	bool is_input = strcmp(path, "-") == 0;
	int fd = is_input ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	int result, failure;

	*content = (struct content){0};
	result = content_take(content, fd, path, is_input);
	failure = errno;
	if (fd >= 0)
		close(fd);
	if (result < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot read %s: %s", path, strerror(failure));
	return 0;
}

void
content_outlive_cuts(struct content *content)
{
	if (content->mapping)
		mapping_outlive_cuts(content->mapping);
}

bool
content_is_unchanged(const struct content *content)
{
	return !content->mapping || mapping_is_unchanged(content->mapping);
}
