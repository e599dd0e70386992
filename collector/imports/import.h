/*
 * import.h: `portoland import`: training dynamics written by other tools, or the spool file of a client that had no
 * collector, become a run.
 */
#ifndef COLLECTOR_IMPORT_H
#define COLLECTOR_IMPORT_H

#include <portolan/wire.h>

struct import_options {
	const char *store, *path, *run;
	bool overwrite;
};

struct import_report {
	uint64_t examples, epochs, observations; /* as the run then holds them */
	uint64_t changed_labels; /* as far as folding, which a running collector does later, has found out */
	uint64_t replaced;       /* lines about an example seen before in the same epoch; of a spool: observations */
	uint64_t refused;        /* lines left out; of a spool: observations */
	int interrupted;         /* by this signal; 0: not */

	/* Of a spool. */
	char run[WIRE_MAX_NAME + 1];
	uint64_t sent, known; /* observations: brought now; in the store from earlier */
	char damage[504];     /* what cannot be read of the file; empty: nothing */
};

/* All or nothing: the run appears when all of it is there, and one that it overwrites is there until then, whatever
 * ends the import (a failure, a signal, SIGKILL). What was brought is removed when the store is next opened for
 * writing, or by the collector that serves it. Lines that cannot be used are left out, reported on stderr (the first
 * ten) and counted, and are no failure; a mixture of integer and string guids is. */
int import_dynamics(const struct import_options *options, struct import_report *report, struct portolan_error *error);

/* Sends the file's session, from where the store has it. Again is not twice; a failure can be followed by another
 * attempt. options->run: under this name instead of the session's, as a session of its own; NULL: not asked. */
int import_spool(const struct import_options *options, struct import_report *report, struct portolan_error *error);

/* Sets examples, epochs, observations and changed_labels: what the run now holds, from the store itself. */
int import_count(const char *store, const char *run, struct import_report *report, struct portolan_error *error);

#endif
