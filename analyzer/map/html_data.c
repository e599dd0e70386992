/* html_data.c: see html_data.h. Numbers are little-endian, as a browser's typed arrays are. */
#include "html_data.h"

#include "output/report.h"

#include <portolan/error.h>

#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER == __LITTLE_ENDIAN, "columns are written as they lie in memory");

#define AT_ONCE 4096 /* values, and bytes of JSON, that are gathered before they are written */

static uint32_t
index_of(const struct html_data *data, size_t i)
{
	return data->view->dynamics.order[data->places[i]];
}

/* Writes n values of `size` bytes, which `take` fills in for example i. */
static void
write_values(struct html_data *data, const char *name, size_t size,
             void (*take)(const struct html_data *data, size_t i, const void *context, void *value),
             const void *context)
{
	char values[AT_ONCE * sizeof(uint64_t)];

	html_block_begin(&data->blocks, name, HTML_BYTES);
	for (size_t i = 0; i < data->n;) {
		size_t filled = 0;

		for (; filled < AT_ONCE && i < data->n; i++, filled++)
			take(data, i, context, values + filled * size);
		html_block_write(&data->blocks, values, filled * size);
	}
	html_block_end(&data->blocks);
}

static void
take_id(const struct html_data *data, size_t i, const void *context, void *value)
{
	(void)context;
	memcpy(value, &data->view->dynamics.ids.integers[index_of(data, i)], sizeof(uint64_t));
}

static void
take_gold(const struct html_data *data, size_t i, const void *context, void *value)
{
	const int32_t *gold = data->view->dynamics.gold;
	int32_t label = gold ? gold[index_of(data, i)] : -1;

	(void)context;
	memcpy(value, &label, sizeof(label));
}

static void
take_measure(const struct html_data *data, size_t i, const void *context, void *value)
{
	memcpy(value, (const double *)context + index_of(data, i), sizeof(double));
}

/* Moves the gathered JSON to the block, if there is enough of it. */
static int
hand_over(struct html_data *data, struct output *json, size_t least, struct portolan_error *error)
{
	int code = output_check(json, error);

	if (code >= 0 && json->used >= least) {
		html_block_write(&data->blocks, json->buffer, json->used);
		output_clear(json);
	}
	return code;
}

/* Writes a block with an array of n elements; `print` prints that of example i. */
static int
write_list(struct html_data *data, const char *name,
           void (*print)(const struct html_data *data, size_t i, struct output *json), struct portolan_error *error)
{
	struct output json;
	int code = output_open_memory(&json, 2 * AT_ONCE, error);

	if (code < 0)
		return code;
	html_block_begin(&data->blocks, name, HTML_JSON);
	output_text(&json, "[");
	for (size_t i = 0; i < data->n && code >= 0; i++) {
		output_text(&json, i ? "," : "");
		print(data, i, &json);
		code = hand_over(data, &json, AT_ONCE, error);
	}
	output_text(&json, "]");
	if (code >= 0)
		code = hand_over(data, &json, 0, error);
	html_block_end(&data->blocks);
	output_discard(&json);
	return code;
}

static void
print_id(const struct html_data *data, size_t i, struct output *json)
{
	size_t length;
	const char *text = ids_text(&data->view->dynamics.ids, index_of(data, i), &length);

	report_print_text(json, text, length);
}

int
html_data_examples(struct html_data *data, struct portolan_error *error)
{
	const struct dynamics *dynamics = &data->view->dynamics;
	int code = 0;

	if (dynamics->ids.kind == STORE_ID_STR)
		code = write_list(data, "ids", print_id, error);
	else
		write_values(data, "ids", sizeof(uint64_t), take_id, NULL);
	write_values(data, "gold", sizeof(int32_t), take_gold, NULL);
	for (size_t c = 0; c < dynamics->column_count && code >= 0; c++) {
		char name[32];

		snprintf(name, sizeof(name), "measure-%zu", c);
		write_values(data, name, sizeof(double), take_measure, dynamics->columns[c].values);
		code = output_check(data->blocks.output, error);
	}
	return code;
}

struct text_list {
	struct output *json;
	bool is_first;
};

static bool
add_text(void *context, const char *name, const struct field *field)
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
print_texts(const struct html_data *data, size_t i, struct output *json)
{
	size_t record = texts_find(data->texts, &data->view->dynamics.ids, index_of(data, i));
	struct text_list list = {json, true};

	if (record != TEXTS_NONE)
		texts_read(data->texts, record, add_text, &list);
	output_text(json, list.is_first ? "null" : "]");
}

int
html_data_texts(struct html_data *data, struct portolan_error *error)
{
	return write_list(data, "texts", print_texts, error);
}

static void
take_number(const struct html_data *data, size_t i, const void *context, void *value)
{
	const struct attribute *column = context;
	size_t record = texts_find(data->texts, &data->view->dynamics.ids, index_of(data, i));
	double number = record == TEXTS_NONE ? (double)NAN : column->numbers[record];

	memcpy(value, &number, sizeof(number));
}

static void
take_category(const struct html_data *data, size_t i, const void *context, void *value)
{
	const struct attribute *column = context;
	size_t record = texts_find(data->texts, &data->view->dynamics.ids, index_of(data, i));
	int32_t number = record == TEXTS_NONE ? -1 : column->categories[record];

	memcpy(value, &number, sizeof(number));
}

int
html_data_column(struct html_data *data, const struct attribute *column, struct portolan_error *error)
{
	if (column->kind == ATTRIBUTE_NUMBER)
		write_values(data, "data-0", sizeof(double), take_number, column);
	else
		write_values(data, "data-0", sizeof(int32_t), take_category, column);
	return output_check(data->blocks.output, error);
}

static uint64_t
bit_bytes(const struct html_data *data)
{
	return ((uint64_t)data->n * data->view->dynamics.epoch_count + 7) / 8;
}

uint64_t
html_data_stories_size(const struct html_data *data)
{
	return html_block_size((uint64_t)data->n * data->view->dynamics.epoch_count * sizeof(float)) +
	       html_block_size(bit_bytes(data));
}

static void
write_bits(struct html_data *data, const struct stories *stories)
{
	size_t count = data->n * stories->epochs;

	html_block_begin(&data->blocks, "correct", HTML_BYTES);
	for (size_t i = 0; i < count; i += 8) {
		unsigned char byte = 0;

		for (size_t b = 0; b < 8 && i + b < count; b++)
			byte |= (unsigned char)(stories->correct[i + b] << b);
		html_block_write(&data->blocks, &byte, 1);
	}
	html_block_end(&data->blocks);
}

int
html_data_stories(struct html_data *data, struct store *store, struct portolan_error *error)
{
	struct stories stories;
	int code = stories_read_from(&stories, store, data->view, data->places, data->n, error);

	if (code < 0)
		return code;
	html_block_begin(&data->blocks, "gold-prob", HTML_BYTES);
	html_block_write(&data->blocks, stories.gold_prob, data->n * stories.epochs * sizeof(float));
	html_block_end(&data->blocks);
	write_bits(data, &stories);
	stories_free(&stories);
	return output_check(data->blocks.output, error);
}
