/*
 * fingerprints.c: keeps what was found of the data of runs, and of pairs of runs (fingerprints.h).
 *
 * What is found is kept with the versions that the runs had just before, as views have them (view.h): it may be newer
 * than these, but not older.
 */
#include "fingerprints.h"

#include "view.h"

#include "fingerprint/other_labels.h"

#include <portolan/error.h>
#include <portolan/store.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define KEPT 16 /* answers */

/* The runs at one moment: the second one's members are zeros where it is one run alone. */
struct moment {
	ino_t inode;         /* of the store */
	uint32_t numbers[2]; /* of the runs in it */
	char versions[2][VIEW_VERSION_ROOM];
};

struct kept_answer {
	char *runs[2]; /* names; [0] NULL: the entry is free; [1] NULL: of one run alone */
	struct moment moment;
	char fingerprints[2][FINGERPRINT_ROOM];
	char *warning; /* NULL: there is none */
	uint64_t used; /* by the clock of `asked`: when it was last asked for */
};

struct fingerprints {
	struct open_stores *stores;
	pthread_mutex_t lock; /* guards the answers, and is held while one is found */
	struct kept_answer answers[KEPT];
	uint64_t asked;
};

struct fingerprints *
fingerprints_new(struct open_stores *stores)
{
	struct fingerprints *fingerprints = calloc(1, sizeof(*fingerprints));

	if (!fingerprints)
		return NULL;
	fingerprints->stores = stores;
	pthread_mutex_init(&fingerprints->lock, NULL);
	return fingerprints;
}

static void
answer_clear(struct kept_answer *answer)
{
	free(answer->runs[0]);
	free(answer->runs[1]);
	free(answer->warning);
	*answer = (struct kept_answer){0};
}

void
fingerprints_free(struct fingerprints *fingerprints)
{
	if (!fingerprints)
		return;
	for (size_t a = 0; a < KEPT; a++)
		answer_clear(&fingerprints->answers[a]);
	pthread_mutex_destroy(&fingerprints->lock);
	free(fingerprints);
}

static int
moment_look(struct moment *moment, struct store *store, const char *const runs[2], struct portolan_error *error)
{
	int code = 0;

	for (int r = 0; r < 2 && runs[r] && code >= 0; r++) {
		code = store_find_run(store, runs[r], &moment->numbers[r], error);
		if (code >= 0)
			code = view_read_version(store, moment->inode, runs[r], moment->versions[r], error);
	}
	return code;
}

static bool
moment_is_same(const struct moment *a, const struct moment *b)
{
	return a->inode == b->inode && memcmp(a->numbers, b->numbers, sizeof(a->numbers)) == 0 &&
	       memcmp(a->versions, b->versions, sizeof(a->versions)) == 0;
}

static bool
answer_is_of(const struct kept_answer *answer, const char *const runs[2])
{
	if (!answer->runs[0] || strcmp(answer->runs[0], runs[0]) != 0 || !answer->runs[1] != !runs[1])
		return false;
	return !runs[1] || strcmp(answer->runs[1], runs[1]) == 0;
}

/* The entry of these runs; or else a free one, or that which was not asked for for longest, emptied. */
static struct kept_answer *
answers_choose(struct fingerprints *fingerprints, const char *const runs[2])
{
	struct kept_answer *oldest = &fingerprints->answers[0];

	for (size_t a = 0; a < KEPT; a++) {
		struct kept_answer *answer = &fingerprints->answers[a];

		if (answer_is_of(answer, runs))
			return answer;
		if (answer->used < oldest->used)
			oldest = answer;
	}
	answer_clear(oldest);
	return oldest;
}

/* Finds the answer, and puts it into the entry; after a failure the entry is empty. */
static int
answer_find(struct kept_answer *answer, struct store *store, const char *const runs[2], const struct moment *now,
            struct portolan_error *error)
{
	struct fingerprint found[2] = {{0}};
	int code;

	answer_clear(answer);
	code = runs[1] ? other_labels_say(store, runs, found, &answer->warning, error)
	               : fingerprint_read(store, runs[0], &found[0], error);
	for (int r = 0; r < 2 && runs[r] && code >= 0; r++) {
		fingerprint_print(&found[r], answer->fingerprints[r]);
		answer->runs[r] = strdup(runs[r]);
		if (!answer->runs[r])
			code = error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	}
	if (code < 0) {
		answer_clear(answer);
		return code;
	}
	answer->moment = *now;
	return 0;
}

static void
answer_report(const struct kept_answer *answer, struct report *report)
{
	const char *first = answer->fingerprints[0], *second = answer->fingerprints[1];

	report_begin(report, NULL);
	report_text(report, "fingerprint", *first ? first : NULL);
	if (answer->runs[1]) {
		report_text(report, "other_fingerprint", *second ? second : NULL);
		report_text(report, "warning", answer->warning);
	}
	report_end(report);
}

int
fingerprints_report(struct fingerprints *fingerprints, const char *run, const char *other, struct report *report,
                    struct portolan_error *error)
{
	const char *const runs[2] = {run, other};
	struct moment now = {0};
	struct store *store;
	int code = open_stores_take(fingerprints->stores, &store, &now.inode, error);

	if (code < 0)
		return code;
	pthread_mutex_lock(&fingerprints->lock);
	code = moment_look(&now, store, runs, error);
	if (code >= 0) {
		struct kept_answer *answer = answers_choose(fingerprints, runs);

		if (!answer->runs[0] || !moment_is_same(&answer->moment, &now))
			code = answer_find(answer, store, runs, &now, error);
		if (code >= 0) {
			answer->used = ++fingerprints->asked;
			answer_report(answer, report);
		}
	}
	pthread_mutex_unlock(&fingerprints->lock);
	open_stores_return(fingerprints->stores, store);
	return code;
}
