/* margins.c: goes through the epochs of each labelled example, for its mean margin and for the class that the model
 * would give it (margins.h). */
#include "margins.h"

#include "die/die.h"
#include "die/memory.h"

#include <math.h>

#define LEAST 1e-6 /* probabilities below count as this */

/* A class that is not the label, and how much probability it had in the epochs that predicted it. */
struct margin_vote {
	int32_t label;
	double sum;
};

/* An example at one epoch. */
struct margin_epoch {
	double gold;      /* p of the label */
	int32_t other;    /* the class that was predicted, if it is not the label, else -1 */
	double runner_up; /* p of the best class that is not the label; NaN: not known */
};

struct margins_reading {
	const struct dynamics *dynamics;
	struct margin_vote *votes; /* of one example: at most one for each epoch */
	size_t vote_count;
};

static bool
margins_has(const struct store_values *values, uint32_t row)
{
	return values->values && (values->present[row / 64] >> row % 64 & 1);
}

static struct margin_epoch
margins_epoch(const struct store_block *block, size_t epoch, uint32_t row, int32_t gold, bool two_classes)
{
	const struct store_values *highest = store_block_values(block, epoch, STORE_MAX_PROB);
	const struct store_values *predicted = store_block_values(block, epoch, STORE_PREDICTED);
	const struct store_values *squares = store_block_values(block, epoch, STORE_OTHER_SQ);
	double p = ((const float *)store_block_values(block, epoch, STORE_GOLD_PROB)->values)[row];
	struct margin_epoch one = {.gold = p, .other = -1, .runner_up = NAN};

	if (margins_has(highest, row) && margins_has(predicted, row)) {
		int32_t label = ((const int32_t *)predicted->values)[row];
		double most = ((const float *)highest->values)[row];

		one.other = label == gold ? -1 : label;
		one.runner_up = label == gold ? fmin(most, 1 - p) : most;
	} else if (two_classes) {
		one.other = p < 0.5 ? 1 - gold : -1;
		one.runner_up = 1 - p;
	}
	if (one.other < 0 && !two_classes && margins_has(squares, row))
		one.runner_up = fmin(one.runner_up, sqrt(fmax(((const float *)squares->values)[row], 0)));
	return one;
}

static void
margins_vote(struct margins_reading *reading, int32_t label, double probability)
{
	size_t v = 0;

	while (v < reading->vote_count && reading->votes[v].label != label)
		v++;
	if (v == reading->vote_count)
		reading->votes[reading->vote_count++] = (struct margin_vote){label, 0};
	reading->votes[v].sum += probability;
}

/* The class with most votes; of equals the lower one. -1: there are none. */
static int32_t
margins_elect(const struct margins_reading *reading)
{
	struct margin_vote best = {-1, 0};

	for (size_t v = 0; v < reading->vote_count; v++) {
		const struct margin_vote *one = &reading->votes[v];

		if (best.label < 0 || one->sum > best.sum || (one->sum == best.sum && one->label < best.label))
			best = *one;
	}
	return best.label;
}

static void
margins_read_example(struct margins_reading *reading, const struct store_block *block, uint32_t row,
                     struct margins *margins)
{
	uint32_t index = block->first + row;
	int32_t gold = reading->dynamics->gold[index];
	bool two_classes = reading->dynamics->info->label_count == 2 && gold < 2;
	double sum = 0;
	size_t epochs = 0;

	reading->vote_count = 0;
	for (size_t e = 0; e < block->epoch_count; e++) {
		struct margin_epoch one;

		if (!margins_has(store_block_values(block, e, STORE_GOLD_PROB), row))
			continue;
		one = margins_epoch(block, e, row, gold, two_classes);
		if (one.other >= 0)
			margins_vote(reading, one.other, one.runner_up);
		if (!margins->means || isnan(one.runner_up))
			continue;
		sum += log(fmax(one.gold, LEAST)) - log(fmax(one.runner_up, LEAST));
		epochs++;
	}
	margins->others[index] = margins_elect(reading);
	if (epochs == 0)
		return;
	margins->means[index] = sum / (double)epochs;
	margins->count++;
}

static void
margins_close_cursor(struct store_cursor **cursor)
{
	if (*cursor)
		store_cursor_close(*cursor);
}

static void
margins_free_votes(struct margins_reading *reading)
{
	free(reading->votes);
}

void
margins_read(struct margins *margins, const struct dynamics *dynamics, bool with_means)
{
	CLEANUP(margins_free_votes)
	struct margins_reading reading = {dynamics, memory_new(dynamics->epoch_count, sizeof(*reading.votes)), 0};
	CLEANUP(margins_close_cursor) struct store_cursor *cursor = NULL;
	size_t rows = dynamics->ids.rows;

	*margins = (struct margins){.means = with_means ? memory_array(rows, sizeof(*margins->means), "margins") : NULL,
	                            .others = memory_array(rows, sizeof(*margins->others), "suggested labels")};
	for (size_t i = 0; i < rows; i++) {
		margins->others[i] = -1;
		if (with_means)
			margins->means[i] = NAN;
	}
	must(store_cursor_open(dynamics->snapshot, &cursor, &failure));
	for (size_t b = 0; b < store_snapshot_blocks(dynamics->snapshot); b++) {
		struct store_block block;

		must(store_cursor_block(cursor, b, &block, &failure));
		for (uint32_t row = 0; row < block.rows; row++)
			if (dynamics->gold[block.first + row] >= 0)
				margins_read_example(&reading, &block, row, margins);
	}
}

void
margins_free(struct margins *margins)
{
	array_free(margins->means);
	array_free(margins->others);
	*margins = (struct margins){.means = NULL};
}
