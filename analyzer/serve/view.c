/* view.c: loads a view for the live page: what the page shows of a run over a range of epochs. What its requests need
 * again and again is computed once, with it. */
#include "view.h"

#include "regions/regions.h"

#include <portolan/error.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct view_records {
	pthread_mutex_t lock;
	uint32_t *by_index; /* as view_records() returns it; NULL: not asked for yet */
};

/* The store's counts of the texts that the run keeps, which change with each write. Zeros where they cannot be read: the
 * run is then shown without texts. */
static void
view_count_texts(struct store *store, uint32_t number, uint64_t counts[3])
{
	struct portolan_error error;
	struct store_texts texts;

	if (store_texts(store, number, &texts, &error) < 0)
		texts = (struct store_texts){0};
	counts[0] = texts.examples;
	counts[1] = texts.bytes;
	counts[2] = texts.writes;
}

/* The version changes when observations become readable (by the epochs' records) or texts do, when the recording ends, and
 * when another store takes this one's place. */
int
view_read_version(struct store *store, ino_t inode, const char *run, char version[VIEW_VERSION_ROOM],
                  struct portolan_error *error)
{
	struct store_epoch *epochs = NULL;
	struct store_session *sessions = NULL;
	uint32_t number;
	size_t count = 0, session_count = 0, live = 0;
	uint64_t texts[3] = {0};
	int code = store_find_run(store, run, &number, error);

	if (code >= 0)
		code = store_epochs(store, number, &epochs, &count, error);
	if (code >= 0)
		code = store_sessions(store, number, &sessions, &session_count, error);
	for (size_t s = 0; s < session_count; s++)
		live += sessions[s].live;
	if (code >= 0) {
		uint64_t seed = (uint64_t)inode << 33 ^ (uint64_t)number << 1 ^ (live > 0);

		view_count_texts(store, number, texts);
		seed = XXH3_64bits_withSeed(texts, sizeof(texts), seed);
		snprintf(version, VIEW_VERSION_ROOM, "%016llx",
		         (unsigned long long)XXH3_64bits_withSeed(epochs, count * sizeof(*epochs), seed));
	}
	free(epochs);
	free(sessions);
	return code;
}

/* Sets the epochs of the query to those of the range. False: the text is not a range. */
static bool
view_parse_range(const char *range, struct run_query *query)
{
	query->epoch_from = 0;
	query->epoch_to = UINT32_MAX;
	query->epochs_given = *range != '\0';
	query->epochs_auto = false;
	return *range == '\0' || (run_query_parse_epochs(range, &query->epoch_from, &query->epoch_to) &&
	                          query->epoch_from < query->epoch_to);
}

static int
view_copy_all_epochs(struct store *store, struct view *view, struct portolan_error *error)
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

void
view_extent(const struct dynamics *dynamics, const double *values, double *low, double *high)
{
	double least = INFINITY, greatest = -INFINITY;

	for (size_t i = 0; i < dynamics->count; i++) {
		double value = values[dynamics->order[i]];

		/* fmin() would be a function call: one second for 10 million examples. */
		least = value < least ? value : least;
		greatest = value > greatest ? value : greatest;
	}
	*low = least <= greatest ? least : 0;
	*high = least <= greatest ? greatest : 0;
}

int
view_complete(struct view *view, struct store *store, struct portolan_error *error)
{
	int code = view_copy_all_epochs(store, view, error);

	view->records = calloc(1, sizeof(*view->records));
	if (view->records)
		pthread_mutex_init(&view->records->lock, NULL);
	else if (code >= 0)
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	if (code >= 0)
		view->cuts = region_cuts_of(&view->dynamics);
	for (size_t c = 0; c < view->dynamics.column_count && code >= 0; c++) {
		const double *values = view->dynamics.columns[c].values;

		view_extent(&view->dynamics, values, &view->extents[c].low, &view->extents[c].high);
		within_digest(&view->dynamics, values, view->extents[c].digest);
	}
	return code;
}

const uint32_t *
view_records(const struct view *view, const struct texts *texts)
{
	const struct dynamics *dynamics = &view->dynamics;
	struct view_records *records = view->records;
	const uint32_t *by_index;

	pthread_mutex_lock(&records->lock);
	if (!records->by_index)
		records->by_index = texts_match(texts, &dynamics->ids, dynamics->order, dynamics->count);
	by_index = records->by_index;
	pthread_mutex_unlock(&records->lock);
	return by_index;
}

double *
view_numbers(const struct view *view, const struct texts *texts, const struct attribute *column)
{
	const struct dynamics *dynamics = &view->dynamics;
	const uint32_t *records = view_records(view, texts);
	double *values = records ? malloc((dynamics->ids.rows + 1) * sizeof(*values)) : NULL;

	for (size_t i = 0; values && i < dynamics->count; i++) {
		uint32_t index = dynamics->order[i], record = records[index];

		values[index] = record == TEXTS_NO_RECORD ? (double)NAN : column->numbers[record];
	}
	return values;
}

/* A search by halves: places are in the order of ids. */
size_t
view_find(const struct view *view, const struct ids *ids, uint32_t index)
{
	const struct dynamics *dynamics = &view->dynamics;
	size_t from = 0, to = dynamics->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		int difference = ids_compare(&dynamics->ids, dynamics->order[middle], ids, index);

		if (difference == 0)
			return middle;
		if (difference < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return SIZE_MAX;
}

int
view_load(struct view *view, struct store *store, ino_t inode, const struct run_query *all, const char *run,
          struct portolan_error *error)
{
	const struct dynamics_request request = {
	        .measures = MEASURE_ALL, .gold = true, .user = true, .trend = true, .losses = true};
	const struct dynamics beside = {.store = store};
	struct run_query query = *all;
	int code;

	if (!view_parse_range(view->range, &query))
		return error_set(error, VIEW_E_RANGE, "epochs are A:B, with A below B, not '%s'", view->range);
	view->inode = inode;
	code = view_read_version(store, inode, run, view->version, error);
	if (code >= 0)
		code = dynamics_load_beside(&view->dynamics, &beside, &query, run, &request, error);
	if (code >= 0)
		code = view_complete(view, store, error);
	if (view->dynamics.snapshot)
		dynamics_detach(&view->dynamics);
	return code;
}

void
view_finish(struct view *view)
{
	dynamics_free(&view->dynamics);
	free(view->all_epochs);
	if (view->records) {
		pthread_mutex_destroy(&view->records->lock);
		free(view->records->by_index);
	}
	free(view->records);
}
