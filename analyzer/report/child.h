/*
 * child.h: runs other commands of portolan for `portolan report`, several at once, and keeps what they answered. So each
 * number of the report is one that a command prints, and a crash of a command is not the end of the report.
 *
 *     struct child child = {0};
 *     child_begin(&child, "epochs"); child_add(&child, "--json"); child_name_run(&child, "snli/seed1");
 *     children_run(&child, 1, threads);
 *     … child.answer …
 */
#ifndef REPORT_CHILD_H
#define REPORT_CHILD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define CHILD_DIGEST_ROOM 33

enum child_end {
	CHILD_NOT_ASKED, /* child_begin() was not called */
	CHILD_ANSWERED,
	CHILD_REFUSED, /* it failed, and says why */
	CHILD_CRASHED, /* it was ended by a signal, or cannot be understood */
};

struct child {
	json_t *words;    /* the command line, without "portolan", */
	json_t *operands; /* and what follows its options */
	const char *file; /* its output, as the command line names it; NULL: standard output */
	bool lines;       /* it answers in JSON lines, which become a list */
	/* the results */
	enum child_end end;
	int status;       /* the exit status */
	json_t *answer;   /* NULL: none */
	json_t *warnings; /* a list of texts */
	json_t *notes;    /* other messages, a list of texts */
	char *why;        /* NULL, or why there is no answer */
	char *command;    /* the command line as it is typed in a shell */
	char *bytes;      /* what it wrote: `size` bytes */
	size_t size;
	char digest[CHILD_DIGEST_ROOM]; /* of these bytes: XXH128, as xxh128sum prints it */
	int number;                     /* in the report's list of commands, from 1; 0: not there */
	/* private */
	char *path; /* a temporary file that stands for `file` */
};

void child_begin(struct child *child, const char *command);
void child_add(struct child *child, const char *word);
void child_add_option(struct child *child, const char *option, const char *value); /* value NULL: not added */
void child_add_operand(struct child *child, const char *word);
void child_name_run(struct child *child, const char *run);
/* Adds -o NAME: a temporary file takes its place. `name` has an ending. */
void child_add_output(struct child *child, const char *name);

/* Runs those of the children that were begun and have not run, as many at once as there are threads, but
 * no more than DIE_CHILDREN. */
void children_run(struct child *children, size_t count, unsigned threads);
void child_free(struct child *child);

/* The command that is asked: "epochs". */
const char *child_name(const struct child *child);

/* The command line, complete, as it is typed in a shell. The caller's to free(). */
char *child_command(struct child *child);

/* The digest of some bytes. */
void child_digest(const void *bytes, size_t size, char digest[CHILD_DIGEST_ROOM]);

#endif
