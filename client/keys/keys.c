/* keys.c: reads the key files of the encrypted connection (CURVE), for the client and for the collector. Parsing is
 * apart from reading, so that tests can parse any bytes. Secrets are wiped from the stack. */
#include "keys.h"

#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#define WRITABLE_BY_OTHERS (S_IWGRP | S_IWOTH)
#define OPEN_TO_OTHERS (S_IRWXG | S_IRWXO)
#define KEY_LENGTH (KEYS_TEXT_SIZE - 1)

static const char *const words[] = {[KEYS_SECRET] = "secret ", [KEYS_PUBLIC] = "public "};

static int
keys_malformed(const char *what, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_INVALID, "%s; portolan keygen makes key files", what);
}

/* Reads the key in a line "WORD KEY", given without its line end. */
static int
keys_parse_line(const char *line, size_t size, enum keys_kind kind, char text[KEYS_TEXT_SIZE],
                struct portolan_error *error)
{
	const char *word = words[kind], *other = words[kind == KEYS_SECRET ? KEYS_PUBLIC : KEYS_SECRET];
	uint8_t bytes[KEYS_SIZE];
	char key[KEYS_TEXT_SIZE];
	bool valid;

	if (size > strlen(other) && memcmp(line, other, strlen(other)) == 0)
		return keys_malformed(kind == KEYS_SECRET ? "this is a public key, and a secret one belongs here"
		                                          : "this is a secret key, and a public one belongs here",
		                      error);
	if (size != strlen(word) + KEY_LENGTH || memcmp(line, word, strlen(word)) != 0)
		return keys_malformed(kind == KEYS_SECRET ? "there is no line 'secret KEY' with a key of 40 characters"
		                                          : "there is no line 'public KEY' with a key of 40 characters",
		                      error);
	memcpy(key, line + strlen(word), KEY_LENGTH);
	key[KEY_LENGTH] = '\0';
	valid = strlen(key) == KEY_LENGTH && zmq_z85_decode(bytes, key);
	if (valid)
		memcpy(text, key, sizeof(key));
	explicit_bzero(bytes, sizeof(bytes));
	explicit_bzero(key, sizeof(key));
	return valid ? 0 : keys_malformed("the key holds characters that no key has", error);
}

int
keys_parse(const char *data, size_t size, enum keys_kind kind, char text[KEYS_TEXT_SIZE], struct portolan_error *error)
{
	const char *end = data + size, *found = NULL, *next;
	size_t length, found_length = 0;

	for (const char *line = data; line < end; line = next) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));

		next = newline ? newline + 1 : end;
		length = (size_t)((newline ? newline : end) - line);
		while (length > 0 && (line[length - 1] == '\r' || line[length - 1] == ' '))
			length--;
		if (length == 0 || (line[0] == '#' && (length == 1 || line[1] == ' ')))
			continue;
		if (found)
			return keys_malformed("there is more than one key", error);
		found = line;
		found_length = length;
	}
	if (!found)
		return keys_malformed("there is no key", error);
	return keys_parse_line(found, found_length, kind, text, error);
}

int
keys_check_directory(const char *path, struct portolan_error *error)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "keys: %.300s: %s; portolan keygen DIR makes the directory",
		                 path, strerror(errno));
	if (!S_ISDIR(status.st_mode))
		return error_set(error, PORTOLAN_E_SYSTEM, "keys: %.300s is not a directory", path);
	if (status.st_mode & WRITABLE_BY_OTHERS)
		return error_set(
		        error, PORTOLAN_E_REFUSED,
		        "keys: others than its owner may write in %.300s; chmod go-w it, then see that every key "
		        "in it is one you know",
		        path);
	return 0;
}

