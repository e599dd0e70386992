/* noise_scored.c: ranks scored examples by suspicion, and prints as many as were asked for, for the actions of
 * `portolan noise`. */
#include "noise_scored.h"

#include "base/message.h"
#include "base/number.h"
#include "die/die.h"
#include "die/memory.h"
#include "output/table.h"
#include "selection/selection.h"

#include <math.h>

void
noise_scored_free(struct noise_scored *scored)
{
	array_free(scored->scores);
	array_free(scored->called);
	dynamics_free(&scored->dynamics);
	*scored = (struct noise_scored){.set_aside = 0};
}

void
noise_scored_load(const struct noise_request *request, const struct dynamics_request *wanted,
                  struct noise_scored *scored)
{
	must(dynamics_load(&scored->dynamics, &request->common.query, request->run, wanted, &failure));
	scored->scores = memory_array(scored->dynamics.ids.rows, sizeof(*scored->scores), "scores");
	scored->called = memory_array(scored->dynamics.ids.rows, sizeof(*scored->called), "marks");
}

/* Ranks all examples, those without score last. Returns the ranked dense indices, with room for as many again behind
 * them. */
static uint32_t *
scored_rank(const struct noise_scored *scored, enum measure measure, struct noise_scored_counts *counts)
{
	const struct dynamics *dynamics = &scored->dynamics;
	size_t n = dynamics->count, rest = 0;
	CLEANUP_ARRAY struct sort_item *items = memory_array(2 * n, sizeof(*items), "examples to rank");
	uint32_t *ranked = memory_array(2 * n, sizeof(*ranked), "ranked examples"), *others = ranked + n;

	selection_by_values(dynamics_measure(dynamics, measure),
	                    measure == MEASURE_LOSS || measure == MEASURE_TASK_LOSS, dynamics->order, n, items, ranked);
	selection_by_values(scored->scores, true, ranked, n, items, ranked); /* of equal scores, the measure decides */
	*counts = (struct noise_scored_counts){.called = 0};
	for (size_t i = 0; i < n; i++) {
		uint32_t row = ranked[i];

		counts->scored += !isnan(scored->scores[row]);
		*(scored->called[row] ? &ranked[counts->called++] : &others[rest++]) = row;
	}
	for (size_t i = 0; i < rest; i++)
		ranked[counts->called + i] = others[i];
	counts->left_out = n - counts->scored - scored->set_aside;
	return ranked;
}

/* How many of the ranked examples were asked for. */
static size_t
scored_size(const struct suspects_size *size, const struct noise_scored *scored, const uint32_t *ranked,
            const struct noise_scored_counts *counts)
{
	size_t shown = size->only_called ? counts->called : counts->scored;

	if (size->has_fraction)
		shown = selection_size(size->fraction, counts->scored);
	if (size->has_count && size->count < shown)
		shown = (size_t)size->count;
	if (size->has_threshold)
		for (shown = 0; shown < counts->scored && scored->scores[ranked[shown]] >= size->threshold;)
			shown++;
	if (size->has_fraction && shown == 0)
		message_warning("%g of %zu examples is none: ask for a larger --fraction", size->fraction,
		                counts->scored);
	return shown;
}

struct noise_scored_counts
noise_scored_print(const struct noise_request *request, const struct noise_scored *scored, enum measure measure)
{
	const struct table_column columns[] = {{"id", TABLE_ID, .of = &scored->dynamics.ids},
	                                       {"score", TABLE_F64, .values = scored->scores}};
	struct noise_scored_counts counts;
	CLEANUP_ARRAY uint32_t *ranked = scored_rank(scored, measure, &counts);
	struct table table = TABLE_OF_ARRAYS(columns, scored_size(&request->size, scored, ranked, &counts));

	table.order = ranked;
	table.excerpt = request->size.has_count ? NULL : "examples";
	must(table_write(&table, request->common.output, (enum table_format)request->format, &failure));
	return counts;
}

int
noise_scored_end(const struct noise_request *request, const struct noise_scored *scored,
                 const struct noise_scored_counts *counts, const char *why)
{
	bool strict = request->common.strict;
	int status;

	if (counts->left_out > 0)
		message_warning("left out, as %s: %s examples", why, NUMBER_GROUPED(counts->left_out));
	status = dynamics_report(&scored->dynamics, strict);
	return status == STATUS_DONE && counts->left_out > 0 && strict ? STATUS_INCOMPLETE : status;
}
