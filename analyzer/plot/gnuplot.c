/*
 * gnuplot.c: runs gnuplot for picture.c: starts it without a shell, lets it draw one script, and waits for it. It also
 * asks fontconfig's fc-list and fc-match about fonts.
 *
 * gnuplot is started before there is anything to draw. It then reads one line from a pipe, the gate, with the name of
 * the script to load. Its files are open already, and most have no name: gnuplot gets them as /dev/fd/N, and the
 * picture as its standard output, so that nothing is written in the user's folder. It runs with default settings (-d:
 * no start-up file of the user), nothing on its standard input, and signals as a program expects them. What it prints
 * becomes part of the error message if it fails.
 */
#include "gnuplot.h"

#include "die/die.h"
#include "die/memory.h"
#include "die/program.h"
#include "script.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Reads all messages of gnuplot to their end, and keeps as much as `text` has room for, as one line. */
static void
gnuplot_read_messages(int fd, char *text, size_t room)
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

/* gnuplot looks for fonts at its first picture, which takes long. So it first draws a tiny one that nobody sees. */
#define READY                                                                                                                \
	"; set terminal pngcairo size 16,16 font 'DejaVu Sans,11'; set output '/dev/null'; set multiplot; unset multiplot; " \
	"set output"

static void
gnuplot_is_missing(void)
{
	die("gnuplot not found: apt-get install gnuplot-nox, or conda install -c conda-forge gnuplot");
}

void
gnuplot_start(struct gnuplot *gnuplot, int script, int data, int picture, bool uses_fonts)
{
	char set_data[320], gate_path[32], program[] = "gnuplot", defaults[] = "-d", execute[] = "-e";
	char *arguments[] = {program, defaults, execute, set_data, gate_path, NULL};
	int pipe_ends[2], result;

	if (pipe2(gnuplot->gate, O_CLOEXEC) < 0 || pipe2(pipe_ends, O_CLOEXEC) < 0)
		die("cannot start gnuplot: %s", strerror(errno));
	snprintf(set_data, sizeof(set_data), "picture=''; data='/dev/fd/%d'%s", data, uses_fonts ? READY : "");
	snprintf(gate_path, sizeof(gate_path), "/dev/fd/%d", gnuplot->gate[0]);
	result = program_spawn(arguments, picture, pipe_ends[1], (const int[]){script, data, gnuplot->gate[0]},
	                       &gnuplot->child);
	close(pipe_ends[1]);
	gnuplot->messages = pipe_ends[0];
	if (result == ENOENT)
		gnuplot_is_missing();
	if (result != 0)
		die("cannot start gnuplot: %s", strerror(result));
}

void
gnuplot_draw(struct gnuplot *gnuplot, int script)
{
	char load[48];
	int length = snprintf(load, sizeof(load), "load '/dev/fd/%d'\n", script);

	/* This cannot raise SIGPIPE: the reading end is open here, too. */
	gnuplot->told = write(gnuplot->gate[1], load, (size_t)length) == length;
	close(gnuplot->gate[0]);
	close(gnuplot->gate[1]);
}

void
gnuplot_wait(const struct gnuplot *gnuplot)
{
	char said[300];
	int status;

	gnuplot_read_messages(gnuplot->messages, said, sizeof(said));
	close(gnuplot->messages);
	status = program_wait(gnuplot->child);
	if (WIFSIGNALED(status))
		die("gnuplot was ended by signal %d", WTERMSIG(status));
	/* Under qemu's emulation of a processor, posix_spawnp() cannot say that there is no such program: its child ends with
	 * this status. */
	if (WEXITSTATUS(status) == 127 && !said[0])
		gnuplot_is_missing();
	if (!gnuplot->told || WEXITSTATUS(status) != 0)
		die("gnuplot failed: %s", said[0] ? said : "it said nothing");
}

/* Starts a program and returns a stream with its output, or NULL if it cannot be started. The caller waits for
 * *child. */
static FILE *
program_open(char *const arguments[], pid_t *child)
{
	int pipe_ends[2], result;

	if (pipe2(pipe_ends, O_CLOEXEC) < 0)
		return NULL;
	result = program_spawn(arguments, pipe_ends[1], -1, (const int[]){-1, -1, -1}, child);
	close(pipe_ends[1]);
	if (result == 0)
		return memory_need(fdopen(pipe_ends[0], "r"));
	close(pipe_ends[0]);
	return NULL;
}

uint8_t *
gnuplot_characters(void)
{
	/* fc-list prints for each font a line like "20-7e a0 …". */
	char program[] = "fc-list", format[] = "--format=%{charset}\\n";
	char *const arguments[] = {program, format, NULL};
	pid_t child;
	FILE *stream = program_open(arguments, &child);
	uint8_t *characters;
	uint32_t from, to;

	if (!stream)
		return NULL;
	characters = memory_new(PLOT_CHARACTERS / 8, 1);
	while (fscanf(stream, "%" SCNx32, &from) == 1) {
		if (fscanf(stream, "-%" SCNx32, &to) != 1)
			to = from;
		for (uint32_t c = from; c <= to && c < PLOT_CHARACTERS; c++)
			characters[c / 8] |= (uint8_t)(1 << c % 8);
	}
	fclose(stream);
	program_wait(child);
	return characters;
}

char *
gnuplot_family(const char *name)
{
	char program[] = "fc-match", format[] = "--format=%{family}\\n", end[] = "--", font[256];
	char *const arguments[] = {program, format, end, font, NULL};
	char *family = NULL;
	size_t size = 0;
	ssize_t length;
	FILE *stream;
	pid_t child;

	snprintf(font, sizeof(font), "%s", name);
	stream = program_open(arguments, &child);
	if (!stream)
		return NULL;
	length = getline(&family, &size, stream);
	fclose(stream);
	program_wait(child);
	if (length > 1) {
		family[length - 1] = '\0';
		return family;
	}
	free(family);
	return NULL;
}
