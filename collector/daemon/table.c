/*
 * table.c: finds the collector's sessions, runs and connections by their keys: a hash table of chains in a fixed number
 * of buckets. The collector bounds the number of nodes (65,536 sessions at most), so chains stay short; and a table
 * that grows would make some message wait.
 */
#include "table.h"

#include <portolan/portolan.h>

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#define BUCKETS 8192 /* a power of two */

int
table_init(struct table *table)
{
	*table = (struct table){.buckets = calloc(BUCKETS, sizeof(*table->buckets))};
	/* Without random numbers the table still works, but peers can slow it down more easily. */
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

void
table_add(struct table *table, struct table_node *node, const void *key, size_t size)
{
	struct table_node **bucket;

	*node = (struct table_node){.key = key, .size = size, .hash = XXH3_64bits_withSeed(key, size, table->seed)};
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

/* `node`, or the first after it that has this key. */
static struct table_node *
table_next_with(struct table_node *node, uint64_t hash, const void *key, size_t size)
{
	while (node && (node->hash != hash || node->size != size || memcmp(node->key, key, size) != 0))
		node = node->next;
	return node;
}

struct table_node *
table_find(const struct table *table, const void *key, size_t size)
{
	const uint64_t hash = XXH3_64bits_withSeed(key, size, table->seed);

	return table_next_with(table->buckets[hash % BUCKETS], hash, key, size);
}

struct table_node *
table_find_next(const struct table_node *node)
{
	return table_next_with(node->next, node->hash, node->key, node->size);
}
