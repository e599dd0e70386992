/*
 * balance.c: see balance.h.
 *
 * Records are drawn by way of their groups, as all of a group have the same tokens and label, and so the same
 * conflicts: the groups that hold token s with label l are its pool. While records of label l are drawn, n[·][l] only
 * grows, so conflicts only come, at most one for each token: then the pool's groups are looked at again, and those with
 * the fewest become the choice, weighted by their records in a tree of sums (Fenwick 1994). A record that stands as
 * often as it may changes places with the last of its group that does not, and the group counts one less.
 */
#include "balance.h"

#include "program/progress.h"
#include "statistics/random.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ADDED_MOST (UINT32_MAX / 2)

struct pools {
	size_t *starts; /* of token × label, and the end */
	uint32_t *groups;
};

struct work {
	const struct balance_request *request;
	struct balance *balance;
	struct pools pools;
	uint64_t *most;      /* max_l n[s][l], by token */
	uint32_t *available; /* by group: so many of its members are not at their limit, */
	uint32_t *members;   /* and these stand first */
	uint64_t *tree;      /* of the choice; from 1 */
	uint32_t *choice;    /* groups */
	size_t chosen;
	uint64_t total; /* records of the choice */
	struct random_state random;
};

void
balance_free(struct balance *balance)
{
	free(balance->before);
	free(balance->after);
	free(balance->repeats);
	free(balance->imbalance);
	free(balance->reasons);
	*balance = (struct balance){0};
}

uint64_t
balance_lack(const uint64_t *counts, size_t label_count, size_t token, size_t label)
{
	const uint64_t *row = counts + token * label_count;
	uint64_t most = 0;

	for (size_t l = 0; l < label_count; l++)
		most = row[l] > most ? row[l] : most;
	return most - row[label];
}

static uint64_t *
count_of(const struct work *work, size_t token, size_t label)
{
	return &work->balance->after[token * work->request->label_count + label];
}

static uint64_t
lack(const struct work *work, size_t token, size_t label)
{
	return work->most[token] - *count_of(work, token, label);
}

static uint64_t
sum_of_lacks(const struct work *work)
{
	uint64_t sum = 0;

	for (size_t s = 0; s < work->request->token_count; s++)
		for (size_t l = 0; l < work->request->label_count; l++)
			sum += lack(work, s, l);
	return sum;
}

static bool
make_pools(struct work *work)
{
	const struct holders *holders = work->request->holders;
	size_t cells = work->request->token_count * work->request->label_count, labels = work->request->label_count;
	size_t *starts = calloc(cells + 2, sizeof(*starts)), sum = 0;

	work->pools.starts = starts;
	if (!starts)
		return false;
	for (size_t g = 0; g < holders->group_count; g++)
		for (size_t t = 0; t < holders->groups[g].token_count; t++)
			starts[holders->groups[g].tokens[t] * labels + holders->groups[g].label + 2]++;
	for (size_t c = 0; c < cells + 2; c++)
		starts[c] = sum += starts[c];
	work->pools.groups = malloc((sum + 1) * sizeof(uint32_t));
	if (!work->pools.groups)
		return false;
	for (uint32_t g = 0; g < holders->group_count; g++)
		for (size_t t = 0; t < holders->groups[g].token_count; t++)
			work->pools.groups[starts[holders->groups[g].tokens[t] * labels + holders->groups[g].label +
			                          1]++] = g;
	return true;
}

static uint32_t
count_conflicts(const struct work *work, const struct holder_group *group, size_t token)
{
	uint32_t conflicts = 0;

	if (work->request->pick == BALANCE_UNIFORM)
		return 0;
	for (size_t t = 0; t < group->token_count; t++)
		conflicts += group->tokens[t] != token && lack(work, group->tokens[t], group->label) == 0;
	return conflicts;
}

static void
make_tree(struct work *work)
{
	work->total = 0;
	for (size_t i = 1; i <= work->chosen; i++) {
		work->tree[i] = work->available[work->choice[i - 1]];
		work->total += work->tree[i];
	}
	for (size_t i = 1; i <= work->chosen; i++) {
		size_t parent = i + (i & -i);

		if (parent <= work->chosen)
			work->tree[parent] += work->tree[i];
	}
}

