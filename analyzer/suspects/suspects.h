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
#include "output/report.h"

/* By what the examples are ranked. */
enum suspects_by {
	SUSPECTS_BY_AUM,        /* the mean margin of the logits, as it was recorded */
	SUSPECTS_BY_LOG_ODDS,   /* the mean margin that follows from probabilities: margins.h */
	SUSPECTS_BY_CONFIDENCE, /* nothing is called then, and no label suggested */
};
extern const char *const suspects_by_names[];

/* Why the list is worth less than it may look. */
enum suspects_doubt {
	SUSPECTS_MEMORISED,  /* the model has learned most of the labels that it contradicted at first, or all */
	SUSPECTS_FEW_EPOCHS, /* in-sample, over fewer epochs than rankings take to settle */
	SUSPECTS_CROWD,      /* no label stands out from the examples between two classes */
	SUSPECTS_HARD,       /* the model contradicts so many labels that most of these are right */
	SUSPECTS_NO_MARGINS, /* ranked by confidence */
	SUSPECTS_HIDDEN,     /* labels that were flipped on purpose hardly stand out: calibration.h */
	SUSPECTS_DOUBTS
};

struct suspects {           /* begins as {0} */
	uint32_t *ranked;   /* dense indices, the most suspect first */
	size_t count;       /* how many are ranked: all that have a label and a value to rank by */
	size_t called;      /* the first so many are called */
	size_t left_out;    /* observed examples without a label or a value */
	double *scores;     /* by dense index: the higher, the more suspect; no probability; NaN: none */
	uint8_t *is_called; /* by dense index */
	int32_t *suggested; /* by dense index: the class that the model would give; -1: none */
	double threshold;   /* those with a higher score are called; infinite: none is */
	double deep;        /* a higher score is deep, whether these are called or not: suspects.c */
	enum suspects_by by;
	bool out_of_fold; /* no model was trained on the labels that it judges, as the run's config says */
	char how[256];    /* which ranking and which cut, and why, for people */
	size_t doubt_count;
	enum suspects_doubt doubts[SUSPECTS_DOUBTS];
	char doubt_texts[SUSPECTS_DOUBTS][320]; /* for people, with what to do */
};

/* Adds what a run must be loaded with. */
void suspects_request(struct dynamics_request *request);

/* Can the labels of this run be judged? PORTOLAN_E_INVALID: it has none. */
int suspects_check(const struct dynamics *dynamics, struct portolan_error *error);

/* Needs a run that suspects_check() accepts. Ends the program when memory is out or the store cannot be read. */
void suspects_find(struct suspects *suspects, const struct dynamics *dynamics);
void suspects_free(struct suspects *suspects); /* may be called twice */

/* Adds a doubt, which suspects_find() cannot have. */
__attribute__((format(printf, 3, 4))) void suspects_doubt(struct suspects *suspects, enum suspects_doubt doubt,
                                                          const char *format, ...);

/* Prints the line that says how, and one for each doubt, on stderr. */
void suspects_say(const struct suspects *suspects);

/* Writes the doubts as a member of a report, the list "weak". */
void suspects_report_weak(struct report *report, const struct suspects *suspects);

/* Writes how the list was made as members of a report, with the doubts. */
void suspects_report_method(struct report *report, const struct suspects *suspects);

#endif
