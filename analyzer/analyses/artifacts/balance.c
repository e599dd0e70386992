/*
 * balance.c: for `portolan upsample`: draws records again until every token stands with each label as often as it
 * should. balance.h has the rule, and D(s,l): the records that token s still lacks with label l. Balancing also ends
 * when nothing can be drawn any more, or, with `patience`, when ΣD, the sum of all D, falls no more.
 *
 * The records of a group have the same tokens and label, so they have the same conflicts, and conflicts are counted
 * once for each group. The pool of s and l is all groups that hold token s with label l. The choice is the groups of
 * the pool with the fewest conflicts. A draw takes a group of the choice with a probability in proportion to its
 * records (a tree of sums, Fenwick 1994), and then a record of the group.
 *
 * The choice is made again only when a draw has brought a new conflict. Drawing records of label l never removes one,
 * and each token can bring one at most. A record that has reached max_multiplicity is swapped behind the other records
 * of its group, and the group is then one record shorter.
 *
 * At each new lowest ΣD, counts and repeats are copied: a few bytes a record, which costs less than undoing draws.
 */
#include "balance.h"

#include "die/die.h"
#include "statistics/random.h"

#include <progress.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ADDED_MOST (UINT32_MAX / 2)
#define HOPELESS 10 /* with patience, balancing gives up when ΣD exceeds this many times its first value */

struct balance_pools {
	size_t *starts;   /* tokens × labels, and the end: where the groups of a token and label begin in `groups` */
	uint32_t *groups; /* the groups that hold a token with a label */
};

/* The counts and repeats at the moment when ΣD was lowest. */
struct balance_lowest {
	unsigned iterations;
	uint64_t imbalance, added;
	uint64_t *counts;
	uint32_t *repeats;
};

struct balance_work {
	const struct balance_request *request;
	struct balance *balance;
	struct balance_pools pools;
	size_t *leaders;     /* by token: the leading label */
	uint32_t *available; /* by group: how many of its records may still be drawn */
	uint32_t *members;   /* by group: its records, those that may still be drawn first */
	uint64_t *tree;      /* Fenwick's sums of the records in `choice`; begins at index 1 */
	uint32_t *choice;    /* the groups from which a draw has the fewest conflicts */
	size_t chosen;       /* the number of groups in `choice` */
	uint64_t total;      /* how many records of these groups may still be drawn */
	struct balance_lowest lowest;
	struct random_state random;
};

static uint64_t *
balance_count(const struct balance_work *work, size_t token, size_t label)
{
	return &work->balance->after[token * work->request->label_count + label];
}

/* D(s,l) of the current counts. */
static uint64_t
balance_lack_now(const struct balance_work *work, size_t token, size_t label)
{
	return balance_lack(balance_count(work, token, 0), work->request->shares, work->leaders[token], label);
}

void
balance_free(struct balance *balance)
{
	free(balance->before);
	free(balance->after);
	free(balance->repeats);
	free(balance->imbalance);
	free(balance->reasons);
}

size_t
balance_leader(const uint64_t *counts, const uint64_t *shares, size_t label_count)
{
	size_t leader = 0;

	for (size_t l = 1; l < label_count; l++)
		if (counts[l] * shares[leader] > counts[leader] * shares[l])
			leader = l;
	return leader;
}

/* Finds the groups that hold each token with each label. */
static void
balance_make_pools(struct balance_work *work)
{
	const struct holders *holders = work->request->holders;
	size_t cells = work->request->token_count * work->request->label_count, labels = work->request->label_count;
	size_t *starts = memory_new(cells + 2, sizeof(*starts)), sum = 0;

	work->pools.starts = starts;
	for (size_t g = 0; g < holders->group_count; g++)
		for (size_t t = 0; t < holders->groups[g].token_count; t++)
			starts[holders->groups[g].tokens[t] * labels + holders->groups[g].label + 2]++;
	for (size_t c = 0; c < cells + 2; c++)
		starts[c] = sum += starts[c];
	work->pools.groups = memory_new(sum, sizeof(uint32_t));
	for (uint32_t g = 0; g < holders->group_count; g++)
		for (size_t t = 0; t < holders->groups[g].token_count; t++)
			work->pools.groups[starts[holders->groups[g].tokens[t] * labels + holders->groups[g].label +
			                          1]++] = g;
}

