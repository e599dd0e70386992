/*
 * handle.c: the type Handle, through which the Python package uses one open run (portolan_run) of the C library.
 *
 * Every call into the library is made without the GIL: any of them may wait (for the collector, for the disk, for room
 * in the ring), and other threads of the interpreter should not wait with it. `active` counts the calls under way; it
 * is read and written only with the GIL held, and close() frees the run when it is 0.
 *
 * After a fork the child abandons its handle: it calls nothing of the library on it, since a thread of the parent may
 * have held the library's locks at that moment.
 */
#include "module.h"

#include "run.h"

#include <portolan/error.h>

#include <time.h>

struct handle {
	PyObject_HEAD portolan_run *run; /* NULL: closed, or never opened */
	unsigned active;
	bool abandoned;
	struct portolan_stats last; /* the counts at the end, once the run is closed */
	bool has_last;
	struct labels labels;
};

static struct module_state *
handle_state(struct handle *handle)
{
	return PyType_GetModuleState(Py_TYPE((PyObject *)handle));
}

/* Raises the exception that stands for error->code, with its message; always returns NULL. */
static PyObject *
handle_raise(struct handle *handle, const struct portolan_error *error)
{
	static const enum module_error of_code[] = {
	        [-PORTOLAN_E_NO_COLLECTOR] = MODULE_NO_COLLECTOR,
	        [-PORTOLAN_E_REFUSED] = MODULE_REFUSED,
	        [-PORTOLAN_E_TIMEOUT] = MODULE_TIMED_OUT,
	        [-PORTOLAN_E_FORKED] = MODULE_FORKED,
	        [-PORTOLAN_E_CLOSED] = MODULE_CLOSED,
	        [-PORTOLAN_E_ENDED] = MODULE_CLOSED,
	        [-PORTOLAN_E_ROWS] = MODULE_ROWS_REFUSED,
	};
	PyObject *type = handle_state(handle)->errors[of_code[-error->code]];

	if (error->code == PORTOLAN_E_CANCELLED && PyErr_Occurred())
		return NULL; /* the exception that cancelled the call (KeyboardInterrupt, for instance) stays set */
	if (error->code == PORTOLAN_E_INVALID)
		type = PyExc_ValueError;
	else if (error->code == PORTOLAN_E_MEMORY)
		type = PyExc_MemoryError;
	PyErr_SetString(type, error->message);
	return NULL;
}

static PyObject *
handle_refuse(struct handle *handle, int code, const char *message)
{
	struct portolan_error error;

	error_set(&error, code, "%s", message);
	return handle_raise(handle, &error);
}

/* Gives the run to a method, which must do active-- when it no longer uses it. NULL: an exception is set. */
static portolan_run *
handle_enter(struct handle *handle)
{
	if (handle->abandoned)
		return (void *)handle_refuse(
		        handle, PORTOLAN_E_FORKED,
		        "this run was opened by the parent process: open a run of its own in this process");
	if (!handle->run)
		return (void *)handle_refuse(handle, PORTOLAN_E_CLOSED,
		                             "the run is closed: open it again with resume=True");
	handle->active++;
	return handle->run;
}

/* Reads a list of str. The strings end with NUL, and belong to their str objects. *labels is the caller's to
 * PyMem_Free(). */
static int
handle_read_labels(PyObject *list, const char ***labels, size_t *count)
{
	Py_ssize_t n = PyList_Size(list);

	if (n < 0)
		return -1;
	*labels = PyMem_Calloc((size_t)n + 1, sizeof(**labels));
	if (!*labels) {
		PyErr_NoMemory();
		return -1;
	}
	for (Py_ssize_t i = 0; i < n; i++) {
		(*labels)[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL);
		if (!(*labels)[i]) {
			PyMem_Free(*labels);
			return -1;
		}
	}
	*count = (size_t)n;
	return 0;
}

/* For options.cancelled: called while the library waits, without the GIL. True if a Python signal handler has raised an
 * exception: it stays set, and the method then raises it. */
static int
handle_signal_came(void *unused)
{
	PyGILState_STATE state = PyGILState_Ensure();
	int came = PyErr_Occurred() || PyErr_CheckSignals() < 0;

	(void)unused;
	PyGILState_Release(state);
	return came;
}

PyDoc_STRVAR(
        open_doc,
        "open(name, store, endpoint, keys, mode, examples, labels, config, group, rank, resume, overwrite, strict, "
        "when_full, ring_bytes, open_timeout_ms, collector_program, spool, spool_bytes)\n\n"
        "Paths are bytes; an empty string stands for 'not given'. labels is a list of str. Answers whether it is open: False, "
        "where a run of that name exists and neither resume nor overwrite was asked for.");

