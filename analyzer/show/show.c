/*
 * show.c: portolan show: tells the user the story of some examples of a run: what was observed of them in each epoch.
 * People get a row for each example, with one mark for each epoch, and then a row for each observation. Programs get a
 * JSON object for each example, the same as the live page gets.
 */
#include "base/message.h"
#include "base/number.h"
#include "base/terminal.h"
#include "chosen.h"
#include "die/die.h"
#include "die/memory.h"
#include "files/kept_texts.h"
#include "options/format.h"
#include "output/table.h"
#include "serve/examples.h"

#include <math.h>
#include <string.h>

#define TEXTS_MAX 16

struct show_options {
	struct common_options common;
	const char *ids, *data, *id_field;
	bool glue;
	const char *texts[TEXTS_MAX];
	size_t text_count;
};

static int
show_take_texts(void *context, char *text)
{
	struct show_options *request = context;

	request->text_count = options_split(text, TEXTS_MAX, request->texts);
	if (request->text_count > 0)
		return 0;
	return options_wrong(&request->common, "--text takes names of fields, with commas between them, %d at most",
	                     TEXTS_MAX);
}

static int
show_check(void *context, struct portolan_error *error)
{
	struct show_options *request = context;

	(void)error;
	if (request->common.operand_count < 2 && !request->ids)
		return options_wrong(&request->common,
		                     "which examples? Name ids after the run, or a file of them: --ids FILE");
	return format_choose_json(&request->common, "text");
}

#define MARK_BYTES 4 /* bytes of the longest mark, with the NUL after it */

