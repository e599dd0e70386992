/*
 * other_labels.h: notices that the same ids mean other examples in two runs, as positions in the data do after another
 * shuffle: then their gold labels go together no more than by chance. For every command that matches the examples of
 * several runs by their ids. README.md has the rule, and its reasons.
 */
#ifndef OTHER_LABELS_H
#define OTHER_LABELS_H

#include "fingerprint.h"

/* Warns, in one line each, of the runs whose ids mean other examples than those of the first. What cannot be read is no
 * matter here: who reads the runs says so. */
void other_labels_warn(struct store *store, const char *const *runs, size_t count);

/* Gives what that line says of two runs: *sentence, the caller's to free(), is NULL if there is nothing to warn of. And the
 * fingerprints of both, which are found on the way. A code of store.h. Any thread. */
int other_labels_say(struct store *store, const char *const runs[2], struct fingerprint fingerprints[2],
                     char **sentence, struct portolan_error *error);

#endif
