/*
 * sides.c: for `portolan artifacts --run`: does the model treat examples with a token differently where their label is
 * not the one that goes with the token? The examples with a token have two sides (sides.h): the majority has that
 * label, the minority another one. For each side this file counts, epoch by epoch, how many examples the run observed,
 * and how many the model classified correctly; and it computes the mean of each measure.
 *
 * A trace (measures/trace.h) has an example's correctness over all epochs so far. Times the number of epochs observed
 * it is a whole number of hits. If that has grown since the epoch before, the example was right in this epoch.
 */
#include "sides.h"

#include "die/die.h"
#include "measures/trace.h"

#include <progress.h>

#include <math.h>
#include <stdlib.h>

void
sides_free(struct sides *sides)
{
	free(sides->tokens);
	free(sides->answers);
	free(sides->values);
}

static void
sides_make_room(struct sides *sides, size_t columns)
{
	size_t all = sides->token_count * SIDES, epochs = sides->epoch_count;

	sides->tokens = memory_new(sides->token_count, sizeof(*sides->tokens));
	sides->answers = memory_new((all + 2) * epochs, sizeof(*sides->answers));
	sides->values = memory_new(all * columns, sizeof(*sides->values));
	for (size_t i = 0; i < all; i++) {
		struct side *side = &sides->tokens[i / SIDES][i % SIDES];

		side->epochs = sides->answers + i * epochs;
		side->means = sides->values + i * columns;
	}
	sides->overall.epochs = sides->answers + all * epochs;
	sides->touched.epochs = sides->overall.epochs + epochs;
}

struct visit {
	struct sides *sides;
	const struct holders *holders;
	const struct ranked_token *tokens;
	const struct dynamics *dynamics;
};

/* The side on which a record of the group stands with its token number t. */
static struct side *
visit_side(const struct visit *visit, const struct holder_group *group, size_t t)
{
	bool leads = visit->tokens[group->tokens[t]].statistic.label == group->label;

	return &visit->sides->tokens[group->tokens[t]][leads ? SIDE_MAJORITY : SIDE_MINORITY];
}

/* Computes each side's mean of one column. `counts` has room for a number for each side. */
static void
visit_average(const struct visit *visit, size_t column, uint64_t *counts)
{
	const double *values = visit->dynamics->columns[column].values;
	size_t all = visit->sides->token_count * SIDES;

	for (size_t i = 0; i < all; i++)
		counts[i] = 0;
	for (size_t i = 0; i < visit->holders->count; i++) {
		const struct holder *holder = &visit->holders->list[i];
		const struct holder_group *group = &visit->holders->groups[holder->group];
		double value = holder->example == UINT32_MAX ? NAN : values[visit->dynamics->order[holder->example]];

		for (size_t t = 0; t < group->token_count && !isnan(value); t++) {
			struct side *side = visit_side(visit, group, t);

			side->means[column] += value;
			counts[(size_t)((struct side *)side - &visit->sides->tokens[0][0])]++;
		}
	}
	for (size_t i = 0; i < all; i++) {
		double *mean = &visit->sides->tokens[i / SIDES][i % SIDES].means[column];

		*mean = counts[i] ? *mean / (double)counts[i] : NAN;
	}
}

static void
visit_count_sides(const struct visit *visit)
{
	for (size_t i = 0; i < visit->holders->count; i++) {
		const struct holder *holder = &visit->holders->list[i];
		const struct holder_group *group = &visit->holders->groups[holder->group];

		visit->sides->unmatched += holder->example == UINT32_MAX;
		for (size_t t = 0; t < group->token_count && holder->example != UINT32_MAX; t++)
			visit_side(visit, group, t)->n++;
	}
}

/* What became of an example up to the current epoch, and in it. */
struct outcome {
	uint32_t seen, hits;        /* the numbers of epochs in which it was observed, and classified correctly */
	bool now_seen, now_correct; /* in the current epoch */
	bool touched;               /* a record of the example holds one of the tokens */
};

