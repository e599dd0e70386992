/*
 * html_data.h: data within an HTML document: script elements that no browser runs, each with JSON, or with bytes as base64, as
 * their text; and the data of a run in such elements. The element NAME has the id "file-NAME".
 *
 * In JSON, "<" is written as \u003c, which is the same text, so that no text ends the element. Errors are the output's.
 */
#ifndef HTML_DATA_H
#define HTML_DATA_H

#include "output/output.h"
#include "serve/stories.h"
#include "serve/texts.h"
#include "serve/views.h"

struct html_data {
	struct output *output;
	uint64_t written; /* bytes of the document so far */
	const struct view *view;
	struct texts *texts; /* NULL: there are none */
	uint32_t *places;    /* of the view, ascending: the examples that are in the file */
	size_t n;
};

/* Text of the document between elements, as it is. */
void html_write(struct html_data *data, const void *text, size_t size);

/* An element with JSON. */
void html_json_begin(struct html_data *data, const char *name);
void html_json_write(struct html_data *data, const char *text, size_t size);
void html_end(struct html_data *data);

/* "ids" (uint64, or JSON's texts), "gold" (int32; −1: none), and "measure-0", … (float64; NaN: no value), as the view's
 * columns are numbered. */
void html_data_examples(struct html_data *data);

/* "texts": by example the texts of its record, or null. */
void html_data_texts(struct html_data *data);

/* "data-0": a column of the user's file by example: int32, the number of a category (−1: none), or float64. */
void html_data_column(struct html_data *data, const struct attribute *column);

/* "gold-prob" (float32 [example][epoch]; NaN: not observed) and "correct" (a bit each, the lowest of a byte first). */
void html_data_stories(struct html_data *data, struct store *store);
uint64_t html_data_stories_size(const struct html_data *data); /* bytes that they add to the document */

#endif