static PyObject *
handle_open(struct handle *self, PyObject *args)
{
	struct portolan_options options = {.cancelled = handle_signal_came};
	const char **const texts[] = {
	        &options.store, &options.endpoint,         &options.keys, &options.config, &options.group,
	        &options.spool, &options.collector_program};
	struct portolan_error error = {0};
	const char *name, **labels;
	unsigned long long examples, spool_bytes;
	Py_ssize_t ring_bytes;
	portolan_run *run = NULL;
	PyObject *label_list;
	int mode, when_full, code;
	bool exists;

	if (!PyArg_ParseTuple(args, "sysyiKO!ssIpppiniyyK:open", &name, &options.store, &options.endpoint,
	                      &options.keys, &mode, &examples, &PyList_Type, &label_list, &options.config,
	                      &options.group, &options.rank, &options.resume, &options.overwrite, &options.strict,
	                      &when_full, &ring_bytes, &options.open_timeout_ms, &options.collector_program,
	                      &options.spool, &spool_bytes))
		return NULL;
	if (self->run)
		return handle_refuse(self, PORTOLAN_E_INVALID, "the run is open already");
	if (handle_read_labels(label_list, &labels, &options.label_count) < 0)
		return NULL;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!(*texts[i])[0])
			*texts[i] = NULL;
	options.mode = (enum portolan_mode)mode;
	options.examples = examples;
	options.labels = options.label_count ? labels : NULL;
	options.when_full = (enum portolan_when_full)when_full;
	options.ring_bytes = (size_t)ring_bytes;
	options.spool_bytes = spool_bytes;
	Py_BEGIN_ALLOW_THREADS;
	code = run_open(name, &options, &run, &exists, &error);
	Py_END_ALLOW_THREADS;
	PyMem_Free(labels);
	if (code < 0 && exists)
		Py_RETURN_FALSE;
	if (code < 0)
		return handle_raise(self, &error);
	self->run = run;
	Py_RETURN_TRUE;
}

static int
handle_read_epoch(PyObject *object, void *out)
{
	int overflow = 0;
	PyObject *number = PyNumber_Index(object);
	long long value;

	if (!number) {
		PyErr_Format(PyExc_TypeError, "epoch must be an integer, not %R", object);
		return 0;
	}
	value = PyLong_AsLongLongAndOverflow(number, &overflow);
	Py_DECREF(number);
	if (overflow || value < 0 || value > UINT32_MAX) {
		PyErr_Format(PyExc_ValueError, "epoch must be a number from 0 on that fits 32 bits, not %R", object);
		return 0;
	}
	*(uint32_t *)out = (uint32_t)value;
	return 1;
}

PyDoc_STRVAR(
        log_doc,
        "log(epoch, kind, scores_name, ids, scores, gold, correct, converted, columns=...)\n\n"
        "ids: a buffer, or a list or tuple of strings; the others: buffers, or None where the kind allows.\n"
        "converted: False: tensors too, and whatever else they are; the answer is NotImplemented where something has "
        "to be converted first. columns: a dict of names and buffers.\n"
        "Answers None, or, each part once and else None, ((row, label), row): the id of the first row was logged with "
        "this other gold label before, that of the second in this epoch.");

static PyObject *
handle_tell_found(const struct labels_found *found)
{
	Py_ssize_t changed = (Py_ssize_t)found->changed_row, returned = (Py_ssize_t)found->returned_row;

	if (found->changed && found->returned)
		return Py_BuildValue("(nn)n", changed, (Py_ssize_t)found->before, returned);
	if (found->changed)
		return Py_BuildValue("(nn)O", changed, (Py_ssize_t)found->before, Py_None);
	if (found->returned)
		return Py_BuildValue("On", Py_None, returned);
	Py_RETURN_NONE;
}

/* Reads the arguments by hand: PyArg_ParseTuple() is slower, for eight arguments, than the rest of this layer. */
static bool
handle_read_log_arguments(PyObject *const *args, Py_ssize_t count, struct portolan_batch *batch,
                          struct log_arguments *given, bool *converted)
{
	long kind;

	if (count != 8 && !(count == 9 && PyDict_Check(args[8]))) {
		PyErr_Format(PyExc_TypeError, "log() takes 8 arguments and a dict, not %zd", count);
		return false;
	}
	if (!handle_read_epoch(args[0], &batch->epoch))
		return false;
	kind = PyLong_AsLong(args[1]);
	if (kind == -1 && PyErr_Occurred())
		return false;
	batch->kind = (enum portolan_scores)kind;
	*given = (struct log_arguments){PyUnicode_AsUTF8AndSize(args[2], NULL),
	                                args[3],
	                                args[4],
	                                args[5],
	                                args[6],
	                                count == 9 && PyDict_Size(args[8]) > 0 ? args[8] : NULL};
	*converted = args[7] == Py_True;
	return given->scores_name != NULL;
}

