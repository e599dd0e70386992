/*
 * pages_parts.h: the pages, trees and leaves of a damaged data.mdb, for the four files that look for its records:
 * page.c reads one page, pages_tree.c goes through a tree, pages_lost.c finds what no tree leads to any more, and
 * pages.c puts this together.
 */
#ifndef STORE_PAGES_PARTS_H
#define STORE_PAGES_PARTS_H

#include "record.h"

enum { PAGE_BRANCH = 1, PAGE_LEAF = 2, PAGE_OVERFLOW = 4, PAGE_META = 8 };
enum { NODE_OVERFLOW = 1, NODE_DATABASE = 2 };
enum { ROLE_REACHED = 1, ROLE_FREE = 2 };

#define PAGE_HEADER 16
#define NO_ROOT UINT64_MAX /* the root of an empty tree */

struct tree {               /* as LMDB stores it */
	uint32_t page_size; /* of the list of free pages only */
	uint16_t flags, depth;
	uint64_t branches, leaves, overflows, entries, root;
};
_Static_assert(sizeof(struct tree) == 48, "the layout of LMDB's databases");

/* A leaf that was found. In `leaves`, `first` to `last` are the runs of which it has records; in `lost`, the runs that may
 * lack some. Where keys do not begin with a run, both are 0, or every run is meant. */
struct leaf {
	uint64_t page;
	uint32_t first, last;
	bool orphan; /* no branch leads to it any more */
};

struct leaves {
	struct leaf *list;
	size_t count;
};

struct pages {
	int file;
	size_t size;          /* of a page */
	uint64_t count, last; /* pages in the file; the last that is in use */
	uint8_t *roles;       /* by page, ROLE_… */
	struct tree trees[DB_COUNT];
	struct leaves leaves[DB_COUNT], lost[DB_COUNT];
	uint64_t found[DB_COUNT]; /* entries in the leaves found */
	uint8_t *page, *value;    /* memory for the page and the value read last */
	size_t value_room;
	bool no_memory, older;
};

struct node {
	const uint8_t *key, *data;
	size_t key_size, size;
	unsigned flags;
	uint64_t child; /* in a branch: the page that the node leads to */
};

static inline uint16_t
load_u16(const uint8_t *data)
{
	uint16_t value;

	memcpy(&value, data, sizeof(value));
	return value;
}

/* page.c: each checks what it reads; false, 0 or NULL: it is damaged. */

bool pages_read_bytes(const struct pages *pages, uint64_t at, void *bytes, size_t size);
bool pages_read_page(const struct pages *pages, uint64_t number, unsigned flags, uint8_t *page);
unsigned pages_count_nodes(const struct pages *pages, const uint8_t *page);
bool pages_read_node(const struct pages *pages, const uint8_t *page, unsigned index, bool branch, struct node *node);
/* The next sound node of the leaf in pages->page, from *index on. */
bool pages_next_node(const struct pages *pages, unsigned *index, struct node *node);
/* A value: in its node, or in pages of its own. Valid until the next one is read. */
const uint8_t *pages_read_value(struct pages *pages, const struct node *node);

/* pages_tree.c */

/* The run that a key begins with; 0: keys of this database do not begin with one. */
uint32_t pages_run_of(enum store_db db, const struct node *node);
/* Adds a leaf of a tree. Its keys belong to runs `from` to `to`; if a node in it is damaged, any of these may lack a
 * key. */
void pages_add_leaf(struct pages *pages, enum store_db db, uint64_t number, const uint8_t *page, uint32_t from,
                    uint32_t to, bool orphan);
/* Notes that keys of runs `from` to `to` may be missing. */
void pages_add_lost(struct pages *pages, enum store_db db, uint32_t from, uint32_t to);
/* Goes through a tree below a page that has the keys of runs `from` to `to`. */
void pages_walk_tree(struct pages *pages, enum store_db db, uint64_t number, unsigned depth, uint32_t from,
                     uint32_t to);
/* Empties the database's list of leaves, in which those of another tree stood for a while. */
void pages_forget_leaves(struct pages *pages, enum store_db db);

/* pages_lost.c */

/* Marks the free pages. False: their list is not whole. The trees' pages are marked before, and must not be in it. */
bool pages_mark_free(struct pages *pages, const struct tree *tree);
/* Finds the leaves below lost branches: leaves that no tree reaches, and that are not free. */
void pages_find_orphans(struct pages *pages);

#endif
