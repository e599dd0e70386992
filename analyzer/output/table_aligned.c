/*
 * table_aligned.c: prints a table for people on a terminal: columns below one another, as many side by side as the
 * terminal has room for.
 *
 * In a terminal that is too narrow for all columns, a text that is the same in all rows stands once, above the table,
 * and long headings are broken at their "_". Columns that still find no room follow below, in further blocks. Every
 * block begins with the leading columns, which say what a row is about. A text that is wider than the terminal leaves
 * room for loses its middle, where "…" stands: ids that begin alike mostly end differently.
 */
#include "table_aligned.h"

#include "base/number.h"
#include "table_cell.h"
#include "text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistr.h>

#define GAP 2               /* blanks before each column */
#define HEADING_SHORT 8     /* the longest heading that is not broken */
#define TEXT_LEAST 8        /* columns that a text gets in any terminal */
#define BLOCK_ROWS_MAX 1000 /* tables with more rows get one block: nobody scrolls further for a second one */

/* The bytes of the first character, 1 where there is no UTF-8; *columns becomes its width. */
static size_t
aligned_next(const char *text, size_t length, size_t *columns)
{
	ucs4_t character;
	int bytes = u8_mbtouc(&character, (const uint8_t *)text, length);

	*columns = text_width(text, (size_t)bytes);
	return (size_t)bytes;
}

/* Writes a text. Of one that is too wide, only the beginning and the end are written, with "…" between them. */
static void
aligned_put_text(struct output *output, const char *text, size_t length, size_t width)
{
	const size_t end = (width - 1) / 2, whole = text_width(text, length);
	size_t at = 0, used = 0, columns, bytes;

	if (whole <= width) {
		output_bytes(output, text, length);
		return;
	}
	for (; at < length; at += bytes, used += columns) {
		bytes = aligned_next(text + at, length - at, &columns);
		if (used + columns > width - 1 - end)
			break;
	}
	output_bytes(output, text, at);
	output_text(output, "…");
	for (; at < length && whole - used > end; at += bytes, used += columns)
		bytes = aligned_next(text + at, length - at, &columns);
	output_bytes(output, text + at, length - at);
}

/* The columns of the table that are shown below one another, and which of them stand in the present block: the first
 * `keys`, and those from `first` to before `end`. */
struct layout {
	const struct table *table;
	struct output *output;
	size_t lines; /* the table's rows, and one with "…" where rows are left out */
	/* texts: by column of the table, the width of its widest value; widths: the width that the column gets */
	size_t *columns, *texts, *widths;
	size_t room; /* the number of columns of the terminal */
	size_t count;
	size_t keys, first, end;
};

static bool
aligned_is_text(const struct layout *layout, size_t column)
{
	return table_is_text(&layout->table->columns[column]);
}

static size_t
aligned_print_real(const struct table_column *column, double value, char digits[TEXT_SHORT_ROOM])
{
	if (isinf(value))
		return (size_t)snprintf(digits, TEXT_SHORT_ROOM, "%s", value < 0 ? "-inf" : "inf");
	return column->whole && value >= 0 ? number_print_grouped((uint64_t)value, digits)
	                                   : text_print_short(value, digits);
}

/* The text that stands in a column at a line. */
static const char *
aligned_value(const struct layout *layout, size_t line, size_t column, char digits[TEXT_SHORT_ROOM], size_t *length)
{
	const struct table *table = layout->table;
	const struct table_column *described = &table->columns[column];
	bool is_after = table->left_out > 0 && line > TABLE_ENDS;
	struct table_cell cell;

	if (table->left_out > 0 && line == TABLE_ENDS) {
		*length = column == 0 ? strlen("…") : 0;
		return "…";
	}
	cell = table_cell_read(table, described, table_row(table, line - is_after));
	if (cell.kind == TABLE_STRING) {
		*length = cell.length;
		return cell.text;
	}
	if (cell.kind == TABLE_EMPTY)
		*length = (size_t)snprintf(digits, TEXT_SHORT_ROOM, "-");
	else if (cell.kind == TABLE_REAL)
		*length = aligned_print_real(described, cell.real, digits);
	else
		*length = aligned_is_text(layout, column) ? number_print_u64(cell.whole, digits)
		                                          : number_print_grouped(cell.whole, digits);
	return digits;
}

/* Writes a cell: texts begin, and numbers end, below one another. *blanks: how many blanks stand between the text
 * before and this cell. */
static void
aligned_put_cell(const struct layout *layout, size_t column, const char *text, size_t length, size_t *blanks)
{
	size_t width = layout->widths[column], own = text_width(text, length), rest = width > own ? width - own : 0;
	bool is_text = aligned_is_text(layout, column);

	*blanks += GAP + (is_text ? 0 : rest);
	if (own > 0) {
		output_printf(layout->output, "%*s", (int)*blanks, "");
		aligned_put_text(layout->output, text, length, is_text ? width : SIZE_MAX);
		*blanks = 0;
	}
	*blanks += is_text ? rest : 0;
}