static int
keys_check_file(const char *path, const struct stat *status, enum keys_kind kind, bool *exposed,
                struct portolan_error *error)
{
	if (!S_ISREG(status->st_mode))
		return error_set(error, PORTOLAN_E_INVALID, "keys: %.300s is not a file", path);
	if (kind == KEYS_PUBLIC && (status->st_mode & WRITABLE_BY_OTHERS))
		return error_set(
		        error, PORTOLAN_E_REFUSED,
		        "keys: others than its owner may write %.300s; chmod go-w it, then see that the key is "
		        "the right one",
		        path);
	if (kind == KEYS_SECRET && (status->st_mode & OPEN_TO_OTHERS) && exposed)
		*exposed = true;
	return 0;
}

int
keys_load(const char *path, enum keys_kind kind, char data[KEYS_MAX_FILE + 1], size_t *size, bool *exposed,
          struct portolan_error *error)
{
	/* Opening a fifo must not block. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), result;
	struct stat status;
	ssize_t got = -1;

	if (fd < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "keys: %.300s: %s", path, strerror(errno));
	result = fstat(fd, &status) < 0 ? error_set(error, PORTOLAN_E_SYSTEM, "keys: %.300s: %s", path, strerror(errno))
	                                : keys_check_file(path, &status, kind, exposed, error);
	if (result == 0 && (got = read(fd, data, KEYS_MAX_FILE + 1)) < 0)
		result = error_set(error, PORTOLAN_E_SYSTEM, "keys: %.300s: %s", path, strerror(errno));
	close(fd);
	if (result == 0)
		*size = (size_t)got;
	return result;
}

int
keys_read(const char *path, enum keys_kind kind, char text[KEYS_TEXT_SIZE], bool *exposed, struct portolan_error *error)
{
	struct portolan_error inner = {0};
	char data[KEYS_MAX_FILE + 1];
	size_t size;
	int result = keys_load(path, kind, data, &size, exposed, error);

	if (result < 0)
		return result;
	if (size > KEYS_MAX_FILE)
		result = keys_malformed("this is too long for a key file", &inner);
	else
		result = keys_parse(data, size, kind, text, &inner);
	explicit_bzero(data, sizeof(data));
	return result < 0 ? error_set(error, result, "keys: %.300s: %s", path, inner.message) : 0;
}

static int
keys_read_in_directory(const char *directory, const char *name, enum keys_kind kind, char text[KEYS_TEXT_SIZE],
                       bool *exposed, struct portolan_error *error)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/%s", directory, name);

	if (length < 0 || (size_t)length >= sizeof(path))
		return error_set(error, PORTOLAN_E_INVALID, "keys: the directory's path is too long");
	return keys_read(path, kind, text, exposed, error);
}

/* Reads the keys of one side: its own from the file `own`; and the server's public key from the file `server`, unless
 * that is NULL. */
static int
keys_read_side(const char *directory, const char *own, const char *server, struct keys *keys,
               struct portolan_error *error)
{
	int result = keys_check_directory(directory, error);

	*keys = (struct keys){0};
	if (result == 0)
		result = keys_read_in_directory(directory, own, KEYS_SECRET, keys->secret, &keys->exposed, error);
	if (result == 0 && zmq_curve_public(keys->own, keys->secret) < 0)
		result = error_set(error, PORTOLAN_E_SYSTEM, "keys: libzmq was built without CURVE: %s",
		                   zmq_strerror(zmq_errno()));
	if (result == 0 && server)
		result = keys_read_in_directory(directory, server, KEYS_PUBLIC, keys->server, NULL, error);
	if (result < 0)
		keys_forget(keys);
	return result;
}

int
keys_read_client(const char *directory, struct keys *keys, struct portolan_error *error)
{
	return keys_read_side(directory, "client.key", "server.pub", keys, error);
}

int
keys_read_server(const char *directory, struct keys *keys, struct portolan_error *error)
{
	return keys_read_side(directory, "server.key", NULL, keys, error);
}

void
keys_forget(struct keys *keys)
{
	explicit_bzero(keys->secret, sizeof(keys->secret));
}
