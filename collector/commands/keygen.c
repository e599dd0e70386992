/*
 * keygen.c: makes the keys of a collector and of its clients for `portolan keygen`, and writes them to files.
 *
 * Files are created with O_EXCL, which neither overwrites a file nor follows a link. The public key that lets a client
 * in is written last, so that an interrupted call leaves no key that admits anybody.
 */
#include "commands.h"

#include <keys.h>
#include <portolan/error.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#define NAME_LONGEST 64
#define FOR_CLIENTS "; its clients need it"

bool
keygen_name_is_valid(const char *name)
{
	size_t length = strnlen(name, NAME_LONGEST + 1);

	if (length == 0 || length > NAME_LONGEST || !isalnum((unsigned char)name[0]) || strcmp(name, "clients") == 0)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("-_.", name[i]))
			return false;
	return true;
}

static int
keygen_make_path(char path[PATH_MAX], const char *directory, const char *name, const char *suffix,
                 struct portolan_error *error)
{
	int length = snprintf(path, PATH_MAX, "%s/%s%s", directory, name, suffix);

	if (length < 0 || length >= PATH_MAX)
		return error_set(error, PORTOLAN_E_INVALID, "keygen: the path is too long");
	return 0;
}

static int
keygen_make_directory(const char *path, struct portolan_error *error)
{
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return error_set(error, PORTOLAN_E_SYSTEM, "keygen: cannot make %.300s: %s", path, strerror(errno));
	return keys_check_directory(path, error);
}

/* Writes a key to `name`.key or `name`.pub in the directory, with `about` for who reads the file. */
static int
keygen_write_key(const char *directory, const char *name, enum keys_kind kind, const char *key, const char *about,
                 struct portolan_error *error)
{
	char path[PATH_MAX], text[256];
	int size = snprintf(text, sizeof(text), "# Portolan: %s\n%s %s\n", about,
	                    kind == KEYS_SECRET ? "secret" : "public", key);
	int fd = -1, result = keygen_make_path(path, directory, name, kind == KEYS_SECRET ? ".key" : ".pub", error);

	if (result == 0)
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		          kind == KEYS_SECRET ? 0600 : 0644);
	if (result == 0 && fd < 0 && errno == EEXIST)
		result = error_set(error, PORTOLAN_E_REFUSED,
		                   "keygen: %.300s exists and is not overwritten; --client NAME adds a client", path);
	else if (result == 0 && (fd < 0 || write(fd, text, (size_t)size) != size || fsync(fd) < 0))
		result = error_set(error, PORTOLAN_E_SYSTEM, "keygen: cannot write %.300s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	explicit_bzero(text, sizeof(text));
	return result;
}

/* Makes a pair of keys for a client or a collector, as `whose` says: `own`.key in `folder`, `name`.pub in `listed`. */
static int
keygen_write_pair(const char *whose, const char *folder, const char *own, const char *listed, const char *name,
                  const char *use, struct portolan_error *error)
{
	char public[KEYS_TEXT_SIZE], secret[KEYS_TEXT_SIZE], about[80];
	int result = 0;

	if (zmq_curve_keypair(public, secret) < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "keygen: libzmq was built without CURVE: %s",
		                 zmq_strerror(zmq_errno()));
	snprintf(about, sizeof(about), "secret key of a %s; keep it to yourself", whose);
	result = keygen_write_key(folder, own, KEYS_SECRET, secret, about, error);
	snprintf(about, sizeof(about), "public key of a %s%s", whose, use);
	result = result ?: keygen_write_key(listed, name, KEYS_PUBLIC, public, about, error);
	explicit_bzero(secret, sizeof(secret));
	return result;
}

static int
keygen_write_client(const char *folder, const char *allowed, const char *name, struct portolan_error *error)
{
	return keygen_write_pair("client", folder, "client", allowed, name, " that is let in", error);
}

int
keygen_collector(const char *directory, struct portolan_error *error)
{
	char allowed[PATH_MAX];
	int result = keygen_make_path(allowed, directory, "clients", "", error)
	             ?: keygen_make_directory(directory, error)
	             ?: keygen_write_pair("collector", directory, "server", directory, "server", FOR_CLIENTS, error)
	             ?: keygen_make_directory(allowed, error);

	return result ?: keygen_write_client(directory, allowed, "client", error);
}

int
keygen_client(const char *directory, const char *name, struct portolan_error *error)
{
	char allowed[PATH_MAX], folder[PATH_MAX], path[PATH_MAX], server[KEYS_TEXT_SIZE];
	int result = keys_check_directory(directory, error)
	             ?: keygen_make_path(allowed, directory, "clients", "", error)
	             ?: keygen_make_path(folder, directory, name, "", error)
	             ?: keygen_make_path(path, directory, "server", ".pub", error)
	             ?: keys_read(path, KEYS_PUBLIC, server, NULL, error)
	             ?: keygen_make_directory(allowed, error)
	             ?: keygen_make_directory(folder, error)
	             ?: keygen_write_key(folder, "server", KEYS_PUBLIC, server, "public key of a collector" FOR_CLIENTS, error);

	return result ?: keygen_write_client(folder, allowed, name, error);
}
