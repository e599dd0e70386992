/*
 * corrections.h: the file of corrections: which labels of a run a person judged wrong, and what they should be. `portolan
 * suspects --corrections` writes it, a person edits it, and `select` and `map` read it.
 *
 * A record has the columns id, old and new, and further ones, which are not read. old is the label that the run has; new
 * is another class, or, where no class is called so, "drop": leave the example out. An empty new, or one that is the old
 * label, says that somebody looked and found the label right. Labels are names of classes, or
 * numbers: those of a file are all read as names if the old ones are the run's labels so, else as numbers. TSV as written; CSV and JSON lines are read as well.
 *
 * What is an error: an id that stands twice, an old label that is not the run's (the file is of another run), a new one
 * that is no class. What is only counted: an id that no observed example has.
 */
#ifndef CORRECTIONS_H
#define CORRECTIONS_H

#include "measures/dynamics.h"

#define CORRECTION_DROP (-3) /* no label, and not the -1 of an example without one */
#define CORRECTION_DROP_WORD "drop"

struct correction {
	uint32_t row;      /* dense index */
	int32_t old_label; /* −1: the run knows none */
	int32_t new_label; /* CORRECTION_DROP; the old label: it is right */
};

struct corrections {             /* begins as {0} */
	struct correction *list; /* in the order of the file */
	size_t count;
	size_t changed, dropped, right; /* of these */
	uint64_t unknown;               /* records left out, as no observed example has their id, … */
	char first_unknown[64];         /* … and the first of these ids, cut to fit */
	/* private */
	size_t room;
};

/* Reads the file that `option` gave, for a run loaded with gold labels. Errors name file, line and field. */
int corrections_read(struct corrections *corrections, const char *option, const char *path,
                     const struct dynamics *dynamics, struct portolan_error *error);
void corrections_free(struct corrections *corrections); /* may be called twice */

#endif