/* The groups of the pool with the fewest conflicts, of those that have a record left; false: none has. */
static bool
choose(struct work *work, size_t token, size_t label)
{
	size_t cell = token * work->request->label_count + label;
	uint32_t fewest = UINT32_MAX;

	work->chosen = 0;
	for (size_t i = work->pools.starts[cell]; i < work->pools.starts[cell + 1]; i++) {
		uint32_t group = work->pools.groups[i], conflicts;

		if (work->available[group] == 0)
			continue;
		conflicts = count_conflicts(work, &work->request->holders->groups[group], token);
		if (conflicts < fewest) {
			fewest = conflicts;
			work->chosen = 0;
		}
		if (conflicts == fewest)
			work->choice[work->chosen++] = group;
	}
	make_tree(work);
	return work->chosen > 0;
}

/* The place in the choice of its record number `at`, which becomes the number within the group. */
static size_t
find(const struct work *work, uint64_t *at)
{
	size_t place = 0, step = 1;

	while (2 * step <= work->chosen)
		step *= 2;
	for (; step > 0; step /= 2)
		if (place + step <= work->chosen && work->tree[place + step] <= *at)
			*at -= work->tree[place += step];
	return place;
}

/* One less in the group at this place of the choice; its member `at` goes behind those that are left. */
static void
use_up(struct work *work, size_t place, uint64_t at)
{
	uint32_t group = work->choice[place], last = --work->available[group];
	uint32_t *members = work->members + work->request->holders->groups[group].first, member = members[at];

	members[at] = members[last];
	members[last] = member;
	work->total--;
	for (size_t i = place + 1; i <= work->chosen; i += i & -i)
		work->tree[i]--;
}

/* Counts the record; whether a conflict has come of it. */
static bool
count_draw(struct work *work, const struct holder_group *group)
{
	bool came = false;

	for (size_t t = 0; t < group->token_count; t++) {
		size_t token = group->tokens[t];
		uint64_t *count = count_of(work, token, group->label);

		++*count;
		came = came || *count == work->most[token];
		if (*count > work->most[token])
			work->most[token] = *count;
	}
	return came;
}

/* Draws one record for token and label; whether the choice is to be made again. */
static bool
draw(struct work *work)
{
	const struct balance_request *request = work->request;
	uint64_t at = random_below(&work->random, work->total);
	size_t place = find(work, &at);
	const struct holder_group *group = &request->holders->groups[work->choice[place]];
	uint32_t member = work->members[group->first + at];

	work->balance->added++;
	if (++work->balance->repeats[member] + 1 == request->max_multiplicity)
		use_up(work, place, at);
	return (count_draw(work, group) && request->pick == BALANCE_CONFLICT_FREE) || work->total == 0;
}

/* A share of the step, rounded up, but for what multiplying added. */
static uint64_t
draws_of(double step, uint64_t lacking)
{
	return (uint64_t)ceil(step * (double)lacking * (1 - 1e-12));
}

/* One visit of token and label; false: a limit was met that no data should reach. */
static bool
visit(struct work *work, size_t token, size_t label)
{
	uint64_t draws = draws_of(work->request->step, lack(work, token, label));
	bool ready = false;

	for (; draws > 0; draws--) {
		if (!ready && !choose(work, token, label))
			return true;
		ready = !draw(work);
		if (work->balance->added > ADDED_MOST)
			return false;
	}
	return true;
}

static enum balance_reason
reason_of(const struct work *work, size_t token, size_t label)
{
	size_t cell = token * work->request->label_count + label;
	size_t from = work->pools.starts[cell], to = work->pools.starts[cell + 1];

	if (lack(work, token, label) == 0)
		return BALANCE_DONE;
	if (from == to)
		return BALANCE_NO_RECORD;
	for (size_t i = from; i < to; i++)
		if (work->available[work->pools.groups[i]] > 0)
			return BALANCE_OUT_OF_ROUNDS;
	return BALANCE_CAPPED;
}

