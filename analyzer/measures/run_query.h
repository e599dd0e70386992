/* run_query.h: what a command reads of a run, as the user's options say it: from which store, which epochs, and with
 * how many threads and how much memory. */
#ifndef RUN_QUERY_H
#define RUN_QUERY_H

#include <stdbool.h>
#include <stdint.h>

struct run_query {
	const char *store;             /* its directory */
	uint32_t epoch_from, epoch_to; /* half-open; UINT32_MAX: to the end */
	bool epochs_given;             /* the user chose the range */
	bool epochs_auto;              /* from the epoch that dynamics_open() finds; epochs_given is set as well */
	uint64_t window;               /* epochs of one window of dyn_unc, dual and tdds; 0: MEASURES_WINDOW */
	uint64_t threads;              /* 0: all cores */
	uint64_t max_memory;           /* bytes; 0: no limit */
};

/* Reads "A:B", half-open; an empty side is 0, or UINT32_MAX. False: the text is no range. The range may be empty. */
bool run_query_parse_epochs(const char *text, uint32_t *from, uint32_t *to);

#endif
