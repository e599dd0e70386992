/* token.c: makes the secret token that every request to the live page must show, for `portolan serve`; and keeps it in
 * a file that only its user can read. */
#include "token.h"

#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOKEN_BYTES 32
#define TOKEN_LEAST 32 /* a token in the user's file has at least so many letters and digits */

int
token_make(char token[TOKEN_ROOM], struct portolan_error *error)
{
	unsigned char bytes[TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return error_set(error, PORTOLAN_E_SYSTEM, "no random numbers: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static int
token_write_new(int file, const char *path, char token[TOKEN_ROOM], struct portolan_error *error)
{
	char line[TOKEN_ROOM + 1];
	size_t length;
	int code = token_make(token, error);

	if (code < 0)
		return code;
	length = (size_t)snprintf(line, sizeof(line), "%s\n", token);
	if (write(file, line, length) != (ssize_t)length || fsync(file) != 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot write the token to %s: %s", path, strerror(errno));
	return 0;
}

static int
token_read_old(int file, const char *path, char token[TOKEN_ROOM], struct portolan_error *error)
{
	struct stat status;
	ssize_t size;
	size_t length;

	if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
		return error_set(error, PORTOLAN_E_INVALID, "%s is no file", path);
	if (status.st_uid != geteuid() || (status.st_mode & 077) != 0)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "others may read or write %s: `chmod 600 %s`, or name a file that is not there yet",
		                 path, path);
	size = read(file, token, TOKEN_ROOM - 1);
	if (size < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot read %s: %s", path, strerror(errno));
	token[size] = '\0';
	length = strspn(token, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_");
	if (length < TOKEN_LEAST || length == TOKEN_ROOM - 1 ||
	    (token[length] != '\0' && strcmp(token + length, "\n") != 0))
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s holds no token: one line of %d to %d letters and digits; name a file that is not "
		                 "there yet, and it is made",
		                 path, TOKEN_LEAST, TOKEN_ROOM - 2);
	token[length] = '\0';
	return 0;
}

int
token_from_file(const char *path, char token[TOKEN_ROOM], struct portolan_error *error)
{
	int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), code;

	if (file >= 0) {
		code = token_write_new(file, path, token, error);
		if (code < 0)
			unlink(path);
	} else {
		file = errno == EEXIST ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
		if (file < 0)
			return error_set(error, PORTOLAN_E_SYSTEM, "cannot open the token's file %s: %s", path,
			                 strerror(errno));
		code = token_read_old(file, path, token, error);
	}
	close(file);
	return code;
}
