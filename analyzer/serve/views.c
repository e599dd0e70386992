/*
 * views.c: what is loaded, and by how many requests it is used.
 *
 * One lock guards the lists. A view is loaded without the lock, by the first request that wants it; others wait for it,
 * unless there is an older one of the same run and range, which they take meanwhile.
 */
#include "views.h"

#include "selection/region_list.h"

#include <portolan/clock.h>
#include <portolan/error.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#define VIEWS_KEPT 4     /* that nobody uses now, beside those in use */
#define LOOK_EVERY_S 0.3 /* whether the run has changed is not looked at more often */
#define LOAD_SHARE 9.0   /* of a view's loading time, waited before it is loaded again */
#define MEASURES (MEASURE_ALL & ~MEASURE_BIT(MEASURE_VARIABILITY_CI))

/* One store, as it was opened: views and requests under way keep it open. */
struct open_store {
	struct store *store;
	dev_t device;
	ino_t inode;
	unsigned users;
	struct open_store *next;
};

struct kept_view {
	struct view view; /* the first member: views_return() gets its address */
	char *run;
	unsigned users;
	bool failed;            /* loading did; it leaves the list with its last user */
	bool loading;           /* by one request; the view is not filled yet */
	double loaded;          /* seconds, monotonic: when */
	double took;            /* seconds: loading */
	double looked;          /* when its version was last compared with the run's */
	double used;            /* when it was last taken */
	struct kept_view *next; /* loaded before this one */
};

struct views {
	const struct common_options *common;
	pthread_mutex_t lock;
	pthread_cond_t loaded;
	struct open_store *stores; /* the first one is current */
	struct kept_view *list;
};

int
views_new(struct views **views, const struct common_options *common, struct portolan_error *error)
{
	*views = calloc(1, sizeof(**views));
	if (!*views)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	(*views)->common = common;
	pthread_mutex_init(&(*views)->lock, NULL);
	pthread_cond_init(&(*views)->loaded, NULL);
	return 0;
}

static void
kept_free(struct kept_view *kept)
{
	dynamics_free(&kept->view.dynamics);
	free(kept->view.all_epochs);
	free(kept->run);
	free(kept);
}

void
views_free(struct views *views)
{
	if (!views)
		return;
	for (struct kept_view *kept = views->list, *next; kept; kept = next) {
		next = kept->next;
		kept_free(kept);
	}
	for (struct open_store *open = views->stores, *next; open; open = next) {
		next = open->next;
		store_close(open->store);
		free(open);
	}
	pthread_cond_destroy(&views->loaded);
	pthread_mutex_destroy(&views->lock);
	free(views);
}

static bool
is_at(const struct open_store *open, const struct stat *status)
{
	return open->inode == status->st_ino && open->device == status->st_dev;
}

/* Makes a store the current one that was before another took its place, and is still open: LMDB allows a process to
 * open a store once only. False: there is none. */
static bool
take_up_again(struct views *views, const struct stat *status)
{
	for (struct open_store **at = &views->stores; *at; at = &(*at)->next)
		if (is_at(*at, status)) {
			struct open_store *open = *at;

			*at = open->next;
			open->next = views->stores;
			views->stores = open;
			return true;
		}
	return false;
}

/* Closes stores that are no longer current, once nobody uses them. */
static void
close_old_stores(struct views *views)
{
	struct open_store **at = views->stores ? &views->stores->next : &views->stores;

	while (*at) {
		struct open_store *open = *at;

		if (open->users > 0) {
			at = &open->next;
			continue;
		}
		*at = open->next;
		store_close(open->store);
		free(open);
	}
}

static int
open_new_store(struct views *views, const struct stat *status, struct portolan_error *error)
{
	struct open_store *open = calloc(1, sizeof(*open));
	int code = open ? store_open(views->common->store, &open->store, error)
	                : error_set(error, PORTOLAN_E_MEMORY, "out of memory");

	if (code < 0) {
		free(open);
		return code;
	}
	open->device = status->st_dev;
	open->inode = status->st_ino;
	open->next = views->stores;
	views->stores = open;
	close_old_stores(views);
	return 0;
}

