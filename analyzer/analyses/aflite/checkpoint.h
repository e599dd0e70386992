/*
 * checkpoint.h: a filter between two phases, in a file DIR/aflite.checkpoint: whoever is killed goes on from there, to
 * the same result.
 *
 * It holds all that the next phase depends on but the features: who is left and in which order, where searches begin,
 * the curvature; and scores and log. Little-endian; XXH3 of everything at the end. Written anew after each phase, and
 * renamed over the last.
 */
#ifndef AFLITE_CHECKPOINT_H
#define AFLITE_CHECKPOINT_H

#include "filter.h"

/* What the result depends on: "name=value name=value …". A checkpoint of others is refused. */
char *checkpoint_parameters(const struct filter_options *options, const struct matrix_source *source, uint64_t labels,
                            uint64_t groups);

/* Makes the directory if need be. */
int checkpoint_prepare(const char *directory, struct portolan_error *error);

/* 1: the filter, just made, stands where the checkpoint was written; 0: there is none. PORTOLAN_E_INVALID: it is not
 * whole, or of other parameters: the message names the first that differs. The filter is unchanged then. */
int checkpoint_read(struct filter *filter, const char *directory, const char *parameters, struct portolan_error *error);

int checkpoint_write(const struct filter *filter, const char *directory, const char *parameters,
                     struct portolan_error *error);

/* Once the result is there. */
void checkpoint_remove(const char *directory);

/* The same from memory. Pure; for tests and fuzzing. `path` is for messages. */
int checkpoint_parse(struct filter *filter, const void *bytes, size_t size, const char *path, const char *parameters,
                     struct portolan_error *error);

#endif
