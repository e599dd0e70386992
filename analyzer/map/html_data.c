/*
 * html_data.c: encodes the examples of a run as elements of the page that `map -o FILE.html` writes (html_data.h). It
 * takes ids, labels, measures and epochs from a view: the run as the live page of `serve` shows it. Numbers are
 * little-endian, as those of a browser's typed arrays.
 */
#include "html_data.h"

#include "die/die.h"
#include "die/memory.h"
#include "output/report.h"

#include <endian.h>
#include <math.h>
#include <string.h>

_Static_assert(__BYTE_ORDER == __LITTLE_ENDIAN, "columns are written as they lie in memory");

#define TAGS_ROOM 128       /* the most bytes of an element's tags */
#define GROUPS_AT_ONCE 1024 /* groups of three bytes that are encoded at once */
#define JSON_AT_ONCE 4096   /* bytes of JSON that are gathered before they are written */

void
html_write(struct html_data *data, const void *text, size_t size)
{
	output_bytes(data->output, text, size);
	data->written += size;
}

static void
html_begin(struct html_data *data, const char *name, const char *type)
{
	char tag[TAGS_ROOM];
	int length = snprintf(tag, sizeof(tag), "<script type=\"application/%s\" id=\"file-%s\">", type, name);

	html_write(data, tag, (size_t)length);
}

void
html_end(struct html_data *data)
{
	static const char end[] = "</script>\n";

	html_write(data, end, sizeof(end) - 1);
}

void
html_json_begin(struct html_data *data, const char *name)
{
	html_begin(data, name, "json");
}

void
html_json_write(struct html_data *data, const char *text, size_t size)
{
	const char *end = text + size;

	while (text < end) {
		const char *bracket = memchr(text, '<', (size_t)(end - text));

		html_write(data, text, (size_t)((bracket ? bracket : end) - text));
		if (bracket)
			html_write(data, "\\u003c", 6);
		text = bracket ? bracket + 1 : end;
	}
}

/* Encodes 1 to 3 bytes as four characters of base64; "=" stands for bytes that are not there. */
static void
html_print_group(char to[4], const unsigned char *bytes, size_t count)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t group =
	        (uint32_t)bytes[0] << 16 | (count > 1 ? (uint32_t)bytes[1] << 8 : 0) | (count > 2 ? bytes[2] : 0);

	for (unsigned i = 0; i < 4; i++)
		to[i] = i <= count ? digits[group >> (18 - 6 * i) & 63] : '=';
}

/* Writes an element that holds bytes, as base64. */
static void
html_bytes(struct html_data *data, const char *name, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	char text[4 * GROUPS_AT_ONCE];

	html_begin(data, name, "octet-stream");
	while (size > 0) {
		size_t groups = 0;

		for (; groups < GROUPS_AT_ONCE && size > 0; groups++) {
			size_t count = size < 3 ? size : 3;

			html_print_group(text + 4 * groups, at, count);
			at += count;
			size -= count;
		}
		html_write(data, text, 4 * groups);
	}
	html_end(data);
}

/* The dense index, in the view's dynamics, of the page's example number i. */
static uint32_t
html_data_index(const struct html_data *data, size_t i)
{
	return data->view->dynamics.order[data->places[i]];
}

static size_t
html_data_record(const struct html_data *data, size_t i)
{
	return texts_find(data->texts, &data->view->dynamics.ids, html_data_index(data, i));
}

static void
html_data_write_doubles(struct html_data *data, const char *name, const double *by_index)
{
	CLEANUP_ARRAY double *values = memory_array(data->n, sizeof(*values), "values");

	for (size_t i = 0; i < data->n; i++)
		values[i] = by_index[html_data_index(data, i)];
	html_bytes(data, name, values, data->n * sizeof(*values));
}

/* Writes the JSON that was gathered into the element, and empties `json`. */
static void
html_data_hand_over(struct html_data *data, struct output *json)
{
	if (output_check(json, NULL) < 0)
		memory_need(NULL);
	html_json_write(data, json->buffer, json->used);
	output_clear(json);
}

/* Writes an element that holds a list with an item for each example. `print` prints the item of example number i. */
static void
html_data_write_list(struct html_data *data, const char *name,
                     void (*print)(const struct html_data *data, size_t i, struct output *json))
{
	struct output json;

	must(output_open_memory(&json, 2 * JSON_AT_ONCE, &failure));
	html_json_begin(data, name);
	output_text(&json, "[");
	for (size_t i = 0; i < data->n; i++) {
		output_text(&json, i ? "," : "");
		print(data, i, &json);
		if (json.used >= JSON_AT_ONCE)
			html_data_hand_over(data, &json);
	}
	output_text(&json, "]");
	html_data_hand_over(data, &json);
	html_end(data);
	output_discard(&json);
}