int
views_take_store(struct views *views, struct store **store, ino_t *inode, struct portolan_error *error)
{
	struct stat status = {0};
	char path[4096];
	int code = 0;

	snprintf(path, sizeof(path), "%s/data.mdb", views->common->store);
	pthread_mutex_lock(&views->lock);
	if (stat(path, &status) != 0 || !take_up_again(views, &status))
		code = open_new_store(views, &status, error);
	if (code >= 0) {
		views->stores->users++;
		*store = views->stores->store;
		if (inode)
			*inode = views->stores->inode;
	}
	pthread_mutex_unlock(&views->lock);
	return code;
}

void
views_return_store(struct views *views, struct store *store)
{
	struct open_store *open;

	pthread_mutex_lock(&views->lock);
	for (open = views->stores; open->store != store;)
		open = open->next;
	open->users--;
	close_old_stores(views);
	pthread_mutex_unlock(&views->lock);
}

/* What changes whenever an observation becomes readable: the epochs' records; when the
 * recording ends; and when another store takes this one's
 * place. */
static int
read_version(struct store *store, ino_t inode, const char *run, char version[VIEW_VERSION_ROOM],
             struct portolan_error *error)
{
	struct store_epoch *epochs = NULL;
	struct store_session *sessions = NULL;
	uint32_t number;
	size_t count = 0, session_count = 0, live = 0;
	int code = store_find_run(store, run, &number, error);

	if (code >= 0)
		code = store_epochs(store, number, &epochs, &count, error);
	if (code >= 0)
		code = store_sessions(store, number, &sessions, &session_count, error);
	for (size_t s = 0; s < session_count; s++)
		live += sessions[s].live;
	if (code >= 0)
		snprintf(version, VIEW_VERSION_ROOM, "%016llx",
		         (unsigned long long)XXH3_64bits_withSeed(epochs, count * sizeof(*epochs),
		                                                  (uint64_t)inode << 33 ^ (uint64_t)number << 1 ^
		                                                          (live > 0)));
	free(epochs);
	free(sessions);
	return code;
}

/* Fills the epochs of `common`; false: it is no range. */
static bool
parse_range(const char *range, struct common_options *common)
{
	common->epoch_from = 0;
	common->epoch_to = UINT32_MAX;
	common->epochs_given = *range != '\0';
	common->epochs_auto = false;
	return *range == '\0' || (options_parse_epochs(range, &common->epoch_from, &common->epoch_to) &&
	                          common->epoch_from < common->epoch_to);
}

static int
copy_all_epochs(struct store *store, struct view *view, struct portolan_error *error)
{
	struct store_epoch *epochs;
	size_t count;
	int code = store_epochs(store, view->dynamics.info->number, &epochs, &count, error);

	if (code < 0)
		return code;
	view->all_epochs = malloc((count + 1) * sizeof(*view->all_epochs));
	for (size_t e = 0; view->all_epochs && e < count; e++)
		view->all_epochs[e] = epochs[e].epoch;
	view->all_epoch_count = count;
	free(epochs);
	return view->all_epochs ? 0 : error_set(error, PORTOLAN_E_MEMORY, "out of memory");
}

static void
measure_columns(struct view *view)
{
	const struct dynamics *dynamics = &view->dynamics;

	for (size_t c = 0; c < dynamics->column_count; c++) {
		const double *values = dynamics->columns[c].values;
		double low = INFINITY, high = -INFINITY;

		for (size_t i = 0; i < dynamics->count; i++) {
			low = fmin(low, values[dynamics->order[i]]); /* the other one, where one is NaN */
			high = fmax(high, values[dynamics->order[i]]);
		}
		view->extents[c].low = low <= high ? low : 0;
		view->extents[c].high = low <= high ? high : 0;
		within_digest(dynamics, values, view->extents[c].digest);
	}
}

int
view_complete(struct view *view, struct store *store, struct portolan_error *error)
{
	int code = copy_all_epochs(store, view, error);

	if (code >= 0)
		code = region_cuts_of(&view->dynamics, &view->cuts, error);
	if (code >= 0)
		measure_columns(view);
	return code;
}

