/*
 * examples.c: writes an example as JSON, with its measures, its texts and its story (what was observed of it in each
 * epoch), for the live page and portolan show. Also finds the examples of a view that hold a text, for the page's
 * table.
 */
#include "examples.h"

#include "base/number.h"

#include <portolan/clock.h>

#include <math.h>
#include <string.h>

#define SEARCH_MS 500 /* a longer search is broken off, and says how many examples it has searched */

void
examples_report_id(struct report *report, const char *key, const struct ids *ids, uint32_t index)
{
	size_t length;
	const char *text;

	if (ids->kind == STORE_ID_STR) {
		text = ids_text(ids, index, &length);
		report_bytes(report, key, text, length);
	} else {
		report_whole(report, key, ids_integer(ids, index));
	}
}

static void
examples_report_measures(struct report *report, const struct dynamics *dynamics, uint32_t index)
{
	report_begin(report, "measures");
	for (size_t c = 0; c < dynamics->column_count; c++)
		report_real(report, dynamics->columns[c].name, dynamics->columns[c].values[index]);
	report_end(report);
}

void
examples_report_correct(struct report *report, const struct stories *stories, size_t i)
{
	report_begin_list(report, "correct");
	for (size_t e = i * stories->epochs; e < (i + 1) * stories->epochs; e++) {
		if (isnan(stories->gold_prob[e]))
			report_null(report, NULL);
		else
			report_flag(report, NULL, stories->correct[e]);
	}
	report_end(report);
}

static void
examples_report_story(struct report *report, const struct stories *stories, size_t i, bool of_losses)
{
	const float *gold_prob = stories->gold_prob + i * stories->epochs;

	report_begin_list(report, of_losses ? "task_loss" : "gold_prob");
	for (size_t e = 0; e < stories->epochs; e++)
		report_real(report, NULL, (double)gold_prob[e]);
	report_end(report);
	if (!of_losses)
		examples_report_correct(report, stories, i);
}

void
examples_report_members(struct report *report, const struct dynamics *dynamics, const struct texts *texts,
                        uint32_t index, const struct stories *stories, size_t i)
{
	size_t record = texts ? texts_find(texts, &dynamics->ids, index) : TEXTS_NONE;
	int32_t gold = dynamics->gold ? dynamics->gold[index] : -1;

	examples_report_id(report, "id", &dynamics->ids, index);
	if (gold < 0)
		report_null(report, "gold");
	else
		report_whole(report, "gold", (uint64_t)gold);
	report_text(report, "label", dynamics_label(dynamics, index));
	examples_report_measures(report, dynamics, index);
	if (record == TEXTS_NONE)
		report_null(report, "text");
	else
		texts_report(report, "text", texts, record);
	examples_report_story(report, stories, i, dynamics->info->of_losses);
}

void
examples_report(struct report *report, const struct view *view, const struct texts *texts, const struct media *media,
                uint32_t place, const struct stories *stories, size_t i)
{
	const struct dynamics *dynamics = &view->dynamics;

	report_begin(report, NULL);
	report_whole(report, "place", place);
	examples_report_members(report, dynamics, texts, dynamics->order[place], stories, i);
	if (media)
		report_text(report, "media", media_kind(media, &dynamics->ids, dynamics->order[place]));
	report_end(report);
}

bool
examples_id_contains(const struct ids *ids, uint32_t index, const char *part)
{
	char id[512], digits[NUMBER_ROOM];
	size_t length;
	const char *text = id_print(ids, index, digits, &length);

	snprintf(id, sizeof(id), "%.*s", (int)length, text);
	return strcasestr(id, part) != NULL;
}

static bool
examples_has_text(const struct view *view, const struct texts *texts, uint32_t index, const char *part)
{
	const struct ids *ids = &view->dynamics.ids;
	size_t record;

	if (examples_id_contains(ids, index, part))
		return true;
	record = texts ? texts_find(texts, ids, index) : TEXTS_NONE;
	return record != TEXTS_NONE && texts_contain(texts, record, part);
}

size_t
examples_search(const struct view *view, const struct texts *texts, const uint32_t *indices, size_t n, const char *part,
                uint32_t *found, size_t *searched)
{
	int64_t until = clock_ms() + SEARCH_MS;
	size_t count = 0, i = 0;

	for (; i < n; i++) {
		if (i % 1024 == 1023 && clock_ms() > until)
			break;
		if (examples_has_text(view, texts, indices[i], part))
			found[count++] = (uint32_t)i;
	}
	*searched = i;
	return count;
}
