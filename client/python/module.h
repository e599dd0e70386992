/*
 * module.h: what the files of the Python extension module share: the module's state, and the functions that they call
 * of one another. Private.
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

/* readable.c: which types of arguments are read in place. DLPack (dmlc.github.io/dlpack, version 1.3) describes a
 * tensor without a Python call; after a training step that would cost more than the log call itself. */
struct dlpack_tensor;
typedef int dlpack_export(void *object, struct dlpack_tensor *tensor); /* returns 0, or -1 with an exception set */

struct readable {
	PyObject *type;        /* a reference; NULL: this entry is free */
	dlpack_export *tensor; /* reads a tensor; NULL: the type has a buffer, if is_buffer */
	PyCFunction is_neg;    /* of tensors: torch's method of this name; NULL: there is none */
	bool is_buffer;
};

#define READABLE_TYPES 8 /* types remembered; a loop has two or three */

/* Each module object has its own state, so that sub-interpreters do not share exceptions. */
struct module_state {
	PyObject *errors[MODULE_ERROR_COUNT];
	PyObject *handle_type;
	struct readable readable[READABLE_TYPES];
	unsigned next_readable;
};

extern PyType_Spec handle_spec; /* the type behind portolan.Run */

/* A Python object seen as an array of a portolan_batch; its data are copied only if they must be. Until it is closed,
 * the object and its data stay where they are. */
struct array_view {
	struct portolan_array array;
	size_t rows, columns; /* columns: 1 unless the role is ARRAY_SCORES */
	Py_buffer buffer;
	bool is_tensor;       /* taken from a tensor: there is no buffer */
	unsigned char *flags; /* for ARRAY_FLAGS, the copy of wider entries; or NULL */
};

/* What is known of the object's type, if its objects are read in place; NULL: they are not. It holds for exactly this
 * type, not for its subclasses: one may give the same memory another meaning (masked arrays). */
const struct readable *readable_find(struct module_state *state, PyObject *object);

/* Makes a view of the tensor's numbers, if they are in this machine's memory, and of a type that portolan_array has.
 * The view is valid while the object lives and keeps its memory. Sets no exception. */
bool readable_tensor(PyObject *object, const struct readable *readable, struct array_view *view);

/* Does the object export a buffer of a type that some argument takes? Then Python need not convert it. Sets no
 * exception. */
bool array_is_ready(PyObject *object);

/* The arguments of one log call, and the objects that keep their memory alive. */
struct pinned_batch {
	struct portolan_batch batch;
	struct array_view scores, ids, gold, correct;
	const char **strings; /* UTF-8 of string ids, lengths[i] bytes */
	size_t *lengths;
	PyObject *owner;         /* a tuple that keeps the strings alive */
	struct own_columns *own; /* NULL: there are none */
};

/* The arguments of one log call as given. gold and correct may be None; columns: a dict of str and buffers, or NULL. */
struct log_arguments {
	const char *scores_name;
	PyObject *ids, *scores, *gold, *correct, *columns;
};

/* Makes a batch of the arguments, if all of them can be read in place. Only epoch and kind may be set in the batch
 * before. False: Python must convert some arguments first; call batch_close(), and use a new batch. Sets no
 * exception. */
bool batch_take(struct module_state *state, struct pinned_batch *pinned, const struct log_arguments *given);

/* Makes a batch of the arguments, unless batch_take() has done so. Only epoch and kind may be set in the batch before.
 * ids: a buffer, or a list or tuple of str, or of bytes in UTF-8; the others: buffers. Exceptions name the argument.
 * Call batch_close() after a failure too. */
int batch_open(struct pinned_batch *pinned, const struct log_arguments *given);
void batch_close(struct pinned_batch *pinned);

/* The arguments of log_examples(), and the objects that keep their memory alive. */
struct pinned_examples {
	struct portolan_examples examples;
	struct pinned_batch ids; /* only its ids are used */
	struct portolan_text_field fields[PORTOLAN_TEXT_FIELDS];
	PyObject *owners[PORTOLAN_TEXT_FIELDS]; /* tuples that keep the texts alive */
};

/* ids: as for batch_open(); fields: a dict of str and lists of str, one for each id. Exceptions name the argument. Call
 * examples_close() after a failure too. */
int examples_open(struct pinned_examples *pinned, PyObject *ids, PyObject *fields);
void examples_close(struct pinned_examples *pinned);

/* In arrays.c: ids alone, of any number; *rows is how many. */
int batch_open_ids(struct pinned_batch *pinned, PyObject *ids, size_t *rows);

/*
 * labels.c remembers for each id the gold label and the epoch of its last observation, and notices when the id comes
 * with another label, or again in the same epoch.
 *
 * The classic silent error is to log positions of a shuffled order as ids: everything runs, and the map means nothing.
 * It shows as ids whose gold label changes from epoch to epoch. Logging a feature as the id, or ids that several
 * examples share, shows as ids that return within an epoch; only the latest of such observations is kept. The memory is
 * bounded (1.5 MB, the first 65,536 ids). The collector counts both errors exactly (portolan check); this file warns
 * while they can still be mended.
 */
struct labels_slot;

struct labels {
	struct labels_slot *slots; /* NULL until the first batch */
	uint64_t *bitmap;          /* in the same memory */
	size_t used;
	/* Was a changed label, or a returning id, reported already? labels_see() then no longer looks for that. Both
	 * are set if memory is out. */
	bool said_changed, said_returned;
};

struct labels_found {
	bool changed, returned;
	size_t changed_row, returned_row;
	int32_t before; /* the earlier label of changed_row's id */
};

/* Checks a batch that was logged. Each of the two errors is reported only once. */
struct labels_found labels_see(struct labels *labels, const struct portolan_batch *batch);

void labels_clear(struct labels *labels);

#endif