static void
html_data_print_id(const struct html_data *data, size_t i, struct output *json)
{
	size_t length;
	const char *text = ids_text(&data->view->dynamics.ids, html_data_index(data, i), &length);

	report_print_text(json, text, length);
}

static void
html_data_write_ids(struct html_data *data)
{
	const struct ids *ids = &data->view->dynamics.ids;
	CLEANUP_ARRAY uint64_t *integers = NULL;

	if (ids->kind == STORE_ID_STR) {
		html_data_write_list(data, "ids", html_data_print_id);
		return;
	}
	integers = memory_array(data->n, sizeof(*integers), "ids");
	for (size_t i = 0; i < data->n; i++)
		integers[i] = ids_integer(ids, html_data_index(data, i));
	html_bytes(data, "ids", integers, data->n * sizeof(*integers));
}

static void
html_data_write_gold(struct html_data *data)
{
	const int32_t *gold = data->view->dynamics.gold;
	CLEANUP_ARRAY int32_t *labels = memory_array(data->n, sizeof(*labels), "labels");

	for (size_t i = 0; i < data->n; i++)
		labels[i] = gold ? gold[html_data_index(data, i)] : -1;
	html_bytes(data, "gold", labels, data->n * sizeof(*labels));
}

void
html_data_examples(struct html_data *data)
{
	const struct dynamics *dynamics = &data->view->dynamics;

	html_data_write_ids(data);
	html_data_write_gold(data);
	for (size_t c = 0; c < dynamics->column_count; c++) {
		char name[32];

		snprintf(name, sizeof(name), "measure-%zu", c);
		html_data_write_doubles(data, name, dynamics->columns[c].values);
	}
}

struct text_list {
	struct output *json;
	bool is_first;
};

static bool
html_data_add_text(void *context, const char *name, const struct field *field)
{
	struct text_list *list = context;

	(void)name;
	output_text(list->json, list->is_first ? "[" : ",");
	list->is_first = false;
	if (field->at)
		report_print_text(list->json, field->at, field->length);
	else
		output_text(list->json, "null");
	return true;
}

static void
html_data_print_texts(const struct html_data *data, size_t i, struct output *json)
{
	size_t record = html_data_record(data, i);
	struct text_list list = {json, true};

	if (record != TEXTS_NONE)
		texts_read(data->texts, record, html_data_add_text, &list);
	output_text(json, list.is_first ? "null" : "]");
}

void
html_data_texts(struct html_data *data)
{
	html_data_write_list(data, "texts", html_data_print_texts);
}

void
html_data_column(struct html_data *data, const struct attribute *column)
{
	const bool is_number = column->kind == ATTRIBUTE_NUMBER;
	CLEANUP_ARRAY double *numbers = is_number ? memory_array(data->n, sizeof(*numbers), "values") : NULL;
	CLEANUP_ARRAY int32_t *categories = is_number ? NULL : memory_array(data->n, sizeof(*categories), "categories");

	for (size_t i = 0; i < data->n; i++) {
		size_t record = html_data_record(data, i);

		if (is_number)
			numbers[i] = record == TEXTS_NONE ? (double)NAN : column->numbers[record];
		else
			categories[i] = record == TEXTS_NONE ? -1 : column->categories[record];
	}
	if (is_number)
		html_bytes(data, "data-0", numbers, data->n * sizeof(*numbers));
	else
		html_bytes(data, "data-0", categories, data->n * sizeof(*categories));
}

uint64_t
html_data_stories_size(const struct html_data *data)
{
	uint64_t count = (uint64_t)data->n * data->view->dynamics.epoch_count;

	return (count * sizeof(float) + 2) / 3 * 4 + ((count + 7) / 8 + 2) / 3 * 4 + 2 * TAGS_ROOM;
}

void
html_data_stories(struct html_data *data, struct store *store)
{
	CLEANUP(stories_free) struct stories stories = {0};
	CLEANUP_ARRAY unsigned char *bits = NULL;
	size_t count;

	must(stories_read_from(&stories, store, data->view, data->places, data->n, &failure));
	count = data->n * stories.epochs;
	html_bytes(data, "gold-prob", stories.gold_prob, count * sizeof(float));
	bits = memory_array((count + 7) / 8, 1, "correct observations");
	for (size_t i = 0; i < count; i++)
		bits[i / 8] |= (unsigned char)(stories.correct[i] << i % 8);
	html_bytes(data, "correct", bits, (count + 7) / 8);
}
