/*
 * module.h: what the files of the extension share. Private.
 *
 * Everything here needs the GIL; an open batch may be read without it. Functions that return int answer 0, or -1 with a
 * Python exception set, unless they say otherwise.
 */
#ifndef PORTOLAN_PYTHON_MODULE_H
#define PORTOLAN_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030b0000 /* one build for CPython 3.11 and everything after it */
#endif
#include <Python.h>

#include <portolan/portolan.h>

#include <stdbool.h>

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

/* readable.c: of which types arguments are read as they are. What DLPack (dmlc.github.io/dlpack, version 1.3) says a
 * tensor is comes without a Python call, which after a training step would cost more than the log call itself. */
struct dlpack_tensor;
typedef int dlpack_export(void *object, struct dlpack_tensor *tensor); /* 0, or -1 with an exception */

struct readable {
	PyObject *type;        /* held; NULL: this place is free */
	dlpack_export *tensor; /* NULL: a buffer, if is_buffer */
	bool is_buffer;
};

#define READABLE_TYPES 8 /* remembered; a loop has two or three */

/* Per module object, so that sub-interpreters do not share exceptions. */
struct module_state {
	PyObject *errors[MODULE_ERROR_COUNT];
	PyObject *handle_type;
	struct readable readable[READABLE_TYPES];
	unsigned next_readable;
};

/* Raises the exception that stands for error->code, with its message; always returns NULL. */
PyObject *module_raise(const struct module_state *state, const struct portolan_error *error);

extern PyType_Spec handle_spec; /* the type behind portolan.Run */

/* A Python object as an array of a portolan_batch, without copying what need not be copied; pinned until it is closed.
 */
struct array_view {
	struct portolan_array array;
	size_t rows, columns; /* columns: 1 unless the role is ARRAY_SCORES */
	Py_buffer buffer;
	bool is_tensor;       /* taken from a tensor: there is no buffer */
	unsigned char *flags; /* the copy made for ARRAY_FLAGS of wider entries, or NULL */
};

/* Objects of this type are read as they are (NULL: they are not): of exactly this type, which defines what it exports;
 * subclasses may mean something else by the same memory (masked arrays). */
const struct readable *readable_find(struct module_state *state, PyObject *object);

/* Its numbers, rows and columns, if they are in this machine's memory and of one of the types of portolan_array. They
 * stay while the object does, and is not given other memory. Sets no exception. */
bool readable_tensor(PyObject *object, const struct readable *readable, struct array_view *view);

/* Does it export a buffer of a type that some role takes? Then no conversion in Python is due. Sets no exception. */
bool array_is_ready(PyObject *object);

/* The arguments of one log call, and what keeps their memory alive. */
struct pinned_batch {
	struct portolan_batch batch;
	struct array_view scores, ids, gold, correct;
	const char **strings; /* UTF-8 of string ids, lengths[i] bytes */
	size_t *lengths;
	PyObject *owner;         /* a tuple that keeps the strings alive */
	struct own_columns *own; /* NULL: there are none */
};

/* As they were given; gold and correct may be None; columns: a dict of str and buffers, or NULL. */
struct log_arguments {
	const char *scores_name;
	PyObject *ids, *scores, *gold, *correct, *columns;
};

/* Looks whether everything can be read as it is, and begins with that, in a batch that is zero but for epoch and kind.
 * False: something is to be converted first; batch_close() and a batch made anew are due. Sets no exception. */
bool batch_take(struct module_state *state, struct pinned_batch *pinned, const struct log_arguments *given);

/* Fills a batch that is zero but for epoch and kind, or was taken. ids: a buffer, or a list or tuple of str, or of bytes
 * in UTF-8; the others: buffers. Exceptions name the argument. After a failure, too, batch_close() is due. */
int batch_open(struct pinned_batch *pinned, const struct log_arguments *given);
void batch_close(struct pinned_batch *pinned);

/*
 * labels.c remembers with which gold label, and in which epoch, an id was logged last, and notices when it comes with
 * another label, or again in the same epoch.
 *
 * A position in a shuffled order, taken for an id, is the classic silent error: everything runs, and the map is of
 * nothing. It shows as ids whose gold label changes from epoch to epoch. A feature taken for an id, or ids that several
 * examples share, show as ids that return within an epoch; of such observations the latest alone is kept. What is
 * remembered is bounded (1.5 MB, the first 65,536 ids): the collector counts both exactly (portolan check); this is for
 * saying so while it can still be mended.
 */
struct labels_slot;

struct labels {
	struct labels_slot *slots; /* NULL until the first batch */
	size_t used;
	bool said_changed, said_returned; /* found once, or there is no memory: no more looking */
};

struct labels_found {
	bool changed, returned;
	size_t changed_row, returned_row;
	int32_t before; /* the label that the id of changed_row had */
};

/* Looks at a batch that was logged. Each of the two is found once only. */
struct labels_found labels_see(struct labels *labels, const struct portolan_batch *batch);

void labels_clear(struct labels *labels);

#endif
