/* examples.h: writes examples as JSON, for the live page and `portolan show`; and finds, for the page's table, the examples
 * of a view (what the page shows of a run, view.h) whose id or text contains what the user searches for. */
#ifndef EXAMPLES_H
#define EXAMPLES_H

#include "media.h"
#include "stories.h"
#include "files/texts.h"

/* Writes the members of an object for one example: id, gold, label, measures, text, gold_prob, correct; of a
 * run of losses task_loss in place of the last two. `index` is its
 * dense index, and its story is the i-th of `stories`. texts may be NULL. */
void examples_report_members(struct report *report, const struct dynamics *dynamics, const struct texts *texts,
                             uint32_t index, const struct stories *stories, size_t i);

/* Writes the example at a place of the view as {"place", "id", "gold", "label", "measures", "text", "gold_prob",
 * "correct"}, and with "media" as media_kind() says. Its story is the i-th of `stories`. texts and media may be NULL. */
void examples_report(struct report *report, const struct view *view, const struct texts *texts,
                     const struct media *media, uint32_t place, const struct stories *stories, size_t i);

/* Writes "correct", the list of the epochs at which the i-th story's example was right; null: not observed. */
void examples_report_correct(struct report *report, const struct stories *stories, size_t i);

/* Does the id, written as text, contain `part`? ASCII letters match in either case. */
bool examples_id_contains(const struct ids *ids, uint32_t index, const char *part);

/*
 * Searches n examples, given by dense index, for those whose id, or one of whose texts, contains `part`. ASCII letters
 * match in either case. found[], which has room for n, gets the positions in `indices` of those found; returns how
 * many. The search ends after half a second: only the first *searched examples were searched.
 */
size_t examples_search(const struct view *view, const struct texts *texts, const uint32_t *indices, size_t n,
                       const char *part, uint32_t *found, size_t *searched);

/* Writes the id as a number or a text. Numbers are written in full, although some readers of JSON lose digits beyond
 * 2^53. */
void examples_report_id(struct report *report, const char *key, const struct ids *ids, uint32_t index);

#endif
