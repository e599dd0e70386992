/* texts.c: reads the arguments of log_examples(): lists of str, whose texts stay where they are. */
#include "module.h"

#include <string.h>

/* Finds the UTF-8 of the str objects of a list, which keep owning it. */
static int
examples_open_field(struct pinned_examples *pinned, size_t f, PyObject *name, PyObject *list)
{
	struct portolan_text_field *field = &pinned->fields[f];
	const size_t n = pinned->examples.n;
	const char **texts;
	size_t *lengths;
	Py_ssize_t size;

	field->name = PyUnicode_AsUTF8AndSize(name, &size);
	if (!field->name)
		return -1;
	if (strlen(field->name) != (size_t)size) {
		PyErr_Format(PyExc_ValueError, "%R cannot be a field's name: it has a null character", name);
		return -1;
	}
	pinned->owners[f] = PySequence_Tuple(list);
	if (!pinned->owners[f])
		return -1;
	if ((size_t)PyTuple_Size(pinned->owners[f]) != n) {
		PyErr_Format(PyExc_ValueError, "%s has %zd texts, ids %zu entries", field->name,
		             PyTuple_Size(pinned->owners[f]), n);
		return -1;
	}
	field->texts = texts = PyMem_Calloc(n + 1, sizeof(*texts));
	field->lengths = lengths = PyMem_Calloc(n + 1, sizeof(*lengths));
	if (!texts || !lengths) {
		PyErr_NoMemory();
		return -1;
	}
	for (size_t i = 0; i < n; i++) {
		PyObject *text = PyTuple_GetItem(pinned->owners[f], (Py_ssize_t)i);

		if (!PyUnicode_Check(text)) {
			PyErr_Format(PyExc_TypeError, "%s[%zu] must be a string, not %R", field->name, i,
			             (PyObject *)Py_TYPE(text));
			return -1;
		}
		texts[i] = PyUnicode_AsUTF8AndSize(text, &size);
		if (!texts[i]) {
			PyErr_Format(PyExc_ValueError, "%s[%zu] is not valid Unicode: %R", field->name, i, text);
			return -1;
		}
		lengths[i] = (size_t)size;
	}
	return 0;
}

int
examples_open(struct pinned_examples *pinned, PyObject *ids, PyObject *fields)
{
	struct portolan_examples *examples = &pinned->examples;
	PyObject *name, *list;
	Py_ssize_t at = 0;

	if (PyDict_Size(fields) < 1 || PyDict_Size(fields) > PORTOLAN_TEXT_FIELDS) {
		PyErr_Format(PyExc_ValueError, "log_examples takes 1 to %d fields, such as text=[...], not %zd",
		             PORTOLAN_TEXT_FIELDS, PyDict_Size(fields));
		return -1;
	}
	if (batch_open_ids(&pinned->ids, ids, &examples->n) < 0)
		return -1;
	examples->ids = pinned->ids.batch.ids;
	examples->string_ids = pinned->ids.batch.string_ids;
	examples->string_lengths = pinned->ids.batch.string_lengths;
	examples->fields = pinned->fields;
	for (; PyDict_Next(fields, &at, &name, &list); examples->field_count++)
		if (examples_open_field(pinned, examples->field_count, name, list) < 0)
			return -1;
	return 0;
}

void
examples_close(struct pinned_examples *pinned)
{
	for (size_t f = 0; f < PORTOLAN_TEXT_FIELDS; f++) {
		PyMem_Free((void *)pinned->fields[f].texts);
		PyMem_Free((void *)pinned->fields[f].lengths);
		Py_CLEAR(pinned->owners[f]);
	}
	batch_close(&pinned->ids);
}
