/*
 * page.h: the document of `portolan report`, as one tree of JSON: filled once (answers.c), and written as HTML, Markdown,
 * text or JSON (writers.h). This file alone decides how numbers look.
 *
 *     {"title", "runs", …, "next": [{"text", "command"}], "sections": [SECTION], "commands": [{"number", "command", …}]}
 *     SECTION: {"id", "title", "blocks": [BLOCK]}
 *     BLOCK, by its "kind":
 *       text     "text", and where it has numbers, "numbers": {"share_forgettable": 0.15}, "from": the command's number
 *       warning  "text"
 *       table    "caption", "from", "rows_of": the member of the command's answer, "columns", "rows" (objects); where
 *                columns are drawn as curves over the first one, "curves": their names
 *       picture  "alt", "from"
 */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "child.h"

#include <stdio.h>

struct page {
	json_t *root;
	json_t *section;             /* the open one */
	const struct child *picture; /* the map; NULL: there is none */
};

/* Set a member to a text that is cleaned (page_clean()); that of a table's row is cut at PAGE_CELL_MAX characters. */
void page_set_text(json_t *of, const char *key, const char *text);
void page_set_cell(json_t *row, const char *key, const char *text);
#define PAGE_CELL_MAX 240

void page_begin_section(struct page *page, const char *id, const char *title);

/* Adds a paragraph. `text` may name members of the child's answer, which are put there as numbers: {examples}, or
 * {maps.0.regions.ambiguous}; {share_forgettable%} as per cent, {expected.wrong~} without digits after the point. */
void page_say(struct page *page, const struct child *child, const char *text);
/* Adds what the child said, as a paragraph. */
void page_quote(struct page *page, const struct child *child, const char *text);
__attribute__((format(printf, 2, 3))) void page_say_plain(struct page *page, const char *format, ...);

/* Is this said in a text of the page? */
bool page_says(const struct page *page, const char *text);

/* Adds a warning, unless the page says it already. */
void page_warn(struct page *page, const char *text);

/* Adds what to do next: `text`, as page_say() takes it, and a command. Frees the command. */
void page_add_next(struct page *page, const struct child *child, const char *text, char *command);

/*
 * Adds a table, and returns it. `rows` are rows of the child's answer, at its member `rows_of` ("": the answer itself).
 * `columns` names those to show, with blanks between: "epoch:name examples accuracy:share". After ":" stands how a
 * number looks: name (without ","), share (per cent), or else as people write it.
 */
json_t *page_add_table(struct page *page, const struct child *child, const char *caption, const char *rows_of,
                       const json_t *rows, const char *columns);
void page_add_picture(struct page *page, const struct child *child, const char *alt);

/* The member of an answer at a path like "maps.0.regions"; NULL: there is none. */
json_t *page_member(const json_t *answer, const char *path);

/* Prints a cell: `as` is that of its column. The caller's to free(). */
char *page_cell(const json_t *value, const char *as);

/* A member of a block, section or command that is a text; "" where there is none. */
const char *page_string(const json_t *of, const char *key);
/* Are the cells of this column numbers, which end below one another? */
bool page_is_number(const json_t *table, const json_t *column);

/* A copy of a user's text that is safe to show: in one line, without characters that cannot be seen or change the order
 * of others, and cut after the first `most` characters. The caller's to free(). */
char *page_clean(const char *text, size_t most);

#endif
