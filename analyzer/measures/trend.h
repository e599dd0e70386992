/*
 * trend.h: measures how much of a run's dynamics is the common trend, the learning that all examples share, and finds
 * the epoch from which on it is small. For --epochs auto, and for the warning about rankings by variability.
 *
 * The variance of p(gold) over examples and epochs has three parts: the examples' means differ; the epochs' means do,
 * which is the common trend; and the rest, by which examples move in ways of their own. Variability sees the last two.
 * All three are told for the epochs from any first one on, out of sums that one pass over the run makes.
 *
 * Pure functions: no I/O, no allocation, no globals. Epochs at which an example was not observed do not exist for it.
 */
#ifndef TREND_H
#define TREND_H

#include <portolan/store.h>

/* Sums over the examples that were observed at an epoch. */
struct trend_epoch {
	double count, level, squares; /* how many; their p(gold); its square */
	double moved;                 /* p(gold) less the example's mean: means of different examples compare */
	/* This epoch's part of the variance within examples. Added up from the last epoch back to epoch e, it is the sum
	 * of squares over the epochs from e on. */
	double within;
	double pairs, step,
	        step_squares; /* of those observed at the next epoch too: how many; the change; its square */
};

struct trend_shares {
	double examples, trend, rest; /* of the whole variance; 0 if there is none */
};

/* Adds a block to the sums of its epochs; `confidence` has the means of its examples. */
void trend_add_block(struct trend_epoch *sums, const struct store_block *block, const double *confidence);

void trend_add(struct trend_epoch *sums, const struct trend_epoch *others, size_t count);

/* Fills from[e], for each epoch e, with the parts of the variance over the epochs from it on. */
void trend_shares(const struct trend_epoch *sums, size_t count, struct trend_shares *from);

/* The common trend's share of the variance within examples, over the epochs number `first` … count − 1. */
double trend_within(const struct trend_epoch *sums, size_t count, size_t first);

/* Returns the first epoch, not before `first`, from which on the trend is at most a quarter of the variance within
 * examples. If there is none, returns the last epoch that leaves four; if `first` leaves fewer, `first`. */
size_t trend_settled(const struct trend_epoch *sums, size_t count, size_t first);

#define TREND_EPOCHS_LEFT 3 /* after a burn-in at least */

/*
 * How many epochs the burn-in has, which --epochs auto leaves out. Of a step from one epoch to the next, the square of
 * the mean change over the mean of the squared changes is the share of the movement that all examples have in common.
 * The burn-in is the longest lead of steps with more than half in common: those up to where the sum of share − ½ is
 * highest. From its end it goes on until the trend has settled. 0: there is none. At least TREND_EPOCHS_LEFT epochs remain.
 */
size_t trend_burn_in(const struct trend_epoch *sums, size_t count);

/* What there is to say of a ranking by variability. */
struct trend_advice {
	bool is_mostly_trend; /* more than half of the variance within examples is the common trend */
	bool has_mend;        /* from epoch number `first` on it is less */
	size_t first;         /* after the burn-in; where there is none, when the trend has settled */
	double share, later;  /* the trend's share over all epochs, and over those from `first` on */
};
struct trend_advice trend_advise(const struct trend_epoch *sums, size_t count);

#endif
