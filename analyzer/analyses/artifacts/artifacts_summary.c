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
accuracy_of(const struct side *side, size_t epoch)
{
	return (struct accuracy){side->seen[epoch], side->correct[epoch]};
}

static void
take_parts(const struct sides *sides, struct accuracy parts[PARTS])
{
	size_t last = sides->epoch_count - 1;

	parts[PART_OVERALL] = accuracy_of(&sides->overall, last);
	parts[PART_TOUCHED] = accuracy_of(&sides->touched, last);
	parts[PART_REST].seen = parts[PART_OVERALL].seen - parts[PART_TOUCHED].seen;
	parts[PART_REST].correct = parts[PART_OVERALL].correct - parts[PART_TOUCHED].correct;
	for (int side = 0; side < SIDES; side++) {
		struct accuracy *sum = &parts[side == SIDE_MAJORITY ? PART_MAJORITY : PART_MINORITY];

		*sum = (struct accuracy){0};
		for (size_t t = 0; t < sides->token_count; t++) {
			struct accuracy one = accuracy_of(&sides->tokens[t][side], last);

			sum->seen += one.seen;
			sum->correct += one.correct;
		}
	}
}

static void
add_accuracy(struct rows *rows, const struct accuracy *accuracy)
{
	rows_whole(rows, accuracy->seen);
	rows_real(rows, accuracy->seen ? (double)accuracy->correct / (double)accuracy->seen : (double)NAN);
}

int
artifacts_summary_write(const struct artifacts *artifacts, struct portolan_error *error)
{
	static const struct rows_column columns[] = {{"part", ROWS_TEXT},
	                                             {"n", ROWS_WHOLE},
	                                             {"accuracy", ROWS_REAL},
	                                             {"after_n", ROWS_WHOLE},
	                                             {"after_accuracy", ROWS_REAL}};
	struct accuracy before[PARTS], after[PARTS];
	struct rows rows;
	int code = rows_open(&rows, artifacts->summary, (enum rows_format)artifacts->summary_format, columns,
	                     artifacts->after ? 5 : 3, error);

	if (code < 0)
		return code;
	take_parts(&artifacts->sides, before);
	if (artifacts->after)
		take_parts(&artifacts->after_sides, after);
	for (int part = 0; part < PARTS; part++) {
		rows_text(&rows, names[part]);
		add_accuracy(&rows, &before[part]);
		if (artifacts->after)
			add_accuracy(&rows, &after[part]);
	}
	return rows_close(&rows, error);
}
