/*
 * arrays.c: turns the arguments of one log call from Python (ids, scores, gold, correct) into the portolan_batch that
 * the C library takes: buffers and tensors become portolan_array views, lists of strings UTF-8 pointers.
 *
 * Strides are passed on, so slices, transposes and Fortran order cost nothing. Objects that cannot be read in place
 * (lists of numbers, tensors on a device, arrays of Python objects) are left to Python, which converts them and calls
 * again. Types that the library cannot read even then (foreign byte order, complex, structures) raise a TypeError that
 * names the argument and the type it wants.
 *
 * This file checks what the library cannot: that all arrays have as many rows as the scores. The library checks the
 * values (labels in range, ids not negative, flags 0 or 1) in the pass that reads them.
 */
#include "module.h"

#include "batch.h"

#include <string.h>

/* The caller's own columns. Their dict, and so their names, outlive the call. */
struct own_columns {
	struct array_view views[PORTOLAN_OWN_COLUMNS];
	struct portolan_column columns[PORTOLAN_OWN_COLUMNS];
};

enum array_role {
	ARRAY_SCORES,   /* float16, float32 or float64: (n, classes), (n, 1) or (n,) */
	ARRAY_FLOATS,   /* the same types: (n,) or (n, 1) */
	ARRAY_INTEGERS, /* any integers or booleans: (n,) or (n, 1) */
	ARRAY_FLAGS,    /* the same types and shapes, converted to one byte per entry */
};

/* The advice in the exception for labels that are not class numbers. */
static const char *
array_advice(const char *name)
{
	return strcmp(name, "gold") ? ""
	                            : ": soft labels, and several labels per example, have no gold probability; pass "
	                              "the class numbers, of one-hot labels gold.argmax(1)";
}

/* The advice in the exception for ids and labels that are floats. */
static const char *
array_whole_advice(const char *name, const char *format)
{
	size_t length = strlen(format);

	if (length == 0 || !strchr("efd", format[length - 1]))
		return "";
	return !strcmp(name, "ids")    ? ": if they are whole numbers, pass ids.astype(int), of a tensor ids.long()"
	       : !strcmp(name, "gold") ? ": if they are whole numbers, pass gold.astype(int), of a tensor gold.long()"
	                               : "";
}

static int
array_type_error(const char *name, const char *wanted, const char *format)
{
	PyErr_Format(PyExc_TypeError, "%s must be %s in native byte order; its buffer has the format '%s'%s%s", name,
	             wanted, format, array_whole_advice(name, format), array_advice(name));
	return -1;
}

/* The element type for a format of integers; 0: it is no such format. */
static enum portolan_type
array_integer_type(char code, Py_ssize_t size)
{
	static const enum portolan_type types[2][9] = {
	        {[1] = PORTOLAN_I8, [2] = PORTOLAN_I16, [4] = PORTOLAN_I32, [8] = PORTOLAN_I64},
	        {[1] = PORTOLAN_U8, [2] = PORTOLAN_U16, [4] = PORTOLAN_U32, [8] = PORTOLAN_U64},
	};
	bool is_unsigned = strchr("BHILQN?", code) != NULL;

	return size <= 8 && (is_unsigned || strchr("bhilqn", code)) ? types[is_unsigned][size] : 0;
}

/* The element type for a buffer's format; 0: the library has no such type. */
static enum portolan_type
array_element_type(const char *format, Py_ssize_t size)
{
	const int one = 1;
	const char native = *(const char *)&one ? '<' : '>';

	if (*format == '@' || *format == '=' || *format == native)
		format++;
	if (format[0] == '\0' || format[1] != '\0')
		return 0;
	if (format[0] == 'e' && size == 2)
		return PORTOLAN_F16;
	if (format[0] == 'f' && size == 4)
		return PORTOLAN_F32;
	if (format[0] == 'd' && size == 8)
		return PORTOLAN_F64;
	return array_integer_type(format[0], size);
}

static int
array_shape_error(const char *name, enum array_role role, int dimensions)
{
	PyErr_Format(PyExc_ValueError, "%s must have the shape %s; it has %d dimensions", name,
	             role == ARRAY_SCORES ? "(n, classes), or (n,) for a sigmoid" : "(n,)", dimensions);
	return -1;
}

