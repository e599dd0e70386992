/*
 * other_labels.h: notices that the same ids mean other examples in two runs, as positions in the data do after another
 * shuffle: then their gold labels go together no more than by chance. For every command that matches the examples of
 * several runs by their ids. README.md has the rule, and its reasons.
 */
#ifndef OTHER_LABELS_H
#define OTHER_LABELS_H

#include <portolan/store.h>

/* Warns, in one line each, of the runs whose ids mean other examples than those of the first. What cannot be read is no
 * matter here: who reads the runs says so. */
void other_labels_warn(struct store *store, const char *const *runs, size_t count);

#endif
