/* fold_write.h: packs chunk images into records; private to the writing half. */
#ifndef STORE_FOLD_WRITE_H
#define STORE_FOLD_WRITE_H

#include "chunk.h"
#include "writer.h"

/* Writes the image's columns and presences in place of the chunk's stored ones. */
int store_chunk_write(struct store_writer *writer, const struct chunk_place *place, const struct merge_chunk *chunk,
                      struct portolan_error *error);

#endif