/* Moves each example's outcome on to this epoch, and counts it among all examples. */
static void
visit_add_examples(const struct visit *visit, const struct trace *trace, size_t epoch, struct outcome *outcomes)
{
	const double *epochs = trace_values(trace, measure_infos[MEASURE_EPOCHS].name);
	const double *correctness = trace_values(trace, measure_infos[MEASURE_CORRECTNESS].name);
	struct answers *overall = &visit->sides->overall.epochs[epoch], *touched = &visit->sides->touched.epochs[epoch];

	for (size_t i = 0; i < visit->dynamics->count; i++) {
		struct outcome *outcome = &outcomes[i];
		uint32_t row = visit->dynamics->order[i];
		uint32_t seen = epochs[row] > 0 ? (uint32_t)epochs[row] : 0; /* NaN: not observed yet */
		uint32_t hits = seen ? (uint32_t)lround(correctness[row] * epochs[row]) : 0;

		outcome->now_seen = seen > outcome->seen;
		outcome->now_correct = outcome->now_seen && hits > outcome->hits;
		outcome->seen = seen;
		outcome->hits = hits;
		overall->seen += outcome->now_seen;
		overall->correct += outcome->now_correct;
		touched->seen += outcome->now_seen && outcome->touched;
		touched->correct += outcome->now_correct && outcome->touched;
	}
}

static void
visit_add_epoch(const struct visit *visit, size_t epoch, const struct outcome *outcomes)
{
	for (size_t i = 0; i < visit->holders->count; i++) {
		const struct holder *holder = &visit->holders->list[i];
		const struct holder_group *group = &visit->holders->groups[holder->group];
		const struct outcome *outcome;

		if (holder->example == UINT32_MAX || !outcomes[holder->example].now_seen)
			continue;
		outcome = &outcomes[holder->example];
		for (size_t t = 0; t < group->token_count; t++) {
			struct answers *answers = &visit_side(visit, group, t)->epochs[epoch];

			answers->seen++;
			answers->correct += outcome->now_correct;
		}
	}
}

static void
visit_mark_touched(const struct visit *visit, struct outcome *outcomes)
{
	visit->sides->overall.n = visit->dynamics->count;
	for (size_t i = 0; i < visit->holders->count; i++) {
		uint32_t example = visit->holders->list[i].example;

		if (example == UINT32_MAX)
			continue;
		visit->sides->touched.n += !outcomes[example].touched;
		outcomes[example].touched = true;
	}
}

static void
visit_add_epochs(const struct visit *visit)
{
	const struct dynamics *dynamics = visit->dynamics;
	CLEANUP_ARRAY struct outcome *outcomes = memory_array(dynamics->count, sizeof(*outcomes), "epochs");
	struct progress progress;
	struct trace trace;

	visit_mark_touched(visit, outcomes);
	must(trace_init(&trace, dynamics, store_snapshot_blocks(dynamics->snapshot) * STORE_CHUNK, &failure));
	progress_begin(&progress, "epochs", dynamics->epoch_count);
	for (size_t e = 0; e < dynamics->epoch_count; e++) {
		must(trace_all(&trace, e + 1, &failure));
		visit_add_examples(visit, &trace, e, outcomes);
		visit_add_epoch(visit, e, outcomes);
		progress_show(&progress, e + 1);
	}
	progress_clear(&progress);
	trace_free(&trace);
}

void
sides_make(struct sides *sides, const struct holders *holders, const struct ranked_token *tokens, size_t token_count,
           const struct dynamics *dynamics)
{
	const struct visit visit = {sides, holders, tokens, dynamics};
	CLEANUP_FREE uint64_t *counts = memory_new(token_count * SIDES, sizeof(*counts));

	*sides = (struct sides){.token_count = token_count, .epoch_count = dynamics->epoch_count};
	sides_make_room(sides, dynamics->column_count);
	visit_count_sides(&visit);
	for (size_t c = 0; c < dynamics->column_count; c++)
		if (dynamics->columns[c].values) /* `epochs` has none */
			visit_average(&visit, c, counts);
	visit_add_epochs(&visit);
}
