/* progress.c: tells the live page how far the recording of a run is: keeps for each run what earlier looks at it have
 * read (watch/live.h), looks again when asked, and describes each look as JSON. */
#include "progress.h"

#include "watch/frame.h"

#include <portolan/clock.h>
#include <portolan/error.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_EVERY_S 0.5
#define LOOK_SHARE 9.0 /* after a look that took T, the next one comes 9 T later at the earliest */
#define RUNS_KEPT 16

struct followed {
	char *run;
	struct live live;
	char *seen;          /* what the last look saw, as JSON */
	double looked, took; /* when the last look ended (clock.h), and how long it took, in seconds */
	struct frame_pace pace;
	struct followed *next; /* was asked for less recently */
};

struct progress {
	struct open_stores *stores;
	const char *directory;
	pthread_mutex_t lock; /* held during a look, so only one is made at a time */
	struct followed *list;
};

struct progress *
progress_new(struct open_stores *stores, const char *directory)
{
	struct progress *progress = calloc(1, sizeof(*progress));

	if (!progress)
		return NULL;
	progress->stores = stores;
	progress->directory = directory;
	pthread_mutex_init(&progress->lock, NULL);
	return progress;
}

static void
progress_free_followed(struct followed *followed)
{
	live_free(&followed->live);
	free(followed->seen);
	free(followed->run);
	free(followed);
}

void
progress_free(struct progress *progress)
{
	if (!progress)
		return;
	for (struct followed *followed = progress->list, *next; followed; followed = next) {
		next = followed->next;
		progress_free_followed(followed);
	}
	pthread_mutex_destroy(&progress->lock);
	free(progress);
}

/* Finds or makes the run's entry, and moves it to the front of the list. If RUNS_KEPT runs are kept, a new entry
 * replaces the last one. */
static struct followed *
progress_find(struct progress *progress, const char *run)
{
	struct followed **at = &progress->list, *found;
	unsigned count = 0;

	while (*at && strcmp((*at)->run, run) != 0 && (++count < RUNS_KEPT || (*at)->next))
		at = &(*at)->next;
	found = *at;
	if (found) {
		*at = found->next;
		if (strcmp(found->run, run) != 0) {
			progress_free_followed(found);
			found = NULL;
		}
	}
	if (!found) {
		found = calloc(1, sizeof(*found));
		if (found)
			found->run = strdup(run);
		if (!found || !found->run) {
			free(found);
			return NULL;
		}
		found->live = (struct live){.directory = progress->directory, .run = found->run};
	}
	found->next = progress->list;
	progress->list = found;
	return found;
}

/* What a look has seen, as JSON. NULL: out of memory. */
static char *
progress_describe(const struct live_view *view, const struct frame_moment *moment)
{
	struct portolan_error error;
	struct report report;
	char *text = NULL;

	if (report_open_memory(&report, &error) < 0)
		return NULL;
	frame_json(&report, view, moment);
	if (output_check(&report.output, &error) >= 0)
		text = strndup(report.output.buffer, report.output.used);
	output_discard(&report.output);
	return text;
}

static int
progress_update(struct progress *progress, struct followed *followed, struct portolan_error *error)
{
	struct frame_moment moment = {.run = followed->run, .directory = followed->live.directory, .time = time(NULL)};
	double began = clock_s();
	struct live_view view;
	struct store *store;
	ino_t inode;
	int code = open_stores_take(progress->stores, &store, &inode, error);

	if (code < 0)
		return code;
	code = live_look_in(&followed->live, store, inode, &view, error);
	if (code >= 0 && view.state == LIVE_NO_RUN)
		code = error_set(error, STORE_E_NO_RUN, "%s", view.why);
	if (code >= 0) {
		frame_take_pace(&followed->pace, &view, clock_s(), &moment);
		free(followed->seen);
		followed->seen = progress_describe(&view, &moment);
	}
	open_stores_return(progress->stores, store);
	followed->looked = clock_s();
	followed->took = followed->looked - began;
	return code;
}

int
progress_look(struct progress *progress, const char *run, char **text, struct portolan_error *error)
{
	struct followed *followed;
	int code = 0;

	pthread_mutex_lock(&progress->lock);
	followed = progress_find(progress, run);
	if (!followed)
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	else if (!followed->seen || clock_s() > followed->looked + fmax(LOOK_EVERY_S, LOOK_SHARE * followed->took))
		code = progress_update(progress, followed, error);
	if (code >= 0) {
		*text = followed->seen ? strdup(followed->seen) : NULL;
		if (!*text)
			code = error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	}
	pthread_mutex_unlock(&progress->lock);
	return code;
}
