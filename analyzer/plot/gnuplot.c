/*
 * gnuplot.c: starts gnuplot, and the program that knows its fonts, by posix_spawn, without a shell, and waits for them.
 *
 * Its files are open already, and most have no name: gnuplot gets them as /dev/fd/N, and the picture as its standard
 * output, so that nothing is written in the user's folder. It runs with default settings (-d: no start-up file of the
 * user's has a say), nothing on its standard input, and signals as a program expects them. What it says is kept for the
 * error message.
 */
#include "gnuplot.h"

#include "script.h"

#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Gives the child standard output and error, and the first `count` of `files` under their own numbers. 0, or the errno.
 */
static int
spawn(char *const arguments[], int output, int messages, const int *files, size_t count, pid_t *child)
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
	result = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (result == 0)
		result = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	if (result == 0)
		result = posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
	for (size_t i = 0; i < count && result == 0; i++) /* onto itself: it is not closed then */
		result = posix_spawn_file_actions_adddup2(&actions, files[i], files[i]);
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

static int
wait_for(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int
gnuplot_run(int script, int data, int picture, struct portolan_error *error)
{
	const int files[] = {script, data};
	char said[300], set_data[64], script_path[32];
	char program[] = "gnuplot", defaults[] = "-d", execute[] = "-e";
	char *arguments[] = {program, defaults, execute, set_data, script_path, NULL};
	int pipe_ends[2], result, status;
	pid_t child;

	snprintf(set_data, sizeof(set_data), "picture=''; data='/dev/fd/%d'", data);
	snprintf(script_path, sizeof(script_path), "/dev/fd/%d", script);
	if (pipe2(pipe_ends, O_CLOEXEC) < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot start gnuplot: %s", strerror(errno));
	result = spawn(arguments, picture, pipe_ends[1], files, data < 0 ? 1 : 2, &child);
	close(pipe_ends[1]);
	if (result != 0) {
		close(pipe_ends[0]);
		if (result == ENOENT)
			return error_set(error, PORTOLAN_E_SYSTEM, "gnuplot not found: apt install gnuplot-nox");
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot start gnuplot: %s", strerror(result));
	}
	read_said(pipe_ends[0], said, sizeof(said));
	close(pipe_ends[0]);
	status = wait_for(child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFSIGNALED(status))
		return error_set(error, PORTOLAN_E_SYSTEM, "gnuplot was ended by signal %d", WTERMSIG(status));
	return error_set(error, PORTOLAN_E_SYSTEM, "gnuplot failed: %s", said[0] ? said : "it said nothing");
}

/* "20-7e a0 …": a line for each font. */
static void
read_characters(FILE *stream, uint8_t *characters)
{
	uint32_t from, to;

	while (fscanf(stream, "%" SCNx32, &from) == 1) {
		int next = getc(stream);

		to = from;
		if (next == '-' && fscanf(stream, "%" SCNx32, &to) != 1)
			return;
		for (uint32_t c = from; c <= to && c < PLOT_CHARACTERS; c++)
			characters[c / 8] |= (uint8_t)(1 << c % 8);
	}
}

uint8_t *
gnuplot_characters(void)
{
	char program[] = "fc-list", option[] = "--format=%{charset}\n";
	char *arguments[] = {program, option, NULL};
	uint8_t *characters = calloc(PLOT_CHARACTERS / 8, 1);
	int pipe_ends[2];
	pid_t child = -1;
	FILE *stream = NULL;

	if (pipe2(pipe_ends, O_CLOEXEC) == 0) {
		if (characters && spawn(arguments, pipe_ends[1], STDERR_FILENO, NULL, 0, &child) == 0)
			stream = fdopen(pipe_ends[0], "r");
		close(pipe_ends[1]);
		if (stream)
			read_characters(stream, characters);
		if (stream)
			fclose(stream);
		else
			close(pipe_ends[0]);
	}
	if (child >= 0)
		wait_for(child);
	if (stream)
		return characters;
	free(characters);
	return NULL;
}