static uint32_t
balance_count_conflicts(const struct balance_work *work, const struct holder_group *group, size_t token)
{
	uint32_t conflicts = 0;

	if (work->request->pick == BALANCE_UNIFORM)
		return 0;
	for (size_t t = 0; t < group->token_count; t++)
		conflicts += group->tokens[t] != token && balance_lack_now(work, group->tokens[t], group->label) == 0;
	return conflicts;
}

static void
choice_make_tree(struct balance_work *work)
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

/* Chooses the groups of the pool with the fewest conflicts, among those that have a record left. False: none has. */
static bool
choice_make(struct balance_work *work, size_t token, size_t label)
{
	size_t cell = token * work->request->label_count + label;
	uint32_t fewest = UINT32_MAX;

	work->chosen = 0;
	for (size_t i = work->pools.starts[cell]; i < work->pools.starts[cell + 1]; i++) {
		uint32_t group = work->pools.groups[i], conflicts;

		if (work->available[group] == 0)
			continue;
		conflicts = balance_count_conflicts(work, &work->request->holders->groups[group], token);
		if (conflicts < fewest) {
			fewest = conflicts;
			work->chosen = 0;
		}
		if (conflicts == fewest)
			work->choice[work->chosen++] = group;
	}
	choice_make_tree(work);
	return work->chosen > 0;
}

/* Finds record number *at of the choice: returns the place of its group in the choice; *at becomes its number in the
 * group. */
static size_t
choice_find(const struct balance_work *work, uint64_t *at)
{
	size_t place = 0, step = 1;

	while (2 * step <= work->chosen)
		step *= 2;
	for (; step > 0; step /= 2)
		if (place + step <= work->chosen && work->tree[place + step] <= *at)
			*at -= work->tree[place += step];
	return place;
}

/* Takes record `at` of the group at this place of the choice out of what may be drawn: it moves behind the records that
 * still may be. */
static void
choice_use_up(struct balance_work *work, size_t place, uint64_t at)
{
	uint32_t group = work->choice[place], last = --work->available[group];
	uint32_t *members = work->members + work->request->holders->groups[group].first, member = members[at];

	members[at] = members[last];
	members[last] = member;
	work->total--;
	for (size_t i = place + 1; i <= work->chosen; i += i & -i)
		work->tree[i]--;
}

/* Counts one more record of this group. True: it has brought a conflict. */
static bool
balance_count_draw(struct balance_work *work, const struct holder_group *group)
{
	const uint64_t *shares = work->request->shares;
	bool came = false;

	for (size_t t = 0; t < group->token_count; t++) {
		size_t token = group->tokens[t], leader = work->leaders[token];
		uint64_t *count = balance_count(work, token, group->label);

		came = came || balance_lack_now(work, token, group->label) == 1;
		++*count;
		if (*count * shares[leader] > *balance_count(work, token, leader) * shares[group->label])
			work->leaders[token] = group->label;
	}
	return came;
}

/* Draws one record from the choice. True: the choice must be made again. */
static bool
balance_draw_record(struct balance_work *work)
{
	const struct balance_request *request = work->request;
	uint64_t at = random_below(&work->random, work->total);
	size_t place = choice_find(work, &at);
	const struct holder_group *group = &request->holders->groups[work->choice[place]];
	uint32_t member = work->members[group->first + at];

	work->balance->added++;
	if (++work->balance->repeats[member] + 1 == request->max_multiplicity)
		choice_use_up(work, place, at);
	return (balance_count_draw(work, group) && request->pick == BALANCE_CONFLICT_FREE) || work->total == 0;
}

/* ⌈step · lacking⌉. Rounding may lift the product just above a whole number; without the factor that would be one draw
 * too many. */
static uint64_t
balance_draws(double step, uint64_t lacking)
{
	return (uint64_t)ceil(step * (double)lacking * (1 - 1e-12));
}

