/*
 * balanced.c: for the CCS and S2L rules of `portolan select`: orders examples such that each beginning of the order
 * takes evenly from all groups (balanced.h). The groups are laid out one after the other, each shuffled; rounds then
 * take one from each.
 */
#include "balanced.h"

#include "die/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct group {
	size_t from, size, filled;
	size_t number;
	bool is_small; /* its members are in the last group, and its size is 0 */
};

static int
balanced_compare_sizes(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? 1 : -1;
	return x->number < y->number ? 1 : -1;
}

/* Lays out the members of each group, one group after the other. The small groups together become all[count], the last
 * one. */
static void
balanced_lay_out(const uint32_t *list, const uint32_t *groups, size_t n, size_t least, struct group *all, size_t count,
                 uint32_t *members)
{
	struct group *rest = &all[count];

	for (size_t i = 0; i < n; i++)
		all[groups[i]].size++;
	for (size_t g = 0; g < count; g++) {
		all[g].number = g;
		all[g].from = rest->from;
		all[g].is_small = all[g].size < least;
		if (all[g].is_small) {
			rest->size += all[g].size;
			all[g].size = 0;
		}
		rest->from += all[g].size;
	}
	for (size_t i = 0; i < n; i++) {
		struct group *to = all[groups[i]].is_small ? rest : &all[groups[i]];

		members[to->from + to->filled++] = list[i];
	}
}

/* Takes one example from each group that has one left, the largest group first, round by round, up to `limit`. Returns
 * how many. */
static size_t
balanced_take_rounds(const struct group *groups, size_t count, const uint32_t *members, size_t limit, uint32_t *ranked)
{
	size_t used = 0;

	for (size_t round = 0; used < limit; round++) {
		while (count > 0 && groups[count - 1].size <= round)
			count--;
		if (count == 0)
			break;
		for (size_t g = 0; g < count && used < limit; g++)
			ranked[used++] = members[groups[g].from + round];
	}
	return used;
}

void
balanced_order(const uint32_t *list, const uint32_t *groups, size_t n, size_t group_count, size_t least,
               struct random_state *random, size_t limit, uint32_t *ranked)
{
	CLEANUP_ARRAY uint32_t *members = memory_array(n, sizeof(*members), "examples in groups");
	CLEANUP_ARRAY struct group *all = memory_array(group_count + 1, sizeof(*all), "groups");
	const struct group *rest = &all[group_count];
	size_t used;

	balanced_lay_out(list, groups, n, least, all, group_count, members);
	for (size_t g = 0; random && g <= group_count; g++)
		random_sample(random, members + all[g].from, all[g].size, all[g].size);
	qsort(all, group_count, sizeof(*all), balanced_compare_sizes);
	used = balanced_take_rounds(all, group_count, members, limit, ranked);
	memcpy(ranked + used, members + rest->from, (limit - used) * sizeof(*ranked));
}
