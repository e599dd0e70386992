/* measure.c: the table of the measures (name, and what each needs of a run; measure.h), and the search for one by its
 * name. */
#include "measure.h"

#include <string.h>

#define COLUMN(column) STORE_COLUMN_BIT(column)

const struct measure_info measure_infos[MEASURE_COUNT] = {
        [MEASURE_EPOCHS] = {"epochs", true, false, 0},
        [MEASURE_CONFIDENCE] = {"confidence", false, false, 0},
        [MEASURE_VARIABILITY] = {"variability", false, false, 0},
        [MEASURE_CORRECTNESS] = {"correctness", false, false, 0},
        [MEASURE_FORGETTING_EVENTS] = {"forgetting_events", true, false, 0},
        [MEASURE_NEVER_LEARNED] = {"never_learned", true, false, 0},
        [MEASURE_FIRST_LEARNED] = {"first_learned", true, true, 0},
        [MEASURE_THRESHOLD_CLOSENESS] = {"threshold_closeness", false, false, 0},
        [MEASURE_VARIABILITY_CI] = {"variability_ci", false, true, 0},
        [MEASURE_ALWAYS_RIGHT_AFTER] = {"always_right_after", true, true, 0},
        [MEASURE_ALWAYS_WRONG_AFTER] = {"always_wrong_after", true, true, 0},
        [MEASURE_AUM] = {"aum", false, true, COLUMN(STORE_MARGIN)},
        [MEASURE_EL2N] = {"el2n", false, true, COLUMN(STORE_OTHER_SQ)},
        [MEASURE_ALEATORIC] = {"aleatoric", false, false, 0},
        [MEASURE_ENTROPY] = {"entropy", false, true, COLUMN(STORE_ENTROPY)},
        [MEASURE_MAX_PROB] = {"max_prob", false, true, COLUMN(STORE_MAX_PROB)},
        [MEASURE_LOSS] = {"loss", false, false, 0},
        [MEASURE_DYN_UNC] = {"dyn_unc", false, true, 0, true},
        [MEASURE_DUAL] = {"dual", false, true, 0, true},
        [MEASURE_TDDS] = {"tdds", false, true, 0, true},
};

int
measure_find(const char *name)
{
	for (int m = 0; m < MEASURE_COUNT; m++)
		if (strcmp(name, measure_infos[m].name) == 0)
			return m;
	return -1;
}
