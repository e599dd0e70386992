/* examples.h: writes examples as JSON, for the live page and portolan show; and finds the examples of a view (what the
 * page shows of a run, view.h) that hold a text, for the page's table. */
#ifndef EXAMPLES_H
#define EXAMPLES_H

#include "stories.h"
#include "texts.h"

/* id, gold, label, measures, text, gold_prob, correct: members of an object, of the example whose dense index is `index`
 * and whose story is the i-th. texts may be NULL. */
void examples_report_members(struct report *report, const struct dynamics *dynamics, const struct texts *texts,
                             uint32_t index, const struct stories *stories, size_t i);

/* {"place", "id", "gold", "label", "measures", "text", "gold_prob", "correct"}: the example at a place, whose story is
 * the i-th. texts may be NULL. */
void examples_report(struct report *report, const struct view *view, const struct texts *texts, uint32_t place,
                     const struct stories *stories, size_t i);

/* Does the id, as a text, hold `part`, without regard to the case of ASCII letters? */
bool examples_id_contains(const struct ids *ids, uint32_t index, const char *part);

/*
 * Finds those of n examples (dense indices) whose id, or one of whose texts, holds `part`, without regard to the case
 * of ASCII letters: found[] (room for n) gets their numbers 0 … n−1; returns how many. The search ends after half a
 * second: *searched of the n were searched.
 */
size_t examples_search(const struct view *view, const struct texts *texts, const uint32_t *indices, size_t n,
                       const char *part, uint32_t *found, size_t *searched);

/* The id: a whole number, or a text. Integers are written in full, although some readers of JSON lose digits beyond
 * 2^53. */
void examples_report_id(struct report *report, const char *key, const struct ids *ids, uint32_t index);

#endif
