/*
 * pages_tree.c: goes through one tree of a damaged data.mdb for a salvage. It lists the leaves that can be read, and
 * the runs of which records may be lost.
 *
 * Each database is a tree, and each of its pages has a number. With a damaged page the keys between those of its
 * neighbours are lost.
 */
#include "pages_parts.h"

#include "list.h"

#define DEEPEST 32 /* levels of a tree; LMDB's own limit */

uint32_t
pages_run_of(enum store_db db, const struct node *node)
{
	return database_has_runs(db) && node->key_size >= 4 ? store_key_read_u32(node->key) : 0;
}

static void
pages_append_leaf(struct pages *pages, struct leaves *leaves, struct leaf leaf)
{
	if (list_grow(&leaves->list, leaves->count, sizeof(leaf)))
		leaves->list[leaves->count++] = leaf;
	else
		pages->no_memory = true;
}

void
pages_add_lost(struct pages *pages, enum store_db db, uint32_t from, uint32_t to)
{
	pages_append_leaf(pages, &pages->lost[db], (struct leaf){.first = from, .last = to});
}

void
pages_forget_leaves(struct pages *pages, enum store_db db)
{
	pages->leaves[db].count = pages->lost[db].count = 0;
	pages->found[db] = 0;
}

void
pages_add_leaf(struct pages *pages, enum store_db db, uint64_t number, const uint8_t *page, uint32_t from, uint32_t to,
               bool orphan)
{
	struct leaf leaf = {.page = number, .first = UINT32_MAX, .orphan = orphan};
	const unsigned count = pages_count_nodes(pages, page);
	unsigned sound = 0;
	struct node node;

	for (unsigned i = 0; i < count; i++) {
		if (!pages_read_node(pages, page, i, false, &node))
			continue;
		sound++;
		leaf.first = pages_run_of(db, &node) < leaf.first ? pages_run_of(db, &node) : leaf.first;
		leaf.last = pages_run_of(db, &node) > leaf.last ? pages_run_of(db, &node) : leaf.last;
	}
	pages->found[db] += sound;
	if (sound)
		pages_append_leaf(pages, &pages->leaves[db], leaf);
	if (sound < count || !count)
		pages_add_lost(pages, db, from, to);
}

void
pages_walk_tree(struct pages *pages, enum store_db db, uint64_t number, unsigned depth, uint32_t from, uint32_t to)
{
	uint8_t *page = malloc(pages->size);
	bool leaf = page && pages_read_page(pages, number, PAGE_LEAF, page);
	unsigned count = 0;

	pages->no_memory |= !page;
	if ((leaf || (page && pages_read_page(pages, number, PAGE_BRANCH, page))) && depth < DEEPEST &&
	    !(pages->roles[number] & ROLE_REACHED))
		count = pages_count_nodes(pages, page);
	if (!count) {
		pages_add_lost(pages, db, from, to);
		free(page);
		return;
	}
	pages->roles[number] |= ROLE_REACHED;
	if (leaf)
		pages_add_leaf(pages, db, number, page, from, to, false);
	for (unsigned i = 0; i < count && !leaf; i++) {
		struct node node, next;
		uint32_t first = from, last = to;

		if (!pages_read_node(pages, page, i, true, &node)) {
			pages_add_lost(pages, db, from, to);
			continue;
		}
		if (i > 0 && database_has_runs(db))
			first = pages_run_of(db, &node);
		if (i + 1 < count && database_has_runs(db) && pages_read_node(pages, page, i + 1, true, &next))
			last = pages_run_of(db, &next);
		if (first > last) { /* a key is damaged: it says nothing */
			first = from;
			last = to;
		}
		pages_walk_tree(pages, db, node.child, depth + 1, first, last);
	}
	free(page);
}
