/* models.c: counts, of an array that says which of the user's models were right about which examples, the predictions
 * that were made of each example, and how many of them are right (models.h). Values are looked at as they lie in the
 * file: 0, 1 and NaN have few forms, and all else is refused. */
#include "models.h"

#include "base/message.h"
#include "die/die.h"
#include "die/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum verdict { VERDICT_WRONG, VERDICT_RIGHT, VERDICT_TRAINED, VERDICT_NONE };

void
models_free(struct models *models)
{
	npy_close(&models->array);
	free(models->made);
	free(models->correct);
	*models = (struct models){0};
}

void
models_open(struct models *models, const char *path)
{
	const struct npy_header *header = &models->array.header;

	*models = (struct models){0};
	must(npy_open(&models->array, path, &failure));
	if (header->dimensions != 2)
		die("%s has %zu dimensions: it needs two, a row for each model and a column for each example", path,
		    header->dimensions);
	if (header->count == 0)
		die("%s is empty: it needs a row for each model and a column for each example", path);
	if (!strchr("fiub", header->kind))
		die("%s holds texts: it needs 1 for right, 0 for wrong, and NaN where the model was trained on the example",
		    path);
	if (header->item_size > 8)
		die("%s holds numbers of %zu bytes each: 8 at most are read", path, header->item_size);
	models->count = (size_t)header->shape[0];
}

/* The value of a float16, whose 0, 1 and NaN alone are told apart; of all others it returns −1. */
static double
models_read_half(const uint8_t *at)
{
	unsigned bits = at[0] | (unsigned)at[1] << 8;

	if ((bits & 0x7fff) == 0)
		return 0;
	return bits == 0x3c00 ? 1 : (bits & 0x7fff) > 0x7c00 ? NAN : -1;
}

static double
models_read_float(const uint8_t *at, size_t size)
{
	double wide = -1;
	float narrow;

	if (size == sizeof(narrow)) {
		memcpy(&narrow, at, sizeof(narrow));
		return narrow;
	}
	if (size == sizeof(wide))
		memcpy(&wide, at, sizeof(wide));
	return size == 2 ? models_read_half(at) : wide;
}

static enum verdict
models_judge(const struct npy_header *header, const uint8_t *at)
{
	double value = at[0];

	if (header->kind == 'f') {
		value = models_read_float(at, header->item_size);
		if (isnan(value))
			return VERDICT_TRAINED;
	} else {
		for (size_t i = 1; i < header->item_size; i++)
			value += at[i] ? 2 : 0;
	}
	return value == 1 ? VERDICT_RIGHT : value == 0 ? VERDICT_WRONG : VERDICT_NONE;
}

/* Adds the verdict of one model on each column to made and correct. Returns how many columns trained it. */
static size_t
models_add_row(const struct models *models, size_t model, uint32_t *made, uint32_t *correct)
{
	const struct npy_header *header = &models->array.header;
	size_t columns = (size_t)header->shape[1], trained = 0;

	for (size_t column = 0; column < columns; column++) {
		size_t place = header->is_fortran ? column * models->count + model : model * columns + column;
		enum verdict verdict = models_judge(header, models->array.data + place * header->item_size);

		if (verdict == VERDICT_NONE)
			die("%s: row %zu, column %zu (from 0) is not 1 (the model is right about the example), 0 (it "
			    "is wrong) or NaN (it was trained on it)",
			    models->array.path, model, column);
		trained += verdict == VERDICT_TRAINED;
		made[column] += verdict != VERDICT_TRAINED;
		correct[column] += verdict == VERDICT_RIGHT;
	}
	if (trained == columns)
		die("%s: row %zu (from 0) is NaN throughout: the model predicts no example", models->array.path, model);
	return trained;
}

void
models_count(struct models *models, const uint32_t *columns, size_t count)
{
	size_t all = (size_t)models->array.header.shape[1], trained = 0;
	CLEANUP_FREE uint32_t *made = memory_new(2 * all, sizeof(*made));

	for (size_t model = 0; model < models->count; model++)
		trained += models_add_row(models, model, made, made + all);
	if (trained == 0)
		message_warning("%s has no NaN: then none of the models was trained on any of these examples",
		                models->array.path);
	models->made = memory_new(count, sizeof(*models->made));
	models->correct = memory_new(count, sizeof(*models->correct));
	for (size_t i = 0; i < count; i++) {
		models->made[i] = made[columns[i]];
		models->correct[i] = made[all + columns[i]];
	}
}