static int
array_read_shape(struct array_view *view, const char *name, enum array_role role)
{
	const Py_buffer *buffer = &view->buffer;

	if (buffer->ndim != 1 && buffer->ndim != 2)
		return array_shape_error(name, role, buffer->ndim);
	view->rows = (size_t)buffer->shape[0];
	view->columns = buffer->ndim == 2 ? (size_t)buffer->shape[1] : 1;
	if (role == ARRAY_SCORES && view->columns == 0) {
		PyErr_Format(PyExc_ValueError, "%s has no columns: its shape is (%zd, 0)", name, buffer->shape[0]);
		return -1;
	}
	if (role != ARRAY_SCORES && view->columns != 1) {
		PyErr_Format(PyExc_ValueError, "%s must have the shape (n,); it has the shape (%zd, %zd)%s", name,
		             buffer->shape[0], buffer->shape[1], array_advice(name));
		return -1;
	}
	view->array.row_stride = buffer->strides[0];
	view->array.column_stride = buffer->ndim == 2 ? buffer->strides[1] : 0;
	return 0;
}

static int
array_read_type(struct array_view *view, const char *name, enum array_role role)
{
	const char *format = view->buffer.format ? view->buffer.format : "B";
	enum portolan_type type = array_element_type(format, view->buffer.itemsize);
	bool is_float = !arrays_is_integer(type);

	if (role == ARRAY_SCORES || role == ARRAY_FLOATS) {
		if (type == 0 || !is_float)
			return array_type_error(name, "float16, float32 or float64", format);
	} else if (type == 0 || is_float) {
		return array_type_error(name, "integers", format);
	}
	view->array.type = type;
	return 0;
}

/* Copies flags that are wider integers into one byte each, as the library reads them. */
static int
array_narrow_flags(struct array_view *view, const char *name)
{
	if (view->array.type == PORTOLAN_U8)
		return 0;
	view->flags = PyMem_Malloc(view->rows ? view->rows : 1);
	if (!view->flags) {
		PyErr_NoMemory();
		return -1;
	}
	for (size_t i = 0; i < view->rows; i++) {
		uint64_t value;

		arrays_read_u64(&view->array, i, 1, &value);
		if (value > 1) {
			PyErr_Format(PyExc_ValueError, "%s: row %zu has %lld, which is neither 0 nor 1", name, i,
			             (long long)value);
			return -1;
		}
		view->flags[i] = (unsigned char)value;
	}
	view->array = (struct portolan_array){view->flags, PORTOLAN_U8, 1, 0};
	return 0;
}

/* Gets the buffer of an object, if some role takes its element type. The caller must release it. Sets no exception. */
static bool
array_get_ready_buffer(PyObject *object, Py_buffer *buffer)
{
	if (!PyObject_CheckBuffer(object))
		return false;
	if (PyObject_GetBuffer(object, buffer, PyBUF_STRIDED_RO | PyBUF_FORMAT) < 0) {
		PyErr_Clear();
		return false;
	}
	if (array_element_type(buffer->format ? buffer->format : "B", buffer->itemsize) != 0)
		return true;
	PyBuffer_Release(buffer);
	return false;
}

bool
array_is_ready(PyObject *object)
{
	Py_buffer buffer;
	bool ready = array_get_ready_buffer(object, &buffer);

	if (ready)
		PyBuffer_Release(&buffer);
	return ready;
}

/* Takes a tensor if its type and shape suit its role. */
static bool
array_take_tensor(struct array_view *view, PyObject *object, const struct readable *readable, enum array_role role)
{
	bool wants_float = role == ARRAY_SCORES || role == ARRAY_FLOATS;

	if (!readable_tensor(object, readable, view) || arrays_is_integer(view->array.type) == wants_float ||
	    (role == ARRAY_SCORES ? view->columns == 0 : view->columns != 1))
		return false;
	view->is_tensor = true;
	return true;
}

/* Takes an object if it can be read in place. False: Python must convert it, or say what is wrong with it. */
static bool
array_take(struct module_state *state, struct array_view *view, PyObject *object, enum array_role role)
{
	const struct readable *readable = readable_find(state, object);

	return readable && (readable->tensor ? array_take_tensor(view, object, readable, role)
	                                     : array_get_ready_buffer(object, &view->buffer));
}

static void
array_close(struct array_view *view)
{
	PyMem_Free(view->flags);
	view->flags = NULL;
	if (view->buffer.obj)
		PyBuffer_Release(&view->buffer);
}

