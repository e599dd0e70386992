/*
 * table.h: a hash table of the collector's sessions, runs or connections; its nodes are members of the items. Keys come
 * from the network, so the hash is seeded: no peer can choose keys that share a bucket. Not thread-safe.
 */
#ifndef COLLECTOR_TABLE_H
#define COLLECTOR_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct table_node {
	struct table_node *next;
	const void *key;
	size_t size; /* of the key */
	uint64_t hash;
};

struct table {
	struct table_node **buckets;
	uint64_t seed;
};

/* The structure of `type` whose member `member` the node is; NULL for NULL. */
#define TABLE_ITEM(node, type, member) ((type *)table_item(node, offsetof(type, member)))

static inline void *
table_item(struct table_node *node, size_t offset)
{
	return node ? (char *)node - offset : NULL;
}

int table_init(struct table *table);    /* 0, or PORTOLAN_E_MEMORY */
void table_deinit(struct table *table); /* the items belong to the caller; twice does no harm */

/* The key's bytes must stay in place, unchanged, until the node is removed. */
void table_add(struct table *table, struct table_node *node, const void *key, size_t size);
void table_remove(struct table *table, struct table_node *node);
/* table_find(): the node with this key that was added last; table_find_next(): the one added before it. NULL: there is
 * none. */
struct table_node *table_find(const struct table *table, const void *key, size_t size);
struct table_node *table_find_next(const struct table_node *node);

#endif
