/*
 * options.h: reading a command line by the options a command declares.
 *
 *     struct options options;
 *     options_begin(&options, command, argc, argv);
 *     while ((key = options_next(&options)) > 0)
 *             switch (key) { case 'f': … options.argument … }
 *     if (key != OPTIONS_END)
 *             return options.status;
 *     … options.operands[0 … operand_count−1], options.common …
 *
 * Anything wrong is said on stderr as one line, with the nearest name where one is near. One parser at a time (getopt).
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "command.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	OPTIONS_END = 0,
	OPTIONS_STOP = -1, /* wrong, or help was asked for: return options.status */
};

struct common_options {
	const char *store;             /* --store, $PORTOLAN_STORE, or ./portolan-store */
	const char *output;            /* NULL: standard output */
	uint32_t epoch_from, epoch_to; /* half-open; UINT32_MAX: to the end */
	bool epochs_given, json, strict;
	bool epochs_auto;    /* from the epoch that dynamics_open() finds; epochs_given is set as well */
	unsigned threads;    /* 0: all cores */
	uint64_t max_memory; /* bytes */
};

#define OPTIONS_MAX 32

struct options {
	struct common_options common;
	const char *argument; /* of the option just answered */
	char **operands;      /* after OPTIONS_END */
	int operand_count;
	int status; /* after OPTIONS_STOP */
	/* private */
	const struct command *command;
	int argc;
	char **argv;
	struct option table[OPTIONS_MAX];
	char letters[2 * OPTIONS_MAX + 2];
};

/* The shared options as declarations, for help and man pages; ends with a NULL name. `common` is the command's mask. */
struct command_option options_common(unsigned common, size_t index);

void options_begin(struct options *options, const struct command *command, int argc, char **argv);
int options_next(struct options *options);

/* Says on stderr that the command line is wrong, and where help is; returns STATUS_USAGE. */
__attribute__((format(printf, 2, 3))) int options_wrong(const struct command *command, const char *format, ...);

/* Exactly one operand, or options_wrong(): its status, else 0. `what`: "run". */
int options_one_operand(const struct options *options, const char *what);

/* The whole number that the text of `option` is, within least … most; else options_wrong(): its status. */
int options_number(const struct command *command, const char *option, const char *text, uint64_t least, uint64_t most,
                   uint64_t *number);

/* The number of `text` among `names`; else options_wrong() with the nearest, and -1. */
int options_choice(const struct command *command, const char *what, const char *text, const char *const *names,
                   size_t count);

#endif
