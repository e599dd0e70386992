/*
 * other_labels.h: notices that the same ids mean other examples in two runs, as positions in the data do after another
 * shuffle: then their gold labels differ about as often as chance would make them. For every command that matches the
 * examples of several runs by their ids. README.md has the rule, and its reasons.
 */
#ifndef OTHER_LABELS_H
#define OTHER_LABELS_H

#include <portolan/store.h>

struct other_labels {
	uint64_t shared; /* ids that both runs have, with a label in both, among those looked at */
	uint64_t differ; /* of these, how many have another label in the second run */
	double chance;   /* how many would, if the second run's labels were dealt out anew among them */
	bool sampled;    /* only some examples were looked at */
};

/* Compares the labels of two runs. Returns 1 if they are as unlike as after a shuffle, else 0, or a negative code of the
 * store's. *found is zeros where the fingerprints say that the labels are the same. */
int other_labels_find(struct store *store, const char *run_a, const char *run_b, struct other_labels *found,
                      struct portolan_error *error);

/* Warns, in one line each, of the runs whose ids mean other examples than those of the first. What cannot be read is no
 * matter here: who reads the runs says so. */
void other_labels_warn(struct store *store, const char *const *runs, size_t count);

#endif
