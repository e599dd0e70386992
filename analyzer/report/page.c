/* page.c: fills the document of `portolan report` (page.h): sections, sentences with numbers, tables. */
#include "page.h"

#include "base/number.h"
#include "die/memory.h"
#include "output/text.h"

#include <visible.h>

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

char *
page_clean(const char *text, size_t most)
{
	size_t length = strlen(text), used = 0, characters = 0, size;
	CLEANUP_FREE char *shown = memory_new(length * VISIBLE_GROWTH + 1, 1);
	char *clean;

	size = visible_copy(shown, text, length);
	clean = memory_new(size + sizeof("…"), 1);
	for (size_t i = 0; i < size; i++) {
		bool is_blank = shown[i] == '\n' || shown[i] == '\t' || shown[i] == ' ';

		characters += ((unsigned char)shown[i] & 0xc0) != 0x80;
		if (characters > most) {
			memcpy(clean + used, "…", sizeof("…"));
			break;
		}
		if (!is_blank)
			clean[used++] = shown[i];
		else if (used > 0 && clean[used - 1] != ' ')
			clean[used++] = ' ';
	}
	return clean;
}

static json_t *
page_text(const char *text, size_t most)
{
	CLEANUP_FREE char *clean = page_clean(text, most);

	return memory_need(json_string_nocheck(clean));
}

void
page_set_text(json_t *of, const char *key, const char *text)
{
	json_object_set_new(of, key, page_text(text, SIZE_MAX));
}

void
page_set_cell(json_t *row, const char *key, const char *text)
{
	json_object_set_new(row, key, page_text(text, PAGE_CELL_MAX));
}

const char *
page_string(const json_t *of, const char *key)
{
	const char *text = json_string_value(json_object_get(of, key));

	return text ? text : "";
}

bool
page_is_number(const json_t *table, const json_t *column)
{
	const char *name = page_string(column, "name");
	const json_t *row;
	size_t i;

	json_array_foreach (json_object_get(table, "rows"), i, row)
		if (json_is_string(json_object_get(row, name)))
			return false;
	return true;
}

json_t *
page_member(const json_t *answer, const char *path)
{
	json_t *at = (json_t *)answer;

	while (at && *path) {
		size_t length = strcspn(path, ".");
		CLEANUP_FREE char *key = memory_copy(path, length);

		at = json_is_array(at) ? json_array_get(at, strtoul(key, NULL, 10)) : json_object_get(at, key);
		path += length + (path[length] == '.');
	}
	return at;
}

char *
page_cell(const json_t *value, const char *as)
{
	char digits[TEXT_SHORT_ROOM] = "";
	bool is_share = strcmp(as, "share") == 0;

	if (json_is_string(value))
		return memory_text("%s", json_string_value(value));
	if (json_is_boolean(value))
		return memory_text("%s", json_is_true(value) ? "yes" : "no");
	if (!json_is_number(value))
		return memory_text("–");
	if (is_share)
		return memory_text("%.1f%%", 100 * json_number_value(value));
	if (json_is_real(value) && strcmp(as, "whole") == 0)
		return memory_text("%.0f", json_real_value(value));
	if (json_is_real(value))
		text_print_short(json_real_value(value), digits);
	else if (strcmp(as, "name") == 0 || json_integer_value(value) < 0)
		return memory_text("%lld", (long long)json_integer_value(value));
	else
		number_print_grouped((uint64_t)json_integer_value(value), digits);
	return memory_text("%s", digits);
}

/* Puts the members of the answer into the text, in the place of {…}, and notes them in `numbers`. */
static char *
page_fill(const json_t *answer, const char *text, json_t *numbers)
{
	char *filled = NULL;
	size_t size;
	FILE *stream = memory_need(open_memstream(&filled, &size));

	while (*text) {
		size_t plain = strcspn(text, "{"), length = strcspn(text + plain, "}");
		CLEANUP_FREE char *path = NULL, *shown = NULL, *clean = NULL;
		json_t *value;
		char kind;

		fwrite(text, 1, plain, stream);
		text += plain;
		if (!*text)
			break;
		kind = text[length - 1];
		path = memory_copy(text + 1, length - 1 - (kind == '%' || kind == '~'));
		value = page_member(answer, path);
		shown = page_cell(value, kind == '%' ? "share" : kind == '~' ? "whole" : "number");
		clean = page_clean(shown, SIZE_MAX);
		fputs(clean, stream);
		json_object_set(numbers, path, value ? value : json_null());
		text += length + (text[length] == '}');
	}
	fclose(stream);
	return memory_need(filled);
}

