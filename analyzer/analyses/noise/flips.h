/*
 * flips.h: labels flipped on purpose: drawn from a run, and kept in a file: tab-separated, first line
 * "id<TAB>old<TAB>new", one flip a line; old and new are class numbers.
 *
 * After Swayamdipta et al. 2020, §5 ("Detecting mislabeled examples"): the examples are drawn from the easy-to-learn
 * region, as their labels can be trusted.
 */
#ifndef FLIPS_H
#define FLIPS_H

#include "measures/dynamics.h"
#include "output/output.h"
#include "selection/regions.h"

struct flip {
	uint32_t row; /* dense index */
	int32_t old_label, new_label;
};

struct flips {
	struct flip *flips;
	size_t count;
	uint64_t unknown; /* read, but not in the run */
};

void flips_free(struct flips *flips);

/*
 * Draws the share `fraction` of all observed examples (rounded half up) at random among the easy-to-learn ones whose
 * label is known, in ascending order of id, each with a new label, any other of the run's classes with the same chance.
 * The classes are those named with the run, and those seen. Without `cuts` the regions are the run's own defaults.
 * Needs gold, confidence and variability. PORTOLAN_E_INVALID: no labels, a single class, none to flip, or fewer
 * easy-to-learn examples than wanted.
 */
int flips_plan(const struct dynamics *dynamics, const struct region_cuts *cuts, double fraction, uint64_t seed,
               struct flips *flips, struct portolan_error *error);

void flips_write(struct output *output, const struct dynamics *dynamics, const struct flips *flips);

enum flips_label { FLIPS_OLD, FLIPS_NEW };

/*
 * Reads the file that `option` named, for a run that was recorded with the old labels or with the new ones: if the run
 * has an example's label, it must be that one. Flips of examples that the run lacks are counted and left out.
 * PORTOLAN_E_INVALID names file, line and field.
 */
int flips_read(const char *option, const char *path, const struct dynamics *dynamics, enum flips_label recorded,
               struct flips *flips, struct portolan_error *error);

#endif
