/*
 * select_files.h: writes the ids that `portolan select` has chosen into the file of -o, or one file for each of --fractions,
 * and beside each a manifest (manifest.h), which says how it was made.
 */
#ifndef SELECT_FILES_H
#define SELECT_FILES_H

#include "select_request.h"

/* Is a manifest to be written? It needs the gold labels of the run. */
bool select_has_manifest(const struct select_request *request);

/* Names the files, and claims them and their manifests (see output/claims.h), before anything is written. */
int select_claim_files(struct select_request *request, struct portolan_error *error);
void select_free_files(struct select_request *request);

/* Ranks the examples once, and writes one selection, or one for each of --fractions. Returns an exit status. */
int select_write_files(const struct select_request *request, const struct selection_source *source);

#endif
