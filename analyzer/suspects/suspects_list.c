/* suspects_list.c: fills the table of suspects, row by row, and writes the corrections that follow from it. */
#include "suspects_list.h"

#include "base/message.h"
#include "base/number.h"
#include "corrections.h"
#include "die/die.h"
#include "die/memory.h"
#include "files/texts.h"
#include "labels.h"

#include <math.h>
#include <string.h>

struct suspects_row {
	uint32_t rank, row;
	int32_t gold, other;                /* of a run that names no classes */
	struct table_cell label, suggested; /* of a run that names classes */
	double score, probability;
};

static const char *const list_columns[] = {"rank", "id", "label", "suggested", "score", "probability", "old", "new"};

/* A label's name, or, in a run that names other classes, its number. */
static struct table_cell
list_label(const struct dynamics *dynamics, int32_t label)
{
	const char *name = label < 0 ? NULL : store_snapshot_label(dynamics->snapshot, (uint64_t)label);

	if (name)
		return (struct table_cell){.kind = TABLE_STRING, .text = name, .length = strlen(name)};
	return (struct table_cell){.kind = label < 0 ? TABLE_EMPTY : TABLE_WHOLE, .whole = (uint64_t)label};
}

/* The names of the fields that are shown: those asked for, or all but the id's. */
static size_t
list_find_fields(const struct suspects_data *data, struct names *all, const char *fields[SUSPECTS_TEXTS_MAX])
{
	size_t count = 0, length;
	struct user_file file;

	if (data->field_count > 0) {
		memcpy(fields, data->fields, data->field_count * sizeof(*fields));
		return data->field_count;
	}
	must(user_file_open(&file, "--data", data->path, &failure));
	must(fields_list(&file, true, all, &failure));
	user_file_close(&file);
	for (uint32_t n = 0; n < all->count; n++) {
		const char *name = names_text(all, n, &length);

		if (strcmp(name, data->id_field) == 0)
			continue;
		if (count == SUSPECTS_TEXTS_MAX)
			die("%s has more than %d fields: which are to be shown? --text FIELD[,FIELD]", data->path,
			    SUSPECTS_TEXTS_MAX);
		fields[count++] = name;
	}
	return count;
}

struct list_texts {
	struct table_bytes *to;
};

static bool
list_take_text(void *context, const char *name, const struct field *field)
{
	struct list_texts *texts = context;

	(void)name;
	*texts->to++ = (struct table_bytes){field->at ? memory_copy(field->at, field->length) : NULL, field->length};
	return true;
}

/* Names a text column as its field; of a field that is called as a column that the table has, "data_FIELD". */
static char *
list_name_column(const char *field)
{
	for (size_t i = 0; i < TABLE_COUNT(list_columns); i++)
		if (strcmp(field, list_columns[i]) == 0)
			return memory_text("data_%s", field);
	return memory_text("%s", field);
}

static void
list_read_texts(struct suspects_list *list, const struct dynamics *dynamics, const struct suspects_data *data)
{
	CLEANUP(names_free) struct names all = {0};
	const char *fields[SUSPECTS_TEXTS_MAX];
	struct texts *texts;

	list->text_count = list_find_fields(data, &all, fields);
	list->texts = memory_array(list->table.rows * list->text_count + 1, sizeof(*list->texts), "texts");
	list->names = memory_new(list->text_count + 1, sizeof(*list->names));
	must(texts_open(&texts, data->path, data->id_field, data->glue, fields, list->text_count, &failure));
	for (size_t i = 0; i < list->table.rows; i++) {
		struct list_texts taken = {list->texts + i * list->text_count};
		size_t record = texts_find(texts, &dynamics->ids, list->rows[i].row);

		if (record == TEXTS_NONE)
			list->missing++;
		else
			texts_read(texts, record, list_take_text, &taken);
	}
	must(texts_check(texts, &failure));
	texts_free(texts);
	for (size_t t = 0; t < list->text_count; t++) {
		list->names[t] = list_name_column(fields[t]);
		list->columns[list->table.column_count++] =
		        (struct table_column){list->names[t], TABLE_BYTES, .values = list->texts + t,
		                              .stride = list->text_count * sizeof(*list->texts)};
	}
}

