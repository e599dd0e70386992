/*
 * show_report.c: writes the stories of examples. People get a row for each example, with one mark for each epoch, and
 * then a row for each observation. Programs get an object for each example, as the live page does.
 */
#include "show_report.h"

#include "base/number.h"
#include "base/terminal.h"
#include "die/memory.h"
#include "output/table.h"
#include "serve/examples.h"

#include <math.h>
#include <string.h>

#define MARK_BYTES 4 /* bytes of the longest mark, with the NUL after it */

/* The marks for p(gold) from 0 to 1, for correct, not correct, and not observed. */
static const struct marks {
	const char *levels[10];
	size_t level_count;
	const char *correct, *wrong, *absent;
} unicode_marks = {{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, 8, "✓", "✗", "·"},
  plain_marks = {{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, 10, "+", "x", "."};

static const struct marks *
show_marks_of_terminal(void)
{
	return terminal_is_unicode() ? &unicode_marks : &plain_marks;
}

static const char *
show_level(const struct marks *marks, float gold_prob)
{
	double scaled = (double)gold_prob * (double)marks->level_count;
	size_t at = scaled > 0 ? (size_t)scaled : 0;

	return marks->levels[at < marks->level_count ? at : marks->level_count - 1];
}

/* The places of the observed examples, in the list's order, each once; *count: how many. */
static uint32_t *
show_order(const struct chosen *chosen, const struct places_list *list, size_t *count)
{
	CLEANUP_FREE uint8_t *is_there = memory_new(list->count + 1, 1);
	uint32_t *order = memory_new(list->count + 1, sizeof(*order));

	*count = 0;
	for (size_t i = 0; i < list->ids.rows; i++) {
		size_t place = list->place[i];

		if (chosen->found[place] && !is_there[place])
			order[(*count)++] = (uint32_t)place;
		is_there[place] = 1;
	}
	return order;
}

static const double *
show_values(const struct chosen *chosen, enum measure measure)
{
	for (size_t c = 0; c < chosen->part.column_count; c++)
		if (chosen->part.columns[c].measure == (int)measure)
			return chosen->part.columns[c].values;
	return NULL;
}

/* The name of the label, or its number; the caller's to free(). NULL: it is not known. */
static char *
show_label(const struct dynamics *part, uint32_t place)
{
	const char *label = dynamics_label(part, place);

	if (part->gold[place] < 0 && !label)
		return NULL;
	return label ? memory_text("%s", label) : memory_text("%d", part->gold[place]);
}

/* A mark for each epoch, of p(gold) or of correctness; the caller's to free(). */
static char *
show_line(const struct stories *stories, const struct marks *marks, size_t place, bool of_gold_prob)
{
	char *line = memory_new(stories->epochs * MARK_BYTES + 1, 1), *to = line;

	for (size_t e = 0; e < stories->epochs; e++) {
		float gold_prob = stories->gold_prob[place * stories->epochs + e];
		bool correct = stories->correct[place * stories->epochs + e];

		to = stpcpy(to, isnan(gold_prob) ? marks->absent
		                : of_gold_prob   ? show_level(marks, gold_prob)
		                : correct        ? marks->correct
		                                 : marks->wrong);
	}
	return line;
}

struct example_row {
	uint32_t place;
	char *gold, *levels, *correctness;
	double confidence, variability, correct;
	uint64_t forgotten;
};

static void
show_write_examples(struct report *report, const struct chosen *chosen, const struct marks *marks,
                    const uint32_t *order, size_t count)
{
	const struct table_column columns[] = {
	        {"id", TABLE_ID_AT, offsetof(struct example_row, place), .of = &chosen->part.ids},
	        {"gold", TABLE_TEXT, offsetof(struct example_row, gold)},
	        {"confidence", TABLE_F64, offsetof(struct example_row, confidence)},
	        {"variability", TABLE_F64, offsetof(struct example_row, variability)},
	        {"correctness", TABLE_F64, offsetof(struct example_row, correct)},
	        {"forgotten", TABLE_U64, offsetof(struct example_row, forgotten)},
	        {"p(gold)", TABLE_TEXT, offsetof(struct example_row, levels)},
	        {"correct", TABLE_TEXT, offsetof(struct example_row, correctness)},
	};
	CLEANUP_FREE struct example_row *rows = memory_new(count, sizeof(*rows));
	struct table table = TABLE_OF(columns, rows, count);

	for (size_t r = 0; r < count; r++)
		rows[r] = (struct example_row){
		        .place = order[r],
		        .gold = show_label(&chosen->part, order[r]),
		        .levels = show_line(&chosen->stories, marks, order[r], true),
		        .correctness = show_line(&chosen->stories, marks, order[r], false),
		        .confidence = show_values(chosen, MEASURE_CONFIDENCE)[order[r]],
		        .variability = show_values(chosen, MEASURE_VARIABILITY)[order[r]],
		        .correct = show_values(chosen, MEASURE_CORRECTNESS)[order[r]],
		        .forgotten = (uint64_t)show_values(chosen, MEASURE_FORGETTING_EVENTS)[order[r]],
		};
	table_report(report, "examples", &table);
	for (size_t r = 0; r < count; r++) {
		free(rows[r].gold);
		free(rows[r].levels);
		free(rows[r].correctness);
	}
}

struct observation_row {
	uint32_t place, epoch;
	float gold_prob;
	const char *correct, *event;
};

static void
show_write_observations(struct report *report, const struct chosen *chosen, const uint32_t *order, size_t count)
{
	const struct table_column columns[] = {
	        {"id", TABLE_ID_AT, offsetof(struct observation_row, place), .of = &chosen->part.ids},
	        {"epoch", TABLE_U32, offsetof(struct observation_row, epoch)},
	        {"gold_prob", TABLE_F32, offsetof(struct observation_row, gold_prob)},
	        {"correct", TABLE_TEXT, offsetof(struct observation_row, correct)},
	        {"event", TABLE_TEXT, offsetof(struct observation_row, event)},
	};
	const struct stories *stories = &chosen->stories;
	CLEANUP_FREE struct observation_row *rows = memory_new(count * stories->epochs, sizeof(*rows));
	const double *first = show_values(chosen, MEASURE_FIRST_LEARNED);
	struct table table = TABLE_OF(columns, rows, 0);

	for (size_t i = 0; i < count * stories->epochs; i++) {
		uint32_t place = order[i / stories->epochs];
		size_t e = i % stories->epochs, at = place * stories->epochs + e;
		uint32_t epoch = chosen->part.epochs[e];

		if (!isnan(stories->gold_prob[at]))
			rows[table.rows++] = (struct observation_row){
			        .place = place,
			        .epoch = epoch,
			        .gold_prob = stories->gold_prob[at],
			        .correct = stories->correct[at] ? "yes" : "no",
			        .event = chosen_is_forgotten(chosen, place, e) ? "forgotten"
			                 : first[place] == (double)epoch       ? "learned"
			                                                       : "",
			};
	}
	table_report(report, "observations", &table);
}

static void
show_write_texts(struct report *report, const struct ids *ids, const struct texts *texts, const uint32_t *order,
                 size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t record = texts_find(texts, ids, order[i]), length;
		char id[256], digits[NUMBER_ROOM];
		const char *text = id_print(ids, order[i], digits, &length);

		snprintf(id, sizeof(id), "%.*s", (int)length, text);
		if (record != TEXTS_NONE)
			texts_report(report, id, texts, record);
	}
}

static void
show_write_text(struct report *report, const struct chosen *chosen, const struct texts *texts, const uint32_t *order,
                size_t count)
{
	const struct marks *marks = show_marks_of_terminal();
	const struct dynamics *part = &chosen->part;

	report_line(
	        report,
	        "%s, epochs %u to %u\nmarks, one an epoch: p(gold) %s (0) to %s (1); correct %s, not %s; not observed %s\n",
	        part->info->name, part->epochs[0], part->epochs[part->epoch_count - 1], marks->levels[0],
	        marks->levels[marks->level_count - 1], marks->correct, marks->wrong, marks->absent);
	show_write_examples(report, chosen, marks, order, count);
	report_line(report, "\n");
	show_write_observations(report, chosen, order, count);
	if (!texts)
		return;
	report_line(report, "\n");
	show_write_texts(report, &part->ids, texts, order, count);
}

static void
show_write_json(struct report *report, const struct chosen *chosen, const struct texts *texts, const uint32_t *order,
                size_t count)
{
	const struct dynamics *part = &chosen->part;

	report_text(report, "run", part->info->name);
	report_begin_list(report, "epochs");
	for (size_t e = 0; e < part->epoch_count; e++)
		report_whole(report, NULL, part->epochs[e]);
	report_end(report);
	report_begin_list(report, "examples");
	for (size_t i = 0; i < count; i++) {
		report_begin(report, NULL);
		examples_report_members(report, part, texts, order[i], &chosen->stories, order[i]);
		report_begin_list(report, "forgotten");
		for (size_t e = 0; e < part->epoch_count; e++)
			if (chosen_is_forgotten(chosen, order[i], e))
				report_whole(report, NULL, part->epochs[e]);
		report_end(report);
		report_end(report);
	}
	report_end(report);
}

static void
show_write_unknown(struct report *report, const struct chosen *chosen, const struct places_list *list)
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
	size_t count;
	CLEANUP_FREE uint32_t *order = show_order(chosen, list, &count);

	report_begin(report, NULL);
	if (report->as_text) {
		show_write_text(report, chosen, texts, order, count);
	} else {
		show_write_json(report, chosen, texts, order, count);
		show_write_unknown(report, chosen, list);
	}
	report_end(report);
}