/* Opens the object as an array, unless that was done already. It must then export a buffer. */
static int
array_open(struct array_view *view, PyObject *object, const char *name, enum array_role role)
{
	if (view->is_tensor)
		return role == ARRAY_FLAGS ? array_narrow_flags(view, name) : 0;
	if (!view->buffer.obj && PyObject_GetBuffer(object, &view->buffer, PyBUF_STRIDED_RO | PyBUF_FORMAT) < 0) {
		PyErr_Format(PyExc_TypeError, "%s must be an array, a tensor or a list, not an object of %R", name,
		             (PyObject *)Py_TYPE(object));
		return -1;
	}
	if (array_read_shape(view, name, role) < 0 || array_read_type(view, name, role) < 0)
		return -1;
	view->array.data = view->buffer.buf ? view->buffer.buf : "";
	return role == ARRAY_FLAGS ? array_narrow_flags(view, name) : 0;
}

/* Finds the bytes of a str or bytes object, which keeps owning them. */
static int
batch_string_at(PyObject *entry, Py_ssize_t row, const char **text, size_t *length)
{
	Py_ssize_t size;

	if (PyUnicode_Check(entry)) {
		*text = PyUnicode_AsUTF8AndSize(entry, &size);
		if (!*text) {
			PyErr_Format(PyExc_ValueError, "ids[%zd] is not valid Unicode: %R", row, entry);
			return -1;
		}
	} else if (PyBytes_Check(entry)) {
		*text = PyBytes_AsString(entry);
		size = PyBytes_Size(entry);
	} else {
		PyErr_Format(PyExc_TypeError,
		             "ids[%zd] must be a string as the entries before it, not %R: one kind of id per run", row,
		             entry);
		return -1;
	}
	*length = (size_t)size;
	return 0;
}

static int
batch_open_strings(struct pinned_batch *pinned, PyObject *ids, size_t *rows)
{
	pinned->owner = PySequence_Tuple(ids);
	if (!pinned->owner)
		return -1;
	*rows = (size_t)PyTuple_Size(pinned->owner);
	pinned->strings = PyMem_Calloc(*rows + 1, sizeof(*pinned->strings));
	pinned->lengths = PyMem_Calloc(*rows + 1, sizeof(*pinned->lengths));
	if (!pinned->strings || !pinned->lengths) {
		PyErr_NoMemory();
		return -1;
	}
	for (size_t i = 0; i < *rows; i++)
		if (batch_string_at(PyTuple_GetItem(pinned->owner, (Py_ssize_t)i), (Py_ssize_t)i, &pinned->strings[i],
		                    &pinned->lengths[i]) < 0)
			return -1;
	pinned->batch.string_ids = pinned->strings;
	pinned->batch.string_lengths = pinned->lengths;
	return 0;
}

void
batch_close(struct pinned_batch *pinned)
{
	PyMem_Free(pinned->strings);
	PyMem_Free(pinned->lengths);
	Py_CLEAR(pinned->owner);
	for (size_t i = 0; pinned->own && i < PORTOLAN_OWN_COLUMNS; i++)
		array_close(&pinned->own->views[i]);
	PyMem_Free(pinned->own);
	pinned->own = NULL;
	array_close(&pinned->correct);
	array_close(&pinned->gold);
	array_close(&pinned->ids);
	array_close(&pinned->scores);
}

static int
batch_check_rows(const char *name, size_t rows, const char *scores_name, size_t n)
{
	if (rows == n)
		return 0;
	PyErr_Format(PyExc_ValueError, "%s has %zu %s, %s %zu %s", name, rows, rows == 1 ? "entry" : "entries",
	             scores_name, n, n == 1 ? "row" : "rows");
	return -1;
}

/* Opens an argument that must have one entry for each row of the scores. */
static int
batch_open_column(struct pinned_batch *pinned, struct array_view *view, PyObject *object, const char *name,
                  enum array_role role, const char *scores_name)
{
	if (array_open(view, object, name, role) < 0)
		return -1;
	return batch_check_rows(name, view->rows, scores_name, pinned->batch.n);
}

