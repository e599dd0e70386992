/* measure.c: the tables of the measures (name, what each needs of a run, what it says of an example; measure.h), and the
 * search for one by its name. */
#include "measure.h"

#include <string.h>

#define COLUMN(column) STORE_COLUMN_BIT(column)
#define ALL_RUNS (MEASURE_OF_LABELS | MEASURE_OF_LOSSES)
#define RIGHT (MEASURE_OF_LABELS | MEASURE_OF_CROSSINGS) /* it asks when an example was right */

const struct measure_info measure_infos[MEASURE_COUNT] = {
        [MEASURE_EPOCHS] = {"epochs", true, false, 0, .runs = ALL_RUNS},
        [MEASURE_CONFIDENCE] = {"confidence", false, false, 0},
        [MEASURE_VARIABILITY] = {"variability", false, false, 0, .runs = ALL_RUNS},
        [MEASURE_CORRECTNESS] = {"correctness", false, false, 0, .runs = RIGHT},
        [MEASURE_FORGETTING_EVENTS] = {"forgetting_events", true, false, 0, .runs = RIGHT},
        [MEASURE_NEVER_LEARNED] = {"never_learned", true, false, 0, .runs = RIGHT},
        [MEASURE_FIRST_LEARNED] = {"first_learned", true, true, 0, .runs = RIGHT},
        [MEASURE_THRESHOLD_CLOSENESS] = {"threshold_closeness", false, false, 0},
        [MEASURE_VARIABILITY_CI] = {"variability_ci", false, true, 0},
        [MEASURE_ALWAYS_RIGHT_AFTER] = {"always_right_after", true, true, 0, .runs = RIGHT},
        [MEASURE_ALWAYS_WRONG_AFTER] = {"always_wrong_after", true, true, 0, .runs = RIGHT},
        [MEASURE_AUM] = {"aum", false, true, COLUMN(STORE_MARGIN)},
        [MEASURE_EL2N] = {"el2n", false, true, COLUMN(STORE_OTHER_SQ)},
        [MEASURE_ALEATORIC] = {"aleatoric", false, false, 0},
        [MEASURE_ENTROPY] = {"entropy", false, true, COLUMN(STORE_ENTROPY)},
        [MEASURE_MAX_PROB] = {"max_prob", false, true, COLUMN(STORE_MAX_PROB)},
        [MEASURE_PROB_MARGIN] = {"prob_margin", false, true, COLUMN(STORE_MARGIN) | COLUMN(STORE_MAX_PROB)},
        [MEASURE_LOSS] = {"loss", false, false, 0},
        [MEASURE_TASK_LOSS] = {"task_loss", false, false, 0, .runs = MEASURE_OF_LOSSES},
        [MEASURE_LOSS_EMA] = {"loss_ema", false, false, 0, .runs = ALL_RUNS},
        [MEASURE_LEARNING_SPEED] = {"learning_speed", false, true, 0, .runs = MEASURE_OF_LOSSES},
        [MEASURE_DETRENDED_VARIABILITY] = {"detrended_variability", false, true, 0, .runs = MEASURE_OF_LOSSES},
        [MEASURE_DYN_UNC] = {"dyn_unc", false, true, 0, true},
        [MEASURE_DUAL] = {"dual", false, true, 0, true},
        [MEASURE_TDDS] = {"tdds", false, true, 0, true},
};

const char *const measure_abouts[MEASURE_COUNT] = {
        [MEASURE_EPOCHS] = "the number of epochs at which it was observed",
        [MEASURE_CONFIDENCE] =
                "the mean of p(gold) over the epochs: low for examples that the model does not learn, among them wrong labels",
        [MEASURE_VARIABILITY] =
                "how much p(gold) changed between epochs (standard deviation): high for examples about which the model changed its mind",
        [MEASURE_CORRECTNESS] =
                "the share of epochs at which the model was right: the gold label was the most probable class",
        [MEASURE_FORGETTING_EVENTS] = "how often the model was right at one epoch and wrong at the next",
        [MEASURE_NEVER_LEARNED] = "1 if the model was right at no epoch, else 0",
        [MEASURE_FIRST_LEARNED] = "the first epoch at which the model was right",
        [MEASURE_THRESHOLD_CLOSENESS] = "c (1 − c) of the confidence c: highest if the confidence is one half",
        [MEASURE_VARIABILITY_CI] = "variability, made larger because few epochs tell it badly",
        [MEASURE_ALWAYS_RIGHT_AFTER] = "the epoch from which the model was right to the end",
        [MEASURE_ALWAYS_WRONG_AFTER] = "the epoch from which the model was wrong to the end",
        [MEASURE_AUM] =
                "the mean margin: the gold label's logit minus the highest other one; below 0 for examples that the model takes for another class",
        [MEASURE_EL2N] = "the mean distance of the probabilities from the right answer: 0 is perfect",
        [MEASURE_ALEATORIC] = "the mean of p(gold) (1 − p(gold)): highest if p(gold) stays near one half",
        [MEASURE_ENTROPY] =
                "how evenly the probabilities are spread over the classes, on average: 0 means that one class has all",
        [MEASURE_MAX_PROB] = "the mean of the highest probability, whichever class has it",
        [MEASURE_PROB_MARGIN] =
                "p(gold) minus the highest other probability, on average: from 1, sure and right, to −1, sure and wrong",
        [MEASURE_LOSS] = "the mean cross-entropy, −ln p(gold)",
        [MEASURE_TASK_LOSS] = "the mean of the losses that were logged, of any task",
        [MEASURE_LOSS_EMA] =
                "an exponential moving average of the loss, in which nearly all epochs count alike and an epoch that is missing counts 0",
        [MEASURE_LEARNING_SPEED] =
                "how much the loss fell per epoch: the slope of a line through its losses, with the sign turned",
        [MEASURE_DETRENDED_VARIABILITY] =
                "how much the loss changed about the line through its losses (standard deviation): high where it jumps, whether or not it falls",
        [MEASURE_DYN_UNC] = "how much p(gold) changed within 10 successive epochs, on average",
        [MEASURE_DUAL] =
                "how much p(gold) changed within 10 successive epochs, on average; changes at a low p(gold) count more",
        [MEASURE_TDDS] =
                "how unevenly the probabilities of all classes moved from epoch to epoch; the last epochs count most",
};

int
measure_find(const char *name)
{
	for (int m = 0; m < MEASURE_COUNT; m++)
		if (strcmp(name, measure_infos[m].name) == 0)
			return m;
	return -1;
}