static PyObject *
handle_log(struct handle *self, PyObject *const *args, Py_ssize_t count)
{
	struct pinned_batch pinned = {0};
	struct portolan_error error = {0};
	struct log_arguments given;
	portolan_run *run;
	struct labels_found found = {.changed = false};
	uint64_t refused;
	bool converted, readable;
	int code;

	if (!handle_read_log_arguments(args, count, &pinned.batch, &given, &converted))
		return NULL;
	readable = converted || batch_take(handle_state(self), &pinned, &given);
	if (!readable || batch_open(&pinned, &given) < 0 || !(run = handle_enter(self))) {
		batch_close(&pinned);
		return readable ? NULL : Py_NewRef(Py_NotImplemented);
	}
	refused = atomic_load(&run->refused);
	Py_BEGIN_ALLOW_THREADS;
	code = portolan_log(run, &pinned.batch, &error);
	Py_END_ALLOW_THREADS;
	self->active--;
	if (code == 0 &&
	    atomic_load(&run->refused) - refused < pinned.batch.n) /* otherwise nothing of the batch was logged */
		found = labels_see(&self->labels, &pinned.batch);
	batch_close(&pinned);
	return code < 0 ? handle_raise(self, &error) : handle_tell_found(&found);
}

static PyObject *
handle_log_examples(struct handle *self, PyObject *args)
{
	struct pinned_examples pinned = {0};
	struct portolan_error error = {0};
	PyObject *ids, *fields;
	portolan_run *run;
	int code;

	if (!PyArg_ParseTuple(args, "OO!:log_examples", &ids, &PyDict_Type, &fields))
		return NULL;
	if (examples_open(&pinned, ids, fields) < 0 || !(run = handle_enter(self))) {
		examples_close(&pinned);
		return NULL;
	}
	Py_BEGIN_ALLOW_THREADS;
	code = portolan_log_examples(run, &pinned.examples, &error);
	Py_END_ALLOW_THREADS;
	self->active--;
	examples_close(&pinned);
	if (code < 0)
		return handle_raise(self, &error);
	Py_RETURN_NONE;
}

static PyObject *
handle_end_epoch(struct handle *self, PyObject *object)
{
	struct portolan_error error = {0};
	portolan_run *run;
	uint32_t epoch;
	int code;

	if (!handle_read_epoch(object, &epoch) || !(run = handle_enter(self)))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	code = portolan_end_epoch(run, epoch, &error);
	Py_END_ALLOW_THREADS;
	self->active--;
	if (code < 0)
		return handle_raise(self, &error);
	Py_RETURN_NONE;
}

/* Flush and finish. True: done; False: not within timeout_ms; None: waiting longer is pointless, as there is no
 * collector, or it has ended the run. `raises_end`: if the run is strict, its end is an exception, and not None. */
static PyObject *
handle_wait(struct handle *self, PyObject *args, const char *format, bool raises_end,
            int (*wait)(portolan_run *run, int timeout_ms, struct portolan_error *error))
{
	struct portolan_error error = {0};
	portolan_run *run;
	bool pointless;
	int timeout_ms, code;

	if (!PyArg_ParseTuple(args, format, &timeout_ms) || !(run = handle_enter(self)))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	code = wait(run, timeout_ms, &error);
	Py_END_ALLOW_THREADS;
	pointless = code == PORTOLAN_E_ENDED ? !(raises_end && run->strict)
	                                     : code == PORTOLAN_E_TIMEOUT && run_is_offline(run);
	self->active--;
	if (pointless)
		Py_RETURN_NONE;
	if (code < 0 && code != PORTOLAN_E_TIMEOUT)
		return handle_raise(self, &error);
	return PyBool_FromLong(code == 0);
}

static PyObject *
handle_flush(struct handle *self, PyObject *args)
{
	return handle_wait(self, args, "i:flush", true, portolan_flush);
}

/* Ends logging, and waits as handle_wait() says. True: everything is on the collector's disk, and the session has
 * ended. */
static PyObject *
handle_finish(struct handle *self, PyObject *args)
{
	return handle_wait(self, args, "i:finish", false, run_finish);
}

static PyObject *
handle_is_offline(struct handle *self, PyObject *Py_UNUSED(none))
{
	portolan_run *run = handle_enter(self);
	bool offline;

	if (!run)
		return NULL;
	offline = run_is_offline(run);
	self->active--;
	return PyBool_FromLong(offline);
}

