/*
 * import.h: `portoland import`: makes a run from training dynamics that other tools wrote, or from the spool file of a
 * client that had no collector.
 */
#ifndef COLLECTOR_IMPORT_H
#define COLLECTOR_IMPORT_H

#include <portolan/wire.h>

struct import_options {
	const char *store, *path, *run;
	bool overwrite;
};

struct import_report {
	uint64_t examples, epochs, observations; /* of the run after the import */
	uint64_t changed_labels;
	uint64_t replaced; /* lines about an example seen before in the same epoch; of a spool: observations */
	uint64_t refused;  /* lines left out; of a spool: observations */
	int interrupted;   /* the signal that interrupted it; 0: none */

	/* Of a spool. */
	char run[WIRE_MAX_NAME + 1];
	uint64_t sent, known;          /* observations brought now, and those in the store from earlier */
	uint64_t texts, texts_refused; /* examples whose texts were brought now, and those of them that were refused */
	char damage[504];              /* the part of the file that cannot be read; empty: none */
};

/* All or nothing: the run appears when it is complete, and a run that it overwrites stays until then. If the import is
 * broken off (by a failure, a signal, SIGKILL), its part is removed by the collector that serves the store, or when the
 * store is next opened for writing. Bad lines are left out, reported on stderr (the first ten) and counted; they are no
 * failure, but a mixture of integer and string guids is one. */
int import_dynamics(const struct import_options *options, struct import_report *report, struct portolan_error *error);

/* Sends the file's session, from the first frame that the store lacks. Importing a file again adds nothing twice, so a
 * failed import can be repeated. options->run: records into the run of this name, as a new session; NULL: into the run
 * that the session itself names. */
int import_spool(const struct import_options *options, struct import_report *report, struct portolan_error *error);

/* Sets examples, epochs, observations and changed_labels from the run in the store. */
int import_count(const char *store, const char *run, struct import_report *report, struct portolan_error *error);

#endif
