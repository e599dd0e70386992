/*
 * checkpoint.h: keeps the state of a filter between two phases in a file, DIR/aflite.checkpoint. A `portolan aflite`
 * that was killed goes on from there, and comes to the same result.
 *
 * The file holds all that the next phase depends on, except the features: which examples are left, and in which order;
 * where the searches for the classifiers' weights start; the curvature (curvature.h); scores and log. It is
 * little-endian, and ends with the XXH3 of all bytes before. After each phase a new file is written and renamed over
 * the old one.
 */
#ifndef AFLITE_CHECKPOINT_H
#define AFLITE_CHECKPOINT_H

#include "filter.h"

/* Lists what the filter's result depends on: "name=value name=value …", to be released with free(). */
char *checkpoint_parameters(const struct filter_options *options, const struct matrix_source *source, uint64_t labels,
                            uint64_t groups);

/* Makes the directory if there is none. */
void checkpoint_prepare(const char *directory);

/* Restores a filter that was just made. 1: it stands where the checkpoint was written; 0: there is no checkpoint.
 * PORTOLAN_E_INVALID: the checkpoint is damaged, or has other parameters (the message names the first); the filter is
 * unchanged. */
int checkpoint_read(struct filter *filter, const char *directory, const char *parameters, struct portolan_error *error);

int checkpoint_write(const struct filter *filter, const char *directory, const char *parameters,
                     struct portolan_error *error);

/* Removes the checkpoint, once the result is written. */
void checkpoint_remove(const char *directory);

/* Reads a checkpoint from memory. Pure; for tests and fuzzing. `path` is for messages. */
int checkpoint_parse(struct filter *filter, const void *bytes, size_t size, const char *path, const char *parameters,
                     struct portolan_error *error);

#endif
