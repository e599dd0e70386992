/*
 * balance_draw.c: draws the records that one token lacks of one label, for balance.c.
 *
 * The records of a group have the same tokens and label, so they have the same conflicts, and conflicts are counted once
 * for each group. The pool of s and l is all groups that hold token s with label l. The choice is the groups of the pool
 * with the fewest conflicts. A draw takes a group of the choice with a probability in proportion to its records (a tree
 * of sums, Fenwick 1994), and then a record of the group.
 *
 * The choice is made again only when a draw has brought a new conflict. Drawing records of label l never removes one,
 * and each token can bring one at most. A record that has reached max_multiplicity is swapped behind the other records
 * of its group, which is then one shorter.
 */
#include "balance_draw.h"

#include <math.h>
#include <stdlib.h>

#define ADDED_MOST (UINT32_MAX / 2)

void
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

/* The groups of the pool with the fewest conflicts, of those that have a record left; false: none has. */
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

/* Finds the group, by its place in the choice, that has record *at of the choice. *at becomes the record's number in the
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

/* One less in the group at this place of the choice; its member `at` goes behind those that are left. */
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

/* Counts the record; whether a conflict has come of it. */
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

/* Draws one record for token and label; whether the choice is to be made again. */
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

/* ⌈step · lacking⌉. Rounding may lift the product just above a whole number; the factor keeps that from becoming one draw
 * more. */
static uint64_t
balance_draws(double step, uint64_t lacking)
{
	return (uint64_t)ceil(step * (double)lacking * (1 - 1e-12));
}

bool
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