/* Where the line of a heading that begins at `at` ends: it takes as many words, parted by "_", as the width holds. */
static const char *
heading_line_end(const char *at, size_t width)
{
	const char *end = at + strcspn(at, "_"), *next;

	for (; *end; end = next) {
		next = end + 1 + strcspn(end + 1, "_");
		if (text_width(at, (size_t)(next - at)) > width)
			break;
	}
	return end;
}

static size_t
heading_lines(const char *name, size_t width)
{
	const char *end = heading_line_end(name, width);
	size_t count = 1;

	for (; *end; count++)
		end = heading_line_end(end + 1, width);
	return count;
}

/* The width of a heading: in one line, or, if it is long, of its longest word. */
static size_t
heading_width(const char *name, bool by_words)
{
	size_t longest = 0, whole = text_width(name, strlen(name));

	if (!by_words || whole <= HEADING_SHORT)
		return whole;
	while (*name) {
		size_t length = strcspn(name, "_"), width = text_width(name, length);

		longest = width > longest ? width : longest;
		name += length + (name[length] == '_');
	}
	return longest;
}

static size_t
block_size(const struct layout *layout)
{
	return layout->keys + layout->end - layout->first;
}

static size_t
block_column(const struct layout *layout, size_t at)
{
	return layout->columns[at < layout->keys ? at : layout->first + at - layout->keys];
}

static size_t
cell_width(const struct layout *layout, size_t at)
{
	return GAP + layout->widths[layout->columns[at]];
}

/* Limits the widths of texts that would not fit. Where not all columns find room, the first one takes half of the
 * terminal at most, and leaves room for any other one beside it; for this, a text counts as a third of the terminal at
 * most. Every other text takes at most what the first column leaves. */
static void
aligned_limit_widths(struct layout *layout)
{
	size_t widest = 0, sum = cell_width(layout, 0);

	for (size_t i = 1; i < layout->count; i++) {
		size_t cell = cell_width(layout, i);

		sum += cell;
		if (aligned_is_text(layout, layout->columns[i]) && cell > layout->room / 3)
			cell = layout->room / 3;
		widest = cell > widest ? cell : widest;
	}
	if (sum > layout->room && widest < layout->room - layout->room / 2)
		widest = layout->room - layout->room / 2 - GAP;
	for (size_t i = 0; i < layout->count; i++) {
		size_t c = layout->columns[i], beside = GAP + (i == 0 ? widest : cell_width(layout, 0));
		size_t most = layout->room > beside + TEXT_LEAST ? layout->room - beside : TEXT_LEAST;

		if (aligned_is_text(layout, c) && layout->widths[c] > most)
			layout->widths[c] = most;
	}
}

/* Sets the widths of the columns. Returns their sum as it would be without a limit. */
static size_t
aligned_set_widths(struct layout *layout, bool by_words)
{
	size_t sum = 0;

	for (size_t i = 0; i < layout->count; i++) {
		size_t c = layout->columns[i], heading = heading_width(layout->table->columns[c].name, by_words);

		layout->widths[c] = heading > layout->texts[c] ? heading : layout->texts[c];
		sum += cell_width(layout, i);
	}
	aligned_limit_widths(layout);
	return sum;
}

static bool
aligned_is_constant(const struct layout *layout, size_t column)
{
	char first_digits[TEXT_SHORT_ROOM], digits[TEXT_SHORT_ROOM];
	size_t first_length, length;
	const char *first = aligned_value(layout, 0, column, first_digits, &first_length);

	for (size_t line = 1; line < layout->lines; line++) {
		const char *text = aligned_value(layout, line, column, digits, &length);

		if (length != first_length || memcmp(text, first, length) != 0)
			return false;
	}
	return true;
}

/* Writes above the table the texts that are the same in all rows, and leaves out their columns. The last column always
 * stays. */
static void
aligned_take_constants(struct layout *layout)
{
	size_t kept = 0, heading;

	for (size_t i = 0; i < layout->count; i++) {
		size_t c = layout->columns[i], length;
		const char *name = layout->table->columns[c].name, *text;
		char digits[TEXT_SHORT_ROOM];

		if (!aligned_is_text(layout, c) || i + 1 == layout->count || !aligned_is_constant(layout, c)) {
			layout->columns[kept++] = c;
			continue;
		}
		output_printf(layout->output, "  %s: ", name);
		heading = GAP + text_width(name, strlen(name)) + 2;
		text = aligned_value(layout, 0, c, digits, &length);
		aligned_put_text(layout->output, text, length,
		                 layout->room > heading + TEXT_LEAST ? layout->room - heading : TEXT_LEAST);
		output_text(layout->output, "\n");
	}
	layout->count = kept;
}

/* Counts the columns that every block begins with: the first column, and the texts after it, as long as every other
 * column finds room beside them. */
