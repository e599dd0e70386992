/* searches.c: finds the records of the user's file that hold a text, for the live page, and keeps the last answers. A
 * search runs under the lock. So a second request for the same text waits until the answer is there, and takes that. */
#include "searches.h"

#include "base/cleanup.h"
#include "base/parallel.h"

#include <portolan/error.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define KEPT 8             /* searches whose answers are kept */
#define AT_ONCE (1u << 14) /* records in one part of the work; a multiple of 8, so that two parts share no byte */

struct search {
	char *part; /* the text that was searched for; NULL: the entry is empty */
	unsigned char *bits;
	uint64_t used; /* the number of the last request for it */
};

struct searches {
	const struct texts *texts;
	unsigned threads;
	pthread_mutex_t lock;
	struct search kept[KEPT];
	uint64_t asked; /* how many requests there were so far */
};

struct searches *
searches_new(const struct texts *texts, uint64_t threads)
{
	struct searches *searches = calloc(1, sizeof(*searches));

	if (!searches)
		return NULL;
	searches->texts = texts;
	searches->threads = parallel_threads((unsigned)threads);
	pthread_mutex_init(&searches->lock, NULL);
	return searches;
}

static void
searches_forget(struct search *search)
{
	free(search->part);
	free(search->bits);
	*search = (struct search){0};
}

void
searches_free(struct searches *searches)
{
	if (!searches)
		return;
	for (size_t k = 0; k < KEPT; k++)
		searches_forget(&searches->kept[k]);
	pthread_mutex_destroy(&searches->lock);
	free(searches);
}

static size_t
searches_bytes(const struct searches *searches)
{
	return (texts_records(searches->texts) + 7) / 8;
}

struct work {
	const struct texts *texts;
	struct search *search;
};

static int
searches_search_part(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	const struct work *work = context;
	size_t from = part * AT_ONCE, records = texts_records(work->texts);
	size_t to = records - from < AT_ONCE ? records : from + AT_ONCE;

	(void)thread, (void)slot, (void)error;
	texts_search(work->texts, from, to, work->search->part, work->search->bits);
	return 0;
}

/* Searches all texts for `part`, and puts the answer into the entry `search`, which is empty. It stays empty after a
 * failure. */
static int
searches_make(struct searches *searches, struct search *search, const char *part, struct portolan_error *error)
{
	struct work work = {searches->texts, search};
	const struct parallel parallel = {
	        .threads = searches->threads,
	        .count = (texts_records(searches->texts) + AT_ONCE - 1) / AT_ONCE,
	        .context = &work,
	        .work = searches_search_part,
	};
	int code;

	search->part = strdup(part);
	search->bits = calloc(searches_bytes(searches) + 1, 1);
	code = search->part && search->bits ? parallel_run(&parallel, error)
	                                    : error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	if (code >= 0)
		code = texts_check(searches->texts, error);
	if (code < 0)
		searches_forget(search);
	return code;
}

/* The entry of the kept search for this text. Without one, the entry to replace: an empty one, or else the one that has
 * not been asked for the longest. */
static struct search *
searches_choose(struct searches *searches, const char *part)
{
	struct search *oldest = &searches->kept[0];

	for (size_t k = 0; k < KEPT; k++) {
		struct search *search = &searches->kept[k];

		if (search->part && strcmp(search->part, part) == 0)
			return search;
		if (search->used < oldest->used)
			oldest = search;
	}
	searches_forget(oldest);
	return oldest;
}

int
searches_find(struct searches *searches, const char *part, unsigned char **bits, struct portolan_error *error)
{
	CLEANUP_FREE unsigned char *copy = malloc(searches_bytes(searches) + 1);
	struct search *search;
	int code = 0;

	if (!copy)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	pthread_mutex_lock(&searches->lock);
	search = searches_choose(searches, part);
	if (!search->part)
		code = searches_make(searches, search, part, error);
	if (code >= 0) {
		search->used = ++searches->asked;
		memcpy(copy, search->bits, searches_bytes(searches));
		*bits = copy;
		copy = NULL;
	}
	pthread_mutex_unlock(&searches->lock);
	return code;
}
