/*
 * readable.c: decides which Python objects (arrays, tensors) the extension module reads in place, and reads tensors;
 * for arrays.c.
 *
 * Each type is examined once: it may have a table of DLPack functions (torch.Tensor has one from 2.10 on), or export a
 * buffer. The table counts only for the type that has it in its own dictionary. Subclasses, masked arrays, and other
 * types whose attributes may change the meaning of their buffer are not read in place.
 */
#include "module.h"

/* The structures of DLPack, version 1. Other libraries fill them, so their fields must be exactly these. */
struct dlpack_tensor {
	void *data;
	int32_t device_type, device_id;
	int32_t dimensions;
	uint8_t code, bits;
	uint16_t lanes;
	const int64_t *shape, *strides; /* strides in elements; NULL: row-major */
	uint64_t byte_offset;
};

struct dlpack_functions {
	uint32_t major, minor;
	const struct dlpack_functions *earlier; /* the table of an earlier major version */
	void (*unused[3])(void);
	dlpack_export *export; /* its result is valid while the object keeps its memory; NULL: the type lacks it */
};

#define DLPACK_MAJOR 1
#define DLPACK_CPU 1
#define DLPACK_FLOAT 2

/* The element type by DLPack's code (0 integers, 1 unsigned, 2 floats, 4 bfloat, 6 booleans) and number of bytes. */
static const enum portolan_type dlpack_types[][9] = {
        {[1] = PORTOLAN_I8, [2] = PORTOLAN_I16, [4] = PORTOLAN_I32, [8] = PORTOLAN_I64},
        {[1] = PORTOLAN_U8, [2] = PORTOLAN_U16, [4] = PORTOLAN_U32, [8] = PORTOLAN_U64},
        {[2] = PORTOLAN_F16, [4] = PORTOLAN_F32, [8] = PORTOLAN_F64},
        {0},
        {[2] = PORTOLAN_BF16},
        {0},
        {[1] = PORTOLAN_U8},
};

/* The export function in a type's own DLPack table; NULL: the type itself has no table. */
static dlpack_export *
readable_find_export(PyObject *type)
{
	PyObject *own = PyObject_GetAttrString(type, "__dict__");
	PyObject *capsule = own ? PyMapping_GetItemString(own, "__dlpack_c_exchange_api__") : NULL;
	const struct dlpack_functions *functions =
	        capsule ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : NULL;

	PyErr_Clear();
	Py_XDECREF(own);
	Py_XDECREF(capsule); /* the table lives as long as the process */
	while (functions && functions->major != DLPACK_MAJOR)
		functions = functions->earlier;
	return functions ? functions->export : NULL;
}

/* Finds the C function that the method is_neg() of this type calls. Returns false if the method is not a plain C
 * function. A type without that method has NULL. */
static bool
readable_find_is_neg(PyObject *object, PyCFunction *is_neg)
{
	PyObject *method = PyObject_GetAttrString(object, "is_neg");
	bool is_plain = method && PyCFunction_Check(method) && PyCFunction_GetFlags(method) == METH_NOARGS;
	bool is_known = !method || is_plain;

	*is_neg = is_plain ? PyCFunction_GetFunction(method) : NULL;
	PyErr_Clear();
	Py_XDECREF(method);
	return is_known;
}

/* Does the buffer alone say what the object means? Then it can be read in place. */
static bool
readable_is_plain_buffer(PyObject *type, PyObject *object)
{
	PyObject *offset;
	bool is_plain;

	if (!PyObject_CheckBuffer(object) || PyBytes_Check(object) || PyByteArray_Check(object) ||
	    PyObject_HasAttrString(type, "mask"))
		return false;
	offset = PyObject_GetAttrString(type, "__dictoffset__");
	is_plain = offset && PyLong_AsLong(offset) == 0;
	Py_XDECREF(offset);
	PyErr_Clear();
	return is_plain;
}

const struct readable *
readable_find(struct module_state *state, PyObject *object)
{
	PyObject *type = (PyObject *)Py_TYPE(object);
	struct readable *readable = state->readable;

	while (readable < state->readable + READABLE_TYPES && readable->type != type)
		readable++;
	if (readable == state->readable + READABLE_TYPES) {
		struct readable found = {Py_NewRef(type), readable_find_export(type), NULL,
		                         readable_is_plain_buffer(type, object)};
		PyObject *old;

		if (found.tensor && !readable_find_is_neg(object, &found.is_neg))
			found.tensor = NULL;
		/* The place is taken only now: examining the type may have run Python code, of a metaclass or of
		 * another thread, that has examined the type too. */
		readable = &state->readable[state->next_readable++ % READABLE_TYPES];
		old = readable->type;
		*readable = found;
		Py_XDECREF(old);
	}
	return readable->type == type && (readable->tensor || readable->is_buffer) ? readable : NULL;
}

/* Does the tensor's memory hold the negatives of its numbers? DLPack does not tell, and torch has such tensors: views
 * of conjugates, of floats with any strides. So is_neg() is asked, by its C function, as after a training step looking
 * the method up would take longer than the call. */
static bool
readable_is_negated(PyObject *object, const struct readable *readable)
{
	PyObject *answer = readable->is_neg(object, NULL);
	bool negated = answer != Py_False;

	PyErr_Clear();
	Py_XDECREF(answer);
	return negated;
}

bool
readable_tensor(PyObject *object, const struct readable *readable, struct array_view *view)
{
	struct dlpack_tensor tensor;
	ptrdiff_t size, row, column = 1;

	if (readable->tensor(object, &tensor) != 0) {
		PyErr_Clear();
		return false;
	}
	size = tensor.bits / 8;
	if (tensor.device_type != DLPACK_CPU || tensor.dimensions < 1 || tensor.dimensions > 2 || tensor.lanes != 1 ||
	    size > 8 || tensor.code >= sizeof(dlpack_types) / sizeof(dlpack_types[0]))
		return false;
	view->rows = (size_t)tensor.shape[0];
	view->columns = tensor.dimensions == 2 ? (size_t)tensor.shape[1] : 1;
	view->array.type = dlpack_types[tensor.code][size];
	if (view->array.type == 0 || (!tensor.data && view->rows * view->columns > 0))
		return false;
	row = tensor.strides ? (ptrdiff_t)tensor.strides[0] : (ptrdiff_t)view->columns;
	if (tensor.strides && tensor.dimensions == 2)
		column = (ptrdiff_t)tensor.strides[1];
	if (tensor.code == DLPACK_FLOAT && readable->is_neg && readable_is_negated(object, readable))
		return false;
	view->array.row_stride = row * size;
	view->array.column_stride = column * size;
	view->array.data = tensor.data ? (const char *)tensor.data + tensor.byte_offset : "";
	return true;
}
