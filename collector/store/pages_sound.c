/*
 * pages_sound.c: says whether the pages are sound that LMDB reads and changes when it deletes records.
 *
 * When a page runs low, LMDB joins it with its neighbour, and does not look what kind of page that is: with a damaged
 * neighbour it writes beyond the page that it changes. So the pages are read here first, level by level, as the last
 * commit left them: those of the range that is to be deleted, and NEIGHBOURS on each side. What this transaction has
 * changed since are copies of pages that LMDB itself has checked.
 */
#include "environment.h"
#include "list.h"
#include "pages.h"
#include "pages_parts.h"

#include <stdlib.h>

#define NEIGHBOURS 4
#define MAIN_DB 1 /* of LMDB: the database of the databases' names */

struct child {
	uint64_t page, from; /* the first 8 bytes of its keys are this number or a larger one */
};

struct range {
	const struct pages *pages;
	uint8_t *page;
	uint64_t from, to;
	size_t most;
	struct child *list, *below; /* one level, and the level below it */
	size_t count, below_count;
};

/* The first 8 bytes of the key, with zeros behind a shorter one. */
static uint64_t
sound_number(const struct node *node)
{
	uint8_t bytes[8] = {0};

	memcpy(bytes, node->key, node->key_size < sizeof(bytes) ? node->key_size : sizeof(bytes));
	return store_key_read_u64(bytes);
}

/* Adds the children of a branch. */
static int
sound_add_children(struct range *range, const struct child *parent)
{
	const unsigned count = pages_read_page(range->pages, parent->page, PAGE_BRANCH, range->page)
	                               ? pages_count_nodes(range->pages, range->page)
	                               : 0;

	for (unsigned i = 0; i < count; i++) {
		struct child child = {.from = parent->from};
		struct node node;

		if (!pages_read_node(range->pages, range->page, i, true, &node))
			return STORE_E_CORRUPT;
		child.page = node.child;
		if (i > 0)
			child.from = sound_number(&node);
		if (range->below_count && child.from < range->below[range->below_count - 1].from)
			return STORE_E_CORRUPT;
		if (!list_grow(&range->below, range->below_count, sizeof(child)))
			return STORE_E_MEMORY;
		range->below[range->below_count++] = child;
	}
	return count < 2 ? STORE_E_CORRUPT : 0;
}

/* Goes one level down. Each page holds a record, so more than `most` pages of the range are not needed. */
static int
sound_descend(struct range *range)
{
	struct child *above = range->list;
	size_t first = 0, end;
	int rc = 0;

	range->below_count = 0;
	for (size_t i = 0; i < range->count && !rc; i++)
		rc = sound_add_children(range, &range->list[i]);
	if (rc)
		return rc;
	while (first + 1 < range->below_count && range->below[first + 1].from < range->from)
		first++;
	for (end = first; end < range->below_count && end - first < range->most && range->below[end].from <= range->to;)
		end++;
	first -= first < NEIGHBOURS ? first : NEIGHBOURS;
	end = range->below_count - end < NEIGHBOURS ? range->below_count : end + NEIGHBOURS;
	range->count = end - first;
	memmove(range->below, range->below + first, range->count * sizeof(*range->below));
	range->list = range->below;
	range->below = above;
	return 0;
}

/* Are the pages of a value that does not fit into a leaf those that its node names? LMDB believes the first of them how
 * many it is to free. */
static bool
sound_value(const struct pages *pages, const struct node *node)
{
	const uint64_t needed = (PAGE_HEADER - 1 + (uint64_t)node->size) / pages->size + 1;
	uint8_t head[PAGE_HEADER];
	uint64_t number;

	if (!(node->flags & NODE_OVERFLOW))
		return true;
	number = load_u64(node->data);
	return number > 1 && number <= pages->last &&
	       pages_read_bytes(pages, number * pages->size, head, sizeof(head)) && load_u64(head) == number &&
	       load_u16(head + 10) == PAGE_OVERFLOW && load_u32(head + 12) == needed;
}

static int
sound_leaves(struct range *range)
{
	size_t records = 0, more = NEIGHBOURS;

	for (size_t i = 0; i < range->count && more; i++) {
		const unsigned count = pages_read_page(range->pages, range->list[i].page, PAGE_LEAF, range->page)
		                               ? pages_count_nodes(range->pages, range->page)
		                               : 0;

		if (!count)
			return STORE_E_CORRUPT;
		more -= records >= range->most;
		for (unsigned j = 0; j < count; j++) {
			struct node node;
			uint64_t number;

			if (!pages_read_node(range->pages, range->page, j, false, &node))
				return STORE_E_CORRUPT;
			number = sound_number(&node);
			if (number < range->from || number > range->to || records >= range->most)
				continue;
			records++;
			if (!sound_value(range->pages, &node))
				return STORE_E_CORRUPT;
		}
	}
	return 0;
}

int
pages_check_range(const struct view *view, enum store_db db, uint64_t from, uint64_t to, size_t most,
                  struct portolan_error *error)
{
	MDB_env *env = view->environment->env;
	struct range range = {.from = from, .to = to, .most = most};
	const char *name = store_database_names[db];
	MDB_val key = {.mv_data = (void *)name, .mv_size = strlen(name)}, value;
	struct pages pages = {0};
	struct tree tree;
	MDB_envinfo info;
	MDB_stat stat;
	int rc = mdb_env_info(env, &info) ?: mdb_env_stat(env, &stat) ?: mdb_env_get_fd(env, &pages.file);

	rc = rc ?: mdb_get(view->txn, MAIN_DB, &key, &value);
	if (!rc && value.mv_size != sizeof(tree))
		rc = MDB_CORRUPTED;
	if (rc)
		return store_environment_error(view->environment, rc, "removing", error);
	memcpy(&tree, value.mv_data, sizeof(tree));
	if (tree.root == NO_ROOT)
		return 0;
	pages.size = stat.ms_psize;
	pages.last = info.me_last_pgno;
	pages.count = pages.last + 1;
	range.pages = &pages;
	range.page = malloc(pages.size);
	range.list = malloc(sizeof(*range.list));
	rc = !range.page || !range.list ? STORE_E_MEMORY : 0;
	if (!rc) {
		range.list[0] = (struct child){.page = tree.root};
		range.count = 1;
	}
	for (unsigned level = tree.depth; level > 1 && !rc; level--)
		rc = sound_descend(&range);
	rc = rc ?: sound_leaves(&range);
	free(range.page);
	free(range.list);
	free(range.below);
	return rc == STORE_E_MEMORY ? store_view_no_memory(view, error) : rc ? PAGES_UNSOUND : 0;
}
