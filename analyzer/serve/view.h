/*
 * view.h: a view: what the live page shows of a run. It has the measures of the run over a range of epochs, as they
 * were at one moment, and data derived from them that requests need again and again. A loaded view never changes,
 * except by view_records(), which has a lock.
 */
#ifndef VIEW_H
#define VIEW_H

#include "texts.h"

#include "measures/dynamics.h"
#include "regions/regions.h"
#include "regions/within.h"

#include <sys/types.h>

#define VIEW_VERSION_ROOM 17

/* Codes beside those of store.h. */
enum {
	VIEW_E_RANGE = -201,   /* the range of epochs is none */
	VIEW_E_VERSION = -202, /* the version asked for is gone */
};

struct view {
	char version[VIEW_VERSION_ROOM]; /* changes with the run */
	ino_t inode;                     /* of the store that it was loaded from: see open_stores_take() */
	char range[32];                  /* "0:6": the epochs asked for, "A:B", either side empty */
	struct dynamics dynamics; /* loaded and detached: every measure the run has signals for; gold labels; users'
	                             columns. By dense index */
	struct {
		double low, high; /* of its values; 0 and 0: it has none */
		char digest[WITHIN_DIGEST_ROOM];
	} extents[DYNAMICS_COLUMNS_MAX]; /* of the dynamics' columns */
	struct region_cuts cuts;         /* the default ones */
	struct view_records *records;    /* private */
	uint32_t *all_epochs;            /* with observations, also beyond the range; ascending */
	size_t all_epoch_count;
};

/* Fills in the data derived from the loaded dynamics: extents, cuts, all_epochs. `store` is that of the dynamics. Call
 * view_finish() afterwards, also after a failure. */
int view_complete(struct view *view, struct store *store, struct portolan_error *error);

/* By dense index, the number of an observed example's record in the user's file: from texts_match(), made at the first
 * call, and kept with the view. NULL: out of memory. Safe from several threads. */
const uint32_t *view_records(const struct view *view, const struct texts *texts);

/* By dense index, the numbers of a column of the user's file; NaN: the example has none. The caller's to free(). NULL:
 * out of memory. */
double *view_numbers(const struct view *view, const struct texts *texts, const struct attribute *column);

/* The least and the greatest of the observed examples' values, by dense index; 0 and 0: there are none. */
void view_extent(const struct dynamics *dynamics, const double *values, double *low, double *high);

/* The place among the observed examples, by ascending id, of id `index` of `ids`, which are of the run's kind; SIZE_MAX: it
 * was not observed. */
size_t view_find(const struct view *view, const struct ids *ids, uint32_t index);

/* Loads a view that is zeroed except for its range; afterwards it does not need the store. Its version is read first,
 * so a view may be newer than its version, never older. `inode` is the store's; the epochs in `query` are ignored.
 * VIEW_E_RANGE, or a code of store.h; call view_finish() then too. */
int view_load(struct view *view, struct store *store, ino_t inode, const struct run_query *query, const char *run,
              struct portolan_error *error);
void view_finish(struct view *view);

/* Writes the object that api/view answers; README.md describes it. texts may be NULL. (view_report.c) */
void view_report(struct report *report, const struct view *view, const struct texts *texts);

/* The version that a view of the run would have now. A code of store.h. */
int view_read_version(struct store *store, ino_t inode, const char *run, char version[VIEW_VERSION_ROOM],
                      struct portolan_error *error);

#endif
