/* artifacts_summary.c: portolan artifacts --summary: a run's accuracy on the whole, where the tokens stand and where
 * none does, and on both sides of them; that of a second run beside it (Han Chen, Table 1). */
#include "artifacts.h"

#include <portolan/error.h>

/* Of the last epoch. */
struct accuracy {
	uint64_t seen, correct;
};

enum part { PART_OVERALL, PART_TOUCHED, PART_REST, PART_MAJORITY, PART_MINORITY, PARTS };
static const char *const names[PARTS] = {"overall", "touched", "rest", "majority", "minority"};

static struct accuracy
summary_accuracy(const struct side *side, size_t epoch)
{
	return (struct accuracy){side->seen[epoch], side->correct[epoch]};
}

static void
summary_take_parts(const struct sides *sides, struct accuracy parts[PARTS])
{
	size_t last = sides->epoch_count - 1;

	parts[PART_OVERALL] = summary_accuracy(&sides->overall, last);
	parts[PART_TOUCHED] = summary_accuracy(&sides->touched, last);
	parts[PART_REST].seen = parts[PART_OVERALL].seen - parts[PART_TOUCHED].seen;
	parts[PART_REST].correct = parts[PART_OVERALL].correct - parts[PART_TOUCHED].correct;
	for (int side = 0; side < SIDES; side++) {
		struct accuracy *sum = &parts[side == SIDE_MAJORITY ? PART_MAJORITY : PART_MINORITY];

		*sum = (struct accuracy){0};
		for (size_t t = 0; t < sides->token_count; t++) {
			struct accuracy one = summary_accuracy(&sides->tokens[t][side], last);

			sum->seen += one.seen;
			sum->correct += one.correct;
		}
	}
}

static double
summary_share(struct accuracy accuracy)
{
	return accuracy.seen ? (double)accuracy.correct / (double)accuracy.seen : (double)NAN;
}

int
artifacts_summary_write(const struct artifacts *artifacts, struct portolan_error *error)
{
	struct accuracy before[PARTS], after[PARTS] = {{0}};
	double share[PARTS], share_after[PARTS];
	const struct table_column columns[] = {
	        {"part", TABLE_TEXT, .values = names},
	        {"n", TABLE_U64, .values = &before[0].seen, .stride = sizeof(before[0])},
	        {"accuracy", TABLE_F64, .values = share},
	        {"after_n", TABLE_U64, .values = &after[0].seen, .stride = sizeof(after[0])},
	        {"after_accuracy", TABLE_F64, .values = share_after}};
	struct table table = TABLE_OF_ARRAYS(columns, PARTS);

	summary_take_parts(&artifacts->sides, before);
	if (artifacts->after)
		summary_take_parts(&artifacts->after_sides, after);
	else
		table.column_count = 3;
	for (int part = 0; part < PARTS; part++) {
		share[part] = summary_share(before[part]);
		share_after[part] = summary_share(after[part]);
	}
	return table_write(&table, artifacts->summary, (enum table_format)artifacts->summary_format, error);
}
