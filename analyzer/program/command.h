/*
 * command.h: what a subcommand is. Each is one file in commands/ that defines one of these; the table in commands.c
 * lists them, and dispatch, help, suggestions and man pages all come from that table.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <stddef.h>

/* Exit statuses, of the program and of command.run. */
enum {
	STATUS_DONE = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,      /* the command line is wrong */
	STATUS_INCOMPLETE = 3, /* done, but something is missing: see --strict */
};

/* Options that several commands share; a command names those it takes. --help is everybody's. */
enum {
	COMMON_STORE = 1,
	COMMON_OUTPUT = 2,
	COMMON_EPOCHS = 4,
	COMMON_JSON = 8,
	COMMON_STRICT = 16,
	COMMON_THREADS = 32,
	COMMON_MEMORY = 64,
	COMMON_SCRIPT = 128,
};

struct command_option {
	const char *name;     /* long, without dashes */
	int key;              /* what options_next() answers; a letter is the short option as well; others start at OPTION_KEY */
	const char *argument; /* its name in the help; NULL: takes none */
	const char *help;     /* one paragraph */
};
#define OPTION_KEY 256

struct command {
	const char *name;
	const char *operands; /* "RUN" */
	const char *summary;  /* "print every example's measures" */
	const char *examples; /* pairs of lines: what it does, the command line */
	const char *help;     /* paragraphs, separated by empty lines */
	unsigned common;      /* COMMON_… */
	const struct command_option *options; /* ends with a NULL name */
	int (*run)(const struct command *command, int argc, char **argv); /* argv[0] is the command's name */
};

extern const struct command *const command_table[]; /* ends with NULL */
const struct command *command_find(const char *name); /* NULL: none */
const char *command_nearest(const char *name);        /* NULL: none is near */

#endif