/* Draws the records of one iteration for this token and label. False: there would be more than 2^31 repeats. */
static bool
balance_visit(struct balance_work *work, size_t token, size_t label)
{
	uint64_t draws = balance_draws(work->request->step, balance_lack_now(work, token, label));
	bool ready = false;

	for (; draws > 0; draws--) {
		if (!ready && !choice_make(work, token, label))
			return true;
		ready = !balance_draw_record(work);
		if (work->balance->added > ADDED_MOST)
			return false;
	}
	return true;
}

static uint64_t
balance_sum_of_lacks(const struct balance_work *work)
{
	uint64_t sum = 0;

	for (size_t s = 0; s < work->request->token_count; s++)
		for (size_t l = 0; l < work->request->label_count; l++)
			sum += balance_lack_now(work, s, l);
	return sum;
}

static enum balance_reason
balance_reason_of(const struct balance_work *work, size_t token, size_t label)
{
	size_t cell = token * work->request->label_count + label;
	size_t from = work->pools.starts[cell], to = work->pools.starts[cell + 1];

	if (balance_lack_now(work, token, label) == 0)
		return BALANCE_DONE;
	if (from == to)
		return BALANCE_NO_RECORD;
	for (size_t i = from; i < to; i++)
		if (work->available[work->pools.groups[i]] > 0)
			return BALANCE_OUT_OF_ROUNDS;
	return BALANCE_CAPPED;
}

static size_t
balance_cells(const struct balance_work *work)
{
	return work->request->token_count * work->request->label_count;
}

static void
balance_find_leaders(struct balance_work *work)
{
	for (size_t s = 0; s < work->request->token_count; s++)
		work->leaders[s] =
		        balance_leader(balance_count(work, s, 0), work->request->shares, work->request->label_count);
}

static void
balance_keep_lowest(struct balance_work *work)
{
	const struct balance *balance = work->balance;
	struct balance_lowest *lowest = &work->lowest;

	lowest->iterations = balance->iterations;
	lowest->imbalance = balance->imbalance[balance->iterations];
	lowest->added = balance->added;
	memcpy(lowest->counts, balance->after, balance_cells(work) * sizeof(uint64_t));
	memcpy(lowest->repeats, balance->repeats, work->request->holders->count * sizeof(uint32_t));
}

/* Makes the counts and repeats that were copied at the lowest ΣD the result. */
static void
balance_return_to_lowest(struct balance_work *work)
{
	const struct holders *holders = work->request->holders;
	const struct balance_lowest *lowest = &work->lowest;
	struct balance *balance = work->balance;

	balance->iterations = lowest->iterations;
	balance->added = lowest->added;
	memcpy(balance->after, lowest->counts, balance_cells(work) * sizeof(uint64_t));
	memcpy(balance->repeats, lowest->repeats, holders->count * sizeof(uint32_t));
	balance_find_leaders(work);
	memset(work->available, 0, holders->group_count * sizeof(*work->available));
	for (size_t i = 0; i < holders->count; i++)
		work->available[holders->list[i].group] += work->request->max_multiplicity == 0 ||
		                                           balance->repeats[i] + 1 < work->request->max_multiplicity;
}

/* Notes the imbalance ΣD after an iteration. True: another iteration may lower it. */
static bool
balance_note_imbalance(struct balance_work *work, uint64_t imbalance)
{
	if (work->request->patience == 0)
		return true;
	if (imbalance < work->lowest.imbalance) {
		balance_keep_lowest(work);
		return true;
	}
	return work->balance->iterations - work->lowest.iterations < work->request->patience &&
	       imbalance / HOPELESS <= work->balance->imbalance[0];
}

/* Makes one iteration: visits every token and label once. False: there would be more than 2^31 repeats. */
static bool
balance_visit_all(struct balance_work *work)
{
	const struct balance_request *request = work->request;

	for (size_t s = 0; s < request->token_count; s++)
		for (size_t l = 0; l < request->label_count; l++)
			if (!balance_visit(work, s, l))
				return false;
	return true;
}

