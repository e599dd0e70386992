/*
 * other_labels.c: looks at the gold labels of the ids that two runs share, and warns where they go together no more
 * than by chance (other_labels.h).
 *
 * Examples are matched by the hashes of their ids: 16 bytes each, whatever the ids are. The smaller run is read first:
 * all of it, or, of a large one, the examples with small hashes. Of the larger run those examples are kept that the
 * smaller has. So memory does not grow with the runs, and few examples are looked at wholly, beside however many.
 */
#include "other_labels.h"

#include "base/arrays.h"
#include "base/cleanup.h"
#include "base/message.h"
#include "base/number.h"
#include "fingerprint.h"

#include "statistics/association.h"

#include <portolan/error.h>

#include <stdio.h>
#include <stdlib.h>

#define SAMPLE (UINT64_C(1) << 18) /* about how many examples of the smaller run are looked at, at most */
#define FEWEST 10                  /* with fewer labels that differ, nothing is said */
#define DEVIATIONS 5 /* from what chance makes: a shuffle gets so far in at most 1 of 26, mostly in far fewer */
#define LEAST 0.1    /* less association than this, of at most 1, is none, however many examples show it */

struct other_labels {
	uint64_t shared; /* ids that both runs have, with a label in both, among those looked at */
	uint64_t differ; /* of these, how many have another label in the second run */
	double chance;   /* how many would, if the second run's labels were dealt out anew among them */
	bool sampled;    /* only some examples were looked at */
};

enum verdict {
	TOGETHER,  /* the labels go together */
	BY_CHANCE, /* as much as after a shuffle */
	UNTOLD     /* there are too few labels, or too few of one class, to say */
};

struct labelled {
	uint64_t id; /* its hash */
	int32_t label;
};

/* A run, and those of its examples that are looked at. */
struct side {
	struct store_snapshot *snapshot;
	struct fingerprint fingerprint;
	struct labelled *examples; /* by ascending hash, once sorted */
	size_t count, room;
	uint64_t below;            /* hashes of ids are looked at up to this one, */
	const struct side *wanted; /* and only where this side has them, unless it is NULL */
};

static void
side_close(struct side *side)
{
	array_free(side->examples);
	store_snapshot_close(side->snapshot);
	*side = (struct side){0};
}

static int
compare_ids(const void *a, const void *b)
{
	uint64_t x = ((const struct labelled *)a)->id, y = ((const struct labelled *)b)->id;

	return (x > y) - (x < y);
}

/* `side` is sorted. */
static bool
side_has(const struct side *side, const struct labelled *example)
{
	return side->count > 0 && bsearch(example, side->examples, side->count, sizeof(*example), compare_ids) != NULL;
}

static int
side_take(void *context, uint64_t id, int32_t label, struct portolan_error *error)
{
	struct side *side = context;
	struct labelled example = {id, label};

	if (id > side->below || label < 0)
		return 0;
	if (side->wanted && !side_has(side->wanted, &example))
		return 0;
	if (array_reserve((void **)&side->examples, &side->room, side->count + 1, sizeof(*side->examples),
	                  "examples to compare", error) < 0)
		return PORTOLAN_E_MEMORY;
	side->examples[side->count++] = example;
	return 0;
}

static int
side_read(struct side *side, uint64_t below, const struct side *wanted, struct portolan_error *error)
{
	int code;

	side->below = below;
	side->wanted = wanted;
	code = fingerprint_compute(side->snapshot, &side->fingerprint, side_take, side, error);
	if (code >= 0 && side->count > 0)
		qsort(side->examples, side->count, sizeof(side->examples[0]), compare_ids);
	return code;
}

/* Whether a statistic is so far above its mean that a permutation of the labels seldom made it. */
static bool
is_beyond_chance(const struct association_statistic *statistic)
{
	return association_deviations(statistic, statistic->value) >= DEVIATIONS;
}

/* As after a shuffle: neither do the labels agree beyond chance, nor does the one label say anything of the other. That
 * is told only where it would show if half of the labels still were those of their examples. */
static enum verdict
judge(const struct association *labels, const struct other_labels *found)
{
	double range = labels->agree_most - labels->agree.mean; /* from chance to the most, by these frequencies */

	if (found->differ < FEWEST)
		return TOGETHER;
	if (is_beyond_chance(&labels->agree) && labels->agree.value - labels->agree.mean >= LEAST * range)
		return TOGETHER;
	if (is_beyond_chance(&labels->chi_square) && labels->v >= LEAST)
		return TOGETHER;
	return association_deviations(&labels->agree, labels->agree_most) < 2 * DEVIATIONS ? UNTOLD : BY_CHANCE;
}

/* Fills the list with the hashes of both labels of the examples that both runs have. Returns how many there are. */
static size_t
match_labels(const struct side *a, const struct side *b, bool by_name, struct association_pair *pairs)
{
	size_t i = 0, j = 0, count = 0;

	while (i < a->count && j < b->count) {
		const struct labelled *x = &a->examples[i], *y = &b->examples[j];

		if (x->id == y->id)
			pairs[count++] =
			        (struct association_pair){fingerprint_hash_label(a->snapshot, x->label, by_name),
			                                  fingerprint_hash_label(b->snapshot, y->label, by_name)};
		i += x->id <= y->id;
		j += y->id <= x->id;
	}
	return count;
}

