/* calibration.c: estimates the share of wrong labels from the scores of flips, its interval, and probabilities
 * (calibration.h). */
#include "calibration.h"

#include "base/message.h"
#include "base/number.h"
#include "die/die.h"
#include "die/memory.h"
#include "regions/classes.h"
#include "statistics/bootstrap.h"

#include <progress.h>

#include <math.h>

#define REPLICATES 200
#define RECALL 0.2      /* of the estimate */
#define RECALL_LOW 0.05 /* of the lower end of the interval */
#define RECALL_HIGH 0.6 /* of its upper end */
#define LEVEL 0.9
#define CREDIBLE 0.5  /* of the labels; a greater estimate says that the flips look like the right labels */
#define SMOOTHING 0.1 /* of the suspects count as if they were spread over all pairs of classes */

/* A flip in the run. */
struct flip_scored {
	double score, weight;
	uint64_t pair; /* the label that it has now, and the one it had */
};

struct calibrating {
	const struct suspects *suspects;
	const struct dynamics *dynamics;
	struct flip_scored *flips; /* the highest score first */
	size_t flip_count;
	uint32_t *others; /* the ranking without the flips */
	size_t other_count;
	/* Flips with the same score are one step, from 0 on. */
	int32_t *step_of_flip,
	        *step_of_other; /* of another example: the first step whose score is no higher than its own */
	size_t steps;
};

static uint64_t
calibration_pair(int32_t label, int32_t other)
{
	return (uint64_t)(uint32_t)label << 32 | (uint32_t)other;
}

static int
calibration_compare_pairs(const void *a, const void *b)
{
	const struct flip_scored *x = a, *y = b;

	return (x->pair > y->pair) - (x->pair < y->pair);
}

static int
calibration_compare_scores(const void *a, const void *b)
{
	const struct flip_scored *x = a, *y = b;

	return (x->score < y->score) - (x->score > y->score);
}

/* The number of classes: those that the run names, and further ones that occur; a flip is between two at least. */
static double
calibration_classes(const struct dynamics *dynamics)
{
	CLEANUP(classes_free) struct classes classes = {.labels = NULL};
	uint64_t count = dynamics->info->label_count;

	must(classes_make(&classes, dynamics->gold, dynamics->order, dynamics->count, &failure));
	for (size_t c = 0; c < classes.count; c++)
		count += classes.labels[c] >= 0 && (uint64_t)classes.labels[c] >= dynamics->info->label_count;
	return fmax((double)count, 2);
}

