/*
 * rows_aligned.c: rows for people: columns below one another, with as many in a line as the terminal is wide.
 *
 * In a terminal that is too narrow for all columns, a text that is the same in all rows stands once, above the table, and
 * long headings are broken at their "_". Columns that still find no room follow below, in further blocks. Every block
 * begins with the leading columns, which say what a row is about. A text that is wider than the terminal leaves room for
 * loses its middle, where "…" stands: ids that begin alike mostly end differently.
 */
#include "rows_kept.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistr.h>
#include <uniwidth.h>

#define GAP 2               /* blanks before each column */
#define HEADING_SHORT 8     /* such headings are not broken */
#define TEXT_LEAST 8        /* columns that a text has in any terminal */
#define BLOCK_ROWS_MAX 1000 /* nobody scrolls further for a second block */

static size_t
width_of(const char *text, size_t length)
{
	int width = u8_width((const uint8_t *)text, length, "UTF-8");

	return width > 0 ? (size_t)width : 0;
}

/* The bytes of a character, one of what is no UTF-8; *columns: its width. */
static size_t
next_character(const char *text, size_t length, size_t *columns)
{
	ucs4_t character;
	int bytes = u8_mbtouc(&character, (const uint8_t *)text, length);

	*columns = width_of(text, (size_t)bytes);
	return (size_t)bytes;
}

/* Writes a text; of one that is too wide, the beginning and the end. */

static void
write_text(struct output *output, const char *text, size_t length, size_t width)
{
	const size_t end = (width - 1) / 2, whole = width_of(text, length);
	size_t at = 0, used = 0, columns, bytes;

	if (whole <= width) {
		output_bytes(output, text, length);
		return;
	}
	for (; at < length; at += bytes, used += columns) {
		bytes = next_character(text + at, length - at, &columns);
		if (used + columns > width - 1 - end)
			break;
	}
	output_bytes(output, text, at);
	output_text(output, "…");
	for (; at < length && whole - used > end; at += bytes, used += columns)
		bytes = next_character(text + at, length - at, &columns);
	output_bytes(output, text + at, length - at);
}

/* Texts begin, and numbers end, below one another. *blanks: what stands between the text before and this cell. */
static void
write_cell(const struct rows *rows, size_t column, size_t width, const char *text, size_t length, size_t *blanks)
{
	size_t own = width_of(text, length), rest = width > own ? width - own : 0;
	bool is_text = rows->columns[column].kind == ROWS_TEXT;

	*blanks += GAP + (is_text ? 0 : rest);
	if (own > 0) {
		output_printf(rows->output, "%*s", (int)*blanks, "");
		write_text(rows->output, text, length, is_text ? width : SIZE_MAX);
		*blanks = 0;
	}
	*blanks += is_text ? rest : 0;
}