/* The marks that show an epoch: for p(gold), by level from 0 to 1; for correct, not correct, and not observed. */
static const struct marks {
	const char *levels[10];
	size_t level_count;
	const char *correct, *wrong, *absent;
} unicode_marks = {{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, 8, "✓", "✗", "·"},
  plain_marks = {{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, 10, "+", "x", "."};

/* The lowest and the highest value of the marks: of p(gold) 0 and 1, of losses those of the chosen examples. */
struct scale {
	double low, high;
};

static struct scale
show_scale(const struct chosen *chosen, const uint32_t *order, size_t count)
{
	const struct stories *stories = &chosen->stories;
	struct scale scale = {INFINITY, -INFINITY};

	if (!chosen->part.info->of_losses)
		return (struct scale){0, 1};
	for (size_t i = 0; i < count * stories->epochs; i++) {
		double loss =
		        (double)stories->gold_prob[order[i / stories->epochs] * stories->epochs + i % stories->epochs];

		scale.low = fmin(scale.low, loss); /* NaN, not observed, is passed over */
		scale.high = fmax(scale.high, loss);
	}
	return scale;
}

static const char *
show_level(const struct marks *marks, const struct scale *scale, float value)
{
	double range = scale->high > scale->low ? scale->high - scale->low : 1;
	double scaled = ((double)value - scale->low) / range * (double)marks->level_count;
	size_t at = scaled > 0 ? (size_t)scaled : 0;

	return marks->levels[at < marks->level_count ? at : marks->level_count - 1];
}

/* The places of the observed examples, in the order of the list, without repeats. *count: how many there are. */
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

/* The name of an example's gold label, or else its number, as text; the caller's to free(). NULL: the label is not
 * known. */
static char *
show_label(const struct dynamics *part, uint32_t place)
{
	const char *label = dynamics_label(part, place);

	if (part->gold[place] < 0 && !label)
		return NULL;
	return label ? memory_text("%s", label) : memory_text("%d", part->gold[place]);
}

/* A text with one mark for each epoch, for p(gold) or the loss on this scale, or else for correctness; the caller's to
 * free(). */
static char *
show_line(const struct stories *stories, const struct marks *marks, size_t place, const struct scale *scale)
{
	char *line = memory_new(stories->epochs * MARK_BYTES + 1, 1), *to = line;

	for (size_t e = 0; e < stories->epochs; e++) {
		float gold_prob = stories->gold_prob[place * stories->epochs + e];
		bool correct = stories->correct[place * stories->epochs + e];

		to = stpcpy(to, isnan(gold_prob) ? marks->absent
		                : scale          ? show_level(marks, scale, gold_prob)
		                : correct        ? marks->correct
		                                 : marks->wrong);
	}
	return line;
}

struct example_row {
	uint32_t place;
	char *gold, *levels, *correctness;
	double mean, variability, correct, speed;
	uint64_t forgotten;
};

static void
show_write_examples(struct report *report, const struct chosen *chosen, const struct marks *marks,
                    const struct scale *scale, const uint32_t *order, size_t count)
{
	const struct table_column columns[] = {
	        {"id", TABLE_ID_AT, offsetof(struct example_row, place), .of = &chosen->part.ids},
	        {"gold", TABLE_TEXT, offsetof(struct example_row, gold)},
	        {"confidence", TABLE_F64, offsetof(struct example_row, mean)},
	        {"variability", TABLE_F64, offsetof(struct example_row, variability)},
	        {"correctness", TABLE_F64, offsetof(struct example_row, correct)},
	        {"forgotten", TABLE_U64, offsetof(struct example_row, forgotten)},
	        {"p(gold)", TABLE_TEXT, offsetof(struct example_row, levels)},
	        {"correct", TABLE_TEXT, offsetof(struct example_row, correctness)},
	};
	const struct table_column of_losses[] = {
	        {"id", TABLE_ID_AT, offsetof(struct example_row, place), .of = &chosen->part.ids},
	        {"task_loss", TABLE_F64, offsetof(struct example_row, mean)},
	        {"variability", TABLE_F64, offsetof(struct example_row, variability)},
	        {"learning_speed", TABLE_F64, offsetof(struct example_row, speed)},
	        {"loss", TABLE_TEXT, offsetof(struct example_row, levels)},
	        {"correctness", TABLE_F64, offsetof(struct example_row, correct)},
	        {"forgotten", TABLE_U64, offsetof(struct example_row, forgotten)},
	        {"right", TABLE_TEXT, offsetof(struct example_row, correctness)},
	};
	const bool losses = chosen->part.info->of_losses, knows_right = chosen_knows_right(chosen);
	CLEANUP_FREE struct example_row *rows = memory_new(count, sizeof(*rows));
	struct table table = losses ? TABLE_OF(of_losses, rows, count) : TABLE_OF(columns, rows, count);

	if (!knows_right)
		table.column_count -= 3;

	for (size_t r = 0; r < count; r++) {
		rows[r] = (struct example_row){
		        .place = order[r],
		        .gold = show_label(&chosen->part, order[r]),
		        .levels = show_line(&chosen->stories, marks, order[r], scale),
		        .mean = show_values(chosen, losses ? MEASURE_TASK_LOSS : MEASURE_CONFIDENCE)[order[r]],
		        .variability = show_values(chosen, MEASURE_VARIABILITY)[order[r]],
		};
		if (losses)
			rows[r].speed = show_values(chosen, MEASURE_LEARNING_SPEED)[order[r]];
		if (!knows_right)
			continue;
		rows[r].correctness = show_line(&chosen->stories, marks, order[r], NULL);
		rows[r].correct = show_values(chosen, MEASURE_CORRECTNESS)[order[r]];
		rows[r].forgotten = (uint64_t)show_values(chosen, MEASURE_FORGETTING_EVENTS)[order[r]];
	}
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
	const struct table_column of_losses[] = {
	        columns[0],
	        columns[1],
	        {"loss", TABLE_F32, offsetof(struct observation_row, gold_prob)},
	        {"right", TABLE_TEXT, offsetof(struct observation_row, correct)},
	        columns[4],
	};
	const bool losses = chosen->part.info->of_losses, knows_right = chosen_knows_right(chosen);
	const struct stories *stories = &chosen->stories;
	CLEANUP_FREE struct observation_row *rows = memory_new(count * stories->epochs, sizeof(*rows));
	const double *first = show_values(chosen, MEASURE_FIRST_LEARNED);
	struct table table = losses ? TABLE_OF(of_losses, rows, 0) : TABLE_OF(columns, rows, 0);

	if (!knows_right)
		table.column_count -= 2;
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
			        .event = !knows_right                            ? ""
			                 : chosen_is_forgotten(chosen, place, e) ? "forgotten"
			                 : first[place] == (double)epoch         ? "learned"
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
	const struct marks *marks = terminal_is_unicode() ? &unicode_marks : &plain_marks;
	const struct scale scale = show_scale(chosen, order, count);
	const struct dynamics *part = &chosen->part;
	const char *lowest = marks->levels[0], *highest = marks->levels[marks->level_count - 1];

	report_line(report, "%s, epochs %u to %u\n", part->info->name, part->epochs[0],
	            part->epochs[part->epoch_count - 1]);
	if (part->info->of_losses && chosen_knows_right(chosen))
		report_line(report,
		            "marks, one an epoch: loss %s (%.4g) to %s (%.4g); right (at most %g) %s, not %s; not "
		            "observed %s\n",
		            lowest, scale.low, highest, scale.high, part->loss_threshold, marks->correct, marks->wrong,
		            marks->absent);
	else if (part->info->of_losses)
		report_line(report, "marks, one an epoch: loss %s (%.4g) to %s (%.4g); not observed %s\n", lowest,
		            scale.low, highest, scale.high, marks->absent);
	else
		report_line(report,
		            "marks, one an epoch: p(gold) %s (0) to %s (1); correct %s, not %s; not observed %s\n",
		            lowest, highest, marks->correct, marks->wrong, marks->absent);
	show_write_examples(report, chosen, marks, &scale, order, count);
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
		if (part->info->of_losses && chosen_knows_right(chosen))
			examples_report_correct(report, &chosen->stories, order[i]);
		if (chosen_knows_right(chosen)) {
			report_begin_list(report, "forgotten");
			for (size_t e = 0; e < part->epoch_count; e++)
				if (chosen_is_forgotten(chosen, order[i], e))
					report_whole(report, NULL, part->epochs[e]);
			report_end(report);
		}
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

static void
show_close_texts(struct texts **texts)
{
	texts_free(*texts);
}

/* Is there a file with texts? Of the texts that the run keeps, it is made of these examples alone. */
static bool
show_has_texts(const struct show_options *request, const struct chosen *chosen, const uint32_t *order, size_t count)
{
	const struct common_options *common = &request->common;
	const struct kept_choice choice = {&chosen->part.ids, order, count};
	struct portolan_error error;
	struct store_texts fields;
	int code;

	if (!kept_texts_is(request->data))
		return request->data;
	code = kept_texts_open(common->query.store, common->operands[0], &choice, &fields, &error);
	if (code < 0)
		message_warning("the texts of the run are not shown: %s", error.message);
	return code >= 0 && fields.examples > 0;
}

/* Writes the observed examples in the order of the list, without repeats. */
static void
show_write(const struct show_options *request, const struct chosen *chosen, const struct places_list *list)
{
	CLEANUP(show_close_texts) struct texts *texts = NULL;
	const char *path = request->common.output;
	struct report report;
	size_t count;
	CLEANUP_FREE uint32_t *order = show_order(chosen, list, &count);

	if (show_has_texts(request, chosen, order, count))
		must(texts_open(&texts, request->data, request->id_field, request->glue, request->texts,
		                request->text_count, &failure));
	if (request->common.json)
		must(report_open(&report, path, 2, &failure));
	else
		must(report_open_text(&report, path, &failure));
	report_begin(&report, NULL);
	if (request->common.json) {
		show_write_json(&report, chosen, texts, order, count);
		show_write_unknown(&report, chosen, list);
	} else {
		show_write_text(&report, chosen, texts, order, count);
	}
	report_end(&report);
	must(report_close(&report, &failure));
}

static int
show_run(void *context, struct portolan_error *error)
{
	const struct show_options *request = context;
	const struct common_options *common = &request->common;
	const struct dynamics_request wanted = {.measures = MEASURE_ALL, .gold = true, .user = true, .losses = true};
	CLEANUP(dynamics_free) struct dynamics run = {0};
	CLEANUP(places_free) struct places_list list = {0};
	CLEANUP(chosen_free) struct chosen chosen = {0};
	size_t found = 0;
	int status;

	(void)error;
	must(dynamics_open(&run, &common->query, common->operands[0], &wanted, &failure));
	must(places_read_texts(&list, common->operands + 1, (size_t)common->operand_count - 1, request->ids,
	                       run.info->id_kind, &failure));
	chosen_read(&chosen, &run, &list);
	for (size_t place = 0; place < list.count; place++)
		found += chosen.found[place];
	if (found > 0)
		show_write(request, &chosen, &list);
	status = dynamics_report_run(&run, common->strict);
	if (places_warn(&list, &run, chosen.found) > 0)
		status = STATUS_INCOMPLETE;
	if (found == 0)
		die("run '%s': none of these examples was observed%s", run.info->name,
		    run.range_given ? " in these epochs" : "");
	return status;
}

#define TO(member) .offset = offsetof(struct show_options, member)
static const struct option_spec options[] = {
        {"ids", "FILE", OPTION_INPUT, TO(ids), .often = true},
        {"data", "FILE", OPTION_INPUT, TO(data), .needs = "id-field", .often = true},
        {"id-field", "FIELD", OPTION_TEXT, TO(id_field), .needs = "data", .often = true},
        {"glue", NULL, OPTION_FLAG, TO(glue), .needs = "data", .group = OPTION_GROUP_HOW},
        {"text", "FIELD[,FIELD]", OPTION_TEXT, .take = show_take_texts, .needs = "data", .often = true},
        {0},
};
#undef TO

extern const struct help help_show;

const struct command show_command = {
        .name = "show",
        .operands = "RUN [ID]...",
        .help = &help_show,
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_LOSS_THRESHOLD | COMMON_JSON | COMMON_STRICT,
        .options = options,
        .shows_texts = true,
        .opens_texts = true,
        .operand = "run",
        .least = 1,
        .most = 10000,
        .request_size = sizeof(struct show_options),
        .check = show_check,
        .run = show_run,
};