/* How many flips, sorted by pair, come before `pair`. */
static size_t
calibration_find(const struct calibrating *state, uint64_t pair)
{
	size_t from = 0, to = state->flip_count;

	while (from < to) {
		size_t middle = (from + to) / 2;

		if (state->flips[middle].pair < pair)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* Weighs the flips: those of a pair of classes together have as much weight as there are deep
 * suspects of this pair.
 * The weights add up to the number of flips. */
static void
calibration_weigh(struct calibrating *state)
{
	const struct suspects *suspects = state->suspects;
	CLEANUP_ARRAY double *counts = memory_array(state->flip_count + 1, sizeof(*counts), "pairs of classes");
	double classes = calibration_classes(state->dynamics), all = 0, sum = 0;

	qsort(state->flips, state->flip_count, sizeof(*state->flips), calibration_compare_pairs);
	for (size_t i = 0; i < state->other_count; i++) {
		uint32_t row = state->others[i];
		uint64_t pair = calibration_pair(state->dynamics->gold[row], suspects->suggested[row]);
		size_t at = calibration_find(state, pair);

		if (!(suspects->scores[row] > suspects->deep) || suspects->suggested[row] < 0)
			continue;
		all++;
		counts[at] += at < state->flip_count && state->flips[at].pair == pair;
	}
	for (size_t from = 0, to; from < state->flip_count; from = to) {
		for (to = from; to < state->flip_count && state->flips[to].pair == state->flips[from].pair;)
			to++;
		for (size_t i = from; i < to; i++) {
			state->flips[i].weight =
			        all > 0 ? (counts[from] + SMOOTHING * all / (classes * (classes - 1))) /
			                          (double)(to - from)
			                : 1;
			sum += state->flips[i].weight;
		}
	}
	for (size_t i = 0; i < state->flip_count; i++)
		state->flips[i].weight *= (double)state->flip_count / sum;
}

/* Sorts the flips by score, and finds the steps. */
static void
calibration_find_steps(struct calibrating *state)
{
	size_t at = 0;

	qsort(state->flips, state->flip_count, sizeof(*state->flips), calibration_compare_scores);
	state->step_of_flip = memory_array(state->flip_count, sizeof(*state->step_of_flip), "scores of flips");
	state->step_of_other = memory_array(state->other_count + 1, sizeof(*state->step_of_other), "scores");
	for (size_t i = 0; i < state->flip_count; i++) {
		state->steps += i == 0 || state->flips[i].score != state->flips[i - 1].score;
		state->step_of_flip[i] = (int32_t)state->steps - 1;
	}
	for (size_t i = 0; i < state->other_count; i++) {
		while (at < state->flip_count && state->flips[at].score > state->suspects->scores[state->others[i]])
			at++;
		state->step_of_other[i] = at < state->flip_count ? state->step_of_flip[at] : (int32_t)state->steps;
	}
}

/* The least bound on the share of wrong labels at a recall of `least` or more. flips[i]: how often the i-th flip counts;
 * shares[j]: the share of the other examples that is at step j. */
static double
calibration_bound(const struct calibrating *state, const double *flips, const double *shares, double least)
{
	double all = 0, recalled = 0, above = 0, bound = 1;

	for (size_t i = 0; i < state->flip_count; i++)
		all += flips[i] * state->flips[i].weight;
	for (size_t i = 0; i < state->flip_count; i++) {
		int32_t step = state->step_of_flip[i];

		recalled += flips[i] * state->flips[i].weight;
		if (i + 1 < state->flip_count && state->step_of_flip[i + 1] == step)
			continue;
		above += shares[step];
		if (recalled >= least * all && recalled > 0)
			bound = fmin(bound, above * all / recalled);
	}
	return bound;
}

/* Draws the replicates for the interval. */
static void
calibration_draw(const struct calibrating *state, double *flips, double *shares, double low[REPLICATES],
                 double high[REPLICATES])
{
	size_t n = state->flip_count;
	CLEANUP_ARRAY int32_t *numbers = memory_array(n, sizeof(*numbers), "flips");
	struct random_state random;
	struct progress progress;

	random_seed(&random, 0);
	progress_begin(&progress, "drawing replicates", REPLICATES);
	for (size_t i = 0; i < n; i++)
		numbers[i] = (int32_t)i;
	for (size_t r = 0; r < REPLICATES; r++) {
		bootstrap_shares(&random, numbers, n, n, flips, 1);
		bootstrap_shares(&random, state->step_of_other, state->other_count, state->steps + 1, shares, 1);
		low[r] = calibration_bound(state, flips, shares, RECALL_LOW);
		high[r] = calibration_bound(state, flips, shares, RECALL_HIGH);
		progress_show(&progress, r + 1);
	}
	progress_clear(&progress);
}

/* Returns the share of wrong labels among the other examples, and sets how many that are, with the interval. */
static double
calibration_estimate(struct calibration *calibration, const struct calibrating *state)
{
	CLEANUP_ARRAY double *flips = memory_array(state->flip_count, sizeof(*flips), "flips");
	CLEANUP_ARRAY double *shares = memory_array(state->steps + 1, sizeof(*shares), "scores of flips");
	double low[REPLICATES], high[REPLICATES], n = (double)state->other_count, share, unused;

	for (size_t i = 0; i < state->flip_count; i++)
		flips[i] = 1;
	for (size_t i = 0; i < state->other_count; i++)
		shares[state->step_of_other[i]] += 1 / n;
	share = calibration_bound(state, flips, shares, RECALL);
	calibration_draw(state, flips, shares, low, high);
	bootstrap_interval(low, REPLICATES, LEVEL, &calibration->low, &unused);
	bootstrap_interval(high, REPLICATES, LEVEL, &unused, &calibration->high);
	calibration->expected = share * n;
	calibration->low = fmin(calibration->low, share) * n;
	calibration->high = fmax(calibration->high, share) * n;
	return share;
}

/* Scores next to each other, for which the two densities have one ratio. */
struct ratio_block {
	double flips, others; /* the weight of the flips, and the number of the other examples */
	size_t end;           /* of `others`, counted from the lowest score, the first that is above the block */
};

/* Appends a block that is higher than those before it, and pools it with them as long as their ratio is no lower. */
static void
calibration_pool(struct ratio_block *blocks, size_t *count, struct ratio_block block)
{
	while (*count > 0 && blocks[*count - 1].flips * block.others >= block.flips * blocks[*count - 1].others) {
		block.flips += blocks[*count - 1].flips;
		block.others += blocks[*count - 1].others;
		--*count;
	}
	blocks[(*count)++] = block;
}

/* Gives each of the other examples its probability. */
static void
calibration_spread(struct calibration *calibration, const struct calibrating *state, double share)
{
	size_t n = state->other_count, flip = state->flip_count, other = 0, count = 0, at = 0;
	CLEANUP_ARRAY struct ratio_block *blocks =
	        memory_array(n + state->flip_count + 1, sizeof(*blocks), "steps of probabilities");

	while (other < n || flip > 0) { /* from the lowest score on */
		double lowest = other < n ? state->suspects->scores[state->others[n - 1 - other]] : INFINITY;
		struct ratio_block block = {0};

		if (flip > 0)
			lowest = fmin(lowest, state->flips[flip - 1].score);
		for (; flip > 0 && state->flips[flip - 1].score == lowest; flip--)
			block.flips += state->flips[flip - 1].weight;
		for (; other < n && state->suspects->scores[state->others[n - 1 - other]] == lowest; other++)
			block.others++;
		block.end = other;
		calibration_pool(blocks, &count, block);
	}
	for (size_t b = 0; b < count; b++)
		for (; at < blocks[b].end; at++)
			calibration->probabilities[state->others[n - 1 - at]] = fmin(
			        1, share * (double)n / (double)state->flip_count * blocks[b].flips / blocks[b].others);
}

/* Parts the ranked examples into flips and others. */
static void
calibration_part(struct calibrating *state, const struct flips *flips)
{
	const struct suspects *suspects = state->suspects;
	CLEANUP_ARRAY uint8_t *is_flip = flips_mark(flips, state->dynamics);

	state->flips = memory_array(flips->count + 1, sizeof(*state->flips), "flips");
	state->others = memory_array(suspects->count + 1, sizeof(*state->others), "ranked examples");
	for (size_t i = 0; i < flips->count; i++) {
		const struct flip *flip = &flips->flips[i];

		if (!isnan(suspects->scores[flip->row]))
			state->flips[state->flip_count++] =
			        (struct flip_scored){.score = suspects->scores[flip->row],
			                             .pair = calibration_pair(flip->new_label, flip->old_label)};
	}
	for (size_t i = 0; i < suspects->count; i++)
		if (!is_flip[suspects->ranked[i]])
			state->others[state->other_count++] = suspects->ranked[i];
}

/* Takes the flips out of the ranking. */
static void
calibration_take_out(struct suspects *suspects, const struct calibrating *state)
{
	suspects->called = 0;
	suspects->count = state->other_count;
	for (size_t i = 0; i < state->other_count; i++) {
		suspects->ranked[i] = state->others[i];
		suspects->called += suspects->is_called[state->others[i]];
	}
}

static void
calibrating_free(struct calibrating *state)
{
	array_free(state->flips);
	array_free(state->others);
	array_free(state->step_of_flip);
	array_free(state->step_of_other);
}

void
calibration_make(struct calibration *calibration, struct suspects *suspects, const struct dynamics *dynamics,
                 const struct flips *flips)
{
	CLEANUP(calibrating_free) struct calibrating state = {.suspects = suspects, .dynamics = dynamics};
	size_t rows = dynamics->ids.rows;
	double share;

	calibration_part(&state, flips);
	if (state.flip_count < CALIBRATION_FLIPS)
		die("run '%s' has %zu of the flips, and the calibration takes at least %d: draw more with portolan "
		    "noise plan",
		    dynamics->info->name, state.flip_count, CALIBRATION_FLIPS);
	if (state.other_count == 0)
		die("run '%s' has no examples but the flips", dynamics->info->name);
	*calibration = (struct calibration){.flips = state.flip_count, .examples = state.other_count};
	calibration->probabilities = memory_array(rows, sizeof(*calibration->probabilities), "probabilities");
	for (size_t i = 0; i < rows; i++)
		calibration->probabilities[i] = NAN;
	calibration_weigh(&state);
	calibration_find_steps(&state);
	share = calibration_estimate(calibration, &state);
	calibration_spread(calibration, &state, share);
	calibration_take_out(suspects, &state);
	if (share > CREDIBLE)
		suspects_doubt(
		        suspects, SUSPECTS_HIDDEN,
		        "the flips hardly stand out from the other labels, so far fewer labels may be wrong than "
		        "the number expected, and than its interval. Record out of fold (cross_val_track) to tell");
}

void
calibration_free(struct calibration *calibration)
{
	array_free(calibration->probabilities);
	*calibration = (struct calibration){.flips = 0};
}

void
calibration_say(const struct calibration *calibration, size_t called)
{
	message_note(
	        "expected: %s wrong labels among %s (90%%: %s to %s). This holds for labels that are wrong like the "
	        "flips: at random, or between the same pairs of classes as the suspects. It does not hold for examples "
	        "that lie between two classes",
	        NUMBER_GROUPED((uint64_t)llround(calibration->expected)), NUMBER_GROUPED(calibration->examples),
	        NUMBER_GROUPED((uint64_t)llround(calibration->low)),
	        NUMBER_GROUPED((uint64_t)llround(calibration->high)));
	if ((double)called > calibration->high)
		message_note(
		        "more are called than expected: the others are hard examples, or wrong in another way than "
		        "the flips");
}

void
calibration_report(struct report *report, const struct calibration *calibration)
{
	if (!calibration) {
		report_null(report, "expected");
		return;
	}
	report_begin(report, "expected");
	REPORT_WHOLES(report, {"flips", calibration->flips}, {"examples", calibration->examples});
	report_real(report, "wrong", calibration->expected);
	report_real(report, "low", calibration->low);
	report_real(report, "high", calibration->high);
	report_real(report, "level", LEVEL);
	report_text(
	        report, "holds_for",
	        "labels that are wrong like the flips: at random, or between the same pairs of classes as the suspects");
	report_end(report);
}
