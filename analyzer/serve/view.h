/*
 * view.h: a view: what the live page shows of a run. It has the measures of the run over a range of epochs, as they
 * were at one moment, and data derived from them that requests need again and again. A loaded view never changes,
 * except by view_records(), which has a lock.
 */
#ifndef VIEW_H
#define VIEW_H

#include "files/texts.h"

#include "measures/dynamics.h"
#include "regions/regions.h"
#include "regions/within.h"

#include <sys/types.h>

#define VIEW_VERSION_ROOM 17

/* Codes beside those of store.h. */
enum {
	VIEW_E_RANGE = -201,   /* the text is not a range of epochs */
	VIEW_E_VERSION = -202, /* the version asked for is gone */
};

struct run_data;

struct view {
	char version
	        [VIEW_VERSION_ROOM]; /* a text that differs as soon as the run, or a text that it keeps, has changed */
	ino_t inode;                 /* of the store that it was loaded from: see open_stores_take() */
	char range[32];              /* "0:6": the epochs asked for, "A:B", either side empty */
	struct dynamics dynamics; /* loaded, and detached from the store: every measure for which the run has signals,
	                             gold labels, and users' columns; by dense index */
	struct {
		double low, high; /* extent of the column's values; 0 and 0: it has none */
		char digest[WITHIN_DIGEST_ROOM];
	} extents[DYNAMICS_COLUMNS_MAX]; /* by number of the column in the dynamics */
	struct region_cuts cuts;         /* the default ones */
	struct view_records *records;    /* private */
	const struct run_data *data;     /* the texts to show of the run (run_data.h), which views.h sets */
	uint32_t *all_epochs;            /* all epochs with observations, also those beyond the range; ascending */
	size_t all_epoch_count;
};

/* Derives extents, cuts and all_epochs from the loaded dynamics, which were read from `store`. Call view_finish() in
 * the end, also after a failure. */
int view_complete(struct view *view, struct store *store, struct portolan_error *error);

/* The record of each observed example in the texts of view->data, by dense index, as texts_match() finds them. Made at
 * the first call, and kept with the view. NULL: out of memory. Safe from several threads. */
const uint32_t *view_records(const struct view *view, const struct texts *texts);

/* The numbers in a column of the user's file, by dense index; NaN: the example has none. The caller's to free(). NULL:
 * out of memory. */
double *view_numbers(const struct view *view, const struct texts *texts, const struct attribute *column);

/* Finds the least and the greatest value of the observed examples; `values` is by dense index. 0 and 0: there are
 * none. */
void view_extent(const struct dynamics *dynamics, const double *values, double *low, double *high);

/* The place of an example: its number among the observed examples by ascending id. SIZE_MAX: it was not observed. The
 * example's id is ids[index]; `ids` must be of the run's kind. */
size_t view_find(const struct view *view, const struct ids *ids, uint32_t index);

/* Loads a view, whose `range` is set and whose other members are zero; afterwards it does not need the store. The
 * version is read before the data, so a view may be newer than its version, but never older. `inode` is the store's.
 * The epochs in `query` are ignored. VIEW_E_RANGE, or a code of store.h; call view_finish() then too. */
int view_load(struct view *view, struct store *store, ino_t inode, const struct run_query *query, const char *run,
              struct portolan_error *error);
void view_finish(struct view *view);

/* In view_report.c: writes the object that answers api/view, as README.md describes it. texts may be NULL; `media`, the
 * field that names pictures and sounds, too. */
void view_report(struct report *report, const struct view *view, const struct texts *texts, const char *media);

/* The version that a view of the run would have now. A code of store.h. */
int view_read_version(struct store *store, ino_t inode, const char *run, char version[VIEW_VERSION_ROOM],
                      struct portolan_error *error);

#endif
