/* never_learned.c: gives an example that was never learned the number of forgetting events that a tool has for it. */
#include "never_learned.h"

#include "dynamics.h"

#include <math.h>

const char *const never_learned_names[] = {"flag", "1000", "epochs", "infinity", "0", NULL};

double
never_learned_number(enum never_learned convention, size_t epochs)
{
	switch (convention) {
	case NEVER_LEARNED_1000:
		return 1000;
	case NEVER_LEARNED_EPOCHS:
		return (double)epochs;
	case NEVER_LEARNED_INFINITY:
		return INFINITY;
	default:
		return NAN; /* an example that was never right was never forgotten either: 0 */
	}
}

void
never_learned_mark(struct dynamics *part, double number)
{
	const struct dynamics_column *never = dynamics_measure_column(part, MEASURE_NEVER_LEARNED);
	const struct dynamics_column *events = dynamics_measure_column(part, MEASURE_FORGETTING_EVENTS);

	if (isnan(number))
		return;
	for (size_t i = 0; i < part->ids.rows; i++)
		if (never->values[i] > 0)
			events->values[i] = number;
}

void
never_learned_count(struct dynamics *dynamics, enum never_learned convention)
{
	struct dynamics_column *events = dynamics_measure_column(dynamics, MEASURE_FORGETTING_EVENTS);
	double number = never_learned_number(convention, dynamics->epoch_count);

	if (!events || !dynamics_measure_column(dynamics, MEASURE_NEVER_LEARNED))
		return;
	dynamics->never_learned = convention;
	if (isinf(number))
		events->integer = false;
	never_learned_mark(dynamics, number);
}
