/*
 * flips.h: the list of labels that are changed on purpose, and its file. `noise plan` writes the file for the user, who
 * trains with the new labels; `noise fit`, `noise aum` and `suspects` read it. The file is tab-separated; its first line
 * is "id<TAB>old<TAB>new", and every other line is a change. old and new are class
 * numbers as `noise plan` writes them; names of classes are read as well.
 *
 * Flips are after Swayamdipta et al. 2020, §5 ("Detecting mislabeled examples"): the examples are drawn from the
 * easy-to-learn region, as their labels can be trusted; for `suspects` from all examples. Threshold samples are after
 * Pleiss et al. 2020, §3.2: of N examples with c classes, N / (c + 1) drawn at random get the label c + 1, which belongs
 * to none of them.
 */
#ifndef FLIPS_H
#define FLIPS_H

#include "measures/dynamics.h"

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

/* Marks the flips: an array by dense index, 1 where the example has a flip. The caller's to array_free(). */
uint8_t *flips_mark(const struct flips *flips, const struct dynamics *dynamics);

void flips_write(const char *path, const struct dynamics *dynamics, const struct flips *flips);

enum flips_label { FLIPS_OLD, FLIPS_NEW };

/* Reads the file that `option` named, for a run that was recorded with the old labels or with the new ones. If the run
 * has a label for a flip's example, it must be the old or the new one accordingly. Flips of examples that the run lacks
 * are left out and counted; if `recorded` is FLIPS_NEW, a warning tells of them. A wrong file ends the program; the
 * message names file, line and field. */
struct flips flips_read(const char *option, const char *path, const struct dynamics *dynamics,
                        enum flips_label recorded);

#endif