/* Compares the labels of the examples that both runs have, by name or by number. Returns an enum verdict, or a negative
 * code. */
static int
compare_labels(const struct side *a, const struct side *b, bool by_name, struct other_labels *found,
               struct portolan_error *error)
{
	size_t most = a->count < b->count ? a->count : b->count;
	struct association_pair *pairs = array_new(2 * most, sizeof(*pairs), "labels to compare", error);
	struct association association;

	if (!pairs)
		return PORTOLAN_E_MEMORY;
	found->shared = match_labels(a, b, by_name, pairs);
	association = association_measure(pairs, found->shared, (uint64_t *)(pairs + found->shared));
	array_free(pairs);
	found->differ = found->shared - (uint64_t)association.agree.value;
	found->chance = (double)found->shared - association.agree.mean;
	return judge(&association, found);
}

static bool
names_classes(const struct side *side)
{
	return store_snapshot_info(side->snapshot)->label_count > 0;
}

/* What the numbers of the classes say, where their names said that nothing goes together, or nothing at all. */
static int
compare_numbers_too(const struct side *a, const struct side *b, enum verdict by_name, struct other_labels *found,
                    struct portolan_error *error)
{
	struct other_labels numbers = *found;
	int code = compare_labels(a, b, false, &numbers, error);

	if (code <= TOGETHER || by_name == BY_CHANCE)
		return code <= TOGETHER ? code : (int)by_name;
	*found = numbers;
	return code;
}

static uint64_t
examples_of(const struct side *side)
{
	return store_snapshot_info(side->snapshot)->examples;
}

/* Opens both runs and reads them, the smaller first. */
static int
sides_read(struct side sides[2], struct store *store, const char *const runs[2], struct portolan_error *error)
{
	uint64_t below;
	int code = 0, small;

	for (int s = 0; s < 2 && code >= 0; s++)
		code = fingerprint_open(store, runs[s], &sides[s].snapshot, error);
	if (code < 0)
		return code;
	small = examples_of(&sides[1]) < examples_of(&sides[0]);
	below = examples_of(&sides[small]) > SAMPLE ? UINT64_MAX / examples_of(&sides[small]) * SAMPLE : UINT64_MAX;
	code = side_read(&sides[small], below, NULL, error);
	return code < 0 ? code : side_read(&sides[!small], below, &sides[small], error);
}

/* Compares the labels of two runs. Returns 1 if they are as unlike as after a shuffle, else 0, or a negative code.
 * *found is zeros where the fingerprints say that the labels are the same. */
static int
other_labels_find(struct store *store, const char *const runs[2], struct fingerprint fingerprints[2],
                  struct other_labels *found, struct portolan_error *error)
{
	struct side sides[2] = {{0}};
	int code = sides_read(sides, store, runs, error);

	*found = (struct other_labels){.sampled = sides[0].below < UINT64_MAX};
	if (code >= 0 && sides[0].fingerprint.labels != sides[1].fingerprint.labels) {
		bool by_name = names_classes(&sides[0]) && names_classes(&sides[1]);

		code = compare_labels(&sides[0], &sides[1], by_name, found, error);
		if (code > TOGETHER && by_name)
			code = compare_numbers_too(&sides[0], &sides[1], (enum verdict)code, found, error);
		code = code < 0 ? code : code == BY_CHANCE;
	}
	for (int s = 0; s < 2; s++) {
		fingerprints[s] = sides[s].fingerprint;
		side_close(&sides[s]);
	}
	return code;
}

int
other_labels_say(struct store *store, const char *const runs[2], struct fingerprint fingerprints[2], char **sentence,
                 struct portolan_error *error)
{
	struct other_labels found;
	int code = other_labels_find(store, runs, fingerprints, &found, error);

	*sentence = NULL;
	if (code <= 0)
		return code;
	if (asprintf(
	            sentence,
	            "runs '%s' and '%s' have other gold labels for %s of the %s ids %s (chance alone: %s): their ids seem "
	            "to name other examples, as positions in the data do after another shuffle; what matches "
	            "them is wrong, so record both with ids that stay with the example",
	            runs[0], runs[1], NUMBER_GROUPED(found.differ), NUMBER_GROUPED(found.shared),
	            found.sampled ? "looked at that both have" : "that both have",
	            NUMBER_GROUPED((uint64_t)(found.chance + 0.5))) >= 0)
		return 0;
	*sentence = NULL;
	return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
}

void
other_labels_warn(struct store *store, const char *const *runs, size_t count)
{
	for (size_t r = 1; r < count; r++) {
		const char *const pair[] = {runs[0], runs[r]};
		CLEANUP_FREE char *sentence = NULL;
		struct fingerprint fingerprints[2];
		struct portolan_error error;

		if (other_labels_say(store, pair, fingerprints, &sentence, &error) >= 0 && sentence)
			message_warning("%s", sentence);
	}
}
