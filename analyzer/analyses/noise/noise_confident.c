/*
 * noise_confident.c: the action `noise confident`: finds labels that are probably wrong, by the rule of confident
 * learning. The rule needs the probabilities of all classes, and a run has only some of them. A label for which these
 * leave the answer open is not called wrong.
 *
 * Source: Northcutt, Jiang and Chuang 2021, "Confident learning: estimating uncertainty in dataset labels", section
 * 3.1, equation 2. The rule is that of the published cleanlab with filter_by="confident_learning".
 *
 * p_k is an example's probability of class k, the mean over its observed epochs. t_k, the threshold of class k, is the
 * mean of p_k over the examples labelled k. A label is called wrong where another class has p_k ≥ t_k, and the class
 * with the highest p_k is another one. (Both within 1e-6, cleanlab's tolerance. A class without label has no
 * threshold.)
 *
 * The store has, of an example's epoch, p of the label and of the predicted class. So thresholds are exact. p_k of
 * another class lies between two bounds. Both are a mean over the epochs, to which an epoch that predicted the class
 * adds its max_prob. To the lower bound the other epochs add 0. To the upper bound they add the most that one class can
 * have of the probability that the label and the predicted class leave: no more than max_prob, and no more than the
 * root of the sum of squares (other_sq). If K − 1 of K named classes are known, the last one has what they leave. Where
 * both bounds give the same answer, it is exact. With one epoch that is nearly always so, with two named classes
 * always.
 *
 * Bounds of their own are kept for an example's rivals alone: the classes that were predicted for it, and the last named
 * class where all others are known. All other classes, of which there may be many, share one upper bound.
 */
#include "noise_scored.h"

#include "base/message.h"
#include "base/number.h"
#include "die/die.h"
#include "die/memory.h"
#include "regions/classes.h"

#include <math.h>

/* The columns of the store that are read beside confidence and gold. */
#define CONFIDENT_SIGNALS                                                                                              \
	(STORE_COLUMN_BIT(STORE_MAX_PROB) | STORE_COLUMN_BIT(STORE_PREDICTED) | STORE_COLUMN_BIT(STORE_OTHER_SQ))

#define TOLERANCE 1e-6
#define SQUARES_TOLERANCE 1e-6 /* for rounding: `squares` less a square is a difference of float32 numbers */
#define NO_THRESHOLD 2.0       /* above every probability */

struct confident_summary {
	size_t classes;         /* classes with a threshold */
	double least, greatest; /* of the thresholds */
	size_t labelled;        /* examples with a label */
	size_t open; /* labelled examples for which the bounds leave it open whether the label is called wrong */
};

struct class_threshold {
	double threshold;
	int32_t label;
};

/* A class that is not the example's label, and was predicted for it at some epoch, or is the last that is not known. */
struct rival {
	int32_t label;
	double low;  /* the least that its probability can be, summed over the epochs */
	double high; /* the most that it can be, less `rest` of struct seen */
};

struct judging {
	const struct dynamics *dynamics;
	struct classes classes;
	double *thresholds;             /* by class; NO_THRESHOLD for the examples without label */
	struct class_threshold *sorted; /* ascending */
	struct rival *rivals;           /* the rivals of one example: at most two for each epoch */
	int64_t named;                  /* how many classes are named in the run */
	uint8_t *called;                /* by dense index; 1: the label is certainly called wrong */
	struct confident_summary summary;
};

static int
confident_compare_thresholds(const void *a, const void *b)
{
	const struct class_threshold *x = a, *y = b;

	return (x->threshold > y->threshold) - (x->threshold < y->threshold);
}

static double
confident_threshold(const struct judging *judging, int32_t label)
{
	size_t c = classes_find(&judging->classes, label);

	return judging->classes.labels[c] == label ? judging->thresholds[c] : NO_THRESHOLD;
}

/* Computes the threshold of each class: the mean confidence of its examples. */
static void
confident_make_thresholds(struct judging *judging)
{
	const struct dynamics *dynamics = judging->dynamics;
	const double *confidence = dynamics_measure(dynamics, MEASURE_CONFIDENCE);
	struct confident_summary *summary = &judging->summary;
	size_t count = judging->classes.count;
	CLEANUP_FREE uint64_t *examples = memory_new(count, sizeof(*examples));

	judging->thresholds = memory_new(count, sizeof(*judging->thresholds));
	judging->sorted = memory_new(count, sizeof(*judging->sorted));
	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];
		size_t c = classes_find(&judging->classes, dynamics->gold[row]);

		judging->thresholds[c] += confidence[row];
		examples[c]++;
	}
	*summary = (struct confident_summary){.least = INFINITY, .greatest = -INFINITY};
	for (size_t c = 0; c < count; c++) {
		int32_t label = judging->classes.labels[c];
		double threshold = fmax(judging->thresholds[c] / (double)examples[c], 2 * TOLERANCE);

		judging->thresholds[c] = label < 0 ? NO_THRESHOLD : threshold;
		if (label < 0)
			continue;
		judging->sorted[summary->classes++] = (struct class_threshold){threshold, label};
		summary->labelled += examples[c];
		summary->least = fmin(summary->least, threshold);
		summary->greatest = fmax(summary->greatest, threshold);
	}
	qsort(judging->sorted, summary->classes, sizeof(*judging->sorted), confident_compare_thresholds);
}

