/*
 * media.c: opens the file that a field of the user's file names, beneath the folder of --media-root, and makes it an
 * answer of the live page (media.h).
 *
 * openat2() keeps the way beneath the folder, also while somebody moves folders on it. The file is first opened as a
 * mere path, which does nothing to a device or a pipe, and that same file is opened for reading only if it is a regular
 * one.
 */
#include "media.h"

#include "base/cleanup.h"

#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRIES 8 /* how often a file is opened while folders on its way are moved */

/* Whoever opens the file in a tab of its own sees it, and nothing in it does anything. */
#define FILE_SECURITY "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'none'; sandbox"

struct media {
	const struct texts *texts;
	const char *field;
	int root;
};

static int
media_open_beneath(int root, const char *path, uint64_t flags)
{
	struct open_how how = {
	        .flags = flags | O_CLOEXEC,
	        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS,
	};
	int file = -1;

	errno = EAGAIN;
	for (unsigned tries = 0; tries < TRIES && file < 0 && (errno == EAGAIN || errno == EINTR); tries++)
		file = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	return file;
}

int
media_open(struct media **media, const struct texts *texts, const char *field, const char *root,
           struct portolan_error *error)
{
	struct media *opened;
	int folder, probe;

	if (!texts_has(texts, field))
		return error_set(error, PORTOLAN_E_INVALID, "the file of --data has no field '%s' (see --media)",
		                 field);
	folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot open %s (--media-root): %s", root, strerror(errno));
	probe = media_open_beneath(folder, ".", O_PATH | O_DIRECTORY);
	opened = probe < 0 ? NULL : malloc(sizeof(*opened));
	if (probe >= 0)
		close(probe);
	if (!opened) {
		close(folder);
		return probe < 0
		               ? error_set(
		                         error, PORTOLAN_E_SYSTEM,
		                         "--media needs openat2(), which Linux has from 5.6 on, and which a container "
		                         "may forbid: %s",
		                         strerror(errno))
		               : error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	}
	*opened = (struct media){texts, field, folder};
	*media = opened;
	return 0;
}

void
media_free(struct media *media)
{
	if (!media)
		return;
	close(media->root);
	free(media);
}

const char *
media_field(const struct media *media)
{
	return media ? media->field : NULL;
}

const char *
media_kind(const struct media *media, const struct ids *ids, uint32_t index)
{
	static const char *const sounds[] = {".wav", ".mp3", ".ogg", ".oga", ".opus"};
	size_t record = texts_find(media->texts, ids, index);
	CLEANUP_FREE char *name = record == TEXTS_NONE ? NULL : texts_value(media->texts, record, media->field);
	size_t length = name ? strlen(name) : 0;

	if (length == 0)
		return NULL;
	for (size_t s = 0; s < sizeof(sounds) / sizeof(*sounds); s++)
		if (length > strlen(sounds[s]) && strcasecmp(name + length - strlen(sounds[s]), sounds[s]) == 0)
			return "audio";
	return "image";
}

/* MPEG-1, 2 or 2.5, layer III: a frame's header, whose numbers for the bit rate and the sample rate are in use. */
static bool
media_is_mp3_frame(const unsigned char *begin)
{
	return begin[0] == 0xff && (begin[1] & 0xe6) == 0xe2 && (begin[1] & 0x18) != 0x08 && begin[2] >> 4 != 0 &&
	       begin[2] >> 4 != 15 && (begin[2] >> 2 & 3) != 3;
}

/* The head of an ID3v2 tag, which stands before the frames of an mp3: versions 2 to 4, and a size of 4 × 7 bits. */
static bool
media_is_id3(const unsigned char *begin)
{
	return memcmp(begin, "ID3", 3) == 0 && begin[3] >= 2 && begin[3] <= 4 &&
	       !((begin[6] | begin[7] | begin[8] | begin[9]) & 0x80);
}

