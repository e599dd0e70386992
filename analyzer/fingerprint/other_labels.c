/*
 * other_labels.c: counts the ids that have one gold label in one run and another in a second, and warns where chance
 * would make as many (other_labels.h).
 *
 * Examples are matched by the hashes of their ids: 16 bytes each, whatever the ids are. Of large runs only examples
 * with small hashes are kept, which are the same ones in both runs, so memory does not grow with the runs.
 */
#include "other_labels.h"

#include "base/arrays.h"
#include "base/message.h"
#include "base/number.h"
#include "fingerprint.h"

#include <portolan/error.h>

#include <stdlib.h>

#define SAMPLE (UINT64_C(1) << 18) /* about how many examples of a run are looked at, at most */
#define FEWEST 10                  /* with fewer labels that differ, nothing is said */

struct other_labels {
	uint64_t shared; /* ids that both runs have, with a label in both, among those looked at */
	uint64_t differ; /* of these, how many have another label in the second run */
	double chance;   /* how many would, if the second run's labels were dealt out anew among them */
	bool sampled;    /* only some examples were looked at */
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
	uint64_t below; /* hashes of ids are looked at up to this one */
};

static void
side_close(struct side *side)
{
	array_free(side->examples);
	store_snapshot_close(side->snapshot);
	*side = (struct side){0};
}

static int
side_take(void *context, uint64_t id, int32_t label, struct portolan_error *error)
{
	struct side *side = context;

	if (id > side->below || label < 0)
		return 0;
	if (array_reserve((void **)&side->examples, &side->room, side->count + 1, sizeof(*side->examples),
	                  "examples to compare", error) < 0)
		return PORTOLAN_E_MEMORY;
	side->examples[side->count++] = (struct labelled){id, label};
	return 0;
}

static int
compare_ids(const void *a, const void *b)
{
	uint64_t x = ((const struct labelled *)a)->id, y = ((const struct labelled *)b)->id;

	return (x > y) - (x < y);
}

static int
compare_numbers(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Fills both lists with the hashes of the labels of the examples that both runs have, in the same order. Returns how
 * many there are. */
static size_t
match_labels(const struct side *a, const struct side *b, bool by_name, uint64_t *labels_a, uint64_t *labels_b)
{
	size_t i = 0, j = 0, count = 0;

	while (i < a->count && j < b->count) {
		const struct labelled *x = &a->examples[i], *y = &b->examples[j];

		if (x->id == y->id) {
			labels_a[count] = fingerprint_hash_label(a->snapshot, x->label, by_name);
			labels_b[count++] = fingerprint_hash_label(b->snapshot, y->label, by_name);
		}
		i += x->id <= y->id;
		j += y->id <= x->id;
	}
	return count;
}

/* How many of n pairs differ if each label of the one list may meet each of the other. Both lists ascend. */
static double
differ_by_chance(const uint64_t *a, const uint64_t *b, size_t n)
{
	double equal = 0;

	for (size_t i = 0, j = 0; i < n && j < n;) {
		uint64_t label = a[i] < b[j] ? a[i] : b[j];
		size_t in_a = 0, in_b = 0;

		for (; i < n && a[i] == label; i++)
			in_a++;
		for (; j < n && b[j] == label; j++)
			in_b++;
		equal += (double)in_a * (double)in_b;
	}
	return n > 0 ? (double)n - equal / (double)n : 0;
}

static int
count_differing(const struct side *a, const struct side *b, bool by_name, struct other_labels *found,
                struct portolan_error *error)
{
	size_t most = a->count < b->count ? a->count : b->count;
	uint64_t *labels = array_new(2 * most, sizeof(*labels), "labels to compare", error), *of_b = labels + most;

	if (!labels)
		return PORTOLAN_E_MEMORY;
	found->shared = match_labels(a, b, by_name, labels, of_b);
	found->differ = 0;
	for (size_t i = 0; i < found->shared; i++)
		found->differ += labels[i] != of_b[i];
	qsort(labels, found->shared, sizeof(*labels), compare_numbers);
	qsort(of_b, found->shared, sizeof(*of_b), compare_numbers);
	found->chance = differ_by_chance(labels, of_b, found->shared);
	array_free(labels);
	return 0;
}

/* Cohen's kappa of the two runs' labels, 1 − differ / chance, is at most ½. */
static bool
is_as_by_chance(const struct other_labels *found)
{
	return found->differ >= FEWEST && (double)found->differ >= found->chance / 2;
}

static bool
names_classes(const struct side *side)
{
	return store_snapshot_info(side->snapshot)->label_count > 0;
}

/* Opens both runs, so that as large a part of each is looked at as of the other, and reads them. */
static int
sides_read(struct side sides[2], struct store *store, const char *const runs[2], struct portolan_error *error)
{
	uint64_t most = 0;
	int code = 0;

	for (int s = 0; s < 2 && code >= 0; s++) {
		code = fingerprint_open(store, runs[s], &sides[s].snapshot, error);
		if (code >= 0 && store_snapshot_info(sides[s].snapshot)->examples > most)
			most = store_snapshot_info(sides[s].snapshot)->examples;
	}
	for (int s = 0; s < 2 && code >= 0; s++) {
		sides[s].below = most > SAMPLE ? UINT64_MAX / most * SAMPLE : UINT64_MAX;
		code = fingerprint_compute(sides[s].snapshot, &sides[s].fingerprint, side_take, &sides[s], error);
	}
	return code;
}

/* Compares the labels of two runs. Returns 1 if they are as unlike as after a shuffle, else 0, or a negative code.
 * *found is zeros where the fingerprints say that the labels are the same. */
static int
other_labels_find(struct store *store, const char *run_a, const char *run_b, struct other_labels *found,
                  struct portolan_error *error)
{
	struct side sides[2] = {{0}};
	bool by_name, is_other = false;
	int code = sides_read(sides, store, (const char *const[]){run_a, run_b}, error);

	*found = (struct other_labels){.sampled = sides[0].below < UINT64_MAX};
	if (code >= 0 && sides[0].fingerprint.labels != sides[1].fingerprint.labels) {
		for (int s = 0; s < 2; s++)
			qsort(sides[s].examples, sides[s].count, sizeof(sides[s].examples[0]), compare_ids);
		by_name = names_classes(&sides[0]) && names_classes(&sides[1]);
		code = count_differing(&sides[0], &sides[1], by_name, found, error);
		is_other = code >= 0 && is_as_by_chance(found);
		if (is_other && by_name) { /* classes that were renamed are no other examples */
			code = count_differing(&sides[0], &sides[1], false, found, error);
			is_other = code >= 0 && is_as_by_chance(found);
		}
	}
	side_close(&sides[0]);
	side_close(&sides[1]);
	return code < 0 ? code : is_other;
}

void
other_labels_warn(struct store *store, const char *const *runs, size_t count)
{
	for (size_t r = 1; r < count; r++) {
		struct portolan_error error;
		struct other_labels found;

		if (other_labels_find(store, runs[0], runs[r], &found, &error) <= 0)
			continue;
		message_warning(
		        "runs '%s' and '%s' have other gold labels for %s of the %s ids %s (chance alone: %s): their ids seem "
		        "to name other examples, as positions in the data do after another shuffle; what matches "
		        "them is wrong, so record both with ids that stay with the example",
		        runs[0], runs[r], NUMBER_GROUPED(found.differ), NUMBER_GROUPED(found.shared),
		        found.sampled ? "looked at that both have" : "that both have",
		        NUMBER_GROUPED((uint64_t)(found.chance + 0.5)));
	}
}
