/* write_markdown.c: writes the document of `portolan report` as Markdown, as GitHub and GitLab read it. */
#include "writers.h"

#include "base/cleanup.h"

#include <string.h>

/* Puts a text so that no character of it means anything in Markdown or HTML. */
static void
markdown_put(struct output *output, const char *text)
{
	for (; *text; text++) {
		if (*text == '<' || *text == '>' || *text == '&')
			output_text(output, *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : "&amp;");
		else if (strchr("\\`*_[]|#~$!", *text))
			output_printf(output, "\\%c", *text);
		else
			output_bytes(output, text, 1);
	}
}

static void
markdown_put_from(struct output *output, const json_t *block)
{
	json_int_t number = json_integer_value(json_object_get(block, "from"));

	if (number > 0)
		output_printf(output, " [\\[%lld\\]](#what-was-done)", (long long)number);
}

static void
markdown_put_command(struct output *output, const char *command, const char *indent)
{
	output_printf(output, "%s```sh\n%s%s\n%s```\n", indent, indent, command, indent);
}

static void
markdown_put_table(struct output *output, const json_t *table)
{
	const json_t *columns = json_object_get(table, "columns"), *column, *row;
	size_t c, r;

	markdown_put(output, page_string(table, "caption"));
	markdown_put_from(output, table);
	output_text(output, "\n\n|");
	json_array_foreach (columns, c, column) {
		output_text(output, " ");
		markdown_put(output, page_string(column, "heading"));
		output_text(output, " |");
	}
	output_text(output, "\n|");
	json_array_foreach (columns, c, column)
		output_text(output, page_is_number(table, column) ? " ---: |" : " --- |");
	json_array_foreach (json_object_get(table, "rows"), r, row) {
		output_text(output, "\n|");
		json_array_foreach (columns, c, column) {
			CLEANUP_FREE char *cell =
			        page_cell(json_object_get(row, page_string(column, "name")), page_string(column, "as"));

			output_text(output, " ");
			markdown_put(output, cell);
			output_text(output, " |");
		}
	}
	output_text(output, "\n\n");
}

static void
markdown_put_block(struct output *output, const json_t *block, const char *picture)
{
	const char *kind = page_string(block, "kind");

	if (strcmp(kind, "table") == 0) {
		markdown_put_table(output, block);
	} else if (strcmp(kind, "picture") == 0) {
		output_text(output, "![");
		markdown_put(output, page_string(block, "alt"));
		output_printf(output, "](<%s>)\n\n", picture);
		markdown_put(output, page_string(block, "alt"));
		markdown_put_from(output, block);
		output_text(output, "\n\n");
	} else {
		output_text(output, strcmp(kind, "warning") == 0 ? "> **Warning:** " : "");
		markdown_put(output, page_string(block, "text"));
		markdown_put_from(output, block);
		output_text(output, "\n\n");
	}
}

static void
markdown_put_commands(struct output *output, const json_t *commands)
{
	const json_t *command;
	size_t i;

	json_array_foreach (commands, i, command) {
		output_printf(output, "%zu. ", i + 1);
		markdown_put(output, page_string(command, "says"));
		output_text(output, "\n\n");
		markdown_put_command(output, page_string(command, "command"), "    ");
		output_text(output, "\n");
	}
}

void
page_write_markdown(const struct page *page, struct output *output, const char *picture)
{
	const json_t *step, *section, *block;
	size_t i, b;

	output_text(output, "# ");
	markdown_put(output, page_string(page->root, "title"));
	output_text(output, "\n\n");
	markdown_put(output, page_string(page->root, "about"));
	output_text(output, "\n\n## What to do next\n\n");
	json_array_foreach (json_object_get(page->root, "next"), i, step) {
		output_printf(output, "%zu. ", i + 1);
		markdown_put(output, page_string(step, "text"));
		markdown_put_from(output, step);
		output_text(output, "\n\n");
		markdown_put_command(output, page_string(step, "command"), "    ");
		output_text(output, "\n");
	}
	json_array_foreach (json_object_get(page->root, "sections"), i, section) {
		output_printf(output, "## %s\n\n", page_string(section, "title"));
		json_array_foreach (json_object_get(section, "blocks"), b, block)
			markdown_put_block(output, block, picture);
		if (strcmp(page_string(section, "id"), "done") == 0)
			markdown_put_commands(output, json_object_get(page->root, "commands"));
	}
}
