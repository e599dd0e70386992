/*
 * arrays.h: Python objects as the arrays and strings of a portolan_batch, without copying what need not be copied.
 *
 * A view pins its object until it is closed, so that it may be read without the GIL. Opening and closing need the GIL.
 * Errors are Python exceptions that name the argument; after one there is nothing to close.
 */
#ifndef PORTOLAN_PYTHON_ARRAYS_H
#define PORTOLAN_PYTHON_ARRAYS_H

#include "module.h"

#include <stdbool.h>

enum array_role {
	ARRAY_SCORES,   /* float32 or float64: (n, classes), (n, 1) or (n,) */
	ARRAY_FLOATS,   /* float32 or float64: (n,) or (n, 1) */
	ARRAY_INTEGERS, /* any integers or booleans: (n,) or (n, 1) */
	ARRAY_FLAGS,    /* the same, brought to one byte per entry */
};

struct array_view {
	struct portolan_array array;
	size_t rows, columns; /* columns: 1 unless the role is ARRAY_SCORES */
	Py_buffer buffer;
	unsigned char *flags; /* the copy made for ARRAY_FLAGS of wider entries, or NULL */
};

/* Does it export a buffer of a type that some role takes? Then no conversion in Python is due. Sets no exception. */
bool array_is_ready(PyObject *object);

/* `object` must export a buffer. */
int array_open(struct array_view *view, PyObject *object, const char *name, enum array_role role);
void array_close(struct array_view *view);

struct string_view {
	const char **text; /* UTF-8, lengths[i] bytes */
	size_t *lengths;
	size_t rows;
	PyObject *owner; /* a tuple that keeps the strings alive */
};

/* `object` must be a list or tuple of str, or of bytes in UTF-8. */
int strings_open(struct string_view *view, PyObject *object, const char *name);
void strings_close(struct string_view *view);

#endif