static size_t
aligned_count_keys(const struct layout *layout)
{
	size_t count = 1, used = cell_width(layout, 0);

	for (; count < layout->count; used += cell_width(layout, count++)) {
		size_t widest = 0;

		for (size_t i = count + 1; i < layout->count; i++)
			widest = cell_width(layout, i) > widest ? cell_width(layout, i) : widest;
		if (!aligned_is_text(layout, layout->columns[count - 1]) ||
		    !aligned_is_text(layout, layout->columns[count]) ||
		    used + cell_width(layout, count) + widest > layout->room)
			break;
	}
	return count;
}

/* Fills a block with the columns from `first` on that there is room for, at least one. */
static void
aligned_fill_block(struct layout *layout)
{
	size_t used = 0;

	for (size_t i = 0; i < layout->keys; i++)
		used += cell_width(layout, i);
	for (layout->end = layout->first; layout->end < layout->count; layout->end++) {
		used += cell_width(layout, layout->end);
		if (used > layout->room && layout->end > layout->first)
			return;
	}
}

/* Writes a line of the headings, number `left` from the last one: shorter headings have none of the upper lines. */
static void
aligned_put_heading_line(const struct layout *layout, size_t left)
{
	size_t blanks = 0;

	for (size_t i = 0; i < block_size(layout); i++) {
		size_t c = block_column(layout, i), width = layout->widths[c], own;
		const char *at = layout->table->columns[c].name, *end = at;

		for (own = heading_lines(at, width); own > left; own--)
			at = heading_line_end(at, width) + 1;
		if (own == left)
			end = heading_line_end(at, width);
		aligned_put_cell(layout, c, at, (size_t)(end - at), &blanks);
	}
	output_text(layout->output, "\n");
}

static void
aligned_put_headings(const struct layout *layout)
{
	size_t lines = 1;

	for (size_t i = 0; i < block_size(layout); i++) {
		size_t c = block_column(layout, i);
		size_t own = heading_lines(layout->table->columns[c].name, layout->widths[c]);

		lines = own > lines ? own : lines;
	}
	output_style(layout->output, STYLE_BOLD);
	for (; lines > 0; lines--)
		aligned_put_heading_line(layout, lines);
	output_style(layout->output, STYLE_PLAIN);
}

static void
aligned_put_block(const struct layout *layout)
{
	char digits[TEXT_SHORT_ROOM];

	aligned_put_headings(layout);
	for (size_t line = 0; line < layout->lines; line++) {
		size_t blanks = 0;

		for (size_t i = 0; i < block_size(layout); i++) {
			size_t c = block_column(layout, i), length;
			const char *text = aligned_value(layout, line, c, digits, &length);

			aligned_put_cell(layout, c, text, length, &blanks);
		}
		output_text(layout->output, "\n");
	}
}

/* The columns of the terminal; for a file, more than any table needs. */
static size_t
terminal_width(const struct output *output)
{
	struct winsize size;

	if (output->file.fd < 0 || ioctl(output->file.fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return SIZE_MAX;
	return size.ws_col;
}

static void
aligned_put_blocks(struct layout *layout, bool whole)
{
	size_t rest;

	aligned_fill_block(layout);
	aligned_put_block(layout);
	while (whole && layout->end < layout->count) {
		layout->first = layout->end;
		aligned_fill_block(layout);
		output_text(layout->output, "\n");
		aligned_put_block(layout);
	}
	rest = layout->count - layout->end;
	if (rest > 0)
		output_printf(layout->output,
		              "  %zu more column%s: a wider terminal shows them, -o FILE.csv has them\n", rest,
		              rest == 1 ? "" : "s");
}

/* Measures all columns of the table, and begins with them beside one another. */
static void
aligned_measure(struct layout *layout)
{
	char digits[TEXT_SHORT_ROOM];

	for (size_t c = 0; c < layout->table->column_count; c++) {
		for (size_t line = 0; line < layout->lines; line++) {
			size_t length, width;
			const char *text = aligned_value(layout, line, c, digits, &length);

			width = text_width(text, length);
			layout->texts[c] = width > layout->texts[c] ? width : layout->texts[c];
		}
		layout->columns[layout->count++] = c;
	}
}

void
table_put_aligned(const struct table *table, struct output *output, bool whole)
{
	size_t *numbers = calloc(3 * table->column_count, sizeof(*numbers));
	struct layout layout = {.table = table,
	                        .output = output,
	                        .lines = table->rows + (table->left_out > 0),
	                        .columns = numbers,
	                        .texts = numbers + table->column_count,
	                        .widths = numbers + 2 * table->column_count,
	                        .room = terminal_width(output)};

	if (!numbers)
		output_fail(output);
	if (numbers && layout.lines > 0) {
		aligned_measure(&layout);
		if (aligned_set_widths(&layout, false) > layout.room) {
			aligned_take_constants(&layout);
			aligned_set_widths(&layout, aligned_set_widths(&layout, false) > layout.room);
		}
		layout.keys = layout.first = aligned_count_keys(&layout);
		aligned_put_blocks(&layout, whole || (table->left_out == 0 && table->rows <= BLOCK_ROWS_MAX));
	}
	free(numbers);
}
