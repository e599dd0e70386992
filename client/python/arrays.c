/*
 * arrays.c: buffers as portolan_array views, lists of strings as UTF-8 pointers.
 *
 * A buffer's own strides are handed on, so slices, transposes and Fortran order cost nothing. What the library
 * cannot read (foreign byte order, half precision, complex, structures) is a TypeError that names the argument and
 * the type it wants; half precision is converted in Python before it comes here.
 */
#include "arrays.h"

#include <string.h>

static int
type_error(const char *name, const char *wanted, const char *format)
{
	PyErr_Format(PyExc_TypeError, "%s must be %s in native byte order; its buffer has the format '%s'", name,
	             wanted, format);
	return -1;
}

/* The element type of an integer format; 0 if it is none. */
static enum portolan_type
integer_type(char code, Py_ssize_t size)
{
	static const enum portolan_type types[2][4] = {
	        {PORTOLAN_I8, PORTOLAN_I16, PORTOLAN_I32, PORTOLAN_I64},
	        {PORTOLAN_U8, PORTOLAN_U16, PORTOLAN_U32, PORTOLAN_U64},
	};
	int is_unsigned;

	if (strchr("bhilqn", code))
		is_unsigned = 0;
	else if (strchr("BHILQN?", code))
		is_unsigned = 1;
	else
		return 0;
	switch (size) {
	case 1:
		return types[is_unsigned][0];
	case 2:
		return types[is_unsigned][1];
	case 4:
		return types[is_unsigned][2];
	case 8:
		return types[is_unsigned][3];
	}
	return 0;
}

/* The element type a buffer's format stands for; 0 if none of ours. */
static enum portolan_type
element_type(const char *format, Py_ssize_t size)
{
	const int one = 1;
	const char native = *(const char *)&one ? '<' : '>';

	if (*format == '@' || *format == '=' || *format == native)
		format++;
	if (format[0] == '\0' || format[1] != '\0')
		return 0;
	if (format[0] == 'f' && size == 4)
		return PORTOLAN_F32;
	if (format[0] == 'd' && size == 8)
		return PORTOLAN_F64;
	return integer_type(format[0], size);
}

static int
shape_error(const char *name, enum array_role role, int dimensions)
{
	PyErr_Format(PyExc_ValueError, "%s must have the shape %s; it has %d dimensions", name,
	             role == ARRAY_SCORES ? "(n, classes), or (n,) for a sigmoid" : "(n,)", dimensions);
	return -1;
}

static int
read_shape(struct array_view *view, const char *name, enum array_role role)
{
	const Py_buffer *buffer = &view->buffer;

	if (buffer->ndim != 1 && buffer->ndim != 2)
		return shape_error(name, role, buffer->ndim);
	view->rows = (size_t)buffer->shape[0];
	view->columns = buffer->ndim == 2 ? (size_t)buffer->shape[1] : 1;
	if (role == ARRAY_SCORES && view->columns == 0) {
		PyErr_Format(PyExc_ValueError, "%s has no columns: its shape is (%zd, 0)", name, buffer->shape[0]);
		return -1;
	}
	if (role != ARRAY_SCORES && view->columns != 1) {
		PyErr_Format(PyExc_ValueError, "%s must have the shape (n,); it has the shape (%zd, %zd)", name,
		             buffer->shape[0], buffer->shape[1]);
		return -1;
	}
	view->array.row_stride = buffer->strides[0];
	view->array.column_stride = buffer->ndim == 2 ? buffer->strides[1] : 0;
	return 0;
}

static int
read_type(struct array_view *view, const char *name, enum array_role role)
{
	const char *format = view->buffer.format ? view->buffer.format : "B";
	enum portolan_type type = element_type(format, view->buffer.itemsize);
	int is_float = type == PORTOLAN_F32 || type == PORTOLAN_F64;

	if (role == ARRAY_SCORES || role == ARRAY_FLOATS) {
		if (!is_float)
			return type_error(name, "float32 or float64", format);
	} else if (type == 0 || is_float) {
		return type_error(name, "integers", format);
	}
	view->array.type = type;
	return 0;
}

static long long
integer_at(const char *entry, enum portolan_type type)
{
	union {
		int8_t i8;
		int16_t i16;
		int32_t i32;
		int64_t i64;
		uint8_t u8;
		uint16_t u16;
		uint32_t u32;
	} bytes;
	static const size_t sizes[] = {[PORTOLAN_I8] = 1,  [PORTOLAN_U8] = 1,  [PORTOLAN_I16] = 2, [PORTOLAN_U16] = 2,
	                               [PORTOLAN_I32] = 4, [PORTOLAN_U32] = 4, [PORTOLAN_I64] = 8, [PORTOLAN_U64] = 8};

	memcpy(&bytes, entry, sizes[type]);
	switch (type) {
	case PORTOLAN_I8:
		return bytes.i8;
	case PORTOLAN_U8:
		return bytes.u8;
	case PORTOLAN_I16:
		return bytes.i16;
	case PORTOLAN_U16:
		return bytes.u16;
	case PORTOLAN_I32:
		return bytes.i32;
	case PORTOLAN_U32:
		return bytes.u32;
	default:
		return bytes.i64;
	}
}