/* The end of a heading's line that begins at `at`: a line takes as many words, parted by "_", as the width holds. */
static const char *
heading_line_end(const char *at, size_t width)
{
	const char *end = at + strcspn(at, "_"), *next;

	for (; *end; end = next) {
		next = end + 1 + strcspn(end + 1, "_");
		if (width_of(at, (size_t)(next - at)) > width)
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

/* Of a heading in one line, or, if it is long, of its longest word. */
static size_t
heading_width(const char *name, bool by_words)
{
	size_t longest = 0, whole = width_of(name, strlen(name));

	if (!by_words || whole <= HEADING_SHORT)
		return whole;
	while (*name) {
		size_t length = strcspn(name, "_"), width = width_of(name, length);

		longest = width > longest ? width : longest;
		name += length + (name[length] == '_');
	}
	return longest;
}

/* The columns of the table that are shown below one another, and which of them stand in the present block: the first
 * `keys`, and those from `first` to before `end`. */
struct layout {
	size_t *columns, *widths; /* widths: by column of the table */
	size_t room;              /* columns of the terminal */
	size_t count;
	size_t keys, first, end;
};

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

/* Cuts texts that would not fit. Where not all columns find room, the first one takes half of the terminal at most. It
 * leaves room for each number, and of each text for a third of the terminal; a text takes what the first column leaves. */
static void
limit_widths(const struct rows *rows, struct layout *layout)
{
	size_t widest = 0, sum = cell_width(layout, 0);

	for (size_t i = 1; i < layout->count; i++) {
		size_t cell = cell_width(layout, i);

		sum += cell;
		if (rows->columns[layout->columns[i]].kind == ROWS_TEXT && cell > layout->room / 3)
			cell = layout->room / 3;
		widest = cell > widest ? cell : widest;
	}
	if (sum > layout->room && widest < layout->room - layout->room / 2)
		widest = layout->room - layout->room / 2 - GAP;
	for (size_t i = 0; i < layout->count; i++) {
		size_t c = layout->columns[i], beside = GAP + (i == 0 ? widest : cell_width(layout, 0));
		size_t most = layout->room > beside + TEXT_LEAST ? layout->room - beside : TEXT_LEAST;

		if (rows->columns[c].kind == ROWS_TEXT && layout->widths[c] > most)
			layout->widths[c] = most;
	}
}

/* Sets the widths; the sum of them all as they would be without a limit. */
static size_t
set_widths(const struct rows *rows, bool by_words, struct layout *layout)
{
	size_t sum = 0;

	for (size_t i = 0; i < layout->count; i++) {
		size_t c = layout->columns[i], texts = rows_kept_width(rows->kept, c);
		size_t heading = heading_width(rows->columns[c].name, by_words);

		layout->widths[c] = heading > texts ? heading : texts;
		sum += cell_width(layout, i);
	}
	limit_widths(rows, layout);
	return sum;
}

static bool
is_constant(const struct rows *rows, size_t column)
{
	size_t first_length, length;
	const char *first = rows_kept_text(rows->kept, 0, column, &first_length), *text;

	for (uint64_t row = 1; row < rows->count; row++) {
		text = rows_kept_text(rows->kept, row, column, &length);
		if (length != first_length || memcmp(text, first, length) != 0)
			return false;
	}
	return true;
}

/* Writes texts that are the same in all rows above the table, and leaves out their columns; the last column stays. */
static void
take_constants(const struct rows *rows, struct layout *layout)
{
	size_t kept = 0, heading;

	for (size_t i = 0; i < layout->count; i++) {
		size_t c = layout->columns[i], length;
		const char *text = rows_kept_text(rows->kept, 0, c, &length);

		if (rows->columns[c].kind != ROWS_TEXT || i + 1 == layout->count || !is_constant(rows, c)) {
			layout->columns[kept++] = c;
			continue;
		}
		output_printf(rows->output, "  %s: ", rows->columns[c].name);
		heading = GAP + width_of(rows->columns[c].name, strlen(rows->columns[c].name)) + 2;
		write_text(rows->output, text, length,
		           layout->room > heading + TEXT_LEAST ? layout->room - heading : TEXT_LEAST);
		output_text(rows->output, "\n");
	}
	layout->count = kept;
}

/* The first column, and the texts that follow it as long as every other column finds room beside them. */
static size_t
count_keys(const struct rows *rows, const struct layout *layout, size_t room)
{
	size_t count = 1, used = cell_width(layout, 0);

	for (; count < layout->count; used += cell_width(layout, count++)) {
		size_t widest = 0;

		for (size_t i = count + 1; i < layout->count; i++)
			widest = cell_width(layout, i) > widest ? cell_width(layout, i) : widest;
		if (rows->columns[layout->columns[count - 1]].kind != ROWS_TEXT ||
		    rows->columns[layout->columns[count]].kind != ROWS_TEXT ||
		    used + cell_width(layout, count) + widest > room)
			break;
	}
	return count;
}

/* Takes the columns from `first` on that there is room for, at least one. */
static void
fill_block(struct layout *layout, size_t room)
{
	size_t used = 0;

	for (size_t i = 0; i < layout->keys; i++)
		used += cell_width(layout, i);
	for (layout->end = layout->first; layout->end < layout->count; layout->end++) {
		used += cell_width(layout, layout->end);
		if (used > room && layout->end > layout->first)
			return;
	}
}

/* Line `left` of the headings, counted from the last one: shorter headings have none of the upper lines. */
static void
write_heading_line(const struct rows *rows, const struct layout *layout, size_t left)
{
	size_t blanks = 0;

	for (size_t i = 0; i < block_size(layout); i++) {
		size_t c = block_column(layout, i), width = layout->widths[c], own;
		const char *at = rows->columns[c].name, *end = at;

		for (own = heading_lines(at, width); own > left; own--)
			at = heading_line_end(at, width) + 1;
		if (own == left)
			end = heading_line_end(at, width);
		write_cell(rows, c, width, at, (size_t)(end - at), &blanks);
	}
	output_text(rows->output, "\n");
}

static void
write_headings(const struct rows *rows, const struct layout *layout)
{
	size_t lines = 1;

	for (size_t i = 0; i < block_size(layout); i++) {
		size_t c = block_column(layout, i), own = heading_lines(rows->columns[c].name, layout->widths[c]);

		lines = own > lines ? own : lines;
	}
	output_style(rows->output, STYLE_BOLD);
	for (; lines > 0; lines--)
		write_heading_line(rows, layout, lines);
	output_style(rows->output, STYLE_PLAIN);
}

static void
write_block(const struct rows *rows, const struct layout *layout)
{
	write_headings(rows, layout);
	for (uint64_t row = 0; row < rows->count; row++) {
		size_t blanks = 0;

		for (size_t i = 0; i < block_size(layout); i++) {
			size_t c = block_column(layout, i), length;
			const char *text = rows_kept_text(rows->kept, row, c, &length);

			write_cell(rows, c, layout->widths[c], text, length, &blanks);
		}
		output_text(rows->output, "\n");
	}
}

/* Of a file: more than any table needs. */
static size_t
terminal_width(const struct output *output)
{
	struct winsize size;

	if (output->fd < 0 || ioctl(output->fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return SIZE_MAX;
	return size.ws_col;
}

static void
count_left_out(const struct rows *rows, size_t columns)
{
	output_printf(rows->output, "  %zu more column%s: a wider terminal shows them, -o FILE.csv has them\n", columns,
	              columns == 1 ? "" : "s");
}

static void
write_blocks(const struct rows *rows, struct layout *layout, size_t room)
{
	bool is_whole = rows->report || (!rows->is_excerpt && rows->count <= BLOCK_ROWS_MAX);

	fill_block(layout, room);
	write_block(rows, layout);
	while (is_whole && layout->end < layout->count) {
		layout->first = layout->end;
		fill_block(layout, room);
		output_text(rows->output, "\n");
		write_block(rows, layout);
	}
	if (layout->end < layout->count)
		count_left_out(rows, layout->count - layout->end);
}

void
rows_write_aligned(const struct rows *rows)
{
	size_t *numbers = calloc(2 * rows->column_count, sizeof(*numbers));
	size_t room = terminal_width(rows->output);
	struct layout layout = {.columns = numbers, .widths = numbers + rows->column_count, .room = room};

	if (!numbers) {
		output_fail(rows->output);
		return;
	}
	while (layout.count < rows->column_count) {
		layout.columns[layout.count] = layout.count;
		layout.count++;
	}
	if (rows->count > 0) {
		if (set_widths(rows, false, &layout) > room) {
			take_constants(rows, &layout);
			set_widths(rows, set_widths(rows, false, &layout) > room, &layout);
		}
		layout.keys = layout.first = count_keys(rows, &layout, room);
		write_blocks(rows, &layout, room);
	}
	free(numbers);
}
