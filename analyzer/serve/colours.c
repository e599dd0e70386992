/* colours.c: chooses the colour of each point on the live page, one byte for each example: the rank of its category
 * among those that have colours, or the value of its measure, scaled. Also writes the legend. */
#include "colours.h"

#include "base/cleanup.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Counts the examples of each category. NULL: out of memory. */
static uint64_t *
colours_count(const struct categories *categories)
{
	size_t n = categories->view->dynamics.count;
	uint64_t *counts = calloc(categories->known + 1, sizeof(*counts));

	for (size_t i = 0; counts && i < n; i++)
		if (categories->numbers[i] >= 0)
			counts[categories->numbers[i]]++;
	return counts;
}

/* Chooses the largest categories, in falling order; equal ones by number. */
static void
colours_choose_largest(struct colours *colours, const uint64_t *counts, size_t known)
{
	for (size_t k = 0; k < known; k++) {
		size_t at = colours->entry_count;

		while (at > 0 && colours->entries[at - 1].count < counts[k])
			at--;
		if (at == COLOURS_MAX || counts[k] == 0)
			continue;
		colours->entry_count += colours->entry_count < COLOURS_MAX;
		memmove(&colours->entries[at + 1], &colours->entries[at],
		        (colours->entry_count - 1 - at) * sizeof(*colours->entries));
		colours->entries[at] = (struct colour_entry){.number = k, .count = counts[k]};
	}
}

/* Chooses the categories that were picked, in their order. */
static int
colours_choose_picked(struct colours *colours, const uint64_t *counts, struct portolan_error *error)
{
	const json_t *label;
	size_t i;

	json_array_foreach (colours->picked, i, label) {
		struct colour_entry *entry = &colours->entries[i];
		int code;

		entry->label = json_string_value(label);
		code = categories_find(&colours->axis.categories, entry->label, &entry->number, &entry->value, error);
		if (code < 0)
			return code;
		for (size_t before = 0; before < i; before++)
			if (strcmp(colours->entries[before].label, entry->label) == 0)
				return error_set(error, PORTOLAN_E_INVALID, "pick names '%.100s' twice", entry->label);
		entry->count = entry->number == SIZE_MAX ? 0 : counts[entry->number];
		colours->entry_count = i + 1;
	}
	return 0;
}

static int
colours_by_categories(struct colours *colours, struct portolan_error *error)
{
	const struct categories *categories = &colours->axis.categories;
	CLEANUP_FREE uint64_t *counts = colours_count(categories);
	int code = 0;

	colours->ranks = malloc(categories->known + 1);
	if (!counts || !colours->ranks)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	if (colours->picked)
		code = colours_choose_picked(colours, counts, error);
	else
		colours_choose_largest(colours, counts, categories->known);
	if (code < 0)
		return code;
	memset(colours->ranks, COLOUR_OTHER, categories->known);
	colours->without = colours->others = categories->view->dynamics.count;
	for (size_t k = 0; k < categories->known; k++)
		colours->without -= counts[k];
	colours->others -= colours->without;
	for (size_t r = 0; r < colours->entry_count; r++) {
		colours->others -= colours->entries[r].count;
		if (colours->entries[r].number != SIZE_MAX)
			colours->ranks[colours->entries[r].number] = (unsigned char)r;
	}
	return 0;
}

/* Reads the list of picked labels. */
static int
colours_read_picked(struct colours *colours, const char *text, struct portolan_error *error)
{
	const json_t *label;
	size_t i;

	colours->picked = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_array(colours->picked) || json_array_size(colours->picked) > COLOURS_MAX)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "pick is a JSON list of up to %d labels, [\"a\", \"b\"], not '%.100s'", COLOURS_MAX,
		                 text);
	json_array_foreach (colours->picked, i, label) {
		if (!json_is_string(label))
			return error_set(error, PORTOLAN_E_INVALID, "pick: label %zu of the list is no text", i);
	}
	return 0;
}

static int
colours_by_value(struct colours *colours, const struct view *view, struct texts *texts,
                 const struct colour_choice *choice, struct portolan_error *error)
{
	int code = axis_make_colour(&colours->axis, "colour", view, texts, choice->name, choice->is_log, error);

	if (code < 0)
		return code;
	colours->are_by_value = true;
	if (colours->axis.are_categories)
		return colours_by_categories(colours, error);
	if (colours->picked)
		return error_set(error, PORTOLAN_E_INVALID, "pick is of categories, and '%.100s' holds numbers",
		                 choice->name);
	return 0;
}

