/*
 * show_report.c: for people, a row for each example with one mark for each epoch, then a row for each observation. For
 * programs, an object for each example, as for the live page.
 */
#include "show_report.h"

#include "base/number.h"
#include "base/terminal.h"
#include "output/rows.h"
#include "serve/examples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MARK_BYTES 4 /* of one, with room for its end */

/* The marks for p(gold) from 0 to 1, for correct, not correct, and not observed. */
static const struct marks {
	const char *levels[10];
	size_t level_count;
	const char *correct, *wrong, *absent;
} unicode_marks = {{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, 8, "✓", "✗", "·"},
  plain_marks = {{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, 10, "+", "x", "."};

static const struct marks *
marks_of_terminal(void)
{
	return terminal_is_unicode() ? &unicode_marks : &plain_marks;
}

static const char *
level(const struct marks *marks, float gold_prob)
{
	double scaled = (double)gold_prob * (double)marks->level_count;
	size_t at = scaled > 0 ? (size_t)scaled : 0;

	return marks->levels[at < marks->level_count ? at : marks->level_count - 1];
}

/* Calls `visit` with the place of each example that was observed, in the list's order. */
static void
for_each(const struct chosen *chosen, const struct places_list *list, void (*visit)(void *context, size_t place),
         void *context)
{
	uint8_t *done = calloc(list->count + 1, 1);

	for (size_t i = 0; i < list->ids.rows && done; i++) {
		size_t place = list->place[i];

		if (chosen->found[place] && !done[place])
			visit(context, place);
		done[place] = 1;
	}
	free(done);
}

struct showing {
	const struct chosen *chosen;
	const struct texts *texts;
	const struct marks *marks;
	struct report *report;
	struct rows rows;
	char *line; /* of marks */
};

static const double *
values_of(const struct chosen *chosen, enum measure measure)
{
	for (size_t c = 0; c < chosen->part.column_count; c++)
		if (chosen->part.columns[c].measure == (int)measure)
			return chosen->part.columns[c].values;
	return NULL;
}

static void
add_id(struct rows *rows, const struct ids *ids, size_t place)
{
	char digits[NUMBER_ROOM];
	size_t length;
	const char *text;

	if (ids->kind == STORE_ID_INT) {
		length = number_print_u64(ids->integers[place], digits);
		rows_bytes(rows, digits, length);
		return;
	}
	text = ids_text(ids, (uint32_t)place, &length);
	rows_bytes(rows, text, length);
}

static void
add_gold(struct rows *rows, const struct dynamics *part, size_t place)
{
	const char *label = dynamics_label(part, (uint32_t)place);
	char digits[NUMBER_ROOM];

	if (label)
		rows_text(rows, label);
	else if (part->gold[place] < 0)
		rows_empty(rows);
	else
		rows_bytes(rows, digits, number_print_u64((uint64_t)part->gold[place], digits));
}

/* The line of marks: of p(gold), or of correctness. */
static void
add_marks(struct showing *showing, size_t place, bool of_gold_prob)
{
	const struct stories *stories = &showing->chosen->stories;
	const struct marks *marks = showing->marks;
	char *to = showing->line;

	for (size_t e = 0; e < stories->epochs; e++) {
		float gold_prob = stories->gold_prob[place * stories->epochs + e];
		bool correct = stories->correct[place * stories->epochs + e];

		to = stpcpy(to, isnan(gold_prob) ? marks->absent
		                : of_gold_prob   ? level(marks, gold_prob)
		                : correct        ? marks->correct
		                                 : marks->wrong);
	}
	rows_bytes(&showing->rows, showing->line, (size_t)(to - showing->line));
}

static const enum measure shown[] = {MEASURE_CONFIDENCE, MEASURE_VARIABILITY, MEASURE_CORRECTNESS};
#define SHOWN (sizeof(shown) / sizeof(shown[0]))

static void
add_example(void *context, size_t place)
{
	struct showing *showing = context;
	const struct chosen *chosen = showing->chosen;

	add_id(&showing->rows, &chosen->part.ids, place);
	add_gold(&showing->rows, &chosen->part, place);
	for (size_t m = 0; m < SHOWN; m++)
		rows_real(&showing->rows, values_of(chosen, shown[m])[place]);
	rows_whole(&showing->rows, (uint64_t)values_of(chosen, MEASURE_FORGETTING_EVENTS)[place]);
	add_marks(showing, place, true);
	add_marks(showing, place, false);
}

static void
add_observations(void *context, size_t place)
{
	struct showing *showing = context;
	const struct chosen *chosen = showing->chosen;
	const struct stories *stories = &chosen->stories;
	double first = values_of(chosen, MEASURE_FIRST_LEARNED)[place];

	for (size_t e = 0; e < stories->epochs; e++) {
		float gold_prob = stories->gold_prob[place * stories->epochs + e];

		if (isnan(gold_prob))
			continue;
		add_id(&showing->rows, &chosen->part.ids, place);
		rows_whole(&showing->rows, chosen->part.epochs[e]);
		rows_real(&showing->rows, (double)gold_prob);
		rows_text(&showing->rows, stories->correct[place * stories->epochs + e] ? "yes" : "no");
		rows_text(&showing->rows, chosen_is_forgotten(chosen, place, e)     ? "forgotten"
		                          : first == (double)chosen->part.epochs[e] ? "learned"
		                                                                    : "");
	}
}

static void
add_texts(void *context, size_t place)
{
	struct showing *showing = context;
	const struct ids *ids = &showing->chosen->part.ids;
	size_t record = texts_find(showing->texts, ids, (uint32_t)place), length;
	char id[256];

	if (record == TEXTS_NONE)
		return;
	if (ids->kind == STORE_ID_INT)
		number_print_u64(ids->integers[place], id);
	else
		snprintf(id, sizeof(id), "%.*s", (int)(ids->offsets[place + 1] - ids->offsets[place]),
		         ids_text(ids, (uint32_t)place, &length));
	texts_report(showing->report, id, showing->texts, record);
}

static void
write_text(struct showing *showing, const struct places_list *list)
{
	static const struct rows_column examples[] = {{"id", ROWS_TEXT},          {"gold", ROWS_TEXT},
	                                              {"confidence", ROWS_REAL},  {"variability", ROWS_REAL},
	                                              {"correctness", ROWS_REAL}, {"forgotten", ROWS_WHOLE},
	                                              {"p(gold)", ROWS_TEXT},     {"correct", ROWS_TEXT}};
	static const struct rows_column observations[] = {{"id", ROWS_TEXT},
	                                                  {"epoch", ROWS_WHOLE},
	                                                  {"gold_prob", ROWS_REAL},
	                                                  {"correct", ROWS_TEXT},
	                                                  {"event", ROWS_TEXT}};
	const struct dynamics *part = &showing->chosen->part;
	const struct marks *marks = showing->marks;

	report_line(
	        showing->report,
	        "%s, epochs %u to %u\nmarks, one an epoch: p(gold) %s (0) to %s (1); correct %s, not %s; not observed %s\n",
	        part->info->name, part->epochs[0], part->epochs[part->epoch_count - 1], marks->levels[0],
	        marks->levels[marks->level_count - 1], marks->correct, marks->wrong, marks->absent);
	rows_begin(&showing->rows, showing->report, "examples", examples, ROWS_COUNT(examples));
	for_each(showing->chosen, list, add_example, showing);
	rows_end(&showing->rows);
	report_line(showing->report, "\n");
	rows_begin(&showing->rows, showing->report, "observations", observations, ROWS_COUNT(observations));
	for_each(showing->chosen, list, add_observations, showing);
	rows_end(&showing->rows);
	if (!showing->texts)
		return;
	report_line(showing->report, "\n");
	for_each(showing->chosen, list, add_texts, showing);
}

static void
report_example(void *context, size_t place)
{
	const struct showing *showing = context;
	const struct chosen *chosen = showing->chosen;

	report_begin(showing->report, NULL);
	examples_report_members(showing->report, &chosen->part, showing->texts, (uint32_t)place, &chosen->stories,
	                        place);
	report_begin_list(showing->report, "forgotten");
	for (size_t e = 0; e < chosen->stories.epochs; e++)
		if (chosen_is_forgotten(chosen, place, e))
			report_whole(showing->report, NULL, chosen->part.epochs[e]);
	report_end(showing->report);
	report_end(showing->report);
}

static void
report_unknown(void *report, const struct chosen *chosen, const struct places_list *list)
{
	report_begin_list(report, "unknown");
	for (size_t place = 0; place < list->count; place++)
		if (!chosen->found[place])
			examples_report_id(report, NULL, &chosen->part.ids, (uint32_t)place);
	report_end(report);
}

void
show_report(struct report *report, const struct chosen *chosen, const struct places_list *list,
            const struct texts *texts)
{
	struct showing showing = {.chosen = chosen, .texts = texts, .marks = marks_of_terminal(), .report = report};

	report_begin(report, NULL);
	if (report->as_text) {
		showing.line = malloc(chosen->stories.epochs * MARK_BYTES + 1);
		if (showing.line)
			write_text(&showing, list);
		else
			output_fail(&report->output);
		free(showing.line);
	} else {
		report_text(report, "run", chosen->part.info->name);
		report_begin_list(report, "epochs");
		for (size_t e = 0; e < chosen->part.epoch_count; e++)
			report_whole(report, NULL, chosen->part.epochs[e]);
		report_end(report);
		report_begin_list(report, "examples");
		for_each(chosen, list, report_example, &showing);
		report_end(report);
		report_unknown(report, chosen, list);
	}
	report_end(report);
}
