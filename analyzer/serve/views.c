/*
 * views.c: hands out views to the live page's requests (view.h: a run over a range of epochs). A view is loaded when a
 * request first asks for it, and is shared by all requests that use it.
 *
 * One lock guards the lists. The request that loads a view does not hold the lock meanwhile. Other requests that want
 * the same view wait for it; but if there is an older view of the same run and range, they take that.
 */
#include "views.h"

#include <portolan/clock.h>
#include <portolan/error.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define VIEWS_KEPT 4     /* unused views that are kept, beside those in use */
#define LOOK_EVERY_S 0.3 /* the shortest time between two checks whether the run has changed */
#define LOAD_SHARE 9.0   /* a view that took T to load is loaded again after 9 T at the earliest */

struct kept_view {
	struct view view; /* the first member: views_return() gets its address */
	char *run;
	unsigned users;
	bool failed;            /* loading failed; once nobody uses the view, it is freed */
	bool loading;           /* a request is loading it; it is not filled yet */
	double loaded;          /* when it was loaded, in seconds (clock.h) */
	double took;            /* how long loading took, in seconds */
	double looked;          /* when its version was last compared with the run's */
	double used;            /* when it was last taken */
	struct kept_view *next; /* a view that was added before this one */
};

struct views {
	const struct run_query *query;
	struct open_stores *stores;
	struct run_datas *datas;
	pthread_mutex_t lock; /* guards everything below */
	pthread_cond_t loaded;
	struct kept_view *list;
	struct kept_view *forgotten; /* no longer in the list, to be freed without the lock */
	bool is_loading;             /* a view is being loaded: only one at a time, by all threads */
};

struct views *
views_new(struct open_stores *stores, struct run_datas *datas, const struct run_query *query)
{
	struct views *views = calloc(1, sizeof(*views));

	if (!views)
		return NULL;
	views->stores = stores;
	views->datas = datas;
	views->query = query;
	pthread_mutex_init(&views->lock, NULL);
	pthread_cond_init(&views->loaded, NULL);
	return views;
}

static void
views_free_kept(struct views *views, struct kept_view *kept)
{
	run_datas_return(views->datas, kept->view.data);
	view_finish(&kept->view);
	free(kept->run);
	free(kept);
}

static void
views_free_list(struct views *views, struct kept_view *list)
{
	for (struct kept_view *next; list; list = next) {
		next = list->next;
		views_free_kept(views, list);
	}
}

/* Releases the lock, and then frees what was forgotten under it, so that no request waits for that. Another view may be
 * loaded meanwhile. */
static void
views_unlock(struct views *views)
{
	struct kept_view *forgotten = views->forgotten;

	views->forgotten = NULL;
	pthread_mutex_unlock(&views->lock);
	views_free_list(views, forgotten);
}

void
views_free(struct views *views)
{
	if (!views)
		return;
	views_free_list(views, views->list);
	pthread_cond_destroy(&views->loaded);
	pthread_mutex_destroy(&views->lock);
	free(views);
}

static int
views_load(struct views *views, struct kept_view *kept, struct portolan_error *error)
{
	double began = clock_s();
	struct store *store;
	ino_t inode;
	int code = open_stores_take(views->stores, &store, &inode, error);

	if (code < 0)
		return code;
	code = view_load(&kept->view, store, inode, views->query, kept->run, error);
	if (code >= 0)
		kept->view.data = run_datas_take(views->datas, store, inode, kept->view.dynamics.info->number);
	open_stores_return(views->stores, store);
	kept->loaded = kept->looked = clock_s();
	kept->took = kept->loaded - began;
	return code;
}

/* Is the run unchanged since the view was loaded? True also if that cannot be found out: the loaded view is then still
 * shown. */
static bool
views_is_current(struct views *views, const struct kept_view *kept)
{
	char version[VIEW_VERSION_ROOM];
	struct portolan_error error;
	struct store *store;
	bool same = true;
	ino_t inode;

	if (open_stores_take(views->stores, &store, &inode, &error) < 0)
		return true;
	if (view_read_version(store, inode, kept->run, version, &error) >= 0)
		same = strcmp(version, kept->view.version) == 0;
	open_stores_return(views->stores, store);
	return same;
}

static bool
views_is_of(const struct kept_view *kept, const char *run, const char *range)
{
	return strcmp(kept->run, run) == 0 && strcmp(kept->view.range, range) == 0;
}

/* Finds, from `kept` on, the newest view of a run and range, be it loaded or being loaded. NULL: there is none. */
static struct kept_view *
views_find(struct kept_view *kept, const char *run, const char *range)
{
	while (kept && (kept->failed || !views_is_of(kept, run, range)))
		kept = kept->next;
	return kept;
}

/* Finds, from `kept` on, the newest loaded view of a run and range. NULL: none is loaded. */
static struct kept_view *
views_find_loaded(struct kept_view *kept, const char *run, const char *range)
{
	while ((kept = views_find(kept, run, range)) && kept->loading)
		kept = kept->next;
	return kept;
}

static struct kept_view *
views_find_version(struct views *views, const char *run, const char *range, const char *version)
{
	struct kept_view *kept = views_find_loaded(views->list, run, range);

	while (kept && strcmp(kept->view.version, version) != 0)
		kept = views_find_loaded(kept->next, run, range);
	return kept;
}