int
colours_make(struct colours *colours, const struct view *view, struct texts *texts, const struct colour_choice *choice,
             struct portolan_error *error)
{
	int code = 0;

	*colours = (struct colours){.view = view, .name = choice->name};
	if (choice->picked)
		code = colours_read_picked(colours, choice->picked, error);
	if (code >= 0 && choice->name && strcmp(choice->name, "none") != 0)
		code = colours_by_value(colours, view, texts, choice, error);
	if (code < 0)
		colours_free(colours);
	return code;
}

void
colours_free(struct colours *colours)
{
	free(colours->ranks);
	axis_free(&colours->axis);
	json_decref(colours->picked);
	*colours = (struct colours){0};
}

static void
colours_fill_categories(const struct colours *colours, const uint32_t *places, size_t n, unsigned char *bytes)
{
	const int32_t *numbers = colours->axis.categories.numbers;

	for (size_t i = 0; i < n; i++) {
		int32_t number = numbers[places ? places[i] : i];

		bytes[i] = number < 0 ? COLOUR_NONE : colours->ranks[number];
	}
}

static inline __attribute__((always_inline)) void
colours_fill_numbers(const struct colours *colours, const uint32_t *places, size_t n, unsigned char *bytes, bool is_log)
{
	const struct axis *axis = &colours->axis;
	const uint32_t *order = colours->view->dynamics.order;

	for (size_t i = 0; i < n; i++) {
		double value = axis->values[order[places ? places[i] : i]];

		bytes[i] =
		        (unsigned char)(isnan(value) ? COLOUR_NONE : axis_step(axis, value, COLOUR_NONE - 1, is_log));
	}
}

void
colours_fill(const struct colours *colours, const uint32_t *places, size_t n, unsigned char *bytes)
{
	if (!colours->are_by_value)
		memset(bytes, COLOUR_NONE, n);
	else if (colours->axis.are_categories)
		colours_fill_categories(colours, places, n, bytes);
	else if (colours->axis.is_log)
		colours_fill_numbers(colours, places, n, bytes, true);
	else
		colours_fill_numbers(colours, places, n, bytes, false);
}

/* Counts the examples without a value. */
static uint64_t
colours_count_none(const struct colours *colours)
{
	const struct dynamics *dynamics = &colours->view->dynamics;
	uint64_t count = 0;

	if (colours->axis.are_categories)
		return colours->without;
	for (size_t i = 0; i < dynamics->count; i++)
		count += isnan(colours->axis.values[dynamics->order[i]]) != 0;
	return count;
}

static void
colours_report_entry(struct report *report, const struct colours *colours, const struct colour_entry *entry)
{
	report_begin(report, NULL);
	if (entry->number != SIZE_MAX) {
		categories_report(report, &colours->axis.categories, entry->number);
	} else {
		report_text(report, "label", entry->label);
		report_whole(report, "value", (uint64_t)entry->value); /* only classes can lack examples */
	}
	report_whole(report, "count", entry->count);
	report_end(report);
}

static void
colours_report_values(struct report *report, const struct colours *colours)
{
	report_begin_list(report, "values");
	for (size_t r = 0; r < colours->entry_count; r++)
		colours_report_entry(report, colours, &colours->entries[r]);
	if (colours->others > 0) {
		report_begin(report, NULL);
		report_text(report, "label", "other");
		report_null(report, "value");
		report_whole(report, "count", colours->others);
		report_flag(report, "other", true);
		report_end(report);
	}
	report_end(report);
}

void
colours_report(struct report *report, const char *key, const struct colours *colours)
{
	if (!colours->are_by_value) {
		report_null(report, key);
		return;
	}
	report_begin(report, key);
	report_text(report, "name", colours->name);
	report_text(report, "kind", colours->axis.are_categories ? "category" : "number");
	report_whole(report, "none", colours_count_none(colours));
	if (colours->axis.are_categories) {
		colours_report_values(report, colours);
	} else {
		report_real(report, "low", colours->axis.low);
		report_real(report, "high", colours->axis.high);
	}
	if (colours->axis.is_log) {
		report_text(report, "scale", "log");
		report_real(report, "least", colours->axis.least);
	}
	report_end(report);
}