/* Describes the columns of every list. */
static void
list_describe(struct suspects_list *list, const struct dynamics *dynamics, bool calibrated)
{
	bool named = dynamics->info->label_count > 0;
	enum table_type type = named ? TABLE_CELL : TABLE_I32;
	const struct table_column columns[] = {
	        {"rank", TABLE_U32, offsetof(struct suspects_row, rank), .npy = "<u4"},
	        {"id", TABLE_ID_AT, offsetof(struct suspects_row, row), .of = &dynamics->ids, .is_name = true},
	        {"label", type, named ? offsetof(struct suspects_row, label) : offsetof(struct suspects_row, gold),
	         .npy = named ? NULL : "<i8", .is_name = true},
	        {"suggested", type,
	         named ? offsetof(struct suspects_row, suggested) : offsetof(struct suspects_row, other),
	         .npy = named ? NULL : "<i8", .is_name = true},
	        {"score", TABLE_F64, offsetof(struct suspects_row, score), .infinite = true},
	        {"probability", TABLE_F64, offsetof(struct suspects_row, probability)},
	};

	memcpy(list->columns, columns, sizeof(columns));
	list->table.columns = list->columns;
	list->table.column_count = TABLE_COUNT(columns) - !calibrated;
	list->text_column = list->table.column_count;
}

void
suspects_list_make(struct suspects_list *list, const struct suspects *suspects, const struct calibration *calibration,
                   const struct dynamics *dynamics, size_t count, const struct suspects_data *data)
{
	*list = (struct suspects_list){.rows = memory_array(count + 1, sizeof(*list->rows), "suspects")};
	list->table = (struct table){.rows = count, .structs = list->rows, .struct_size = sizeof(*list->rows)};
	list_describe(list, dynamics, calibration);
	for (size_t i = 0; i < count; i++) {
		uint32_t row = suspects->ranked[i];
		int32_t other = suspects->suggested[row];

		list->rows[i] =
		        (struct suspects_row){.rank = (uint32_t)i + 1,
		                              .row = row,
		                              .gold = dynamics->gold[row],
		                              .other = other,
		                              .label = list_label(dynamics, dynamics->gold[row]),
		                              .suggested = list_label(dynamics, other),
		                              .score = suspects->scores[row],
		                              .probability = calibration ? calibration->probabilities[row] : NAN};
	}
	if (data->path)
		list_read_texts(list, dynamics, data);
}

void
suspects_list_free(struct suspects_list *list)
{
	for (size_t i = 0; i < list->table.rows * list->text_count; i++)
		free((char *)list->texts[i].at);
	for (size_t t = 0; t < list->text_count; t++)
		free(list->names[t]);
	array_free(list->texts);
	free(list->names);
	array_free(list->rows);
	*list = (struct suspects_list){.rows = NULL};
}

void
suspects_list_correct(const struct suspects_list *list, const struct dynamics *dynamics, const char *path)
{
	/* id, label, suggested and the texts */
	struct table_column columns[SUSPECTS_COLUMNS];
	struct table table = list->table;
	const char *drop;
	size_t without = 0;

	memcpy(columns, list->columns + 1, 3 * sizeof(*columns));
	memcpy(columns + 3, list->columns + list->text_column, list->text_count * sizeof(*columns));
	columns[1].name = "old";
	columns[2].name = "new";
	table.columns = columns;
	table.column_count = 3 + list->text_count;
	must(table_write(&table, path, TABLE_TSV, &failure));
	for (size_t i = 0; i < table.rows; i++)
		without += list->rows[i].other < 0;
	drop = label_find(dynamics, LABEL_NAMES, CORRECTION_DROP_WORD, strlen(CORRECTION_DROP_WORD)) == LABEL_NONE
	               ? ", or write \"" CORRECTION_DROP_WORD "\" there to leave an example out"
	               : " (\"" CORRECTION_DROP_WORD "\" is a class of this run, and leaves no example out)";
	message_note(
	        "%s: %s label%s to look at. Delete the lines that you do not agree with, or change \"new\"%s; then: "
	        "portolan select … --corrections %s",
	        path, NUMBER_GROUPED(table.rows), table.rows == 1 ? "" : "s", drop, path);
	if (without > 0)
		message_note(
		        "%s: %s line%s an empty \"new\", as the model suggests no other label. Left empty, it keeps the "
		        "old label",
		        path, NUMBER_GROUPED(without), without == 1 ? " has" : "s have");
}
