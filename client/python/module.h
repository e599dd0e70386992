/*
 * module.h: what the files of the extension share. Private.
 *
 * Everything here needs the GIL. Functions that return int answer 0, or -1 with a Python exception set.
 */
#ifndef PORTOLAN_PYTHON_MODULE_H
#define PORTOLAN_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030b0000 /* one build for CPython 3.11 and everything after it */
#endif
#include <Python.h>

#include <portolan/portolan.h>

enum module_error {
	MODULE_ERROR, /* portolan.Error, the base of the others */
	MODULE_NO_COLLECTOR,
	MODULE_REFUSED,
	MODULE_TIMED_OUT,
	MODULE_FORKED,
	MODULE_CLOSED,
	MODULE_ROWS_REFUSED,
	MODULE_ERROR_COUNT,
};

/* Per module object, so that sub-interpreters do not share exceptions. */
struct module_state {
	PyObject *errors[MODULE_ERROR_COUNT];
	PyObject *handle_type;
};

/* Raises the exception that stands for error->code, with its message; always returns NULL. */
PyObject *module_raise(const struct module_state *state, const struct portolan_error *error);

/* The type behind portolan.Run: a new reference, or NULL with an exception. */
PyObject *handle_type_new(PyObject *module);

#endif
