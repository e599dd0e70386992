/*
 * command.h: describes a command of `portolan` (`map`, `select` …): its operands, its options, its help, and the
 * function that runs it.
 *
 * Each command is defined in the folder of its subject; commands/commands.c lists them. Dispatch, help, suggestions,
 * man pages and shell completion all come from these descriptions.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include "base/status.h"

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stddef.h>

/* Options that several commands share; a command names those it takes. All commands take --quiet and --help. */
enum {
	COMMON_STORE = 1,
	COMMON_OUTPUT = 2,
	COMMON_EPOCHS = 4,
	COMMON_JSON = 8,
	COMMON_STRICT = 16,
	COMMON_THREADS = 32,
	COMMON_MEMORY = 64,
	COMMON_SCRIPT = 128,
	COMMON_WINDOW = 256,
	COMMON_MINUS = 512,
	COMMON_LOSS_THRESHOLD = 1024, /* COMMON_WINDOW has it, too */
};

struct option_spec;

/* The words of a command's help, which embed.py makes of its help file (help.md, or NAME.md). */
struct help {
	const char *summary;  /* one line, as in "print every example's measures" */
	const char *examples; /* pairs of lines: what the example does, and its command line */
	const char *text;     /* paragraphs, separated by empty lines */
	const struct help_option {
		const char *name, *text; /* one paragraph, whose first sentence says what the option does */
	} * options;                     /* ends with a NULL name */
	/* another help, which has the options that are not among these; NULL: there is none */
	const struct help *more;
};

extern const struct help help_options; /* the help of the options that commands share */

struct command {
	const char *name;
	const char *operands; /* for the help: "RUN" */
	const struct help *help;

	/* the first operand is one of these words; ends with NULL; NULL: the command has no actions */
	const char *const *actions;
	const char *operand; /* the kind of the (other) operands: "run"; "file": read, or "-"; "directory" */
	int least, most;     /* how many operands there may be, beside the action */

	unsigned common;                   /* COMMON_… */
	const struct option_spec *base;    /* options that it shares with another command; ends as `options` */
	const struct option_spec *options; /* its own options; ends with a NULL name; NULL: it has none */

	/* bytes of the struct that the options are read into; it begins with a struct common_options */
	size_t request_size;
	/* where --data is not given, it takes the texts that the run keeps (data_kept.h) */
	bool shows_texts;
	/* its first operand, a file, may be "@texts:RUN", the texts that this run keeps (data_kept.h) */
	bool takes_texts;
	/* and it makes the file of them itself, of those that it shows: it is told only which fields there are. Without
	 * an operand, they are of any run */
	bool opens_texts;
	const void *defaults; /* such a struct, whose common options are ignored; NULL: all 0 */

	/* Checks of the request that the table of options cannot express. 0, the status of options_wrong(), or a
	 * negative code with `error` filled, which is wrong usage too. May be NULL. */
	int (*check)(void *request, struct portolan_error *error);
	/* Runs the command. Returns an exit status, or a negative code with `error` filled. It may also die(). */
	int (*run)(void *request, struct portolan_error *error);
};

/* Finds, in a list that ends with NULL, the command with this name, or the name nearest to a mistyped one. NULL: there
 * is none. */
const struct command *command_find(const struct command *const *commands, const char *name);
const char *command_nearest(const struct command *const *commands, const char *name);

/* The command's action with this name; NULL: there is none. */
const char *command_action(const struct command *command, const char *name);

#endif
