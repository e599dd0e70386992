/* by_class.c: for `portolan groups --classes`: prints how the examples of each class were learned: the means of their
 * measures, and how many of them are forgettable. */
#include "die/die.h"
#include "die/memory.h"
#include "groups.h"
#include "output/table.h"
#include "regions/classes.h"

struct by_class_row {
	int32_t gold;
	uint64_t examples, forgettable, never_learned;
	double share, correctness, confidence, variability, share_forgettable;
};

static const enum measure by_class_measures[] = {MEASURE_CORRECTNESS, MEASURE_CONFIDENCE, MEASURE_VARIABILITY,
                                                 MEASURE_FORGETTING_EVENTS, MEASURE_NEVER_LEARNED};
#define MEASURES (sizeof(by_class_measures) / sizeof(by_class_measures[0]))

uint32_t
groups_class_measures(void)
{
	uint32_t bits = 0;

	for (size_t m = 0; m < MEASURES; m++)
		bits |= MEASURE_BIT(by_class_measures[m]);
	return bits;
}

static void
by_class_add(struct by_class_row *row, const double *const values[MEASURES], uint32_t index)
{
	row->examples++;
	row->correctness += values[0][index];
	row->confidence += values[1][index];
	row->variability += values[2][index];
	row->never_learned += values[4][index] > 0;
	row->forgettable += values[3][index] > 0 || values[4][index] > 0;
}

/* Makes means of the sums. */
static void
by_class_divide(struct by_class_row *row, size_t all)
{
	double n = (double)row->examples;

	row->share = n / (double)all;
	row->correctness /= n;
	row->confidence /= n;
	row->variability /= n;
	row->share_forgettable = (double)row->forgettable / n;
}

static void
by_class_write_report(const struct groups *groups, const struct table *table, const struct by_class_row *whole)
{
	const struct dynamics *dynamics = &groups->dynamics;
	struct report report;

	must(report_open(&report, groups->common.output, 2, &failure));
	report_begin(&report, NULL);
	report_text(&report, "run", dynamics->info->name);
	REPORT_WHOLES(&report, {"epochs", dynamics->epoch_count}, {"first_epoch", dynamics->epochs[0]},
	              {"last_epoch", dynamics->epochs[dynamics->epoch_count - 1]}, {"examples", whole->examples},
	              {"forgettable", whole->forgettable}, {"never_learned", whole->never_learned});
	report_real(&report, "share_forgettable", whole->share_forgettable);
	report_real(&report, "correctness", whole->correctness);
	report_real(&report, "confidence", whole->confidence);
	report_real(&report, "variability", whole->variability);
	table_report(&report, "classes", table);
	report_end(&report);
	must(report_close(&report, &failure));
}

void
groups_count_classes(const struct groups *groups)
{
	const struct dynamics *dynamics = &groups->dynamics;
	const struct table_column columns[] = {
	        {"gold", TABLE_I32, offsetof(struct by_class_row, gold), .is_name = true},
	        {"label", TABLE_LABEL, offsetof(struct by_class_row, gold), .of = dynamics->snapshot},
	        {"examples", TABLE_U64, offsetof(struct by_class_row, examples)},
	        {"share", TABLE_F64, offsetof(struct by_class_row, share)},
	        {"correctness", TABLE_F64, offsetof(struct by_class_row, correctness)},
	        {"confidence", TABLE_F64, offsetof(struct by_class_row, confidence)},
	        {"variability", TABLE_F64, offsetof(struct by_class_row, variability)},
	        {"forgettable", TABLE_U64, offsetof(struct by_class_row, forgettable)},
	        {"share_forgettable", TABLE_F64, offsetof(struct by_class_row, share_forgettable)},
	        {"never_learned", TABLE_U64, offsetof(struct by_class_row, never_learned)}};
	CLEANUP(classes_free) struct classes classes = {0};
	CLEANUP_FREE struct by_class_row *rows = NULL;
	const double *values[MEASURES];
	struct by_class_row whole = {.gold = -1};

	for (size_t m = 0; m < MEASURES; m++) {
		values[m] = dynamics_measure(dynamics, by_class_measures[m]);
		if (!values[m])
			must(dynamics_no_measure(dynamics, "--classes", measure_infos[by_class_measures[m]].name,
			                         &failure));
	}
	must(classes_make(&classes, dynamics->gold, dynamics->order, dynamics->count, &failure));
	rows = memory_new(classes.count, sizeof(*rows));
	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t index = dynamics->order[i];
		struct by_class_row *row = &rows[classes_find(&classes, dynamics->gold[index])];

		row->gold = dynamics->gold[index];
		by_class_add(row, values, index);
		by_class_add(&whole, values, index);
	}
	for (size_t c = 0; c < classes.count; c++)
		by_class_divide(&rows[c], dynamics->count);
	by_class_divide(&whole, dynamics->count);
	if (groups->common.json)
		by_class_write_report(groups, &TABLE_OF(columns, rows, classes.count), &whole);
	else
		must(table_write(&TABLE_OF(columns, rows, classes.count), groups->common.output,
		                 (enum table_format)groups->format, &failure));
}
