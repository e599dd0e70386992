/*
 * options.h: the typed table of a command's options. Each command that has options fills one; command_line.h reads
 * command lines by it, and help.h prints help from it.
 *
 * A table has for each option the place of its value in the command's request, its kind, its bounds, and the other
 * options that it needs or excludes:
 *
 *     #define TO(member) .offset = offsetof(struct draw_request, member)
 *     static const struct option_spec options[] = {
 *             {"sample", "N", OPTION_WHOLE, TO(sample), .least = 1},
 *             {"plot", "FILE", OPTION_OUTPUT, TO(plot), .needs = "run"},
 *             {0},
 *     };
 *
 * What an option does is said in the command's help file.
 *
 * Each error is one line on stderr that names the option, and the nearest name if one is near.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "command.h"

#include "measures/run_query.h"

#include <stdbool.h>
#include <stdint.h>

enum option_kind {
	OPTION_FLAG,    /* bool; takes no argument */
	OPTION_TEXT,    /* const char * */
	OPTION_RULE,    /* const char *: a rule of selection */
	OPTION_MEASURE, /* const char *: a measure, or a column */
	OPTION_RUN,     /* const char *: the name of a run */
	OPTION_INPUT,   /* const char *: a file that is read, and that no output may replace; "-": standard input */
	OPTION_OUTPUT,  /* const char *: a file that is written; "-": standard output */
	OPTION_FOLDER,  /* const char *: a directory */
	OPTION_WHOLE,   /* uint64_t, from least to most */
	OPTION_REAL,    /* double, within range */
	OPTION_SIZE,    /* uint64_t: bytes, at least `least`; given as 512M, 2G */
	OPTION_CHOICE,  /* int: which of the choices */
	OPTION_EPOCHS,  /* the epochs of common_options.query */
	OPTION_HELP,    /* shows the help, and ends */
};

enum option_range {
	RANGE_ANY,
	RANGE_FROM_TO,
	RANGE_ABOVE_TO,
	RANGE_FROM_BELOW,
	RANGE_BETWEEN, /* without both ends */
};

/* The heading of an option in the help. */
enum option_group {
	OPTION_GROUP_BY_KIND,
	OPTION_GROUP_TAKE,
	OPTION_GROUP_HOW,
	OPTION_GROUP_OUTPUT,
	OPTION_GROUP_ACCESS,
	OPTION_GROUP_RESOURCES,
	OPTION_GROUPS,
};

struct option_spec {
	const char *name;     /* the long name, without dashes */
	const char *argument; /* what the help calls its argument; NULL: it takes none */
	enum option_kind kind;
	size_t offset; /* where its member is in the request; the kind says of which type that is */
	char letter;   /* the letter of its short form; 0: there is none */

	uint64_t least, most; /* most 0: no limit */
	enum option_range range;
	double from, to;
	/* OPTION_CHOICE: the words; OPTION_MEASURE: words that may stand in place of a measure; ends with NULL */
	const char *const *choices;

	/* Stores the argument in place of the code for its kind; it may cut the text up. Returns 0, or the status of
	 * options_wrong(). An option with this function may be repeated. */
	int (*take)(void *request, char *text);

	/* Names of other options, with spaces between them. */
	const char *needs;    /* at least one of these must be given too, if the command has any of them */
	const char *excludes; /* none of these may be given too; its own name: the option may be given only once */

	const char *actions; /* the actions that take it; NULL: all */
	const char *missing; /* the option must be given; this is the message if it is not */

	enum option_group group; /* OPTION_GROUP_BY_KIND: see option_group() */
	bool often;              /* the short help always describes it; others are only named if there is no room */
	const char *old_names;   /* old names, with spaces between them: still read, and in the long help */
};

/* The options that all commands know: every request begins with these. */
struct common_options {
	const struct command *command;
	const struct command *const *commands; /* all commands; ends with NULL */
	struct run_query query;                /* its store is --store, $PORTOLAN_STORE, or ./portolan-store */
	const char *output;                    /* NULL: standard output */
	bool json, strict, quiet, verbose, script;
	int styled;      /* enum style_when */
	int action;      /* the number of the chosen action, if the command has any */
	char **operands; /* without the action */
	int operand_count;
	uint64_t given; /* bit i: option_at(command, i) was given */
};

#define OPTIONS_MAX 64 /* that a command has, with the shared ones: the bits of `given` */

/* Was the option given? False also for an option that the command does not have. */
bool option_given(const struct common_options *request, const char *name);

/* A command's options by number: its own first, then those it shares; NULL after the last. */
const struct option_spec *option_at(const struct command *command, size_t index);

/* The option's group. By default, an option that names an output is in the group of the output, any other in that of
 * what to take. */
enum option_group option_group(const struct option_spec *option);
extern const char *const option_group_names[OPTION_GROUPS]; /* headings */

/* The number of the option whose name begins with these `length` bytes, or which has this letter. −1: there is none, or
 * several. */
int options_find_name(const struct command *command, const char *name, size_t length);
int options_find_letter(const struct command *command, char letter);

/* Is `name` one of the words in `words`, which have spaces between them? If that is NULL, it has none. */
bool option_is_named(const char *words, const char *name);

/* The option's name in messages, such as "--data" or "-o". */
#define OPTION_LABEL_ROOM 64
const char *option_label(const struct option_spec *option, char label[OPTION_LABEL_ROOM]);

/* Prints on stderr what is wrong with the command line, and where help is; returns STATUS_USAGE. */
__attribute__((format(printf, 2, 3))) int options_wrong(const struct common_options *request, const char *format, ...);

/* The index of `text` among `names`, which end with NULL. If it is none of these, options_wrong() proposes the nearest,
 * and −1 is returned. `what` names the option: "--by". */
int options_choice(const struct common_options *request, const char *what, const char *text, const char *const *names);

/* Cuts `text` at its commas into parts, and returns how many. 0: there are more than `most`, or one is empty; then the
 * text is unchanged. */
size_t options_split(char *text, size_t most, const char **parts);

#endif
