/* predict.h: what the classifiers say of the examples they were not trained on. */
#ifndef AFLITE_PREDICT_H
#define AFLITE_PREDICT_H

#include "training.h"

struct predictions {
	uint32_t *made, *correct; /* by row: |E|, and how many of these are right */
	float *margins;           /* by row: mean of z_gold − max other z over E; 0 where E is empty */
};

/* `weights` as of lockstep.h. The same bits whatever the number of threads. */
int predict_all(const struct problem *problem, const struct training *training, const float *weights,
                const struct predictions *predictions, struct portolan_error *error);

/* Bytes it takes. */
size_t predict_bytes(size_t sets, size_t columns, size_t stride, unsigned threads);

#endif
