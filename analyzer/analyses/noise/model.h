/*
 * model.h: the one-feature classifier of mislabelled examples (Swayamdipta et al. 2020, §5): `noise fit` fits it, and
 * `noise apply` scores a run's examples with it. It tells flipped examples from clean ones by their confidence alone,
 * or by their variability alone (footnote 12).
 *
 * Fitting takes all flipped examples and as many clean ones, drawn at random; half of either is for training, the other
 * half is held out. Examples are called mislabelled where the score is above 0.5.
 */
#ifndef NOISE_MODEL_H
#define NOISE_MODEL_H

#include "suspects/flips.h"
#include "measures/dynamics.h"
#include "statistics/logistic.h"

/* How well the classifier does on the examples held out. It calls `called` of them mislabelled; `right` of these calls
 * are right. */
struct noise_score {
	uint64_t examples, flipped, called, right;
	double precision, recall, f1; /* NaN: not defined */
};

/* How many of the first `examples` in a ranking of the whole run are flipped. */
struct noise_top {
	double fraction;
	uint64_t examples, flipped;
};
#define NOISE_TOPS 2 /* 1% and 2% */

struct noise_model {
	enum measure measure; /* confidence, or variability */
	struct logistic logistic;
	size_t epochs; /* the number of epochs over which it was measured */
};

struct noise_fit {
	struct noise_model model;
	uint64_t flips, examples; /* how many flips, and how many examples, the run has */
	uint64_t trained_on;      /* the number of examples that the model was fitted to */
	struct noise_score held_out;
	struct noise_top by_score[NOISE_TOPS];
	struct noise_top by_measure[NOISE_TOPS]; /* by low confidence, or by high variability */
};

/* Fits and tests the model on the run that was trained with the flipped labels. It goes by one measure, which
 * the run has. Ends the program unless there are at least two flips and as many clean examples. */
struct noise_fit noise_fit(const struct dynamics *retrained, enum measure measure, const struct flips *flips,
                           uint64_t seed);

/* The classifier's score of every observed example, by dense index. It is no probability of a wrong label, as the
 * classifier was trained on as many flipped examples as clean ones. */
void noise_scores(const struct noise_model *model, const struct dynamics *dynamics, double *scores);

/* Write and read the model's file, a small JSON object. A wrong file ends the program; the message names file and
 * field. */
void noise_model_write(const struct noise_fit *fit, const char *path, const char *run, const char *flips_path,
                       uint64_t seed);
struct noise_model noise_model_read(const char *path);

#endif
