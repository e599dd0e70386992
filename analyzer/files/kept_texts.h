/*
 * kept_texts.h: makes a data file of the texts that a run keeps (run.log_examples), so that all code that reads --data
 * reads them: JSON lines with the id in the field "id", and every field of the run's texts, null where an example has
 * none. In the order of the ids. The file has no name and ends with this program; the word KEPT_TEXTS stands for its path.
 */
#ifndef KEPT_TEXTS_H
#define KEPT_TEXTS_H

#include <portolan/store.h>

#include <stdbool.h>

#define KEPT_TEXTS "@texts"
#define KEPT_TEXTS_ID "id"

/* Makes the file from the run of this name, or, with NULL, from the first run of the store, by name, that keeps texts.
 * content_open(KEPT_TEXTS) then reads it. *texts: its fields; no examples: no run keeps texts, and there is no file. */
int kept_texts_open(const char *store, const char *run, struct store_texts *texts, struct portolan_error *error);

/* Is this the path of that file? */
bool kept_texts_is(const char *path);

#endif
