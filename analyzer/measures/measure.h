/*
 * measure.h: the measures of training dynamics that commands can print, rank and draw: the definition of each, its
 * name, and what a run must have for it.
 *
 * Each is of one example, over its observed epochs e = 1 … E; p is the gold probability, c its mean, v its population
 * variance.
 *
 *   epochs              E
 *   confidence          c = Σ p / E                                     Swayamdipta et al. 2020, §2.1
 *   variability         √v, v = Σ (p − c)² / E                          Swayamdipta et al. 2020, §2.1
 *   correctness         fraction of the epochs with argmax = gold       Swayamdipta et al. 2020, §2.1
 *   forgetting_events   correct → incorrect between consecutive observed epochs      Toneva et al. 2019, §3
 *   never_learned       1: correct at no epoch                          Toneva et al. 2019, §3
 *   first_learned       first epoch correct; empty: none                Toneva et al. 2019, §3
 *   threshold_closeness c (1 − c)                                       Chang et al. 2017 ("threshold closeness")
 *   variability_ci      √(v + v² / (E − 1)); empty for E = 1            Chang et al. 2017 (its variance with a confidence interval)
 *   always_right_after  epoch from which it is correct to the end; empty: not so     after Maini et al. 2022
 *   always_wrong_after  epoch from which it is incorrect to the end; empty: not so   after Maini et al. 2022
 *   aum                 mean of z_gold − max other z                    Pleiss et al. 2020
 *   el2n                mean of √((1 − p)² + Σ over others of p_k²)     Paul et al. 2021
 *   aleatoric           mean of p (1 − p)                               Seedat et al. 2022
 *   entropy             mean of −Σ p_k ln p_k
 *   max_prob            mean of the largest p_k; 1 − max_prob is the uncertainty of least-confidence sampling
 *   prob_margin         mean of p − the largest other p_k                Zheng et al. 2023 (CCS: its published code's score)
 *   loss                mean of −ln p, the cross-entropy; a p that is 0 counts as 2^-150, below which float32 has none
 *   loss_ema            its exponential moving average      Zhou et al. 2021; measures_losses.h
 *   dyn_unc             mean of s over the windows of J consecutive observed epochs; s, m: standard deviation
 *                       (n − 1) and mean of p in the window; empty for E < J       He et al. 2024 (Dyn-Unc), §3
 *   dual                mean of (1 − m) s over the same windows                    Cho et al. 2025 (DUAL), §3
 *   tdds                how varied the moves of the whole distribution are: see measures_tdds.h    Zhang et al. 2024
 *
 * A run that records losses has no p, and of these measures only epochs and, of the losses in place of p, variability and
 * loss_ema. If a threshold is given, an example counts as right at an epoch where its loss is at most that, and the
 * measures that ask when it was right are there as well. It has these besides:
 *
 *   task_loss             the mean loss
 *   learning_speed        how much the loss fell per epoch, by least squares          measures_losses.h
 *   detrended_variability the standard deviation of the loss about that line          measures_losses.h
 */
#ifndef MEASURE_H
#define MEASURE_H

#include <portolan/store.h>

enum measure {
	MEASURE_EPOCHS = 0,
	MEASURE_CONFIDENCE,
	MEASURE_VARIABILITY,
	MEASURE_CORRECTNESS,
	MEASURE_FORGETTING_EVENTS,
	MEASURE_NEVER_LEARNED,
	MEASURE_FIRST_LEARNED,
	MEASURE_THRESHOLD_CLOSENESS,
	MEASURE_VARIABILITY_CI,
	MEASURE_ALWAYS_RIGHT_AFTER,
	MEASURE_ALWAYS_WRONG_AFTER,
	MEASURE_AUM,
	MEASURE_EL2N,
	MEASURE_ALEATORIC,
	MEASURE_ENTROPY,
	MEASURE_MAX_PROB,
	MEASURE_PROB_MARGIN,
	MEASURE_LOSS,
	MEASURE_TASK_LOSS,
	MEASURE_LOSS_EMA,
	MEASURE_LEARNING_SPEED,
	MEASURE_DETRENDED_VARIABILITY,
	MEASURE_DYN_UNC,
	MEASURE_DUAL,
	MEASURE_TDDS,
	MEASURE_COUNT,
};
#define MEASURE_BIT(measure) (UINT32_C(1) << (measure))
/* All that a table of measures has. loss_ema takes a logarithm for each observation of a run of labels, and is computed
 * where it is asked for by its name, and in runs of losses. */
#define MEASURE_ALL ((MEASURE_BIT(MEASURE_COUNT) - 1) & ~MEASURE_BIT(MEASURE_LOSS_EMA))

/* The kinds of runs, as a mask. */
enum measure_runs {
	MEASURE_OF_LABELS = 1,
	MEASURE_OF_LOSSES = 2,
	MEASURE_OF_CROSSINGS = 4, /* runs of losses, with a threshold that says when an example is right */
};

struct measure_info {
	const char *name;
	bool integer;   /* the values are whole numbers: counts, or epochs */
	bool sometimes; /* may be empty for an example that was observed */
	uint64_t needs; /* a mask of the store columns that it needs beside those that every observation has */
	bool windows;   /* it is over windows of epochs: a run with fewer epochs than a window does not have it */
	unsigned runs;  /* a mask of enum measure_runs: the runs that can have it; 0: MEASURE_OF_LABELS alone */
};
extern const struct measure_info measure_infos[MEASURE_COUNT];

/* What each says of an example, a sentence without its subject, as in ../WORDS.md. */
extern const char *const measure_abouts[MEASURE_COUNT];

int measure_find(const char *name); /* -1: no measure is named so */

#endif