static bool
confident_has_value(const struct store_values *values, uint32_t row)
{
	return values->values && (values->present[row / 64] >> row % 64 & 1);
}

/* Finds the rival with this label, or adds it. */
static struct rival *
confident_find_rival(struct rival *rivals, size_t *count, int32_t label)
{
	for (size_t r = 0; r < *count; r++)
		if (rivals[r].label == label)
			return &rivals[r];
	rivals[*count] = (struct rival){label, 0, 0};
	return &rivals[(*count)++];
}

/* An example's observed epochs, and sums over them. */
struct seen {
	size_t epochs, rivals; /* how many epochs were observed, and how many rivals there are */
	double gold;           /* the label's probability, summed over the epochs */
	double rest;           /* summed over the epochs: the most that a class can have that is no rival */
};

/* An example at one epoch: p of the label, p of the predicted class, and the sum of squares of all but the label. */
struct observation {
	double gold, highest, squares;
	int32_t predicted;
	bool with_highest, with_squares;
};

static struct observation
confident_observation(const struct store_block *block, size_t epoch, uint32_t row)
{
	const struct store_values *highest = store_block_values(block, epoch, STORE_MAX_PROB);
	const struct store_values *predicted = store_block_values(block, epoch, STORE_PREDICTED);
	const struct store_values *squares = store_block_values(block, epoch, STORE_OTHER_SQ);
	struct observation one = {
	        .gold = ((const float *)store_block_values(block, epoch, STORE_GOLD_PROB)->values)[row],
	        .with_highest = confident_has_value(highest, row) && confident_has_value(predicted, row),
	        .with_squares = confident_has_value(squares, row),
	};

	if (one.with_highest) {
		one.highest = ((const float *)highest->values)[row];
		one.predicted = ((const int32_t *)predicted->values)[row];
	}
	if (one.with_squares)
		one.squares = ((const float *)squares->values)[row];
	return one;
}

/* Adds a rival's probability at one epoch. Classes that are no rivals have at most `rest` at that epoch. */
static void
confident_add_rival(struct judging *judging, struct seen *seen, int32_t label, double probability, double rest)
{
	struct rival *rival = confident_find_rival(judging->rivals, &seen->rivals, label);

	rival->low += probability;
	rival->high += probability - rest;
}

/* The most that one class can have of the probability `left`, which the label and the predicted class leave. `other`:
 * the predicted class is not the label. */
static double
confident_most_of_rest(const struct observation *one, bool other, double left)
{
	double squares = one->squares - (other ? one->highest * one->highest : 0);

	if (one->with_highest)
		left = fmin(left, one->highest);
	return one->with_squares ? fmin(left, sqrt(fmax(squares, 0) + SQUARES_TOLERANCE)) : left;
}

static void
confident_add_observation(struct judging *judging, struct seen *seen, int32_t gold, const struct observation *one)
{
	bool other = one->with_highest && one->predicted != gold;
	double left = fmax(1 - one->gold - (other ? one->highest : 0), 0);
	int64_t named = judging->named, known = other ? 2 : 1;
	bool all_named = gold < named && (!other || one->predicted < named);
	bool one_left = all_named && named == known + 1;
	double rest = one_left || (all_named && named == known) ? 0 : confident_most_of_rest(one, other, left);

	if (other)
		confident_add_rival(judging, seen, one->predicted, one->highest, rest);
	if (one_left)
		confident_add_rival(judging, seen,
		                    (int32_t)(named * (named - 1) / 2 - gold - (other ? one->predicted : 0)), left,
		                    rest);
	seen->epochs++;
	seen->gold += one->gold;
	seen->rest += rest;
}

static struct seen
confident_sum_epochs(struct judging *judging, const struct store_block *block, uint32_t row, int32_t gold)
{
	struct seen seen = {0};

	for (size_t e = 0; e < block->epoch_count; e++)
		if (confident_has_value(store_block_values(block, e, STORE_GOLD_PROB), row)) {
			struct observation one = confident_observation(block, e, row);

			confident_add_observation(judging, &seen, gold, &one);
		}
	return seen;
}

