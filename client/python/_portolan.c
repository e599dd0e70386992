/*
 * _portolan.c: the C extension behind the Python package portolan: defines the module, its exceptions and its one type,
 * Handle.
 *
 * The module is a thin layer over libportolan: it turns buffers into portolan_array views, and codes into exceptions.
 * Work on Python objects alone (lists, tensors, defaults, finding programs) is written in Python, in portolan/. State
 * lives in the module object, never in globals, and only the stable ABI is used.
 */
#include "module.h"

#include <string.h>

#define PACKAGE "portolan."

static const struct {
	const char *name, *doc;
} error_specs[MODULE_ERROR_COUNT] = {
        [MODULE_ERROR] = {PACKAGE "Error", "Something went wrong; the message says what to do."},
        [MODULE_NO_COLLECTOR] = {PACKAGE "NoCollector", "No collector answered, or none could be started."},
        [MODULE_REFUSED] = {PACKAGE "Refused", "The collector refused: the run exists, the kind of id differs, ..."},
        [MODULE_TIMED_OUT] = {PACKAGE "TimedOut",
                              "The time was up before everything logged was on the collector's disk."},
        [MODULE_FORKED] = {PACKAGE "Forked", "The run was opened by the parent of this process."},
        [MODULE_CLOSED] = {PACKAGE "Closed", "The run is closed; or it is strict, and the collector has ended it."},
        [MODULE_ROWS_REFUSED] = {PACKAGE "RowsRefused",
                                 "Rows were refused and the run is strict; the other rows of the call were logged."},
};

/* A new reference to the base class of one exception, or to a tuple of its bases. */
static PyObject *
error_base(const struct module_state *state, enum module_error which)
{
	if (which == MODULE_ROWS_REFUSED) /* bad rows are bad arguments, which can be caught as ValueError */
		return PyTuple_Pack(2, state->errors[MODULE_ERROR], PyExc_ValueError);
	return Py_NewRef(which == MODULE_ERROR ? PyExc_RuntimeError : state->errors[MODULE_ERROR]);
}

static int
module_execute(PyObject *module)
{
	struct module_state *state = PyModule_GetState(module);

	for (int i = 0; i < MODULE_ERROR_COUNT; i++) {
		PyObject *base = error_base(state, i);

		if (!base)
			return -1;
		state->errors[i] = PyErr_NewExceptionWithDoc(error_specs[i].name, error_specs[i].doc, base, NULL);
		Py_DECREF(base);
		if (!state->errors[i] ||
		    PyModule_AddObjectRef(module, error_specs[i].name + strlen(PACKAGE), state->errors[i]) < 0)
			return -1;
	}
	state->handle_type = PyType_FromModuleAndSpec(module, &handle_spec, NULL);
	if (!state->handle_type || PyModule_AddObjectRef(module, "Handle", state->handle_type) < 0)
		return -1;
	return PyModule_AddStringConstant(module, "version", PORTOLAN_VERSION);
}

static int
module_traverse(PyObject *module, visitproc visit, void *arg)
{
	struct module_state *state = PyModule_GetState(module);

	for (int i = 0; i < MODULE_ERROR_COUNT; i++)
		Py_VISIT(state->errors[i]);
	for (int i = 0; i < READABLE_TYPES; i++)
		Py_VISIT(state->readable[i].type);
	Py_VISIT(state->handle_type);
	return 0;
}

static int
module_clear(PyObject *module)
{
	struct module_state *state = PyModule_GetState(module);

	for (int i = 0; i < MODULE_ERROR_COUNT; i++)
		Py_CLEAR(state->errors[i]);
	for (int i = 0; i < READABLE_TYPES; i++)
		Py_CLEAR(state->readable[i].type);
	Py_CLEAR(state->handle_type);
	return 0;
}

static PyObject *
module_is_ready(PyObject *Py_UNUSED(module), PyObject *object)
{
	return PyBool_FromLong(array_is_ready(object));
}

static PyMethodDef module_methods[] = {
        {"is_ready", module_is_ready, METH_O, "is_ready(object) -> bool: a buffer that a log call reads as it is"},
        {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {
        {Py_mod_exec, module_execute},
        {0, NULL},
};

static struct PyModuleDef module_definition = {
        PyModuleDef_HEAD_INIT,
        .m_name = "portolan._portolan",
        .m_doc = "libportolan for Python; use the package portolan.",
        .m_size = sizeof(struct module_state),
        .m_methods = module_methods,
        .m_slots = module_slots,
        .m_traverse = module_traverse,
        .m_clear = module_clear,
};

PyMODINIT_FUNC PyInit__portolan(void);

PyMODINIT_FUNC
PyInit__portolan(void)
{
	return PyModuleDef_Init(&module_definition);
}
