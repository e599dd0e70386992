/*
 * _portolan.c: the extension module: its exceptions and its one type.
 *
 * The module is a thin skin over libportolan: it turns buffers into portolan_array views and codes into exceptions.
 * Whatever is a matter of Python objects only (lists, tensors, defaults, finding programs) is written in Python, in
 * portolan/. State lives in the module object, never in globals, and only the stable ABI is used.
 */
#include "arrays.h"

struct error_spec {
	const char *name, *attribute, *doc;
};

static const struct error_spec error_specs[MODULE_ERROR_COUNT] = {
        [MODULE_ERROR] = {"portolan.Error", "Error", "Something went wrong; the message says what to do."},
        [MODULE_NO_COLLECTOR] = {"portolan.NoCollector", "NoCollector",
                                 "No collector answered, or none could be started."},
        [MODULE_REFUSED] = {"portolan.Refused", "Refused",
                            "The collector refused: the run exists, the kind of id differs, ..."},
        [MODULE_TIMED_OUT] = {"portolan.TimedOut", "TimedOut",
                              "The time was up before everything logged was on the collector's disk."},
        [MODULE_FORKED] = {"portolan.Forked", "Forked", "The run was opened by the parent of this process."},
        [MODULE_CLOSED] = {"portolan.Closed", "Closed",
                           "The run is closed; or it is strict, and the collector has ended it."},
        [MODULE_ROWS_REFUSED] = {"portolan.RowsRefused", "RowsRefused",
                                 "Rows were refused and the run is strict; the other rows of the call were logged."},
};

PyObject *
module_raise(const struct module_state *state, const struct portolan_error *error)
{
	PyObject *type = state->errors[MODULE_ERROR];

	if (error->code == PORTOLAN_E_CANCELLED && PyErr_Occurred())
		return NULL; /* what gave the call up, KeyboardInterrupt for instance */
	switch (error->code) {
	case PORTOLAN_E_INVALID:
		type = PyExc_ValueError;
		break;
	case PORTOLAN_E_MEMORY:
		type = PyExc_MemoryError;
		break;
	case PORTOLAN_E_NO_COLLECTOR:
		type = state->errors[MODULE_NO_COLLECTOR];
		break;
	case PORTOLAN_E_REFUSED:
		type = state->errors[MODULE_REFUSED];
		break;
	case PORTOLAN_E_TIMEOUT:
		type = state->errors[MODULE_TIMED_OUT];
		break;
	case PORTOLAN_E_FORKED:
		type = state->errors[MODULE_FORKED];
		break;
	case PORTOLAN_E_CLOSED:
	case PORTOLAN_E_ENDED:
		type = state->errors[MODULE_CLOSED];
		break;
	case PORTOLAN_E_ROWS:
		type = state->errors[MODULE_ROWS_REFUSED];
		break;
	}
	PyErr_SetString(type, error->message);
	return NULL;
}

/* New reference: the bases of one exception. */
static PyObject *
error_bases(const struct module_state *state, enum module_error which)
{
	if (which == MODULE_ERROR)
		return PyTuple_Pack(1, PyExc_RuntimeError);
	if (which == MODULE_ROWS_REFUSED) /* as every other bad argument, it can be caught as a ValueError */
		return PyTuple_Pack(2, state->errors[MODULE_ERROR], PyExc_ValueError);
	return PyTuple_Pack(1, state->errors[MODULE_ERROR]);
}

static int
module_execute(PyObject *module)
{
	struct module_state *state = PyModule_GetState(module);

	for (int i = 0; i < MODULE_ERROR_COUNT; i++) {
		const struct error_spec *spec = &error_specs[i];
		PyObject *bases = error_bases(state, i);

		if (!bases)
			return -1;
		state->errors[i] = PyErr_NewExceptionWithDoc(spec->name, spec->doc, bases, NULL);
		Py_DECREF(bases);
		if (!state->errors[i] || PyModule_AddObjectRef(module, spec->attribute, state->errors[i]) < 0)
			return -1;
	}
	state->handle_type = handle_type_new(module);
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
	Py_VISIT(state->handle_type);
	return 0;
}

static int
module_clear(PyObject *module)
{
	struct module_state *state = PyModule_GetState(module);

	for (int i = 0; i < MODULE_ERROR_COUNT; i++)
		Py_CLEAR(state->errors[i]);
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
