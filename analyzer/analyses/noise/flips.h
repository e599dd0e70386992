/*
 * flips.h: labels that are changed on purpose: drawn from a run, and kept in a file. The file is tab-separated; its first
 * line is "id<TAB>old<TAB>new", and every other line is a change. old and new are class numbers.
 *
 * Flips are after Swayamdipta et al. 2020, §5 ("Detecting mislabeled examples"): the examples are drawn from the
 * easy-to-learn region, as their labels can be trusted. Threshold samples are after Pleiss et al. 2020, §3.2: of N
 * examples with c classes, N / (c + 1) drawn at random get the label c + 1, which belongs to none of them.
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
	uint64_t unknown; /* lines of the file whose ids are not in the run */
};

void flips_free(struct flips *flips); /* may be called twice */

/*
 * Draws the share `fraction` of all observed examples (rounded half up) at random among the easy-to-learn ones whose
 * label is known, in ascending order of id. Each gets a new label, any other of the run's classes with the same chance.
 * The classes are those named with the run, and those seen. Without `cuts` the regions are the run's own defaults.
 * Needs gold, confidence and variability. PORTOLAN_E_INVALID: no labels, a single class, none to flip, or fewer
 * easy-to-learn examples than wanted.
 */
int flips_plan(const struct dynamics *dynamics, const struct region_cuts *cuts, double fraction, uint64_t seed,
               struct flips *flips, struct portolan_error *error);

/*
 * Draws threshold samples: the share `fraction` of the observed examples (rounded half up) among those with a label, in
 * ascending order of id; for a fraction of 0, N / (c + 1) of the N examples with a label, rounded down. All get the
 * extra class, one above the classes named with the run and those seen. Sets 1, 2, … of one seed share no example.
 * Needs gold. PORTOLAN_E_INVALID: no labels, none to draw, or fewer than `set` such sets.
 */
int flips_plan_samples(const struct dynamics *dynamics, double fraction, uint64_t set, uint64_t seed,
                       struct flips *samples, struct portolan_error *error);

/* An array by dense index: 1 where the example is one of the flips. The caller's to array_free(). */
uint8_t *flips_mark(const struct flips *flips, const struct dynamics *dynamics);

void flips_write(struct output *output, const struct dynamics *dynamics, const struct flips *flips);

enum flips_label { FLIPS_OLD, FLIPS_NEW };

/*
 * Reads the file that `option` named, for a run that was recorded with the old labels or with the new ones: if the run
 * has an example's label, it must be that one. Flips of examples that the run lacks are counted and left out, of which
 * a warning tells where `recorded` is FLIPS_NEW. PORTOLAN_E_INVALID names file, line and field.
 */
int flips_read(const char *option, const char *path, const struct dynamics *dynamics, enum flips_label recorded,
               struct flips *flips, struct portolan_error *error);

#endif
