/* write_html.c: writes the document of `portolan report` as one HTML page: style, map and curves stand in it, and it
 * runs no script. */
#include "writers.h"

#include "die/memory.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

extern const char script_page[]; /* page.css */

#define CURVE_WIDTH 300.0
#define CURVE_HEIGHT 90.0

static void
html_put(struct output *output, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			output_text(output, "&amp;");
			break;
		case '<':
			output_text(output, "&lt;");
			break;
		case '>':
			output_text(output, "&gt;");
			break;
		case '"':
			output_text(output, "&quot;");
			break;
		default:
			output_bytes(output, text, 1);
		}
	}
}

/* Writes text between tags such as "p" or "td class=n". */
static void
html_put_element(struct output *output, const char *tag, const char *text)
{
	output_printf(output, "<%s>", tag);
	html_put(output, text);
	output_printf(output, "</%.*s>", (int)strcspn(tag, " "), tag);
}

/* Writes a command, which is broken between its words alone: browsers would break it after each "-". */
static void
html_put_command(struct output *output, const char *command)
{
	output_text(output, "<pre>");
	while (*command) {
		CLEANUP_FREE char *word = memory_copy(command, strcspn(command, " "));

		html_put_element(output, "span", word);
		command += strlen(word);
		for (; *command == ' '; command++)
			output_text(output, " ");
	}
	output_text(output, "</pre>");
}

/* A link to the command that prints what stands before it. */
static void
html_put_from(struct output *output, const json_t *block)
{
	json_int_t number = json_integer_value(json_object_get(block, "from"));

	if (number > 0)
		output_printf(
		        output,
		        "&nbsp;<a class=from href=\"#command-%lld\" title=\"the command that prints this\">[%lld]</a>",
		        (long long)number, (long long)number);
}

static void
html_put_base64(struct output *output, const unsigned char *bytes, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		uint32_t b = (uint32_t)bytes[i] << 16 | (i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0) |
		             (i + 2 < size ? bytes[i + 2] : 0);
		char four[4] = {digits[b >> 18], digits[b >> 12 & 63], i + 1 < size ? digits[b >> 6 & 63] : '=',
		                i + 2 < size ? digits[b & 63] : '='};

		output_bytes(output, four, sizeof(four));
	}
}

static void
html_put_picture(const struct page *page, struct output *output, const json_t *block)
{
	output_text(output, "<figure><img alt=\"");
	html_put(output, page_string(block, "alt"));
	output_text(output, "\" src=\"data:image/png;base64,");
	html_put_base64(output, (const unsigned char *)page->picture->bytes, page->picture->size);
	output_text(output, "\"><figcaption>");
	html_put(output, page_string(block, "alt"));
	html_put_from(output, block);
	output_text(output, "</figcaption></figure>\n");
}