static void
balance_find_reasons(struct balance_work *work)
{
	const struct balance_request *request = work->request;
	struct balance *balance = work->balance;
	bool worse = balance->tried > balance->iterations;

	for (size_t s = 0; s < request->token_count; s++)
		for (size_t l = 0; l < request->label_count; l++) {
			enum balance_reason reason = balance_reason_of(work, s, l);

			balance->reasons[s * request->label_count + l] =
			        reason == BALANCE_OUT_OF_ROUNDS && worse ? BALANCE_WORSE : reason;
		}
}

/* Iterates until no token lacks a record, nothing can be drawn any more, the iterations are used up, or ΣD falls no
 * more. */
static void
balance_iterate(struct balance_work *work)
{
	const struct balance_request *request = work->request;
	struct balance *balance = work->balance;
	struct progress progress;
	bool fits = true, goes_on = true;

	balance->imbalance[0] = balance_sum_of_lacks(work);
	if (request->patience)
		balance_keep_lowest(work);
	progress_begin(&progress, "balancing", request->iterations);
	while (goes_on && balance->imbalance[balance->iterations] > 0 && balance->iterations < request->iterations) {
		uint64_t before = balance->added;

		fits = balance_visit_all(work);
		if (fits && balance->added == before)
			break;
		balance->imbalance[++balance->iterations] = balance_sum_of_lacks(work);
		goes_on = fits && balance_note_imbalance(work, balance->imbalance[balance->iterations]);
		progress_show(&progress, balance->iterations);
	}
	progress_clear(&progress);
	balance->tried = balance->iterations;
	if (request->patience)
		balance_return_to_lowest(work);
	else if (!fits)
		die("it would take more than 2,147,483,647 repeats: take fewer tokens (--count), or "
		    "--max-multiplicity, or some --patience");
	balance_find_reasons(work);
}

/* Sets the counts to those of the data as they are, group by group. */
static void
balance_begin_counts(struct balance_work *work)
{
	const struct holders *holders = work->request->holders;

	for (size_t g = 0; g < holders->group_count; g++) {
		const struct holder_group *group = &holders->groups[g];

		work->available[g] = work->request->max_multiplicity == 1 ? 0 : group->count;
		for (size_t t = 0; t < group->token_count; t++)
			*balance_count(work, group->tokens[t], group->label) += group->count;
	}
	memcpy(work->balance->before, work->balance->after, balance_cells(work) * sizeof(uint64_t));
	balance_find_leaders(work);
}

static void
balance_make_room(struct balance_work *work)
{
	const struct holders *holders = work->request->holders;
	size_t cells = balance_cells(work), groups = holders->group_count + 1;
	struct balance *balance = work->balance;

	balance->before = memory_new(cells, sizeof(*balance->before));
	balance->after = memory_new(cells, sizeof(*balance->after));
	balance->repeats = memory_new(holders->count, sizeof(*balance->repeats));
	balance->imbalance = memory_new((size_t)work->request->iterations + 1, sizeof(*balance->imbalance));
	balance->reasons = memory_new(cells, sizeof(*balance->reasons));
	work->leaders = memory_new(work->request->token_count, sizeof(*work->leaders));
	work->available = memory_new(groups, sizeof(*work->available));
	work->members = memory_new(holders->count, sizeof(*work->members));
	work->tree = memory_new(groups + 1, sizeof(*work->tree));
	work->choice = memory_new(groups, sizeof(*work->choice));
	work->lowest.counts = memory_new(cells, sizeof(*work->lowest.counts));
	work->lowest.repeats = memory_new(holders->count, sizeof(*work->lowest.repeats));
	memcpy(work->members, holders->members, holders->count * sizeof(*work->members));
	balance_make_pools(work);
}

void
balance_make(const struct balance_request *request, struct balance *balance)
{
	struct balance_work work = {.request = request, .balance = balance};

	*balance = (struct balance){0};
	balance_make_room(&work);
	balance_begin_counts(&work);
	random_seed(&work.random, request->seed);
	balance_iterate(&work);
	free(work.pools.starts);
	free(work.pools.groups);
	free(work.leaders);
	free(work.available);
	free(work.members);
	free(work.tree);
	free(work.choice);
	free(work.lowest.counts);
	free(work.lowest.repeats);
}