/* Ends before its time when nothing can be drawn any more. */
static int
iterate(struct work *work, struct portolan_error *error)
{
	const struct balance_request *request = work->request;
	struct balance *balance = work->balance;
	struct progress progress;
	uint64_t before = UINT64_MAX;
	bool fits = true;

	balance->imbalance[0] = sum_of_lacks(work);
	progress_begin(&progress, "balancing", request->iterations);
	while (fits && balance->imbalance[balance->iterations] > 0 && balance->iterations < request->iterations &&
	       balance->added != before) {
		before = balance->added;
		for (size_t s = 0; s < request->token_count && fits; s++)
			for (size_t l = 0; l < request->label_count && fits; l++)
				fits = visit(work, s, l);
		balance->imbalance[++balance->iterations] = sum_of_lacks(work);
		progress_update(&progress, balance->iterations);
	}
	if (balance->added == before && balance->iterations > 0)
		balance->iterations--; /* the last one did nothing */
	progress_end(&progress);
	for (size_t s = 0; s < request->token_count; s++)
		for (size_t l = 0; l < request->label_count; l++)
			balance->reasons[s * request->label_count + l] = reason_of(work, s, l);
	return fits ? 0
	            : error_set(error, PORTOLAN_E_INVALID,
	                        "it would take more than 2,147,483,647 repeats: take fewer tokens (--top), or "
	                        "--max-multiplicity");
}

/* The counts as they are, from the groups. */
static void
begin_counts(struct work *work)
{
	const struct holders *holders = work->request->holders;
	size_t cells = work->request->token_count * work->request->label_count;

	for (size_t g = 0; g < holders->group_count; g++) {
		const struct holder_group *group = &holders->groups[g];

		work->available[g] = work->request->max_multiplicity == 1 ? 0 : group->count;
		for (size_t t = 0; t < group->token_count; t++)
			*count_of(work, group->tokens[t], group->label) += group->count;
	}
	memcpy(work->balance->before, work->balance->after, cells * sizeof(uint64_t));
	for (size_t s = 0; s < work->request->token_count; s++)
		for (size_t l = 0; l < work->request->label_count; l++)
			if (*count_of(work, s, l) > work->most[s])
				work->most[s] = *count_of(work, s, l);
}

static bool
allocate(struct work *work)
{
	const struct holders *holders = work->request->holders;
	size_t cells = work->request->token_count * work->request->label_count, groups = holders->group_count + 1;
	struct balance *balance = work->balance;

	balance->before = calloc(cells + 1, sizeof(*balance->before));
	balance->after = calloc(cells + 1, sizeof(*balance->after));
	balance->repeats = calloc(holders->count + 1, sizeof(*balance->repeats));
	balance->imbalance = calloc((size_t)work->request->iterations + 1, sizeof(*balance->imbalance));
	balance->reasons = calloc(cells + 1, sizeof(*balance->reasons));
	work->most = calloc(work->request->token_count + 1, sizeof(*work->most));
	work->available = calloc(groups, sizeof(*work->available));
	work->members = malloc((holders->count + 1) * sizeof(*work->members));
	work->tree = malloc((groups + 1) * sizeof(*work->tree));
	work->choice = malloc(groups * sizeof(*work->choice));
	if (work->members)
		memcpy(work->members, holders->members, holders->count * sizeof(*work->members));
	return balance->before && balance->after && balance->repeats && balance->imbalance && balance->reasons &&
	       work->most && work->available && work->members && work->tree && work->choice && make_pools(work);
}

int
balance_make(const struct balance_request *request, struct balance *balance, struct portolan_error *error)
{
	struct work work = {.request = request, .balance = balance};
	int code;

	*balance = (struct balance){0};
	if (allocate(&work)) {
		begin_counts(&work);
		random_seed(&work.random, request->seed);
		code = iterate(&work, error);
	} else {
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory to balance %zu tokens", request->token_count);
	}
	free(work.pools.starts);
	free(work.pools.groups);
	free(work.most);
	free(work.available);
	free(work.members);
	free(work.tree);
	free(work.choice);
	if (code < 0)
		balance_free(balance);
	return code;
}
