/*
 * import_spool.h: `portoland import FILE.spool`: what a client recorded out of a collector's reach (client/spool.h).
 */
#ifndef COLLECTOR_IMPORT_SPOOL_H
#define COLLECTOR_IMPORT_SPOOL_H

#include "import.h"

#include <portolan/wire.h>

struct import_spool_report {
	char run[WIRE_MAX_NAME + 1];
	uint64_t sent, known;       /* observations: brought now; in the store from earlier */
	uint64_t replaced, refused; /* of this session, as the collector counts them */
	struct import_report now;   /* what the run then holds */
	char damage[504];           /* what cannot be read of the file; empty: nothing */
	int interrupted;            /* by this signal; 0: not */
};

/* Sends the file's session, from where the store has it. Again is not twice; a failure can be followed by another
 * attempt. options->run: under this name instead of the session's, as a session of its own; NULL: not asked. */
int import_spool(const struct import_options *options, struct import_spool_report *report,
                 struct portolan_error *error);

#endif
