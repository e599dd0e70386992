/* never_learned.h: the number of forgetting events that stands for "never learned", on which tools disagree. */
#ifndef NEVER_LEARNED_H
#define NEVER_LEARNED_H

#include <stddef.h>

struct dynamics;

enum never_learned {
	NEVER_LEARNED_FLAG,   /* none: the events are 0, and the measure never_learned tells */
	NEVER_LEARNED_1000,   /* the tools of Dataset Cartography */
	NEVER_LEARNED_EPOCHS, /* the number of epochs read: the code of Toneva et al. 2019, which adds it for each run */
	NEVER_LEARNED_INFINITY, /* Toneva et al. 2019, section 3: unlearned examples are forgotten without end */
	NEVER_LEARNED_0,
	NEVER_LEARNED_CONVENTIONS
};
extern const char *const never_learned_names[]; /* ends with NULL */

/* NaN: the events stay as they are, which is 0. */
double never_learned_number(enum never_learned convention, size_t epochs);

/* Writes the number in place of the forgetting events of the never learned in a run, or in a part of one, that has both
 * columns; NaN: changes nothing. */
void never_learned_mark(struct dynamics *part, double number);

/* The same by a convention, which the dynamics then remember, and for their own number of epochs; without the columns
 * nothing changes. */
void never_learned_count(struct dynamics *dynamics, enum never_learned convention);

#endif
