/* sweep.h: one pass over the rows for all classifiers together: each row is brought into cache once for all of them. */
#ifndef AFLITE_SWEEP_H
#define AFLITE_SWEEP_H

#include "training.h"

struct sweep {
	const struct problem *problem;
	const struct training *training;
	const float *weights; /* sets × columns × stride, columns = classes − 1 */
	const bool *active;   /* by set; the others are passed over */
	double *gradients;    /* sets × columns × stride: of the losses alone, without penalty */
	double *losses;       /* by set */
	/* private */
	struct sweep_slot *slots;
	unsigned slot_count;
};

/* Room for sweeps over the problem; `gradients` and `losses` are the caller's. */
int sweep_init(struct sweep *sweep, struct portolan_error *error);
void sweep_free(struct sweep *sweep);

/* Bytes that so many threads take. */
size_t sweep_bytes(size_t sets, size_t columns, size_t stride, unsigned threads);

/* Of classes that are many, see sweep_many.c. Private to the files of sweep.h. */
int sweep_many_run(struct sweep *sweep, struct portolan_error *error);
size_t sweep_many_bytes(size_t columns, size_t stride, unsigned threads);

/* The first `count` rows (a multiple of KERNELS_STRIDE) as columns: across, stride × width. In squares, which lie in few
 * lines of cache both ways. */
void sweep_transpose(const float *rows, size_t stride, size_t count, float *across, size_t width);

/* Fills gradients and losses of the active sets. The same bits whatever the number of threads. */
int sweep_run(struct sweep *sweep, struct portolan_error *error);

#endif
