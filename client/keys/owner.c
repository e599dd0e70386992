/*
 * owner.c: writes, for the collector, and reads, for the client, the file with the secret by which a client proves that
 * it is the store's own user.
 *
 * A collector may name any path as that of its file: whoever listens at the port may want to be told the secret of
 * another store. So the file itself names the endpoints that its secret is for. The store's collector listens there,
 * and nobody else; or it has ended, and its secret is then worth nothing. As other machines and containers may see the
 * file too, and have loopback devices of their own, it also names the machine.
 */
#include "owner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BYTES 4096
#define ENDPOINT "endpoint "
#define SECRET "secret "
#define MACHINE "machine "
#define MACHINE_BYTES 128
#define LOCALHOST "tcp://localhost:"

void
owner_line(char *endpoints, size_t size, const char *endpoint)
{
	size_t used = strlen(endpoints);

	snprintf(endpoints + used, size - used, ENDPOINT "%s\n", endpoint);
}

/* Names the machine as "BOOT/NETWORK": the id of the kernel's boot, and this process's network namespace. Either is
 * empty if the kernel does not tell it. */
static void
owner_name_machine(char machine[MACHINE_BYTES])
{
	int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t size = file >= 0 ? read(file, machine, MACHINE_BYTES / 2) : -1, more;

	if (file >= 0)
		close(file);
	size = size > 0 ? size : 0;
	while (size > 0 && machine[size - 1] == '\n')
		size--;
	machine[size++] = '/';
	more = readlink("/proc/self/ns/net", machine + size, MACHINE_BYTES - 1 - (size_t)size);
	machine[size + (more > 0 ? more : 0)] = '\0';
}

bool
owner_write(const char *path, const char *endpoints, uint8_t secret[WIRE_OWNER_SIZE])
{
	char text[MOST_BYTES], machine[MACHINE_BYTES];
	int file, length, size;

	if (getrandom(secret, WIRE_OWNER_SIZE, 0) != WIRE_OWNER_SIZE)
		return false;
	owner_name_machine(machine);
	length = snprintf(text, sizeof(text),
	                  "# Whoever can read this may overwrite and remove runs there.\n" MACHINE "%s\n%.3000s" SECRET,
	                  machine, endpoints);
	for (int i = 0; i < WIRE_OWNER_SIZE; i++)
		length += snprintf(text + length, sizeof(text) - (size_t)length, "%02x", secret[i]);
	unlink(path); /* the file that a killed collector has left */
	file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file < 0)
		return false;
	text[length++] = '\n';
	size = (int)write(file, text, (size_t)length);
	explicit_bzero(text, sizeof(text));
	close(file);
	if (size == length)
		return true;
	unlink(path);
	errno = size < 0 ? errno : ENOSPC;
	return false;
}

/* Reads the text of a file that only this user can read; "" for any other file. Does not open a device, as opening one
 * may already have an effect. */
static void
owner_read_file(const char *path, char text[MOST_BYTES])
{
	struct stat status;
	ssize_t size = -1;
	int file = -1;

	if (lstat(path, &status) == 0 && S_ISREG(status.st_mode))
		file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	    (status.st_mode & (S_IRWXG | S_IRWXO)) == 0)
		size = read(file, text, MOST_BYTES - 1);
	if (file >= 0)
		close(file);
	text[size > 0 ? size : 0] = '\0';
}

static bool
owner_is_same_endpoint(const char *one, const char *other)
{
	if (strncmp(other, LOCALHOST, strlen(LOCALHOST)) != 0)
		return strcmp(one, other) == 0;
	return strncmp(one, "tcp://127.0.0.1:", 16) == 0 && strcmp(one + 16, other + strlen(LOCALHOST)) == 0;
}

static bool
owner_parse_secret(const char *digits, uint8_t secret[WIRE_OWNER_SIZE])
{
	static const char all[] = "0123456789abcdef";

	if (strspn(digits, all) != 2 * WIRE_OWNER_SIZE || digits[2 * WIRE_OWNER_SIZE] != '\0')
		return false;
	for (int i = 0; i < 2 * WIRE_OWNER_SIZE; i++)
		secret[i / 2] = (uint8_t)(secret[i / 2] << 4 | (uint8_t)(strchr(all, digits[i]) - all));
	return true;
}

bool
owner_read(const char *path, const char *endpoint, uint8_t secret[WIRE_OWNER_SIZE])
{
	char text[MOST_BYTES], machine[MACHINE_BYTES], *rest = text, *line;
	bool is_for_it = false, is_here = false, found = false;

	owner_name_machine(machine);
	owner_read_file(path, text);
	while ((line = strsep(&rest, "\n"))) {
		if (strncmp(line, ENDPOINT, strlen(ENDPOINT)) == 0)
			is_for_it |= owner_is_same_endpoint(line + strlen(ENDPOINT), endpoint);
		else if (strncmp(line, MACHINE, strlen(MACHINE)) == 0)
			is_here = strcmp(line + strlen(MACHINE), machine) == 0;
		else if (strncmp(line, SECRET, strlen(SECRET)) == 0)
			found = owner_parse_secret(line + strlen(SECRET), secret);
	}
	explicit_bzero(text, sizeof(text));
	return is_for_it && is_here && found;
}
