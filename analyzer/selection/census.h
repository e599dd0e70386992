/* census.h: how many examples of a run were observed, and with which gold labels; counted in one pass. */
#ifndef CENSUS_H
#define CENSUS_H

#include "classes.h"
#include "dynamics/dynamics.h"

struct census {
	struct classes classes; /* the labels there are; without labels asked for, one class: −1 */
	uint32_t *sizes;        /* examples, by class */
};

/* Of an opened run; its count, gaps and first_epoch are summed up by that. */
int census_make(struct census *census, struct dynamics *run, struct portolan_error *error);
void census_free(struct census *census); /* may be called twice */

#endif