static void
page_add_block(struct page *page, json_t *block)
{
	json_array_append_new(json_object_get(page->section, "blocks"), memory_need(block));
}

void
page_begin_section(struct page *page, const char *id, const char *title)
{
	page->section = memory_need(json_pack("{s:s, s:s, s:[]}", "id", id, "title", title, "blocks"));
	json_array_append_new(json_object_get(page->root, "sections"), page->section);
}

void
page_say(struct page *page, const struct child *child, const char *text)
{
	json_t *numbers = memory_need(json_object());
	CLEANUP_FREE char *filled = page_fill(child->answer, text, numbers);

	page_add_block(page, json_pack("{s:s, s:s, s:o, s:i}", "kind", "text", "text", filled, "numbers", numbers,
	                               "from", child->number));
}

void
page_quote(struct page *page, const struct child *child, const char *text)
{
	page_add_block(page, json_pack("{s:s, s:o, s:i}", "kind", "text", "text", page_text(text, SIZE_MAX), "from",
	                               child->number));
}

void
page_say_plain(struct page *page, const char *format, ...)
{
	CLEANUP_FREE char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	page_add_block(page, json_pack("{s:s, s:o}", "kind", "text", "text", page_text(memory_need(text), SIZE_MAX)));
}

bool
page_says(const struct page *page, const char *text)
{
	CLEANUP_FREE char *clean = page_clean(text, SIZE_MAX);
	const json_t *section, *block;
	size_t s, b;

	json_array_foreach (json_object_get(page->root, "sections"), s, section)
		json_array_foreach (json_object_get(section, "blocks"), b, block)
			if (strstr(page_string(block, "text"), clean))
				return true;
	return false;
}

void
page_warn(struct page *page, const char *text)
{
	if (!page_says(page, text))
		page_add_block(page, json_pack("{s:s, s:o}", "kind", "warning", "text", page_text(text, SIZE_MAX)));
}

void
page_add_next(struct page *page, const struct child *child, const char *text, char *command)
{
	json_t *numbers = memory_need(json_object());
	CLEANUP_FREE char *filled = page_fill(child->answer, text, numbers);

	json_array_append_new(json_object_get(page->root, "next"),
	                      memory_need(json_pack("{s:s, s:s, s:o, s:i}", "text", filled, "command", command,
	                                            "numbers", numbers, "from", child->number)));
	free(command);
}

/* The description of a column: its name, its heading, and how its values look. */
static json_t *
page_column(const char *word, size_t length)
{
	CLEANUP_FREE char *name = memory_copy(word, length), *heading = NULL;
	char *as = strchr(name, ':');

	if (as)
		*as++ = '\0';
	heading = memory_text("%s", name);
	for (char *c = heading; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	return memory_need(json_pack("{s:s, s:s, s:s}", "name", name, "heading", heading, "as", as ? as : "number"));
}

/* The columns of a row that are shown; texts are cleaned. */
static json_t *
page_row(const json_t *from, const json_t *columns)
{
	json_t *row = memory_need(json_object());
	const json_t *column;
	size_t i;

	json_array_foreach (columns, i, column) {
		const char *name = json_string_value(json_object_get(column, "name"));
		json_t *value = json_object_get(from, name);

		if (json_is_string(value))
			page_set_cell(row, name, json_string_value(value));
		else
			json_object_set(row, name, value ? value : json_null());
	}
	return row;
}

json_t *
page_add_table(struct page *page, const struct child *child, const char *caption, const char *rows_of,
               const json_t *rows, const char *columns)
{
	json_t *described = memory_need(json_array()), *shown = memory_need(json_array()), *table;
	const json_t *row;
	size_t i;

	while (*columns) {
		size_t length = strcspn(columns, " ");

		json_array_append_new(described, page_column(columns, length));
		columns += length + (columns[length] == ' ');
	}
	json_array_foreach (rows, i, row)
		json_array_append_new(shown, page_row(row, described));
	table = memory_need(json_pack("{s:s, s:s, s:i, s:s, s:o, s:o}", "kind", "table", "caption", caption, "from",
	                              child->number, "rows_of", rows_of, "columns", described, "rows", shown));
	page_add_block(page, table);
	return table;
}

void
page_add_picture(struct page *page, const struct child *child, const char *alt)
{
	json_t *numbers = memory_need(json_object());
	CLEANUP_FREE char *text = page_fill(child->answer, alt, numbers);

	page->picture = child;
	page_add_block(page, json_pack("{s:s, s:s, s:o, s:i}", "kind", "picture", "alt", text, "numbers", numbers,
	                               "from", child->number));
}
