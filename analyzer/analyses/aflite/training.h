/*
 * training.h: the training sets of a phase of AFLite, one for each classifier, as bits: row r trains classifier j if
 * bit r % 64 of word r / 64 of j's bits is set. The classifier predicts all other rows.
 *
 * A class has a slot in a classifier: the weights are relative to the class in slot 0, the reference. The slot of a
 * class is its number, except where the training set lacks class 0. Then the first class that it has is the reference.
 */
#ifndef AFLITE_TRAINING_H
#define AFLITE_TRAINING_H

#include "problem.h"

struct training {
	size_t count, rows, words; /* of training sets; of rows; of words in the bits of one set */
	size_t classes;
	uint64_t *bits;    /* count × words */
	uint32_t *sizes;   /* by set: how many rows it has */
	uint32_t *present; /* by set: how many classes it has */
	uint16_t *slots;   /* count × classes: each class's slot; not used for a set that has all classes */
	uint8_t *absent;   /* count × classes: does the set lack the slot's class? Not used either */
};

void training_init(struct training *training, size_t count, size_t rows, size_t classes);
void training_free(struct training *training); /* may be called twice */

/* The bytes that the training sets take. */
size_t training_bytes(size_t count, size_t rows, size_t classes);

/* Adapts the memory to a phase with fewer rows. */
void training_resize(struct training *training, size_t rows);

static inline bool
training_lacks_classes(const struct training *training, size_t set)
{
	return training->present[set] < training->classes;
}

/* By slot: does the set lack the class? NULL: it has all classes. */
static inline const uint8_t *
training_absent(const struct training *training, size_t set)
{
	return training_lacks_classes(training, set) ? training->absent + set * training->classes : NULL;
}

/* By class: its slot. NULL: each class's slot is its number. */
static inline const uint16_t *
training_slots(const struct training *training, size_t set)
{
	return training_lacks_classes(training, set) ? training->slots + set * training->classes : NULL;
}

/*
 * Draws `size` rows for set `set`. The generator (random.h) is seeded with
 *
 *     seed + (2^20 phase + set + 1) · 0xd1342543de82ef95   (mod 2^64; phases and sets from 0)
 *
 * and draws ranks below n, the number of examples that are left, until `size` different ones were drawn. Rank r is the r-th
 * of these examples; by_rank[r] is its row. If `size` is more than half of n, the rows that are left out are drawn.
 */
void training_draw(struct training *training, size_t set, uint64_t seed, uint64_t phase, size_t size,
                   const uint32_t *by_rank);

/* Draws whole groups for set `set`, in random order, as long as they fit into `size`. A group that does not fit is
 * passed over; 64 of them in a row end the drawing, once one group did fit. So a set is empty only if no group fits.
 * group[row] < groups; group g has members[g] rows; `order` and `chosen` are scratch for `groups` elements. */
void training_draw_groups(struct training *training, size_t set, uint64_t seed, uint64_t phase, size_t size,
                          const uint32_t *group, const uint32_t *members, uint32_t groups, uint32_t *order,
                          uint8_t *chosen);

/* After drawing: finds which classes the set has. `counts` is scratch for `classes` elements. */
void training_survey(struct training *training, size_t set, const uint16_t *labels, uint32_t *counts);

/* The sets from `from` on, `count` of them, as training sets of their own that share the memory of `all`. */
static inline struct training
training_part(const struct training *all, size_t from, size_t count)
{
	struct training part = *all;

	part.count = count;
	part.bits += from * all->words;
	part.sizes += from;
	part.present += from;
	part.slots += from * all->classes;
	part.absent += from * all->classes;
	return part;
}

/* Seeds the generator for a set of a phase, as training_draw() says. TRAINING_EVERYBODY stands in place of a set for
 * draws that concern all sets. */
struct random_state;
void training_seed(struct random_state *random, uint64_t seed, uint64_t phase, uint64_t set);
#define TRAINING_EVERYBODY ((UINT64_C(1) << 20) - 1)

#endif
