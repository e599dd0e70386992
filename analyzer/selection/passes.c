/*
 * passes.c: see passes.h.
 *
 * Whom a part of the plan has taken needs no list: it takes in rank order, so it has taken those of a group that it
 * could take and that do not come after the last one. Parts after it ask that of every example.
 */
#include "passes_parts.h"

#include "dynamics/nth.h"
#include "dynamics/scan.h"
#include "dynamics/slices.h"
#include "program/parallel.h"
#include "statistics/random.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHARE 4 /* of the memory, what the scan may take beside a slice: a quarter, or as much as one thread takes */
#define SLICE_LEAST (UINT64_C(2) << 20)
#define RANK_BYTES (2 * sizeof(uint32_t))

static bool
has_kind(const struct selection_plan *plan, enum selection_kind kind)
{
	struct selection_rule rules[SELECTION_PARTS_MAX];
	size_t count = selection_plan_parts(plan, rules);

	for (size_t p = 0; p < count; p++)
		if (rules[p].kind == kind)
			return true;
	return false;
}

uint64_t
passes_row_bytes(const struct dynamics *run)
{
	uint64_t ranking = run->info->id_kind == STORE_ID_STR ? 2 * sizeof(struct sort_item) : 0;

	return slices_row_bytes(run, 0) + ranking; /* of integer ids, sorting has taken as much before */
}

bool
passes_can(const struct selection_plan *plan)
{
	return !has_kind(plan, SELECT_K_CENTER);
}

size_t
taking_group(const struct taking *taking, const struct dynamics *part, uint32_t row)
{
	if (taking->plan->classes == SELECTION_CLASSES_ANY)
		return 0;
	return classes_find(&taking->passes->census.classes, part->gold[row]);
}

struct taking_values
taking_values_of(const struct taking *taking, const struct dynamics *part)
{
	struct taking_values values = {.taking = taking, .part = part};

	for (size_t p = 0; p <= taking->part; p++)
		values.rules[p] = rank_values_of(&taking->keys[p], part);
	return values;
}

bool
taking_can(const struct taking_values *values, uint32_t row, uint64_t *key)
{
	const struct taking *taking = values->taking;
	const struct ids *ids = &values->part->ids;
	size_t group = taking_group(taking, values->part, row);
	uint64_t other;

	if (taking->quotas[taking->part * taking->groups + group] == 0 ||
	    !rank_key_of(&values->rules[taking->part], row, key))
		return false;
	for (size_t p = 0; p < taking->part; p++) {
		const struct places *last = &taking->last[p * taking->groups + group];

		if (last->ids.rows > 0 && rank_key_of(&values->rules[p], row, &other) &&
		    places_compare(other, ids, row, last, 0) <= 0)
			return false;
	}
	return true;
}

/* A range of buckets, being read. */
struct window {
	const struct taking *taking;
	const struct buckets *buckets;
	size_t from, to;
};

static size_t
choose(void *context, const struct dynamics *part, uint32_t *chosen)
{
	const struct window *window = context;
	const struct places *splitters = &window->buckets->splitters;
	struct taking_values values = taking_values_of(window->taking, part);
	size_t n = 0;

	for (size_t i = 0; i < part->count; i++) {
		uint32_t row = part->order[i];
		uint64_t key;

		if (!taking_can(&values, row, &key) ||
		    (window->from > 0 && places_compare(key, &part->ids, row, splitters, window->from - 1) < 0) ||
		    (window->to < window->buckets->count &&
		     places_compare(key, &part->ids, row, splitters, window->to - 1) >= 0))
			continue;
		chosen[n++] = row;
	}
	return n;
}

struct sink {
	int (*take)(void *context, const struct dynamics *part, const uint32_t *rows, size_t count,
	            struct portolan_error *error);
	void *context;
	size_t count;
};

/* Sorts slice->order, which ascends by id, by rank. */
static int
rank(const struct taking *taking, struct dynamics *slice, struct portolan_error *error)
{
	struct rank_values values = rank_values_of(&taking->keys[taking->part], slice);
	struct sort_item *items = malloc((2 * slice->count + 1) * sizeof(*items));

	if (!items)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory to rank %zu examples", slice->count);
	for (size_t i = 0; i < slice->count; i++) {
		rank_key_of(&values, slice->order[i], &items[i].key);
		items[i].value = slice->order[i];
	}
	sort_by_key(items, items + slice->count, slice->count);
	for (size_t i = 0; i < slice->count; i++)
		slice->order[i] = items[i].value;
	free(items);
	return 0;
}