/* The library reads one byte per flag, so other integers are narrowed. */
static int
narrow_flags(struct array_view *view, const char *name)
{
	const char *data = view->buffer.buf;

	if (view->array.type == PORTOLAN_U8)
		return 0;
	view->flags = PyMem_Malloc(view->rows ? view->rows : 1);
	if (!view->flags) {
		PyErr_NoMemory();
		return -1;
	}
	for (size_t i = 0; i < view->rows; i++) {
		long long value = integer_at(data + (ptrdiff_t)i * view->array.row_stride, view->array.type);

		if (value != 0 && value != 1) {
			PyErr_Format(PyExc_ValueError, "%s: row %zu has %lld, which is neither 0 nor 1", name, i,
			             value);
			return -1;
		}
		view->flags[i] = (unsigned char)value;
	}
	view->array = (struct portolan_array){view->flags, PORTOLAN_U8, 1, 0};
	return 0;
}

bool
array_is_ready(PyObject *object)
{
	Py_buffer buffer;
	bool ready;

	if (!PyObject_CheckBuffer(object))
		return false;
	if (PyObject_GetBuffer(object, &buffer, PyBUF_STRIDED_RO | PyBUF_FORMAT) < 0) {
		PyErr_Clear();
		return false;
	}
	ready = element_type(buffer.format ? buffer.format : "B", buffer.itemsize) != 0;
	PyBuffer_Release(&buffer);
	return ready;
}

int
array_open(struct array_view *view, PyObject *object, const char *name, enum array_role role)
{
	memset(view, 0, sizeof(*view));
	if (PyObject_GetBuffer(object, &view->buffer, PyBUF_STRIDED_RO | PyBUF_FORMAT) < 0) {
		PyErr_Format(PyExc_TypeError, "%s must be an array, a tensor or a list, not an object of %R", name,
		             (PyObject *)Py_TYPE(object));
		return -1;
	}
	if (read_shape(view, name, role) < 0 || read_type(view, name, role) < 0)
		goto fail;
	view->array.data = view->buffer.buf ? view->buffer.buf : "";
	if (role == ARRAY_FLAGS && narrow_flags(view, name) < 0)
		goto fail;
	return 0;
fail:
	array_close(view);
	return -1;
}

void
array_close(struct array_view *view)
{
	PyMem_Free(view->flags);
	view->flags = NULL;
	if (view->buffer.obj)
		PyBuffer_Release(&view->buffer);
}

/* The bytes of one str or bytes object, owned by it. */
static int
string_at(PyObject *entry, const char *name, Py_ssize_t row, const char **text, size_t *length)
{
	Py_ssize_t size;

	if (PyUnicode_Check(entry)) {
		*text = PyUnicode_AsUTF8AndSize(entry, &size);
		if (!*text) {
			PyErr_Format(PyExc_ValueError, "%s[%zd] is not valid Unicode: %R", name, row, entry);
			return -1;
		}
	} else if (PyBytes_Check(entry)) {
		*text = PyBytes_AsString(entry);
		size = PyBytes_Size(entry);
	} else {
		PyErr_Format(PyExc_TypeError,
		             "%s[%zd] must be a string as the entries before it, not %R: one kind of id per run", name,
		             row, entry);
		return -1;
	}
	*length = (size_t)size;
	return 0;
}

int
strings_open(struct string_view *view, PyObject *object, const char *name)
{
	memset(view, 0, sizeof(*view));
	view->owner = PySequence_Tuple(object);
	if (!view->owner)
		return -1;
	view->rows = (size_t)PyTuple_Size(view->owner);
	view->text = PyMem_Calloc(view->rows + 1, sizeof(*view->text));
	view->lengths = PyMem_Calloc(view->rows + 1, sizeof(*view->lengths));
	if (!view->text || !view->lengths) {
		PyErr_NoMemory();
		goto fail;
	}
	for (size_t i = 0; i < view->rows; i++) {
		PyObject *entry = PyTuple_GetItem(view->owner, (Py_ssize_t)i);

		if (string_at(entry, name, (Py_ssize_t)i, &view->text[i], &view->lengths[i]) < 0)
			goto fail;
	}
	return 0;
fail:
	strings_close(view);
	return -1;
}

void
strings_close(struct string_view *view)
{
	PyMem_Free(view->text);
	PyMem_Free(view->lengths);
	Py_CLEAR(view->owner);
	view->text = NULL;
	view->lengths = NULL;
}
