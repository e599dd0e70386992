/*
 * html_data.h: writes the data of a run into the page that `map -o FILE.html` makes, for the page's own JavaScript.
 * Each piece of data, NAME, is an HTML element with the id "file-NAME": a <script> that no browser runs, whose text is
 * JSON, or bytes as base64.
 *
 * In JSON, "<" is written as \u003c, which is the same text, so that no text ends the element. Errors are the output's.
 */
#ifndef HTML_DATA_H
#define HTML_DATA_H

#include "output/output.h"
#include "serve/stories.h"
#include "files/texts.h"
#include "serve/views.h"

struct html_data {
	struct output *output;
	uint64_t written; /* how many bytes of the document have been written */
	const struct view *view;
	struct texts *texts; /* the texts of the user's file; NULL: there are none */
	uint32_t *places;    /* the examples that the page holds: their places in the view, ascending */
	size_t n;
};

/* Writes text of the document between elements, as it is. */
void html_write(struct html_data *data, const void *text, size_t size);

/* Write an element that holds JSON, piece by piece. */
void html_json_begin(struct html_data *data, const char *name);
void html_json_write(struct html_data *data, const char *text, size_t size);
void html_end(struct html_data *data);

/* Writes "ids" (uint64, or a list of texts as JSON), "gold" (int32; −1: none), and "measure-0", … (float64; NaN: no
 * value), which have the numbers of the view's columns. */
void html_data_examples(struct html_data *data);

/* Writes "texts": for each example a list of its record's texts, or null. */
void html_data_texts(struct html_data *data);

/* Writes "data-0": for each example its value in a column of the user's file: float64, or the number of a category as
 * int32 (−1: none). */
void html_data_column(struct html_data *data, const struct attribute *column);

/* Writes "gold-prob" (float32 [example][epoch]; NaN: not observed) and "correct" (a bit for each, in the same order,
 * the lowest bit of a byte first). */
void html_data_stories(struct html_data *data, struct store *store);
uint64_t html_data_stories_size(const struct html_data *data); /* the bytes that it adds to the document */

#endif
