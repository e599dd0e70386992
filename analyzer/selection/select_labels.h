/* select_labels.h: what `portolan select` knows of wrong labels: the suspects of the run, and the user's corrections;
 * and which examples it leaves out for them. */
#ifndef SELECT_LABELS_H
#define SELECT_LABELS_H

#include "corrected.h"
#include "select_request.h"
#include "suspects/suspects.h"

struct select_labels { /* begins as {0} */
	struct suspects suspects;
	bool has_suspects;
	struct corrected corrected; /* with --corrections */
	uint64_t suspects_left_out, dropped;
};

/* Adds what must be loaded of the run. */
void select_labels_request(const struct select_request *request, struct dynamics_request *wanted);

/* Finds the suspects, if --why or --without-suspects asks for them. Of several runs the first is judged. A run that
 * cannot be judged ends the program only for --without-suspects. */
void select_labels_find(struct select_labels *labels, const struct select_request *request,
                        const struct dynamics *dynamics);

/* Gives the corrected examples their labels, and leaves out of the `count` examples in `order` those that were dropped,
 * and with --without-suspects the suspects. Examples in the file of corrections are no suspects any more: somebody has
 * looked at them. Says how many are left out; returns how many are left. The program ends if none is. */
size_t select_labels_leave_out(struct select_labels *labels, const struct select_request *request,
                               struct dynamics *dynamics, uint32_t *order, size_t count);

/* Adds what was found to a manifest: "suspects" and "corrections", as far as they were asked for. */
void select_labels_report(const struct select_labels *labels, const struct select_request *request,
                          struct report *report);

void select_labels_free(struct select_labels *labels);

#endif