static void
views_forget(struct views *views, struct kept_view *kept)
{
	struct kept_view **at = &views->list;

	while (*at != kept)
		at = &(*at)->next;
	*at = kept->next;
	kept->next = views->forgotten;
	views->forgotten = kept;
}

/* Are there two newer views of the same run and range? The one before the newest may still be asked for by its
 * version. */
static bool
views_is_outdated(const struct views *views, const struct kept_view *old)
{
	unsigned newer = 0;

	for (const struct kept_view *kept = views->list; kept != old; kept = kept->next)
		newer += !kept->loading && views_is_of(kept, old->run, old->view.range);
	return newer >= 2;
}

/* Forgets views that no request uses: those that failed, outdated ones, and, beyond VIEWS_KEPT, those that were last used
 * the longest ago; but never one of which an older one is left, as that would then be shown as the newest. */
static void
views_forget_old(struct views *views)
{
	for (struct kept_view *kept = views->list, *next; kept; kept = next) {
		next = kept->next;
		if (kept->users == 0 && (kept->failed || views_is_outdated(views, kept)))
			views_forget(views, kept);
	}
	for (;;) {
		struct kept_view *least = NULL;
		unsigned idle = 0;

		for (struct kept_view *kept = views->list; kept; kept = kept->next)
			if (kept->users == 0) {
				idle++;
				if (!views_find(kept->next, kept->run, kept->view.range) &&
				    (!least || kept->used < least->used))
					least = kept;
			}
		if (idle <= VIEWS_KEPT || !least)
			return;
		views_forget(views, least);
	}
}

/* Adds a view in front of the list, for the caller to load. NULL: out of memory. */
static struct kept_view *
views_add(struct views *views, const char *run, const char *range)
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

/* Adds a view, and loads it. Called with the lock held, which is released while the view is loaded. Views that are
 * asked for at the same time are loaded one after another: each needs room for its columns, in memory or in a temporary
 * file, and when ranges are asked for in quick succession, the first views are soon of no use. */
static int
views_add_and_load(struct views *views, const char *run, const char *range, struct kept_view **added,
                   struct portolan_error *error)
{
	struct kept_view *kept = views_add(views, run, range);
	int code;

	if (!kept)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	while (views->is_loading)
		pthread_cond_wait(&views->loaded, &views->lock);
	views->is_loading = true;
	pthread_mutex_unlock(&views->lock);
	code = views_load(views, kept, error);
	pthread_mutex_lock(&views->lock);
	views->is_loading = false;
	kept->loading = false;
	kept->failed = code < 0;
	pthread_cond_broadcast(&views->loaded);
	if (code < 0) {
		kept->users--;
		views_forget_old(views);
		return code;
	}
	*added = kept;
	return 0;
}

/* Is it time to check whether the run has grown? If so, marks `kept` as checked. */
static bool
views_is_due(struct kept_view *kept)
{
	double now = clock_s();

	if (now < kept->looked + LOOK_EVERY_S || now < kept->loaded + LOAD_SHARE * kept->took)
		return false;
	kept->looked = now;
	return true;
}

/* Takes the newest view, for one more user. Called with the lock held. */
static int
views_take_newest(struct views *views, const char *run, const char *range, struct kept_view **taken,
                  struct portolan_error *error)
{
	struct kept_view *kept;
	bool current;

	while ((kept = views_find(views->list, run, range)) && kept->loading) {
		struct kept_view *older = views_find_loaded(kept, run, range);

		if (older) { /* take the older view while the newest is being loaded; without one, wait */
			kept = older;
			break;
		}
		pthread_cond_wait(&views->loaded, &views->lock);
	}
	if (!kept)
		return views_add_and_load(views, run, range, taken, error);
	kept->users++;
	*taken = kept;
	if (kept != views_find(views->list, run, range) || !views_is_due(kept))
		return 0;
	pthread_mutex_unlock(&views->lock);
	current = views_is_current(views, kept);
	pthread_mutex_lock(&views->lock);
	if (current || views_find(views->list, run, range) != kept)
		return 0;
	if (views_add_and_load(views, run, range, taken, error) >= 0)
		kept->users--;
	return 0; /* even if loading again has failed: the old view is then shown */
}

int
views_take(struct views *views, const char *run, const char *range, const char *version, const struct view **view,
           struct portolan_error *error)
{
	struct kept_view *taken = NULL;
	int code = 0;

	range = range ? range : "";
	if (strlen(range) >= sizeof(taken->view.range))
		return error_set(error, VIEW_E_RANGE, "epochs are A:B");
	pthread_mutex_lock(&views->lock);
	if (version) {
		taken = views_find_version(views, run, range, version);
		if (taken)
			taken->users++;
		else
			code = error_set(error, VIEW_E_VERSION, "run '%s' has changed: load its view again", run);
	} else {
		code = views_take_newest(views, run, range, &taken, error);
	}
	if (taken && code >= 0) {
		taken->used = clock_s();
		views_forget_old(views);
		*view = &taken->view;
	}
	views_unlock(views);
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
	views_forget_old(views);
	views_unlock(views);
}
