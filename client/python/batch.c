/*
 * batch.c: ids, scores, gold and correct of one log call as a portolan_batch.
 *
 * What is checked here is what the library cannot see: that the arrays have as many rows as the scores. Values (labels
 * in range, ids not negative, flags 0 or 1) are the library's to check, in the same pass that reads them.
 */
#include "batch.h"

void
batch_close(struct pinned_batch *pinned)
{
	strings_close(&pinned->strings);
	array_close(&pinned->correct);
	array_close(&pinned->gold);
	array_close(&pinned->ids);
	array_close(&pinned->scores);
}

static int
check_rows(const char *name, size_t rows, const char *scores_name, size_t n)
{
	if (rows == n)
		return 0;
	PyErr_Format(PyExc_ValueError, "%s has %zu %s, %s %zu %s", name, rows, rows == 1 ? "entry" : "entries",
	             scores_name, n, n == 1 ? "row" : "rows");
	return -1;
}

static int
open_ids(struct pinned_batch *pinned, PyObject *ids)
{
	if (PyList_Check(ids) || PyTuple_Check(ids)) {
		if (strings_open(&pinned->strings, ids, "ids") < 0)
			return -1;
		pinned->batch.string_ids = pinned->strings.text;
		pinned->batch.string_lengths = pinned->strings.lengths;
		return 0;
	}
	if (array_open(&pinned->ids, ids, "ids", ARRAY_INTEGERS) < 0)
		return -1;
	pinned->batch.ids = pinned->ids.array;
	return 0;
}

static int
open_column(struct array_view *view, struct portolan_array *array, PyObject *object, const char *name,
            enum array_role role)
{
	if (object == Py_None)
		return 0;
	if (array_open(view, object, name, role) < 0)
		return -1;
	*array = view->array;
	return 0;
}

int
batch_open(struct pinned_batch *pinned, const char *scores_name, PyObject *ids, PyObject *scores, PyObject *gold,
           PyObject *correct)
{
	struct portolan_batch *batch = &pinned->batch;
	enum array_role role = batch->kind == PORTOLAN_GOLD_PROBS ? ARRAY_FLOATS : ARRAY_SCORES;

	if (array_open(&pinned->scores, scores, scores_name, role) < 0 || open_ids(pinned, ids) < 0 ||
	    open_column(&pinned->gold, &batch->gold, gold, "gold", ARRAY_INTEGERS) < 0 ||
	    open_column(&pinned->correct, &batch->correct, correct, "correct", ARRAY_FLAGS) < 0)
		return -1;
	batch->scores = pinned->scores.array;
	batch->n = pinned->scores.rows;
	batch->classes = pinned->scores.columns;
	if (check_rows("ids", batch->string_ids ? pinned->strings.rows : pinned->ids.rows, scores_name, batch->n) < 0)
		return -1;
	if (batch->gold.data && check_rows("gold", pinned->gold.rows, scores_name, batch->n) < 0)
		return -1;
	if (batch->correct.data && check_rows("correct", pinned->correct.rows, scores_name, batch->n) < 0)
		return -1;
	return 0;
}