static int
batch_open_own_columns(struct pinned_batch *pinned, PyObject *columns, const char *scores_name)
{
	size_t count = (size_t)PyDict_Size(columns), i = 0;
	PyObject *name, *values;
	Py_ssize_t at = 0;

	if (count > PORTOLAN_OWN_COLUMNS) {
		PyErr_Format(PyExc_ValueError, "columns: there are %zu; the limit is %d", count, PORTOLAN_OWN_COLUMNS);
		return -1;
	}
	pinned->own = PyMem_Calloc(1, sizeof(*pinned->own));
	if (!pinned->own) {
		PyErr_NoMemory();
		return -1;
	}
	for (; PyDict_Next(columns, &at, &name, &values); i++) {
		Py_ssize_t length;
		const char *text = PyUnicode_AsUTF8AndSize(name, &length);

		if (text && strlen(text) != (size_t)length) {
			PyErr_Format(PyExc_ValueError, "columns: the name %R has a null character", name);
			return -1;
		}
		if (!text ||
		    batch_open_column(pinned, &pinned->own->views[i], values, text, ARRAY_FLOATS, scores_name) < 0)
			return -1;
		pinned->own->columns[i] = (struct portolan_column){text, pinned->own->views[i].array};
	}
	pinned->batch.columns = pinned->own->columns;
	pinned->batch.column_count = count;
	return 0;
}

static bool
batch_are_strings(PyObject *ids)
{
	PyObject *first = PyList_Check(ids) && PyList_Size(ids) > 0     ? PyList_GetItem(ids, 0)
	                  : PyTuple_Check(ids) && PyTuple_Size(ids) > 0 ? PyTuple_GetItem(ids, 0)
	                                                                : NULL;

	return first && (PyUnicode_Check(first) || PyBytes_Check(first));
}

int
batch_open_ids(struct pinned_batch *pinned, PyObject *ids, size_t *rows)
{
	if (PyList_Check(ids) || PyTuple_Check(ids))
		return batch_open_strings(pinned, ids, rows);
	if (array_open(&pinned->ids, ids, "ids", ARRAY_INTEGERS) < 0)
		return -1;
	*rows = pinned->ids.rows;
	pinned->batch.ids = pinned->ids.array;
	return 0;
}

bool
batch_take(struct module_state *state, struct pinned_batch *pinned, const struct log_arguments *given)
{
	bool is_gold_prob = pinned->batch.kind == PORTOLAN_GOLD_PROBS, is_loss = pinned->batch.kind == PORTOLAN_LOSSES;
	enum array_role role = is_gold_prob || is_loss ? ARRAY_FLOATS : ARRAY_SCORES;

	return array_take(state, &pinned->scores, given->scores, role) &&
	       (batch_are_strings(given->ids) || array_take(state, &pinned->ids, given->ids, ARRAY_INTEGERS)) &&
	       (given->gold == Py_None ? is_gold_prob || is_loss
	                               : array_take(state, &pinned->gold, given->gold, ARRAY_INTEGERS)) &&
	       (!is_gold_prob || array_take(state, &pinned->correct, given->correct, ARRAY_FLAGS));
}

int
batch_open(struct pinned_batch *pinned, const struct log_arguments *given)
{
	PyObject *ids = given->ids, *gold = given->gold, *correct = given->correct;
	const char *scores_name = given->scores_name;
	struct portolan_batch *batch = &pinned->batch;
	enum array_role role =
	        batch->kind == PORTOLAN_GOLD_PROBS || batch->kind == PORTOLAN_LOSSES ? ARRAY_FLOATS : ARRAY_SCORES;
	size_t rows;

	if (array_open(&pinned->scores, given->scores, scores_name, role) < 0)
		return -1;
	batch->n = pinned->scores.rows;
	batch->classes = pinned->scores.columns;
	if (PyList_Check(ids) || PyTuple_Check(ids)) {
		if (batch_open_strings(pinned, ids, &rows) < 0 ||
		    batch_check_rows("ids", rows, scores_name, batch->n) < 0)
			return -1;
	} else if (batch_open_column(pinned, &pinned->ids, ids, "ids", ARRAY_INTEGERS, scores_name) < 0) {
		return -1;
	}
	if ((gold != Py_None &&
	     batch_open_column(pinned, &pinned->gold, gold, "gold", ARRAY_INTEGERS, scores_name) < 0) ||
	    (correct != Py_None &&
	     batch_open_column(pinned, &pinned->correct, correct, "correct", ARRAY_FLAGS, scores_name) < 0) ||
	    (given->columns && batch_open_own_columns(pinned, given->columns, scores_name) < 0))
		return -1;
	batch->scores = pinned->scores.array;
	batch->ids = pinned->ids.array;
	batch->gold = pinned->gold.array;
	batch->correct = pinned->correct.array;
	return 0;
}
