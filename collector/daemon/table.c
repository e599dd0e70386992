/*
 * table.c: chains in a fixed number of buckets. The collector bounds what it holds (65,536 sessions at most), so chains
 * stay short, and a table that grows would only make some message wait.
 */
#include "table.h"

#include <portolan/portolan.h>

#include <stdlib.h>
#include <sys/random.h>
#include <xxhash.h>

#define BUCKETS 8192 /* a power of two */

int
table_init(struct table *table)
{
	*table = (struct table){.buckets = calloc(BUCKETS, sizeof(*table->buckets))};
	/* Without randomness the table still works; it is only easier to slow down. */
	if (getrandom(&table->seed, sizeof(table->seed), GRND_NONBLOCK) < 0)
		table->seed = (uintptr_t)table->buckets;
	return table->buckets ? 0 : PORTOLAN_E_MEMORY;
}

void
table_deinit(struct table *table)
{
	free(table->buckets);
	*table = (struct table){0};
}

static uint64_t
hash_of(const struct table *table, const void *key, size_t size)
{
	return XXH3_64bits_withSeed(key, size, table->seed);
}

void
table_add(struct table *table, struct table_node *node, const void *key, size_t size)
{
	struct table_node **bucket;

	node->hash = hash_of(table, key, size);
	bucket = &table->buckets[node->hash % BUCKETS];
	node->next = *bucket;
	*bucket = node;
}

void
table_remove(struct table *table, struct table_node *node)
{
	struct table_node **link = &table->buckets[node->hash % BUCKETS];

	while (*link != node)
		link = &(*link)->next;
	*link = node->next;
}

struct table_node *
table_find(const struct table *table, const void *key, size_t size, const struct table_node *after)
{
	const uint64_t hash = hash_of(table, key, size);
	struct table_node *node = after ? after->next : table->buckets[hash % BUCKETS];

	while (node && node->hash != hash)
		node = node->next;
	return node;
}

struct table_node *
table_each(const struct table *table, const struct table_node *after)
{
	size_t bucket = after ? after->hash % BUCKETS + 1 : 0;

	if (after && after->next)
		return after->next;
	while (bucket < BUCKETS && !table->buckets[bucket])
		bucket++;
	return bucket < BUCKETS ? table->buckets[bucket] : NULL;
}