static PyObject *
handle_close(struct handle *self, PyObject *args)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	struct portolan_error error = {0};
	portolan_run *run = self->run;
	int timeout_ms, code;

	if (!PyArg_ParseTuple(args, "i:close", &timeout_ms))
		return NULL;
	if (!run || self->abandoned)
		Py_RETURN_NONE;
	labels_clear(&self->labels);
	self->run = NULL; /* from here on no other call begins */
	atomic_store(&run->closed, true);
	/* Waits until calls of other threads have returned. It does so by sleeping and looking again, as those calls
	 * hold no lock, neither the GIL nor one of this module. */
	while (self->active > 0) {
		Py_BEGIN_ALLOW_THREADS;
		nanosleep(&pause, NULL);
		Py_END_ALLOW_THREADS;
	}
	Py_BEGIN_ALLOW_THREADS;
	code = run_end(run, timeout_ms, &error);
	self->has_last = portolan_get_stats(run, &self->last) == 0;
	portolan_close(run, 0, NULL);
	Py_END_ALLOW_THREADS;
	if (code < 0)
		return handle_raise(self, &error);
	Py_RETURN_NONE;
}

static PyObject *
handle_stats(struct handle *self, PyObject *Py_UNUSED(none))
{
	struct portolan_stats stats = self->last;

	if (!self->has_last) {
		portolan_run *run = handle_enter(self);
		int code;

		if (!run)
			return NULL;
		code = portolan_get_stats(run, &stats);
		self->active--;
		if (code < 0)
			return handle_refuse(self, code, "the run has no counters");
	}
	return Py_BuildValue("{sKsKsKsKsKsKsKsKsK}", "logged", (unsigned long long)stats.logged, "acknowledged",
	                     (unsigned long long)stats.acknowledged, "refused", (unsigned long long)stats.refused,
	                     "replaced", (unsigned long long)stats.replaced, "dropped",
	                     (unsigned long long)stats.dropped, "spooled", (unsigned long long)stats.spooled,
	                     "bytes_sent", (unsigned long long)stats.bytes_sent, "reconnects",
	                     (unsigned long long)stats.reconnects, "waits", (unsigned long long)stats.waits);
}

static PyObject *
handle_abandon(struct handle *self, PyObject *Py_UNUSED(none))
{
	self->abandoned = true;
	Py_RETURN_NONE;
}

/* If a handle is dropped without close(), the observations that are not yet sent are lost. portolan.Run always closes
 * its handle. */
static void
handle_dealloc(struct handle *self)
{
	PyTypeObject *type = Py_TYPE((PyObject *)self);
	freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

	if (!self->abandoned)
		portolan_close(self->run, 0, NULL);
	labels_clear(&self->labels);
	release(self);
	Py_DECREF(type);
}

static PyMethodDef handle_methods[] = {
        {"open", (PyCFunction)handle_open, METH_VARARGS, open_doc},
        {"log", (PyCFunction)(void (*)(void))handle_log, METH_FASTCALL, log_doc},
        {"log_examples", (PyCFunction)handle_log_examples, METH_VARARGS,
         "log_examples(ids, fields): ids as for log(); fields: a dict of names and lists of str"},
        {"end_epoch", (PyCFunction)handle_end_epoch, METH_O, "end_epoch(epoch)"},
        {"flush", (PyCFunction)handle_flush, METH_VARARGS,
         "flush(timeout_ms) -> bool: all of it is on disk; None: not, and waiting is of no use"},
        {"close", (PyCFunction)handle_close, METH_VARARGS, "close(timeout_ms); again: nothing happens"},
        {"finish", (PyCFunction)handle_finish, METH_VARARGS,
         "finish(timeout_ms) -> bool: the same, and the session has ended; None: as for flush"},
        {"is_offline", (PyCFunction)handle_is_offline, METH_NOARGS, "is_offline() -> bool: no collector has come yet"},
        {"stats", (PyCFunction)handle_stats, METH_NOARGS, "stats() -> dict of counters; after close(), the last ones"},
        {"abandon", (PyCFunction)handle_abandon, METH_NOARGS, "abandon(): in a forked child, give the run up"},
        {NULL, NULL, 0, NULL},
};

static PyType_Slot handle_slots[] = {
        {Py_tp_dealloc, handle_dealloc},
        {Py_tp_methods, handle_methods},
        {Py_tp_doc, (void *)"One open run of libportolan; portolan.Run is the interface."},
        {0, NULL},
};

PyType_Spec handle_spec = {
        .name = "portolan._portolan.Handle",
        .basicsize = sizeof(struct handle),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
        .slots = handle_slots,
};