/* Places ascend as ids do. */
size_t
view_place(const struct view *view, uint32_t index)
{
	const struct dynamics *dynamics = &view->dynamics;
	size_t from = 0, to = dynamics->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		int difference = ids_compare(&dynamics->ids, dynamics->order[middle], &dynamics->ids, index);

		if (difference == 0)
			return middle;
		if (difference < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return SIZE_MAX;
}

/* The version is read before: a view may be newer than its version says, and is then loaded once more; never older. */
static int
load(struct views *views, struct kept_view *kept, struct portolan_error *error)
{
	const struct dynamics_request request = {.measures = MEASURES, .gold = true, .user = true};
	struct common_options common = *views->common;
	struct view *view = &kept->view;
	struct dynamics beside = {0};
	double began = clock_s();
	int code;

	if (!parse_range(view->range, &common))
		return error_set(error, VIEWS_E_RANGE, "epochs are A:B, with A below B, not '%s'", view->range);
	code = views_take_store(views, &beside.store, &view->inode, error);
	if (code < 0)
		return code;
	code = read_version(beside.store, view->inode, kept->run, view->version, error);
	if (code >= 0)
		code = dynamics_load_beside(&view->dynamics, &beside, &common, kept->run, &request, error);
	if (code >= 0)
		code = view_complete(view, beside.store, error);
	if (view->dynamics.snapshot)
		dynamics_detach(&view->dynamics);
	views_return_store(views, beside.store);
	kept->loaded = kept->looked = clock_s();
	kept->took = kept->loaded - began;
	return code;
}

/* Does the run look as it did when this was loaded? Where it cannot be told, it does: what is there is shown on. */
static bool
is_current(struct views *views, const struct kept_view *kept)
{
	char version[VIEW_VERSION_ROOM];
	struct portolan_error error;
	struct store *store;
	bool same = true;
	ino_t inode;

	if (views_take_store(views, &store, &inode, &error) < 0)
		return true;
	if (read_version(store, inode, kept->run, version, &error) >= 0)
		same = strcmp(version, kept->view.version) == 0;
	views_return_store(views, store);
	return same;
}

/* The view of a run and range that was loaded last; of a version, if one is given. NULL: none. */
static struct kept_view *
find(struct views *views, const char *run, const char *range, const char *version)
{
	for (struct kept_view *kept = views->list; kept; kept = kept->next)
		if (!kept->failed && strcmp(kept->run, run) == 0 && strcmp(kept->view.range, range) == 0 &&
		    (!version || (!kept->loading && strcmp(kept->view.version, version) == 0)))
			return kept;
	return NULL;
}

static void
unlink_view(struct views *views, struct kept_view *kept)
{
	struct kept_view **at = &views->list;

	while (*at != kept)
		at = &(*at)->next;
	*at = kept->next;
}

/* Are there two newer views of the same run and range? One may still be asked for by its version. */
static bool
is_outdated(const struct views *views, const struct kept_view *old)
{
	unsigned newer = 0;

	for (const struct kept_view *kept = views->list; kept != old; kept = kept->next)
		newer += !kept->loading && strcmp(kept->run, old->run) == 0 &&
		         strcmp(kept->view.range, old->view.range) == 0;
	return newer >= 2;
}

/* Lets go of what failed, of outdated views, and of those used least lately, as far as nobody uses them now. */
static void
forget_old(struct views *views)
{
	struct kept_view *least, *next;
	unsigned idle;

	for (struct kept_view *kept = views->list; kept; kept = next) {
		next = kept->next;
		if (kept->users == 0 && (kept->failed || is_outdated(views, kept))) {
			unlink_view(views, kept);
			kept_free(kept);
		}
	}
	do {
		idle = 0;
		least = NULL;
		for (struct kept_view *kept = views->list; kept; kept = kept->next)
			if (kept->users == 0) {
				idle++;
				least = !least || kept->used < least->used ? kept : least;
			}
		if (idle > VIEWS_KEPT) {
			unlink_view(views, least);
			kept_free(least);
		}
	} while (idle > VIEWS_KEPT + 1);
}

/* A new one in front of the list, which the caller loads. NULL: out of memory. */
static struct kept_view *
add(struct views *views, const char *run, const char *range)
{
	struct kept_view *kept = calloc(1, sizeof(*kept));

	if (!kept)
		return NULL;
	kept->run = strdup(run);
	if (!kept->run) {
		free(kept);
		return NULL;
	}
	snprintf(kept->view.range, sizeof(kept->view.range), "%s", range);
	kept->loading = true;
	kept->users = 1;
	kept->next = views->list;
	views->list = kept;
	return kept;
}

/* With the lock held, which is let go of meanwhile. */
static int
add_and_load(struct views *views, const char *run, const char *range, struct kept_view **added,
             struct portolan_error *error)
{
	struct kept_view *kept = add(views, run, range);
	int code;

	if (!kept)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	pthread_mutex_unlock(&views->lock);
	code = load(views, kept, error);
	pthread_mutex_lock(&views->lock);
	kept->loading = false;
	kept->failed = code < 0;
	pthread_cond_broadcast(&views->loaded);
	if (code < 0) {
		kept->users--;
		forget_old(views);
		return code;
	}
	*added = kept;
	return 0;
}

/* Is it time to see whether the run has grown? Then `kept` is marked as looked at. */
static bool
is_due(struct kept_view *kept)
{
	double now = clock_s();

	if (now < kept->looked + LOOK_EVERY_S || now < kept->loaded + LOAD_SHARE * kept->took)
		return false;
	kept->looked = now;
	return true;
}

/* With the lock held: the newest view, which has one user more. */
static int
take_newest(struct views *views, const char *run, const char *range, struct kept_view **taken,
            struct portolan_error *error)
{
	struct kept_view *kept = find(views, run, range, NULL);
	bool current;

	while (kept && kept->loading) { /* an older one will do; else it is waited for */
		struct kept_view *older = kept->next;

		while (older && (older->loading || older->failed || strcmp(older->run, run) != 0 ||
		                 strcmp(older->view.range, range) != 0))
			older = older->next;
		if (older) {
			kept = older;
			break;
		}
		pthread_cond_wait(&views->loaded, &views->lock);
		kept = find(views, run, range, NULL);
	}
	if (!kept)
		return add_and_load(views, run, range, taken, error);
	kept->users++;
	*taken = kept;
	if (kept != find(views, run, range, NULL) || !is_due(kept))
		return 0;
	pthread_mutex_unlock(&views->lock);
	current = is_current(views, kept);
	pthread_mutex_lock(&views->lock);
	if (current || find(views, run, range, NULL) != kept)
		return 0;
	if (add_and_load(views, run, range, taken, error) >= 0)
		kept->users--;
	return 0; /* what could not be loaded again is shown as it was */
}

int
views_take(struct views *views, const char *run, const char *range, const char *version, const struct view **view,
           struct portolan_error *error)
{
	struct kept_view *taken = NULL;
	int code = 0;

	range = range ? range : "";
	if (strlen(range) >= sizeof(taken->view.range))
		return error_set(error, VIEWS_E_RANGE, "epochs are A:B");
	pthread_mutex_lock(&views->lock);
	if (version) {
		taken = find(views, run, range, version);
		if (taken)
			taken->users++;
		else
			code = error_set(error, VIEWS_E_VERSION, "run '%s' has changed: load its view again", run);
	} else {
		code = take_newest(views, run, range, &taken, error);
	}
	if (taken && code >= 0) {
		taken->used = clock_s();
		forget_old(views);
		*view = &taken->view;
	}
	pthread_mutex_unlock(&views->lock);
	return code;
}

void
views_return(struct views *views, const struct view *view)
{
	pthread_mutex_lock(&views->lock);
	for (struct kept_view *kept = views->list; kept; kept = kept->next)
		if (&kept->view == view) {
			kept->users--;
			break;
		}
	forget_old(views);
	pthread_mutex_unlock(&views->lock);
}
