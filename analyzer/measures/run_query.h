/* run_query.h: what a command reads of a run, as the user's options say it: from which store, which epochs, and with
 * how many threads and how much memory. */
#ifndef RUN_QUERY_H
#define RUN_QUERY_H

#include <stdbool.h>
#include <stdint.h>

/* What first_learned, always_right_after and always_wrong_after have for an example of which that never came true. */
enum never {
	NEVER_EMPTY,
	NEVER_NEXT, /* the epoch after the last that is read; Maini et al. 2022 average it over seeds */
};
extern const char *const never_names[]; /* ends with NULL */

struct run_query {
	const char *store;             /* its directory */
	uint32_t epoch_from, epoch_to; /* from the first to before the second; UINT32_MAX: to the end */
	bool epochs_given;             /* the user chose the range */
	/* the range begins with the epoch that dynamics_open() finds; epochs_given is set as well */
	bool epochs_auto;
	uint64_t window; /* how many epochs a window of dyn_unc, dual and tdds has; 0: MEASURES_WINDOW */
	/* in runs of losses an example is right at an epoch if its loss is at most this; NaN: nothing is right or wrong */
	double loss_threshold;
	/* measures are taken less those of this run, over these epochs; NULL: no run, and the epochs of the first one */
	const char *minus, *minus_epochs;
	int never;           /* enum never */
	uint64_t threads;    /* 0: all cores */
	uint64_t max_memory; /* bytes; 0: no limit */
};

/* Reads "A:B", the epochs from A to before B; an empty side is 0, or UINT32_MAX. False: the text is no range. The range
 * may be empty. */
bool run_query_parse_epochs(const char *text, uint32_t *from, uint32_t *to);

#endif
