/*
 * browser.c: opens the live page in the user's browser, for `portolan serve`.
 *
 * The page's address holds the secret token, and any user of this machine can read the arguments of programs. So the
 * browser is not given the address but a file that leads to it, and that only its owner can read.
 */
#include "browser.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NAME "/portolan-XXXXXX.html"
#define ENDING ".html"

extern char **environ;

/* Writes the address as HTML. The only character in it that means something in HTML is '&'. */
static void
browser_write_address(FILE *stream, const char *address)
{
	for (; *address; address++)
		if (*address == '&')
			fputs("&amp;", stream);
		else
			fputc(*address, stream);
}

static bool
browser_write_page(int file, const char *address)
{
	FILE *stream = fdopen(file, "w");
	bool failed;

	if (!stream) {
		close(file);
		return false;
	}
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Portolan</title>\n"
	      "<meta name=\"referrer\" content=\"no-referrer\">\n<meta http-equiv=\"refresh\" content=\"0; url=",
	      stream);
	browser_write_address(stream, address);
	fputs("\">\n<p><a href=\"", stream);
	browser_write_address(stream, address);
	fputs("\">To the live page</a></p>\n", stream);
	failed = ferror(stream);
	return fclose(stream) == 0 && !failed;
}

/* Makes a file of mode 0600 in the folder. -1: that is not possible. */
static int
browser_make_file(const char *folder, char path[BROWSER_PATH_ROOM])
{
	if (!folder || *folder != '/' || snprintf(path, BROWSER_PATH_ROOM, "%s" NAME, folder) >= BROWSER_PATH_ROOM)
		return -1;
	return mkostemps(path, sizeof(ENDING) - 1, O_CLOEXEC);
}

static void
browser_start(char *path)
{
	char program[] = "xdg-open", *arguments[] = {program, path, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	pid_t child;

	if (posix_spawnattr_init(&attributes) != 0)
		return;
	if (posix_spawn_file_actions_init(&actions) != 0) {
		posix_spawnattr_destroy(&attributes);
		return;
	}
	sigemptyset(&none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK); /* signals, blocked here, must end a browser */
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
	(void)posix_spawnp(&child, arguments[0], &actions, &attributes, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
}

void
browser_open(const char *address, char path[BROWSER_PATH_ROOM])
{
	int file = browser_make_file(getenv("XDG_RUNTIME_DIR"), path);

	if (file < 0)
		file = browser_make_file(getenv("TMPDIR"), path);
	if (file < 0)
		file = browser_make_file("/tmp", path);
	if (file >= 0 && browser_write_page(file, address))
		browser_start(path);
	else if (file >= 0)
		unlink(path);
	if (file < 0)
		*path = '\0';
}

void
browser_forget(const char *path)
{
	if (*path)
		unlink(path);
}
