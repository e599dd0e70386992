/*
 * tags.h: keeps the tags that people give to examples on the live page ("wrong label", "keep"), in the file of
 * `portolan serve --tags FILE`. An example has one tag at most; a tag may carry a label, the one that the example should
 * have. Safe from several threads.
 *
 * A line of the file is a request of the page, and the last change of an id counts:
 *
 *     {"run": "snli/seed1", "id": 17, "tag": "wrong label", "label": "neutral", "at": "2026-11-22T10:00:00Z"}
 *     {"run": "snli/seed1", "id": 17, "tag": null, "label": null, "at": …}       the tag was taken away
 *     {"run": "snli/seed1", "names": ["wrong label", "keep"], "at": …}           what the keys 1, 2, … of the page give
 *     {"run": "snli/seed1", "changes": [{"id": 17, "tag": "keep"}, …], "at": …}  several, of one request
 *
 * An id is a number or a text. Tags belong to the ids of a run's name: they stay if the run is overwritten.
 */
#ifndef TAGS_H
#define TAGS_H

#include "output/report.h"

#include <jansson.h>
#include <stdint.h>

#define TAGS_MOST 100000   /* examples that have a tag, of all runs together */
#define TAGS_CHANGES 10000 /* changes in one request */
#define TAGS_NAMES 9
#define TAG_NAME_BYTES 100
#define TAG_TEXT_BYTES 255 /* of a label, or an id: as a run can have them */

struct tags;

/* Opens the file, as tags_file_open() says, and reads it; warns of lines that are no JSON, as a killed server leaves them.
 * PORTOLAN_E_INVALID: it holds something else than tags. */
int tags_open(struct tags **tags, const char *path, const char *store, struct portolan_error *error);
void tags_free(struct tags *tags); /* NULL: does nothing */

/* Saves changes, an array of objects without "run" and "at": all of them or none, also if the server is killed. *serial becomes that of the last one.
 * PORTOLAN_E_INVALID: one is no change, or goes beyond the limits above; PORTOLAN_E_SYSTEM: they cannot be written. */
int tags_put(struct tags *tags, const char *run, json_t *changes, uint64_t *serial, struct portolan_error *error);

/* How many changes were made to the run's tags, ever. `tags` NULL: 0. */
uint64_t tags_serial(struct tags *tags, const char *run);

/* Writes {"serial", "saved": true, "names": […], "tags": [{"id", "tag", "label"}, …]}. `tags` NULL: nothing is saved. */
void tags_report(struct report *report, struct tags *tags, const char *run);

#endif
