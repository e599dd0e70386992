/*
 * gnuplot.c: starts gnuplot, and the program that knows its fonts, by posix_spawn, without a shell, and waits for them.
 *
 * It runs in the folder of the picture, with names relative to it, default settings (-d: no start-up file of the user's
 * has a say), nothing on its standard input, and signals as a program expects them. What it says is kept for the error
 * message.
 */
#include "gnuplot.h"

#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* What it writes to `stream` (standard output or error) goes to `said`. */
static int
spawn(const char *folder, char *const arguments[], int stream, int said, pid_t *child)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t defaults, none;
	int result;

	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	result = posix_spawn_file_actions_addchdir_np(&actions, folder);
	if (result == 0)
		result = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (result == 0)
		result = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (result == 0)
		result = posix_spawn_file_actions_adddup2(&actions, said, stream);
	if (result == 0)
		result = posix_spawnp(child, arguments[0], &actions, &attributes, arguments, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return result;
}

/* Reads all of it and keeps the beginning, as one line. */
static void
read_said(int fd, char *text, size_t room)
{
	char part[512];
	size_t used = 0;
	ssize_t got;

	while ((got = read(fd, part, sizeof(part))) > 0 || (got < 0 && errno == EINTR)) {
		for (ssize_t i = 0; i < got && used + 1 < room; i++) {
			char c = (unsigned char)part[i] < ' ' ? ' ' : part[i];

			if (c != ' ' || (used > 0 && text[used - 1] != ' '))
				text[used++] = c;
		}
	}
	text[used] = '\0';
}

int
gnuplot_run(const char *folder, const char *script, const char *picture, struct portolan_error *error)
{
	char said[300], set_picture[300], script_path[300];
	char program[] = "gnuplot", defaults[] = "-d", execute[] = "-e";
	char *arguments[] = {program, defaults, execute, set_picture, script_path, NULL};
	int pipe_ends[2], result, status = 0;
	pid_t child;

	snprintf(set_picture, sizeof(set_picture), "picture='%s'", picture);
	snprintf(script_path, sizeof(script_path), "./%s", script);
	if (pipe2(pipe_ends, O_CLOEXEC) < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot start gnuplot: %s", strerror(errno));
	result = spawn(folder, arguments, STDERR_FILENO, pipe_ends[1], &child);
	close(pipe_ends[1]);
	if (result != 0) {
		close(pipe_ends[0]);
		if (result == ENOENT && access(folder, F_OK) == 0)
			return error_set(error, PORTOLAN_E_SYSTEM, "gnuplot not found: apt install gnuplot-nox");
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot start gnuplot: %s", strerror(result));
	}
	read_said(pipe_ends[0], said, sizeof(said));
	close(pipe_ends[0]);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFSIGNALED(status))
		return error_set(error, PORTOLAN_E_SYSTEM, "gnuplot was ended by signal %d", WTERMSIG(status));
	return error_set(error, PORTOLAN_E_SYSTEM, "gnuplot failed: %s", said[0] ? said : "it said nothing");
}

bool
gnuplot_has_glyph(uint32_t character)
{
	char program[] = "fc-list", pattern[32], said[64] = "";
	char *arguments[] = {program, pattern, NULL};
	int pipe_ends[2], status = 0;
	pid_t child;

	snprintf(pattern, sizeof(pattern), ":charset=%x", character);
	if (pipe2(pipe_ends, O_CLOEXEC) < 0)
		return false;
	if (spawn(".", arguments, STDOUT_FILENO, pipe_ends[1], &child) != 0) {
		close(pipe_ends[0]);
		close(pipe_ends[1]);
		return false;
	}
	close(pipe_ends[1]);
	read_said(pipe_ends[0], said, sizeof(said));
	close(pipe_ends[0]);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0 && said[0];
}