/* Does any class that is neither the label nor a rival have a threshold of at most `most`? */
static bool
confident_another_reaches(const struct judging *judging, const struct seen *seen, int32_t gold, double most)
{
	for (size_t c = 0; c < judging->summary.classes; c++) {
		const struct class_threshold *one = &judging->sorted[c];
		size_t r = 0;

		if (most < one->threshold - TOLERANCE)
			return false;
		while (r < seen->rivals && judging->rivals[r].label != one->label)
			r++;
		if (r == seen->rivals && one->label != gold)
			return true;
	}
	return false;
}

static void
confident_judge_example(struct judging *judging, const struct store_block *block, uint32_t row)
{
	uint32_t index = block->first + row;
	int32_t gold = judging->dynamics->gold[index];
	struct seen seen = confident_sum_epochs(judging, block, row, gold);
	double epochs = (double)seen.epochs, above = seen.gold / epochs + TOLERANCE;
	bool reaches = false, leads = false, may_reach, may_lead;

	if (seen.epochs == 0)
		return;
	may_reach = confident_another_reaches(judging, &seen, gold, seen.rest / epochs);
	may_lead = seen.rest / epochs > above;
	for (size_t r = 0; r < seen.rivals; r++) {
		const struct rival *rival = &judging->rivals[r];
		double threshold = confident_threshold(judging, rival->label) - TOLERANCE;
		double low = rival->low / epochs, high = (rival->high + seen.rest) / epochs;

		reaches = reaches || low >= threshold;
		leads = leads || low > above;
		may_reach = may_reach || high >= threshold;
		may_lead = may_lead || high > above;
	}
	judging->called[index] = reaches && leads;
	judging->summary.open += may_reach && may_lead && !(reaches && leads);
}

static void
confident_judging_free(struct judging *judging)
{
	free(judging->thresholds);
	free(judging->sorted);
	array_free(judging->rivals);
	classes_free(&judging->classes);
}

/* Fills called[]: which labels are certainly called wrong. Needs confidence and gold, and the run opened with
 * CONFIDENT_SIGNALS. */
static struct confident_summary
confident_judge(const struct dynamics *dynamics, uint8_t *called)
{
	const uint64_t needed = STORE_COLUMN_BIT(STORE_MAX_PROB) | STORE_COLUMN_BIT(STORE_PREDICTED);
	CLEANUP(confident_judging_free)
	struct judging judging = {
	        .dynamics = dynamics, .named = (int64_t)dynamics->info->label_count, .called = called};
	struct store_cursor *cursor;

	if (needed & ~store_snapshot_columns(dynamics->snapshot))
		die("run '%s' was recorded without the predicted classes that confident learning needs: log "
		    "logits or probabilities",
		    dynamics->info->name);
	must(classes_make(&judging.classes, dynamics->gold, dynamics->order, dynamics->count, &failure));
	confident_make_thresholds(&judging);
	if (judging.summary.labelled == 0)
		die("run '%s' has no gold labels: log them (gold=…) to have them judged", dynamics->info->name);
	judging.rivals = memory_array(2 * dynamics->epoch_count, sizeof(*judging.rivals), "classes");
	must(store_cursor_open(dynamics->snapshot, &cursor, &failure));
	for (size_t b = 0; b < store_snapshot_blocks(dynamics->snapshot); b++) {
		struct store_block block;

		must(store_cursor_block(cursor, b, &block, &failure));
		for (uint32_t row = 0; row < block.rows; row++)
			if (dynamics->gold[block.first + row] >= 0)
				confident_judge_example(&judging, &block, row);
	}
	store_cursor_close(cursor);
	return judging.summary;
}

int
noise_action_confident(const struct noise_request *request)
{
	const struct dynamics_request wanted = {
	        .measures = MEASURE_BIT(MEASURE_CONFIDENCE), .gold = true, .signals = CONFIDENT_SIGNALS};
	CLEANUP(noise_scored_free) struct noise_scored scored = {.set_aside = 0};
	const struct dynamics *dynamics = &scored.dynamics;
	struct noise_scored_counts counts;
	struct confident_summary summary;
	const double *confidence;

	noise_scored_load(request, &wanted, &scored);
	summary = confident_judge(dynamics, scored.called);
	confidence = dynamics_measure(dynamics, MEASURE_CONFIDENCE);
	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];

		scored.scores[row] = dynamics->gold[row] < 0 ? NAN : 1 - confidence[row];
	}
	counts = noise_scored_print(request, &scored, MEASURE_CONFIDENCE);
	message_note("%s of %s examples are confidently of another class; thresholds of %s classes: %.4f to %.4f",
	             NUMBER_GROUPED(counts.called), NUMBER_GROUPED(counts.scored), NUMBER_GROUPED(summary.classes),
	             summary.least, summary.greatest);
	if (summary.open > 0)
		message_warning("not called, as the record leaves it open: %s examples%s", NUMBER_GROUPED(summary.open),
		                dynamics->epoch_count > 1 ? "; a single epoch (--epochs A:A+1) leaves fewer open" : "");
	return noise_scored_end(request, &scored, &counts, "their label is not known");
}
