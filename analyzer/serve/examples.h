/* examples.h: examples of a view, as JSON. */
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

/* Does the id, as a text, hold `part`, letters large or small? */
bool examples_id_contains(const struct ids *ids, uint32_t index, const char *part);

/*
 * Of n examples (dense indices), the numbers 0 … n−1 of those whose id, or a text, holds `part`, letters large or
 * small: found[] (room for n); returns how many. It ends after half a second: *searched of the n were looked at.
 */
size_t examples_search(const struct view *view, const struct texts *texts, const uint32_t *indices, size_t n,
                       const char *part, uint32_t *found, size_t *searched);

/* The id: a whole number, or a text. Integers are written as they are, whatever a reader of JSON makes of those beyond
 * 2^53. */
void examples_report_id(struct report *report, const char *key, const struct ids *ids, uint32_t index);

#endif