const char *
media_type(const unsigned char *begin, size_t size)
{
	static const struct {
		const char *bytes, *type;
		size_t size, at; /* where they stand */
	} types[] = {
	        {"\x89PNG\r\n\x1a\n", "image/png", 8, 0},
	        {"\xff\xd8\xff", "image/jpeg", 3, 0},
	        {"GIF87a", "image/gif", 6, 0},
	        {"GIF89a", "image/gif", 6, 0},
	        {"WEBP", "image/webp", 4, 8},
	        {"WAVE", "audio/wav", 4, 8},
	        {"OggS", "audio/ogg", 4, 0},
	};

	for (size_t t = 0; t < sizeof(types) / sizeof(*types); t++)
		if (size >= types[t].at + types[t].size &&
		    memcmp(begin + types[t].at, types[t].bytes, types[t].size) == 0 &&
		    (types[t].at == 0 || memcmp(begin, "RIFF", 4) == 0))
			return types[t].type;
	return size >= 10 && (media_is_id3(begin) || media_is_mp3_frame(begin)) ? "audio/mpeg" : NULL;
}

/* Answers with why the file was not opened, by errno. */
static void
media_refuse(struct http_answer *answer, const char *name)
{
	switch (errno) {
	case ENOENT:
	case ENOTDIR:
	case ENAMETOOLONG:
		http_error(answer, 404, "there is no file '%.200s' in the folder of --media-root", name);
		break;
	case EXDEV:
		http_error(answer, 403, "'%.200s' leads out of the folder of --media-root: names are relative to it",
		           name);
		break;
	case ELOOP:
		http_error(answer, 403, "'%.200s' is a symbolic link, or leads over one: links are not followed", name);
		break;
	case EACCES:
	case EPERM:
		http_error(answer, 403, "'%.200s' may not be read", name);
		break;
	default:
		http_error(answer, 503, "'%.200s' cannot be opened: %s", name, strerror(errno));
	}
}

/* Opens for reading what was opened as a mere path, whatever its name stands for by now. */
static int
media_reopen(int path)
{
	char itself[32];

	snprintf(itself, sizeof(itself), "/proc/self/fd/%d", path);
	return open(itself, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* Opens the file if it is regular. -1: it is not, or cannot be opened, and `answer` says why. */
static int
media_open_regular(const struct media *media, const char *name, struct http_answer *answer)
{
	struct stat status;
	int path = media_open_beneath(media->root, name, O_PATH), file = -1;
	bool is_regular = path >= 0 && fstat(path, &status) == 0 && S_ISREG(status.st_mode);

	if (is_regular)
		file = media_reopen(path);
	if (path >= 0 && !is_regular)
		http_error(answer, 403, "'%.200s' is no regular file", name);
	else if (is_regular && file < 0 && errno == ENOENT)
		http_error(answer, 503, "'%.200s' cannot be opened: there is no /proc", name);
	else if (file < 0)
		media_refuse(answer, name);
	if (path >= 0)
		close(path);
	return file;
}

static void
media_send(int file, const char *name, struct http_answer *answer)
{
	unsigned char begin[MEDIA_BEGIN];
	struct stat status;
	const char *type = NULL;
	ssize_t size = -1;

	if (fstat(file, &status) == 0)
		size = pread(file, begin, sizeof(begin), 0);
	if (size > 0)
		type = media_type(begin, (size_t)size);
	if (size < 0)
		http_error(answer, 503, "'%.200s' cannot be read: %s", name, strerror(errno));
	else if (!type)
		http_error(
		        answer, 415,
		        "'%.200s' is, by its content, none of png, jpeg, webp, gif, wav, mp3 and ogg, which alone are shown",
		        name);
	else if ((uint64_t)status.st_size > MEDIA_MOST)
		http_error(answer, 413, "'%.200s' has more than %d MiB", name, (int)(MEDIA_MOST >> 20));
	else {
		http_file(answer, type, file, (uint64_t)status.st_size);
		answer->security = FILE_SECURITY;
		return;
	}
	close(file);
}

int
media_answer(const struct media *media, const char *id, struct http_answer *answer, struct portolan_error *error)
{
	size_t record = texts_find_id(media->texts, id);
	CLEANUP_FREE char *name = record == TEXTS_NONE ? NULL : texts_value(media->texts, record, media->field);
	int file, code = texts_check(media->texts, error);

	if (code < 0)
		return code;
	if (!name || !*name) {
		http_error(answer, 404,
		           record == TEXTS_NONE ? "the file of --data has no example with this id"
		                                : "field %s of this example names no file",
		           media->field);
		return 0;
	}
	file = media_open_regular(media, name, answer);
	if (file >= 0)
		media_send(file, name, answer);
	return 0;
}
