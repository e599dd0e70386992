/* status.h: how far the phases are: one line on stderr, in a terminal only, redrawn after each. */
#ifndef AFLITE_STATUS_H
#define AFLITE_STATUS_H

#include "filter.h"

struct status {
	bool enabled;
	double started, last; /* seconds, monotonic */
	size_t first;         /* phases that were done before */
};

void status_begin(struct status *status, const struct filter *filter);
void status_update(struct status *status, const struct filter *filter);
void status_end(struct status *status); /* wipes it */

#endif