/* Takes of the ranked slice what is wanted of it, and remembers the last of each group. */
static int
take_ranked(struct taking *taking, struct dynamics *slice, struct sink *sink, struct portolan_error *error)
{
	struct rank_values values = rank_values_of(&taking->keys[taking->part], slice);
	size_t *quotas = taking->quotas + taking->part * taking->groups, n = 0;
	struct places *last = taking->last + taking->part * taking->groups;
	int code = 0;

	for (size_t i = 0; i < slice->count && code >= 0; i++) {
		uint32_t row = slice->order[i];
		size_t group = taking_group(taking, slice, row);
		uint64_t key;

		if (quotas[group] == 0)
			continue;
		quotas[group]--;
		slice->order[n++] = row;
		if (taking->part + 1 == taking->part_count)
			continue;
		rank_key_of(&values, row, &key);
		last[group].ids.rows = 0;
		code = places_add(&last[group], key, &slice->ids, row, error);
	}
	sink->count += n;
	return code < 0 || !sink->take ? code : sink->take(sink->context, slice, slice->order, n, error);
}

static size_t
wanted(const struct taking *taking)
{
	size_t all = 0;

	for (size_t g = 0; g < taking->groups; g++)
		all += taking->quotas[taking->part * taking->groups + g];
	return all;
}

/* One part of the plan: slice after slice of its order. */
static int
take_part(struct taking *taking, struct sink *sink, struct portolan_error *error)
{
	const struct passes *passes = taking->passes;
	uint64_t row_bytes = passes_row_bytes(passes->run);
	struct window window = {.taking = taking};
	struct buckets buckets = {0};
	int code = wanted(taking) > 0 ? buckets_make(&buckets, taking, error) : 0;

	window.buckets = &buckets;
	while (code >= 0 && window.to < buckets.count && wanted(taking) > 0) {
		size_t rows = 0;
		uint64_t text = 0;
		struct dynamics slice;

		window.from = window.to;
		do {
			rows += buckets.rows[window.to];
			text += buckets.text[window.to++];
		} while (window.to < buckets.count && rows < wanted(taking) &&
		         (rows + buckets.rows[window.to]) * row_bytes + text + buckets.text[window.to] <=
		                 passes->slice_memory);
		if (rows == 0)
			continue;
		code = slices_collect(passes->run, rows, text, choose, &window, &slice, error);
		if (code < 0)
			break;
		code = rank(taking, &slice, error);
		if (code >= 0)
			code = take_ranked(taking, &slice, sink, error);
		slices_release(&slice);
	}
	buckets_free(&buckets);
	return code;
}

/* The observed examples in the order of the store, which is that of the ids. */
struct listing {
	uint32_t *list;
	size_t count;
	uint32_t *slots; /* STORE_CHUNK for each */
	size_t *counts;
};

static int
list_part(void *context, struct dynamics *part, unsigned slot, struct portolan_error *error)
{
	const struct listing *listing = context;

	(void)error;
	listing->counts[slot] = part->count;
	for (size_t i = 0; i < part->count; i++)
		listing->slots[(size_t)slot * STORE_CHUNK + i] = part->first + part->order[i];
	return 0;
}

static int
add_part(void *context, unsigned slot, struct portolan_error *error)
{
	struct listing *listing = context;

	(void)error;
	memcpy(listing->list + listing->count, listing->slots + (size_t)slot * STORE_CHUNK,
	       listing->counts[slot] * sizeof(*listing->list));
	listing->count += listing->counts[slot];
	return 0;
}

/* Draws `count` examples, and notes by dense index who came when. */
static int
draw(struct taking *taking, size_t count, struct portolan_error *error)
{
	struct dynamics *run = taking->passes->run;
	size_t rows = store_snapshot_blocks(run->snapshot) * STORE_CHUNK;
	unsigned slots = parallel_slots(run->threads);
	struct listing listing = {.list = malloc(rows * sizeof(*listing.list)),
	                          .slots = malloc((size_t)slots * STORE_CHUNK * sizeof(*listing.slots)),
	                          .counts = calloc(slots, sizeof(*listing.counts))};
	struct scan_steps steps = {.context = &listing, .work = list_part, .deliver = add_part};
	struct random_state random;
	int code = 0;

	taking->ranks = malloc(rows * sizeof(*taking->ranks));
	if (!listing.list || !listing.slots || !listing.counts || !taking->ranks)
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory to draw from %zu examples", rows);
	if (code >= 0)
		code = scan_run(run, &steps, error);
	if (code >= 0) {
		count = count < listing.count ? count : listing.count;
		random_seed(&random, taking->passes->request.seed);
		random_sample(&random, listing.list, listing.count, count);
		memset(taking->ranks, 0xff, rows * sizeof(*taking->ranks)); /* RANK_KEY_NONE */
		for (size_t i = 0; i < count; i++)
			taking->ranks[listing.list[i]] = (uint32_t)i;
	}
	free(listing.list);
	free(listing.slots);
	free(listing.counts);
	return code;
}

