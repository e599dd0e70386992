/*
 * relabel.h: puts the labels of --corrections into the lines of the user's own file, for `portolan select --data`.
 *
 * What the file has for a label, byte for byte, is learned from the file itself, from the lines of all examples that were
 * recorded with that label: a file that calls class 3 "cat" gets "cat". All other bytes of a line stay.
 */
#ifndef RELABEL_H
#define RELABEL_H

#include "corrected.h"
#include "files/join.h"

struct relabel_request {
	const char *id_field, *label_field;
	const char *corrections; /* the file that the labels are from, for messages */
	const struct corrected *corrected;
	const struct dynamics *dynamics;
	const uint32_t *chosen; /* the examples whose lines the join has */
};

struct relabelled {
	char **lines; /* the new lines; those of the join point into them */
	size_t count;
};

/* Replaces the lines of the join whose examples have another label now. A line that has the new label already stays as
 * it is. The program ends if a line's label is neither the old one nor the new one; if no other line shows how the file
 * writes the old one, and it is not the run's name or number for it; and if no line shows how the file
 * writes the new one. Says how many lines of the file are of no example of the run. */
void relabel(struct relabelled *relabelled, const struct relabel_request *request, struct join *join);
void relabelled_free(struct relabelled *relabelled); /* after the last use of the join's lines */

#endif
