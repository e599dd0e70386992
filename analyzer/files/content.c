/* content.c: a mapping, or memory that doubles as it fills. Whoever cuts a mapped file short meanwhile ends the
 * program. */
#include "content.h"

#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void
content_close(struct content *content)
{
	if (content->is_mapped)
		munmap((void *)content->bytes, content->size);
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
map(struct content *content, int fd, size_t size)
{
	void *mapping = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (mapping == MAP_FAILED)
		return -1;
	*content = (struct content){mapping, size, true};
	return 0;
}

static int
take(struct content *content, int fd, bool is_input)
{
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -1;
	if (S_ISDIR(status.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	if (S_ISREG(status.st_mode) && status.st_size > 0 && !is_input)
		return map(content, fd, (size_t)status.st_size);
	return read_all(content, fd);
}

int
content_open(struct content *content, const char *path, struct portolan_error *error)
{
	bool is_input = strcmp(path, "-") == 0;
	int fd = is_input ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	int result, failure;

	*content = (struct content){0};
	result = take(content, fd, is_input);
	failure = errno;
	if (fd >= 0)
		close(fd);
	if (result < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot read %s: %s", path, strerror(failure));
	return 0;
}