static double
html_value(const json_t *rows, size_t row, const char *column)
{
	const json_t *value = json_object_get(json_array_get(rows, row), column);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Draws one column of a table against its first one, as an SVG with the least and the most beside it. */
static void
html_put_curve(struct output *output, const json_t *table, const json_t *column)
{
	const json_t *rows = json_object_get(table, "rows");
	const char *name = page_string(column, "name"), *as = page_string(column, "as");
	const char *x_name = page_string(json_array_get(json_object_get(table, "columns"), 0), "name");
	const size_t count = json_array_size(rows);
	const json_t *least = NULL, *most = NULL;
	double x_from = html_value(rows, 0, x_name), x_width = html_value(rows, count - 1, x_name) - x_from, height;
	bool begins = true;

	for (size_t i = 0; i < count; i++) {
		const json_t *value = json_object_get(json_array_get(rows, i), name);

		if (!json_is_number(value))
			continue;
		if (!least || json_number_value(value) < json_number_value(least))
			least = value;
		if (!most || json_number_value(value) > json_number_value(most))
			most = value;
	}
	if (!least)
		return;
	CLEANUP_FREE char *low = page_cell(least, as), *high = page_cell(most, as);

	height = json_number_value(most) - json_number_value(least);
	output_text(output, "<figure class=curve><svg viewBox=\"-4 -4 308 98\" role=\"img\" aria-label=\"");
	html_put(output, page_string(column, "heading"));
	output_printf(output, " by %s, from %s to %s\"><path d=\"", x_name, low, high);
	for (size_t i = 0; i < count; i++) {
		double x = html_value(rows, i, x_name), y = html_value(rows, i, name);

		if (!isnan(y))
			output_printf(output, "%s%.1f %.1f", begins ? "M" : "L",
			              x_width > 0 ? CURVE_WIDTH * (x - x_from) / x_width : CURVE_WIDTH / 2,
			              height > 0 ? CURVE_HEIGHT * (json_number_value(most) - y) / height
			                         : CURVE_HEIGHT / 2);
		begins = isnan(y);
	}
	output_text(output, "\"/></svg><figcaption>");
	html_put(output, page_string(column, "heading"));
	output_printf(output, ": %s to %s</figcaption></figure>", low, high);
}

static void
html_put_curves(struct output *output, const json_t *table)
{
	const json_t *curves = json_object_get(table, "curves"), *columns = json_object_get(table, "columns"), *column;
	size_t i;

	if (!curves || json_array_size(json_object_get(table, "rows")) < 2)
		return;
	output_text(output, "<div class=curves>");
	json_array_foreach (columns, i, column)
		if (json_object_get(curves, page_string(column, "name")))
			html_put_curve(output, table, column);
	output_text(output, "</div>\n");
}

static void
html_put_row(struct output *output, const json_t *table, const json_t *row)
{
	const json_t *column;
	size_t c;

	output_text(output, "<tr>");
	json_array_foreach (json_object_get(table, "columns"), c, column) {
		CLEANUP_FREE char *cell =
		        page_cell(json_object_get(row, page_string(column, "name")), page_string(column, "as"));

		if (page_is_number(table, column))
			html_put_element(output, "td class=n", cell);
		else
			html_put_element(output,
			                 strcmp(page_string(column, "as"), "text") == 0 ? "td class=t dir=auto"
			                                                                : "td dir=auto",
			                 cell);
	}
	output_text(output, "</tr>\n");
}

static void
html_put_table(struct output *output, const json_t *table)
{
	const json_t *column, *row;
	size_t i;

	html_put_curves(output, table);
	output_text(output, "<div class=wide><table><caption>");
	html_put(output, page_string(table, "caption"));
	html_put_from(output, table);
	output_text(output, "</caption>\n<thead><tr>");
	json_array_foreach (json_object_get(table, "columns"), i, column)
		html_put_element(output, page_is_number(table, column) ? "th scope=col class=n" : "th scope=col",
		                 page_string(column, "heading"));
	output_text(output, "</tr></thead>\n<tbody>");
	json_array_foreach (json_object_get(table, "rows"), i, row)
		html_put_row(output, table, row);
	output_text(output, "</tbody></table></div>\n");
}

static void
html_put_block(const struct page *page, struct output *output, const json_t *block)
{
	const char *kind = page_string(block, "kind");

	if (strcmp(kind, "table") == 0) {
		html_put_table(output, block);
	} else if (strcmp(kind, "picture") == 0) {
		html_put_picture(page, output, block);
	} else {
		output_text(output, strcmp(kind, "warning") == 0 ? "<p class=warning>" : "<p>");
		html_put(output, page_string(block, "text"));
		html_put_from(output, block);
		output_text(output, "</p>\n");
	}
}

static void
html_put_next(struct output *output, const json_t *next)
{
	const json_t *step;
	size_t i;

	output_text(output, "<section id=next><h2>What to do next</h2><ol>\n");
	json_array_foreach (next, i, step) {
		output_text(output, "<li><p>");
		html_put(output, page_string(step, "text"));
		html_put_from(output, step);
		output_text(output, "</p>");
		html_put_command(output, page_string(step, "command"));
		output_text(output, "</li>\n");
	}
	output_text(output, "</ol></section>\n");
}

static void
html_put_commands(struct output *output, const json_t *commands)
{
	const json_t *command;
	size_t i;

	output_text(output, "<ol class=commands>\n");
	json_array_foreach (commands, i, command) {
		output_printf(output, "<li id=\"command-%zu\">", i + 1);
		html_put_command(output, page_string(command, "command"));
		html_put_element(output, "p", page_string(command, "says"));
		output_text(output, "</li>\n");
	}
	output_text(output, "</ol>\n");
}

void
page_write_html(const struct page *page, struct output *output)
{
	const json_t *section, *block;
	size_t s, b;

	output_text(output, "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>\n"
	                    "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
	                    "<meta name=color-scheme content=\"light dark\">\n");
	html_put_element(output, "title", page_string(page->root, "title"));
	output_printf(output, "\n<style>\n%s</style></head>\n<body><header>", script_page);
	html_put_element(output, "h1", page_string(page->root, "title"));
	html_put_element(output, "p", page_string(page->root, "about"));
	output_text(output, "</header>\n<main>\n");
	html_put_next(output, json_object_get(page->root, "next"));
	json_array_foreach (json_object_get(page->root, "sections"), s, section) {
		output_printf(output, "<section id=%s>", page_string(section, "id"));
		html_put_element(output, "h2", page_string(section, "title"));
		output_text(output, "\n");
		json_array_foreach (json_object_get(section, "blocks"), b, block)
			html_put_block(page, output, block);
		if (strcmp(page_string(section, "id"), "done") == 0)
			html_put_commands(output, json_object_get(page->root, "commands"));
		output_text(output, "</section>\n");
	}
	output_text(output, "</main></body></html>\n");
}
