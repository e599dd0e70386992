/* passes_parts.h: what passes.c, which takes, and passes_cut.c, which finds slices of the order, share; see passes.h.
 */
#ifndef PASSES_PARTS_H
#define PASSES_PARTS_H

#include "passes.h"
#include "rank_key.h"

/* Places in a rule's order: keys, and among equal ones the ids. */
struct places {
	uint64_t *keys;
	struct ids ids;
	size_t room;
};
int places_add(struct places *places, uint64_t key, const struct ids *ids, uint32_t id, struct portolan_error *error);
void places_free(struct places *places);

/* Below, at or above 0: the example comes before place `at`, is it, or comes after it. */
static inline int
places_compare(uint64_t key, const struct ids *ids, uint32_t id, const struct places *places, size_t at)
{
	if (key != places->keys[at])
		return key < places->keys[at] ? -1 : 1;
	return ids_compare(ids, id, &places->ids, (uint32_t)at);
}

/* A selection being made. Workers read it; it changes only between passes. */
struct taking {
	const struct passes *passes;
	const struct selection_plan *plan;
	struct rank_key keys[SELECTION_PARTS_MAX];
	size_t part_count, part; /* the one at hand */
	size_t groups;
	size_t *quotas;      /* what is left of them: part × groups + group */
	struct places *last; /* the last that each part has taken of each group; empty: none */
	uint32_t *ranks;     /* of the random rule, by dense index */
};

/* What an example of a slice takes in memory, but for its text. */
uint64_t passes_row_bytes(const struct dynamics *run);

size_t taking_group(const struct taking *taking, const struct dynamics *part, uint32_t row);

/* What one part of the run holds for the rules. */
struct taking_values {
	const struct taking *taking;
	const struct dynamics *part;
	struct rank_values rules[SELECTION_PARTS_MAX];
};
struct taking_values taking_values_of(const struct taking *taking, const struct dynamics *part);

/* Can the rule at hand take this example: is it in its set, wanted of its group, and not taken by a rule before? */
bool taking_can(const struct taking_values *values, uint32_t row, uint64_t *key);

/* The order of the rule at hand, cut into buckets: bucket b begins at splitter b − 1. */
struct buckets {
	struct places splitters;
	size_t count;
	size_t *rows;   /* by bucket: examples it can take */
	uint64_t *text; /* bytes of their string ids */
};
int buckets_make(struct buckets *buckets, const struct taking *taking, struct portolan_error *error);
void buckets_free(struct buckets *buckets); /* may be called twice */

#endif
