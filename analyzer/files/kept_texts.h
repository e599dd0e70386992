/*
 * kept_texts.h: makes a data file of the texts that a run keeps (run.log_examples), so that all code that reads --data
 * reads them: JSON lines with the id in the field "id", and every field of the run's texts, null where an example has
 * none. In the order of the ids. The file has no name and ends with this program; the word KEPT_TEXTS stands for its path.
 */
#ifndef KEPT_TEXTS_H
#define KEPT_TEXTS_H

#include "base/ids.h"

#include <portolan/store.h>

#include <stdbool.h>

#define KEPT_TEXTS "@texts"
#define KEPT_TEXTS_OF KEPT_TEXTS ":" /* and the name of a run, for a command that asks about none */
#define KEPT_TEXTS_NONE "@none"      /* --data @none: no texts, even if the run keeps some */
#define KEPT_TEXTS_ID "id"

/* Some examples of a run: ids[order[i]], which are of the run's kind. */
struct kept_choice {
	const struct ids *ids;
	const uint32_t *order;
	size_t count;
};

/* What texts does the run of this name keep, or, with NULL, the first run of the store, by name, that keeps any? It reads
 * no text. *texts has no examples: none. A code of store.h. */
int kept_texts_find(const char *store, const char *run, struct store_texts *texts, struct portolan_error *error);

/* Makes the file from the run of this name: of all its examples, which copies all texts, or of the chosen ones, which
 * reads theirs alone. content_open(KEPT_TEXTS) then reads it; an older file is given up. It lies where base/arrays.h
 * has its files. *texts: its fields; no examples: the run keeps no texts, and there is no file. One thread at a time. */
int kept_texts_open(const char *store, const char *run, const struct kept_choice *choice, struct store_texts *texts,
                    struct portolan_error *error);
/* The same from an open store, by the run's number. */
int kept_texts_write(struct store *store, uint32_t run, const struct kept_choice *choice, struct store_texts *texts,
                     struct portolan_error *error);

/* The name of the run whose texts this word of KEPT_TEXTS_OF stands for; NULL: it is no such word. */
const char *kept_texts_run(const char *path);
/* Is this the path of that file? And is it KEPT_TEXTS_NONE? */
bool kept_texts_is(const char *path);
bool kept_texts_are_refused(const char *path);

#endif
