/*
 * accuracy_chart.c: draws the picture of `portolan groups --accuracy --plot`: how accurate the model is by class and
 * attribute, as horizontal bars with intervals; of two runs, before and after, two bars side by side.
 *
 * A panel has the rows of one attribute, by class and then by value. The first panel is that of the classes alone, where
 * there is room for it.
 */
#include "accuracy.h"

#include "base/message.h"
#include "base/number.h"
#include "die/memory.h"
#include "plot/chart.h"
#include "plot/script.h"
#include "summary.h"

#include <math.h>
#include <string.h>

#define HALF_BAR 0.2 /* the distance of a bar's middle from the row's, where a row has two */
#define TITLE_ROOM 320

struct accuracy_panel {
	const struct accuracy_row *rows;
	size_t count;
	char title[TITLE_ROOM];
	const char *names[CHART_NAMES_MAX];
	double shares[2][CHART_NAMES_MAX], places[2][CHART_NAMES_MAX];  /* by run */
	double ends[4 * CHART_NAMES_MAX], heights[4 * CHART_NAMES_MAX]; /* of intervals, two numbers each */
};

/* How many rows from here on are about the same attribute. */
static size_t
accuracy_rows_of_attribute(const struct accuracy_row *rows, size_t count)
{
	size_t n = 1;

	while (n < count && rows[n].attribute == rows[0].attribute)
		n++;
	return n;
}

/* The class of a row as text; the caller's to free(). */
static char *
accuracy_name_class(const struct groups *groups, int32_t gold)
{
	const char *label = gold >= 0 ? store_snapshot_label(groups->dynamics.snapshot, (uint64_t)gold) : NULL;

	if (gold < 0)
		return memory_text(gold == SUMMARY_ALL ? "all" : "no label");
	return label ? memory_text("%s", label) : memory_text("%d", gold);
}

/* The name of a row: the class, the value, or both; the caller's to free(). Where both are too long the class is cut,
 * down to half of the room, as it stands beside other values, too; the chart cuts the rest of the value. */
static char *
accuracy_name_row(const struct groups *groups, const struct accuracy_row *row, bool has_classes)
{
	CLEANUP_FREE char *class = accuracy_name_class(groups, row->gold);
	size_t length = strlen(class);
	char *name;

	if (!row->value || !has_classes)
		return memory_text("%s", row->value ? row->value : class);
	name = memory_text("%s, %s", class, row->value);
	while (plot_width(name) > CHART_NAME_LONGEST && plot_width(class) > CHART_NAME_LONGEST / 2) {
		free(name);
		do
			length--;
		while (length > 0 && ((unsigned char)class[length] & 0xc0) == 0x80);
		class[length] = '\0';
		name = memory_text("%s…, %s", class, row->value);
	}
	return name;
}

static void
panel_fill_row(struct accuracy_panel *panel, size_t i, bool is_paired)
{
	const struct proportion *shares[2] = {&panel->rows[i].before, &panel->rows[i].after};
	const size_t runs = is_paired ? 2 : 1;

	for (size_t r = 0; r < runs; r++) {
		size_t at = 2 * (i * runs + r);

		panel->shares[r][i] = shares[r]->share;
		panel->places[r][i] = is_paired ? (r == 0 ? HALF_BAR : -HALF_BAR) - (double)i : -(double)i;
		panel->ends[at] = shares[r]->low;
		panel->ends[at + 1] = shares[r]->high;
		panel->heights[at] = panel->heights[at + 1] = panel->places[r][i];
	}
}

static void
panel_make(struct accuracy_panel *panel, const struct groups *groups, const char *after, struct chart_panel *drawn)
{
	const struct accuracy_row *first = panel->rows;
	const bool has_classes = panel->count > 1 && first->gold != first[panel->count - 1].gold;
	const size_t runs = after ? 2 : 1;
	const char *const names[2] = {groups->dynamics.info->name, after};
	char cut[NUMBER_ROOM];

	for (size_t i = 0; i < panel->count; i++) {
		panel->names[i] = accuracy_name_row(groups, &first[i], has_classes);
		panel_fill_row(panel, i, after);
	}
	if (!first->attribute) {
		snprintf(panel->title, sizeof(panel->title), "by class");
	} else if (isnan(first->cut)) {
		snprintf(panel->title, sizeof(panel->title), "by %s", first->attribute);
	} else {
		snprintf(cut, sizeof(cut), "%.4g", first->cut);
		snprintf(panel->title, sizeof(panel->title), "by %s: high is %s or more", first->attribute, cut);
	}
	*drawn = (struct chart_panel){.title = panel->title,
	                              .x_label = "accuracy",
	                              .y_label = "",
	                              .x_max = 1,
	                              .y_names = panel->names,
	                              .y_name_count = panel->count};
	for (size_t r = 0; r < runs; r++)
		drawn->series[drawn->series_count++] = (struct chart_series){
		        names[r], panel->shares[r], panel->places[r], panel->count, CHART_ACROSS, (unsigned)r};
	drawn->series[drawn->series_count++] =
	        (struct chart_series){"", panel->ends, panel->heights, 2 * runs * panel->count, CHART_PAIRS, 3};
}

/* Chooses what the panels have. The classes alone give way to attributes. Returns how many panels there are, and adds to
 * *left_out the rows without room. */
static size_t
panels_choose(struct accuracy_panel *panels, const struct accuracy_row *rows, size_t count, size_t *left_out)
{
	size_t used = 0, names = 0, attributes = 0, total = 0;

	for (size_t at = 0; at < count; at += accuracy_rows_of_attribute(rows + at, count - at))
		attributes += rows[at].attribute != NULL;
	for (size_t at = 0, n; at < count; at += n) {
		n = accuracy_rows_of_attribute(rows + at, count - at);
		if (!rows[at].attribute && attributes > 0 &&
		    (attributes >= CHART_PANELS_MAX || count > CHART_NAMES_MAX || n == 1))
			continue;
		total += n;
		if (used == CHART_PANELS_MAX || names == CHART_NAMES_MAX)
			continue;
		panels[used] = (struct accuracy_panel){
		        .rows = rows + at, .count = n < CHART_NAMES_MAX - names ? n : CHART_NAMES_MAX - names};
		names += panels[used++].count;
	}
	*left_out = total - names;
	return used;
}

void
accuracy_draw(const struct groups *groups, const struct accuracy_row *rows, size_t count, const char *after)
{
	CLEANUP_FREE struct accuracy_panel *panels = memory_new(CHART_PANELS_MAX, sizeof(*panels));
	char caption[CHART_CAPTION_ROOM];
	CLEANUP_FREE char *title = after ? NULL : memory_text("Accuracy of %s", groups->dynamics.info->name);
	struct chart chart = {.title = after ? "Accuracy, before and after" : title, .caption = caption};
	size_t left_out;

	chart.panel_count = panels_choose(panels, rows, count, &left_out);
	for (size_t p = 0; p < chart.panel_count; p++)
		panel_make(&panels[p], groups, after, &chart.panels[p]);
	snprintf(caption, sizeof(caption),
	         "%s examples, each run at its last epoch; dark lines: %g%% intervals (Wilson)",
	         NUMBER_GROUPED(rows[0].examples), 100 * groups->level);
	chart_draw(&chart, &groups->picture);
	if (left_out > 0)
		message_note("%s has no room for %zu of the rows; --columns draws those of fewer attributes",
		             groups->plot, left_out);
	for (size_t p = 0; p < chart.panel_count; p++)
		for (size_t i = 0; i < panels[p].count; i++)
			free((char *)(uintptr_t)panels[p].names[i]);
}
