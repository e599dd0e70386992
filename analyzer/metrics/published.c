/* published.c: for `portolan metrics`: makes tables that the tools of other projects read (published.h): which columns,
 * under which names, with which values. */
#include "published.h"

#include <math.h>

uint32_t
published_measures(enum published form)
{
	enum measure spread = form == PUBLISHED_CARTOGRAPHY_CI ? MEASURE_VARIABILITY_CI : MEASURE_VARIABILITY;

	if (form == PUBLISHED_NOT)
		return MEASURE_ALL;
	if (form == PUBLISHED_AUM)
		return MEASURE_BIT(MEASURE_AUM);
	return MEASURE_BIT(MEASURE_EPOCHS) | MEASURE_BIT(MEASURE_THRESHOLD_CLOSENESS) |
	       MEASURE_BIT(MEASURE_CONFIDENCE) | MEASURE_BIT(spread) | MEASURE_BIT(MEASURE_CORRECTNESS) |
	       MEASURE_BIT(MEASURE_FORGETTING_EVENTS) | MEASURE_BIT(MEASURE_NEVER_LEARNED);
}

static void
published_add(struct run_table *run_table, const struct dynamics *run, const char *name, enum measure measure)
{
	for (size_t c = 0; c < run->column_count; c++)
		if (run->columns[c].measure == (int)measure)
			run_table_add(run_table, name, TABLE_F64, c)->infinite = true;
}

void
published_describe(struct run_table *run_table, const struct dynamics *run, enum published form)
{
	bool with_ci = form == PUBLISHED_CARTOGRAPHY_CI;

	if (form == PUBLISHED_NOT) {
		run_table_init(run_table, run);
		return;
	}
	run_table_begin(run_table);
	run_table_add(run_table, form == PUBLISHED_AUM ? "sample_id" : "guid", TABLE_ID, 0);
	if (form == PUBLISHED_AUM) {
		published_add(run_table, run, "aum", MEASURE_AUM);
	} else { /* the variability with a confidence interval keeps its name, as in the published program */
		published_add(run_table, run, "index", MEASURE_EPOCHS);
		published_add(run_table, run, "threshold_closeness", MEASURE_THRESHOLD_CLOSENESS);
		published_add(run_table, run, "confidence", MEASURE_CONFIDENCE);
		published_add(run_table, run, "variability", with_ci ? MEASURE_VARIABILITY_CI : MEASURE_VARIABILITY);
		published_add(run_table, run, "correctness", MEASURE_CORRECTNESS);
		published_add(run_table, run, "forgetfulness", MEASURE_FORGETTING_EVENTS);
	}
	run_table_part(run_table, run_table, run);
}

static void
published_count(struct dynamics *part)
{
	double *epochs = dynamics_measure_column(part, MEASURE_EPOCHS)->values;
	double *correctness = dynamics_measure_column(part, MEASURE_CORRECTNESS)->values;

	for (size_t i = 0; i < part->ids.rows; i++) {
		correctness[i] = round(correctness[i] * epochs[i]);
		epochs[i] = (double)(part->first + i);
	}
}

/* Moves the examples that have an aum to the front of the order. Returns how many there are. */
static size_t
published_keep_aum(struct dynamics *part)
{
	const double *aum = dynamics_measure(part, MEASURE_AUM);
	size_t count = 0;

	for (size_t i = 0; i < part->count; i++)
		if (!isnan(aum[part->order[i]]))
			part->order[count++] = part->order[i];
	return count;
}

size_t
published_mark(struct dynamics *part, enum published form)
{
	if (form == PUBLISHED_AUM)
		return published_keep_aum(part);
	if (form != PUBLISHED_NOT)
		published_count(part);
	return part->count;
}
