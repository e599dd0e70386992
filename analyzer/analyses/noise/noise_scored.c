/* noise_scored.c: see noise_scored.h. */
#include "noise_scored.h"

#include "base/arrays.h"
#include "base/message.h"
#include "base/number.h"

#include <portolan/error.h>

#include <math.h>

void
noise_scored_free(struct noise_scored *scored)
{
	array_free(scored->scores);
	array_free(scored->called);
	dynamics_free(&scored->dynamics);
}

int
noise_scored_load(const struct noise_request *request, const struct dynamics_request *wanted,
                  struct noise_scored *scored, struct portolan_error *error)
{
	int code = dynamics_load(&scored->dynamics, &request->common.query, request->run, wanted, error);

	if (code < 0)
		return code;
	scored->scores = array_new(scored->dynamics.ids.rows, sizeof(*scored->scores), "scores", error);
	scored->called = array_new(scored->dynamics.ids.rows, sizeof(*scored->called), "marks", error);
	scored->set_aside = 0;
	if (scored->scores && scored->called)
		return 0;
	noise_scored_free(scored);
	return PORTOLAN_E_MEMORY;
}

void
noise_scored_call_above_half(struct noise_scored *scored)
{
	for (size_t i = 0; i < scored->dynamics.count; i++) {
		uint32_t row = scored->dynamics.order[i];

		scored->called[row] = scored->scores[row] > 0.5;
	}
}

int
noise_scored_print(const struct noise_request *request, const struct noise_scored *scored, enum measure measure,
                   struct noise_scored_counts *counts, struct portolan_error *error)
{
	const struct dynamics *dynamics = &scored->dynamics;
	struct suspects suspects;
	int code = suspects_rank(dynamics, scored->scores, dynamics_measure(dynamics, measure), scored->called,
	                         &request->size, &suspects, error);

	if (code < 0)
		return code;
	if (request->size.has_fraction && suspects.shown == 0)
		message_warning("%g of %zu examples is none: ask for a larger --fraction", request->size.fraction,
		                suspects.scored);
	code = suspects_write(&suspects, dynamics, scored->scores, request->common.output,
	                      (enum rows_format)request->format, error);
	*counts = (struct noise_scored_counts){suspects.called, suspects.scored,
	                                       dynamics->count - suspects.scored - scored->set_aside};
	suspects_free(&suspects);
	return code;
}

int
noise_scored_end(const struct noise_request *request, const struct noise_scored *scored,
                 const struct noise_scored_counts *counts, const char *why)
{
	bool strict = request->common.strict;
	int code;

	if (counts->left_out > 0)
		message_warning("left out, as %s: %s examples", why, NUMBER_GROUPED(counts->left_out));
	code = dynamics_report(&scored->dynamics, strict);
	return code == STATUS_DONE && counts->left_out > 0 && strict ? STATUS_INCOMPLETE : code;
}
