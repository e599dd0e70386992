/*
 * pages_lost.c: finds, for a salvage, records of a damaged data.mdb to which the tree no longer leads: the leaves below
 * lost branches.
 *
 * Such leaves are still in the file: they are the pages that no tree reaches and that the list of free pages does not
 * name. If that list is damaged, no leaf is looked for, since a free page may hold a record of an earlier time.
 */
#include "pages_parts.h"

/* Marks the pages that one entry of the list of free pages names. The entry says how many they are, then which. */
static bool
pages_mark_free_list(struct pages *pages, const uint8_t *value, size_t size)
{
	const uint64_t count = size >= 8 ? load_u64(value) : UINT64_MAX;

	if (count >= size / 8)
		return false;
	for (uint64_t i = 1; i <= count; i++) {
		const uint64_t number = load_u64(value + 8 * i);

		if (number > pages->last)
			return false;
		pages->roles[number] |= ROLE_FREE;
	}
	return true;
}

/* Marks the pages that the list of free pages names. The list is itself a tree. While this function reads it, DB_META's
 * list of leaves holds the leaves of that tree; DB_META's own leaves are listed later. */
bool
pages_mark_free(struct pages *pages, const struct tree *tree)
{
	const struct leaves *leaves = &pages->leaves[DB_META];
	bool whole = true;

	if (tree->root != NO_ROOT)
		pages_walk_tree(pages, DB_META, tree->root, 0, 0, UINT32_MAX);
	whole = pages->lost[DB_META].count == 0 && pages->found[DB_META] == tree->entries;
	for (size_t i = 0; i < leaves->count && whole; i++) {
		struct node node;

		whole = pages_read_page(pages, leaves->list[i].page, PAGE_LEAF, pages->page);
		for (unsigned n = 0; whole && pages_next_node(pages, &n, &node);) {
			const uint8_t *value = pages_read_value(pages, &node);

			whole = value && pages_mark_free_list(pages, value, node.size);
		}
	}
	pages_forget_leaves(pages, DB_META);
	return whole;
}

/* The database to which a node belongs, by its key and the kind of its record. DB_META: it is none of those whose lost
 * leaves are looked for. */
static enum store_db
pages_database_of(const struct node *node, const uint8_t *record)
{
	for (int db = DB_META + 1; db < DB_COUNT && record[0]; db++)
		if (store_record_kind((enum store_db)db, node->key, node->key_size) == record[0])
			return (enum store_db)db;
	return DB_META;
}

void
pages_find_orphans(struct pages *pages)
{
	for (uint64_t number = 2; number <= pages->last && number < pages->count; number++) {
		enum store_db db = DB_META;
		const uint8_t *value;
		struct node node;

		if (pages->roles[number] || !pages_read_page(pages, number, PAGE_LEAF, pages->page))
			continue;
		for (unsigned i = 0; db == DB_META && pages_next_node(pages, &i, &node);)
			if (node.size && (value = pages_read_value(pages, &node)))
				db = pages_database_of(&node, value);
		if (db != DB_META && pages->lost[db].count)
			pages_add_leaf(pages, db, number, pages->page, 0, UINT32_MAX, true);
	}
}
