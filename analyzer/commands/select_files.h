/* select_files.h: the file, or files, that a selection goes to, each with its manifest. */
#ifndef SELECT_FILES_H
#define SELECT_FILES_H

#include "select_options.h"
#include "selection/manifest.h"

/* Is a manifest to be written? It needs gold labels. */
bool select_has_manifest(const struct select_request *request);

/* Calls `write` for the output, or for each of --fractions with a plan of that size; the gravest status. */
int select_each_file(const struct select_request *request,
                     int (*write)(void *context, const struct select_request *request,
                                  const struct selection_plan *plan, const char *output, struct portolan_error *error),
                     void *context, struct portolan_error *error);

/* Claims these files and their manifests (see output/claims.h), before anything is written. */
int select_claim_files(const struct select_request *request, struct portolan_error *error);

struct select_output_options select_output_options(const struct select_request *request, const char *output);

/* Says so where a plan of a given size found fewer. */
void select_warn_fewer(const struct selection_plan *plan, size_t count, size_t asked);

/* Beside the finished `output`; takes `classes` over, whose NULL is lack of memory. */
int select_write_manifest(const struct select_request *request, const struct selection_plan *plan,
                          const struct dynamics *dynamics, size_t eligible, size_t chosen, json_t *classes,
                          const char *output, struct portolan_error *error);

/* Ranks once, and writes one selection, or one for each of --fractions. An exit status, or a negative code. */
int select_write_files(const struct select_request *request, const struct selection_source *source,
                       struct portolan_error *error);

/* select_passes.c, from a run that is too long to be held in memory: without --join, lists and features, of one opened
 * run: the same files. An exit status, or a negative code. */
int select_in_passes(const struct select_request *request, struct dynamics *run, struct portolan_error *error);

#endif
