/* write_text.c: writes the document of `portolan report` as text, for a terminal. */
#include "writers.h"

#include "base/terminal.h"
#include "die/memory.h"
#include "output/table_aligned.h"
#include "output/text.h"

#include <stdio.h>
#include <string.h>

#define WIDTH_OF_FILES 100

/* Puts a paragraph, broken at blanks so that no line is wider than `width`. */
static void
text_put_wrapped(struct output *output, const char *text, size_t width, const char *indent)
{
	size_t used = 0;

	while (*text) {
		size_t length = strcspn(text, " "), columns = text_width(text, length);

		if (used > 0 && used + 1 + columns > width) {
			output_text(output, "\n");
			used = 0;
		}
		output_text(output, used > 0 ? " " : indent);
		used += used > 0 ? 1 : strlen(indent);
		output_bytes(output, text, length);
		used += columns;
		text += length;
		text += strspn(text, " ");
	}
	output_text(output, "\n");
}

static void
text_put_from(struct output *output, const json_t *block, const char *text, size_t width, const char *indent)
{
	json_int_t number = json_integer_value(json_object_get(block, "from"));
	CLEANUP_FREE char *line =
	        number > 0 ? memory_text("%s [%lld]", text, (long long)number) : memory_text("%s", text);

	text_put_wrapped(output, line, width, indent);
}

static void
text_put_heading(struct output *output, const char *title)
{
	output_text(output, "\n");
	output_style(output, STYLE_BOLD);
	output_text(output, title);
	output_style(output, STYLE_PLAIN);
	output_text(output, "\n");
}

static void
text_put_table(struct output *output, const json_t *table, size_t width)
{
	const json_t *described = json_object_get(table, "columns"), *rows = json_object_get(table, "rows");
	const size_t count = json_array_size(described), lines = json_array_size(rows);
	/* by line and column; line 0 has the headings */
	const char **cells = memory_new((lines + 1) * count, sizeof(*cells));
	CLEANUP_FREE struct table_column *columns = memory_new(count, sizeof(*columns));

	for (size_t i = 0; i < (lines + 1) * count; i++) {
		const json_t *column = json_array_get(described, i % count), *row = json_array_get(rows, i / count - 1);
		const char *name = page_string(column, "name");

		cells[i] = i < count ? memory_text("%s", name)
		                     : page_cell(json_object_get(row, name), page_string(column, "as"));
	}
	for (size_t c = 0; c < count; c++)
		columns[c] = (struct table_column){cells[c], TABLE_TEXT, c * sizeof(*cells),
		                                   .is_number = page_is_number(table, json_array_get(described, c))};
	text_put_from(output, table, page_string(table, "caption"), width, "");
	table_put_aligned(&(struct table){.columns = columns,
	                                  .column_count = count,
	                                  .rows = lines,
	                                  .structs = cells + count,
	                                  .struct_size = count * sizeof(*cells)},
	                  output, true);
	for (size_t i = 0; i < (lines + 1) * count; i++)
		free((char *)cells[i]);
	free(cells);
}

static void
text_put_block(struct output *output, const json_t *block, size_t width)
{
	const char *kind = page_string(block, "kind");

	if (strcmp(kind, "table") == 0) {
		text_put_table(output, block, width);
	} else if (strcmp(kind, "warning") == 0) {
		CLEANUP_FREE char *text = memory_text("warning: %s", page_string(block, "text"));

		text_put_wrapped(output, text, width, "");
	} else {
		text_put_from(output, block, page_string(block, strcmp(kind, "picture") == 0 ? "alt" : "text"), width,
		              "");
	}
}

/* Puts numbered commands, each with its member `says` before it. A command is never broken: it is to be copied. */
static void
text_put_commands(struct output *output, const json_t *commands, const char *says, size_t width)
{
	const json_t *command;
	size_t i;

	json_array_foreach (commands, i, command) {
		CLEANUP_FREE char *line = memory_text("%zu. %s", i + 1, page_string(command, says));

		text_put_from(output, command, line, width, "");
		output_printf(output, "     %s\n", page_string(command, "command"));
	}
}

void
page_write_text(const struct page *page, struct output *output)
{
	const size_t width = output_is_terminal(output) ? terminal_size().columns : WIDTH_OF_FILES;
	const json_t *section, *block;
	size_t s, b;

	output_style(output, STYLE_BOLD);
	text_put_wrapped(output, page_string(page->root, "title"), width, "");
	output_style(output, STYLE_PLAIN);
	text_put_wrapped(output, page_string(page->root, "about"), width, "");
	text_put_heading(output, "What to do next");
	text_put_commands(output, json_object_get(page->root, "next"), "text", width);
	json_array_foreach (json_object_get(page->root, "sections"), s, section) {
		text_put_heading(output, page_string(section, "title"));
		json_array_foreach (json_object_get(section, "blocks"), b, block)
			text_put_block(output, block, width);
		if (strcmp(page_string(section, "id"), "done") == 0)
			text_put_commands(output, json_object_get(page->root, "commands"), "says", width);
	}
}
