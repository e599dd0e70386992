/*
 * suspects.h: finds the examples of a run whose label is likely wrong: ranks all that have a label by suspicion, calls
 * some of them suspects, names the label that the model would give instead, and says how, and what is weak about it.
 * For `portolan suspects`, and for commands that leave suspects out or count them.
 *
 *     suspects_request(&wanted);
 *     must(dynamics_load(&dynamics, query, run, &wanted, &failure));
 *     must(suspects_check(&dynamics, &failure));
 *     suspects_find(&suspects, &dynamics);
 */
#ifndef SUSPECTS_H
#define SUSPECTS_H

#include "measures/dynamics.h"

/* Why the list is worth less than it may look. */
enum suspects_doubt_kind {
	SUSPECTS_MEMORISED,  /* in-sample, and at the end the model agrees with nearly all labels, wrong ones as well */
	SUSPECTS_FEW_EPOCHS, /* in-sample, over fewer epochs than show how a label is learned */
	SUSPECTS_NO_MARGINS, /* ranked by confidence, as there are no margins */
	SUSPECTS_NO_CLASSES, /* the predicted classes were not recorded: nothing is called, few labels are suggested */
	SUSPECTS_OPEN,       /* of some examples the record leaves it open whether they are called */
	SUSPECTS_DOUBTS
};
extern const char *const suspects_doubt_names[SUSPECTS_DOUBTS]; /* "memorised", … */

struct suspects {           /* begins as {0} */
	uint32_t *ranked;   /* dense indices: first those that are called; each part the most suspect first */
	size_t count;       /* how many are ranked: all that have a label and a score */
	size_t called;      /* the first so many are called */
	size_t left_out;    /* observed examples without a label or a score */
	double *scores;     /* by dense index: the higher, the more suspect; no probability; NaN: none */
	uint8_t *is_called; /* by dense index */
	int32_t *suggested; /* by dense index: the class that the model would give; -1: none is known */
	bool out_of_fold;   /* no model was trained on the labels that it judges, as the run's config says */
	enum measure by;    /* the measure that ranks */
	char how[256];      /* which ranking and which cut, and why, for people */
	struct {
		enum suspects_doubt_kind kind;
		char text[320]; /* for people, with what to do */
	} doubts[SUSPECTS_DOUBTS];
	size_t doubt_count;
};

/* Adds what a run must be loaded with. */
void suspects_request(struct dynamics_request *request);

/* Can the labels of this run be judged? PORTOLAN_E_INVALID: it has none. */
int suspects_check(const struct dynamics *dynamics, struct portolan_error *error);

/* Needs a run that suspects_check() accepts. Ends the program when memory is out or the store cannot be read. */
void suspects_find(struct suspects *suspects, const struct dynamics *dynamics);
void suspects_free(struct suspects *suspects); /* may be called twice */

/* Prints the line that says how, and one for each doubt, on stderr. */
void suspects_say(const struct suspects *suspects);

#endif