static int
make_taking(struct taking *taking, size_t *asked, struct portolan_error *error)
{
	const struct passes *passes = taking->passes;
	const struct census *census = &passes->census;
	const struct selection_plan *plan = taking->plan;
	struct selection_rule rules[SELECTION_PARTS_MAX];
	uint32_t all = (uint32_t)passes->run->count;
	bool any = plan->classes == SELECTION_CLASSES_ANY;
	int code = 0;

	taking->part_count = selection_plan_parts(plan, rules);
	taking->groups = any ? 1 : census->classes.count;
	taking->quotas = calloc(taking->part_count * taking->groups, sizeof(*taking->quotas));
	taking->last = calloc(taking->part_count * taking->groups, sizeof(*taking->last));
	if (!taking->quotas || !taking->last)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu classes", taking->groups);
	code = selection_plan_share_out(plan, any ? &all : census->sizes, taking->groups, taking->quotas, asked, error);
	if (code >= 0 && has_kind(plan, SELECT_RANDOM))
		code = draw(taking, any ? *asked : passes->run->count, error);
	for (size_t p = 0; p < taking->part_count; p++)
		taking->keys[p] = (struct rank_key){.rule = rules[p],
		                                    .cuts = &passes->cuts,
		                                    .threshold = passes->request.threshold,
		                                    .ranks = taking->ranks};
	return code;
}

int
passes_take(const struct passes *passes, const struct selection_plan *plan,
            int (*take)(void *context, const struct dynamics *part, const uint32_t *rows, size_t count,
                        struct portolan_error *error),
            void *context, size_t *count, size_t *asked, struct portolan_error *error)
{
	struct taking taking = {.passes = passes, .plan = plan};
	struct sink sink = {.take = take, .context = context};
	int code = make_taking(&taking, asked, error);

	for (taking.part = 0; taking.part < taking.part_count && code >= 0; taking.part++)
		code = take_part(&taking, &sink, error);
	for (size_t i = 0; taking.last && i < taking.part_count * taking.groups; i++)
		places_free(&taking.last[i]);
	free(taking.last);
	free(taking.quotas);
	free(taking.ranks);
	*count = sink.count;
	return code;
}

/* Divides the memory between the slices, the scan that fills them, and the ranks of a random rule. */
static int
divide_memory(struct passes *passes, bool random, struct portolan_error *error)
{
	struct dynamics *run = passes->run;
	uint64_t rows = store_snapshot_blocks(run->snapshot) * STORE_CHUNK;
	uint64_t fixed = DYNAMICS_PROGRAM_BYTES + (random ? rows * RANK_BYTES : 0), least;
	uint64_t memory = run->max_memory > fixed ? run->max_memory - fixed : 0;

	least = scan_fit(run, memory / SHARE, NTH_SLOT_BYTES); /* 0, or what one thread takes */
	if (least + SLICE_LEAST > memory)
		return dynamics_refuse_memory(run, fixed + SLICE_LEAST + scan_worker_memory(run) + NTH_SLOT_BYTES,
		                              error);
	passes->slice_memory = memory - (least > 0 ? least : memory / SHARE);
	return 0;
}

/* Random draws from a list by ascending id. */
static int
check_order(struct passes *passes, struct portolan_error *error)
{
	struct slices slices;
	bool ascending;
	int code = slices_plan(passes->run, UINT64_MAX, &slices, error);

	if (code < 0)
		return code;
	ascending = slices.ascending;
	slices_free(&slices);
	return ascending ? 0 : dynamics_refuse_memory(passes->run, dynamics_memory(passes->run, 0), error);
}

static int
find_cuts(struct passes *passes, struct portolan_error *error)
{
	uint64_t third = passes->run->count / 3; /* as regions_default_cuts() has it */

	passes->cuts = (struct region_cuts){.variability = INFINITY, .confidence = 0.5};
	if (passes->request.cuts)
		passes->cuts = *passes->request.cuts;
	if (passes->request.cuts || third == 0)
		return 0;
	return nth_largest(passes->run, measure_infos[MEASURE_VARIABILITY].name, third - 1, NULL, NULL,
	                   &passes->cuts.variability, error);
}

int
passes_open(struct passes *passes, struct dynamics *run, const struct selection_plan *plan,
            const struct passes_request *request, struct portolan_error *error)
{
	bool random = has_kind(plan, SELECT_RANDOM);
	int code;

	*passes = (struct passes){.run = run, .request = *request};
	code = divide_memory(passes, random, error);
	if (code >= 0 && random)
		code = check_order(passes, error);
	if (code >= 0)
		code = census_make(&passes->census, run, error);
	if (code >= 0 && plan->classes != SELECTION_CLASSES_ANY && passes->census.classes.count == 1 &&
	    passes->census.classes.labels[0] < 0)
		code = selection_plan_no_labels(plan, run, error);
	if (code >= 0 && has_kind(plan, SELECT_REGION))
		code = find_cuts(passes, error);
	if (code < 0)
		passes_close(passes);
	return code;
}

void
passes_close(struct passes *passes)
{
	census_free(&passes->census);
}
