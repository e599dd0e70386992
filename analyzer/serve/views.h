/*
 * views.h: runs as they are now. A view is a run over a range of epochs at one moment, loaded once for all requests,
 * and loaded again when the run has grown. Safe from several threads.
 *
 *     code = views_take(views, "snli/seed1", "0:6", NULL, &view, &error);
 *     … view->dynamics, which nobody changes …
 *     views_return(views, view);
 *
 * Loading a view again takes a tenth of the time at most: what takes a second to load is at most ten seconds old.
 */
#ifndef VIEWS_H
#define VIEWS_H

#include "dynamics/dynamics.h"
#include "selection/regions.h"
#include "selection/within.h"

#include <sys/types.h>

#define VIEW_VERSION_ROOM 17

/* Codes beside those of store.h. */
enum {
	VIEWS_E_RANGE = -201,   /* the range of epochs is none */
	VIEWS_E_VERSION = -202, /* the version asked for is gone */
};

struct view {
	char version[VIEW_VERSION_ROOM]; /* changes with the run */
	ino_t inode;                     /* of the store that it was loaded from: see views_take_store() */
	char range[32];                  /* "0:6": the epochs asked for, "A:B", either side empty */
	struct dynamics dynamics; /* loaded and detached: every measure the run has signals for but the interval of
	                             variability; gold labels; users' columns. By dense index */
	struct {
		double low, high; /* of its values; 0 and 0: it has none */
		char digest[WITHIN_DIGEST_ROOM];
	} extents[DYNAMICS_COLUMNS_MAX]; /* of the dynamics' columns */
	struct region_cuts cuts;         /* the default ones */
	uint32_t *all_epochs;            /* with observations, also beyond the range; ascending */
	size_t all_epoch_count;
};

/* Fills in what follows from the dynamics, which are loaded: extents, cuts, all_epochs (to be freed). `store` is
 * theirs. */
int view_complete(struct view *view, struct store *store, struct portolan_error *error);

/* The place of an example among the observed ones by ascending id; SIZE_MAX: it was not observed. `index` is dense. */
size_t view_place(const struct view *view, uint32_t index);

struct views;

/* `common` says where the store is, and stays the caller's. PORTOLAN_E_MEMORY. */
int views_new(struct views **views, const struct common_options *common, struct portolan_error *error);
void views_free(struct views *views); /* everything must be returned; NULL: nothing */

/* `range` as --epochs takes it, but not auto; NULL or "": all. `version`: the very view of that version; NULL: the
 * newest. A code of store.h's: the store or the run is not there, or cannot be read. */
int views_take(struct views *views, const char *run, const char *range, const char *version, const struct view **view,
               struct portolan_error *error);
void views_return(struct views *views, const struct view *view);

/* The store, open, until it is returned: for short transactions. `inode`, unless it is NULL, is its data.mdb's. It is
 * opened again when another one stands in its place. */
int views_take_store(struct views *views, struct store **store, ino_t *inode, struct portolan_error *error);
void views_return_store(struct views *views, struct store *store);

#endif
