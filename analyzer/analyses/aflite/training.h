/*
 * training.h: the training sets of a phase, as bits: row r trains classifier j if bit r % 64 of word r / 64 of j's is
 * set. All other rows are predicted by it.
 */
#ifndef AFLITE_TRAINING_H
#define AFLITE_TRAINING_H

#include "problem.h"

struct training {
	size_t count, rows, words; /* sets; rows there are; words of a set's bits */
	size_t classes;
	uint64_t *bits;    /* count × words */
	uint32_t *sizes;   /* rows in the set */
	uint32_t *present; /* classes in the set */
	/* Of a set that lacks classes: the first that is there is its reference. Meaningless for the others. */
	uint16_t *slots; /* count × classes: by class, its slot; slot 0 is the reference */
	uint8_t *absent; /* count × classes: by slot */
};

int training_init(struct training *training, size_t count, size_t rows, size_t classes, struct portolan_error *error);
void training_free(struct training *training); /* may be called twice */

/* Bytes it takes. */
size_t training_bytes(size_t count, size_t rows, size_t classes);

/* For a phase with fewer rows. */
void training_resize(struct training *training, size_t rows);

static inline bool
training_lacks_classes(const struct training *training, size_t set)
{
	return training->present[set] < training->classes;
}

/*
 * Draws set `set` of `size` rows: the generator (random.h) is seeded with
 *
 *     seed + (2^20 phase + set + 1) · 0xd1342543de82ef95   (mod 2^64; phases and sets from 0)
 *
 * and draws ranks below n until `size` different ones were drawn, where n examples are left, rank r being the r-th of
 * them by row number; for more than half of n it draws those that are left out. `by_rank` says in which row each lies.
 */
void training_draw(struct training *training, size_t set, uint64_t seed, uint64_t phase, size_t size,
                   const uint32_t *by_rank);

/* Groups are drawn whole, in random order, as long as they fit: one that does not is passed over, and 64 of these in
 * a row end it, once there is one that did: a set is only empty where no group fits. group[row] < groups; members[g]
 * rows are in group g; `chosen` and `order`: scratch for `groups`. */
void training_draw_groups(struct training *training, size_t set, uint64_t seed, uint64_t phase, size_t size,
                          const uint32_t *group, const uint32_t *members, uint32_t groups, uint32_t *order,
                          uint8_t *chosen);

/* Finds out which classes the set has; `counts`: scratch for `classes`. After drawing. */
void training_survey(struct training *training, size_t set, const uint16_t *labels, uint32_t *counts);

/* `count` sets from set `from` on, in the memory of all of them. */
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

/* The generator for draws of a phase (set = 2^20 − 1: what concerns all sets). */
struct random_state;
void training_seed(struct random_state *random, uint64_t seed, uint64_t phase, uint64_t set);
#define TRAINING_SETS_MOST ((UINT64_C(1) << 20) - 2)
#define TRAINING_EVERYBODY ((UINT64_C(1) << 20) - 1)

#endif
