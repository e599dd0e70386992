/*
 * pages.c: reads LMDB's file format (version 1, of LMDB 0.9), so that what a damaged page does not touch can be copied.
 *
 * The file begins with two meta pages. Each is the root of a whole store: that of the last commit, and that of the one
 * before, whose pages LMDB has not used again. The newer one whose list of databases can be read is taken.
 *
 * Each database is a tree of pages with a number of their own. A damaged page of it loses the keys between its
 * neighbours'. Where a branch is lost, the leaves below it are still in the file: they are the pages that no tree
 * reaches and that the list of free pages does not name. Without that list they are not looked for, since a free page
 * may hold a record of an earlier time.
 */
#include "pages.h"

#include "environment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE_BRANCH = 1, PAGE_LEAF = 2, PAGE_OVERFLOW = 4, PAGE_META = 8 };
enum { NODE_OVERFLOW = 1, NODE_DATABASE = 2 };
enum { ROLE_REACHED = 1, ROLE_FREE = 2 };

#define HEADER 16 /* of a page */
#define NODE_HEADER 8
#define DEEPEST 32 /* levels of a tree; LMDB's own limit */
#define NO_ROOT UINT64_MAX
#define META_MAGIC 0xBEEFC0DEu

struct tree {               /* as stored */
	uint32_t page_size; /* of the list of free pages only */
	uint16_t flags, depth;
	uint64_t branches, leaves, overflows, entries, root;
};
_Static_assert(sizeof(struct tree) == 48, "the layout of LMDB's databases");

struct meta {
	uint64_t last, transaction;
	struct tree free, main;
};

/* Runs first … last may have records there; where keys do not begin with a run, all. */
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
	uint8_t *roles;
	struct tree trees[DB_COUNT];
	struct leaves leaves[DB_COUNT], lost[DB_COUNT];
	uint64_t found[DB_COUNT]; /* entries */
	uint8_t *page, *value;    /* where records are read to */
	size_t value_room;
	bool no_memory, older;
};

struct node {
	const uint8_t *key, *data;
	size_t key_size, size;
	unsigned flags;
	uint64_t child; /* of a branch */
};

static uint16_t
load_u16(const uint8_t *data)
{
	uint16_t value;

	memcpy(&value, data, sizeof(value));
	return value;
}

static bool
has_runs(enum store_db db)
{
	return db == DB_RUN || db == DB_SESSIONS || db == DB_IDS || db == DB_LOG || db == DB_EPOCHS || db == DB_COLUMNS;
}

static uint32_t
run_of(enum store_db db, const struct node *node)
{
	return has_runs(db) && node->key_size >= 4 ? store_key_read_u32(node->key) : 0;
}

static bool
read_bytes(const struct pages *pages, uint64_t at, void *bytes, size_t size)
{
	for (ssize_t got; size; bytes = (uint8_t *)bytes + got, at += (uint64_t)got, size -= (size_t)got) {
		got = pread(pages->file, bytes, size, (off_t)at);
		if (got <= 0)
			return false; /* the file ends, or its disk cannot be read */
	}
	return true;
}

static bool
read_page(const struct pages *pages, uint64_t number, unsigned flags, uint8_t *page)
{
	return number > 1 && number <= pages->last && number < pages->count &&
	       read_bytes(pages, number * pages->size, page, pages->size) && load_u64(page) == number &&
	       load_u16(page + 10) == flags;
}

/* The number of nodes; 0: the page is damaged. */
static unsigned
count_nodes(const struct pages *pages, const uint8_t *page)
{
	const unsigned lower = load_u16(page + 12), upper = load_u16(page + 14);

	return lower < HEADER || lower % 2 || lower > upper || upper > pages->size ? 0 : (lower - HEADER) / 2;
}

static bool
read_node(const struct pages *pages, const uint8_t *page, unsigned index, bool branch, struct node *node)
{
	const size_t at = load_u16(page + HEADER + 2 * (size_t)index);
	const uint8_t *head = page + at;

	if (at < load_u16(page + 14) || at + NODE_HEADER > pages->size)
		return false;
	*node = (struct node){.key = head + NODE_HEADER,
	                      .key_size = load_u16(head + 6),
	                      .flags = load_u16(head + 4),
	                      .size = load_u32(head)};
	node->data = node->key + node->key_size;
	if (branch) {
		node->child = node->size | (uint64_t)node->flags << 32;
		return at + NODE_HEADER + node->key_size <= pages->size && (index == 0 || node->key_size);
	}
	return node->key_size > 0 && node->key_size < KEY_MAX &&
	       at + NODE_HEADER + node->key_size + (node->flags & NODE_OVERFLOW ? 8 : node->size) <= pages->size;
}

static void
add_leaf(struct pages *pages, struct leaves *leaves, struct leaf leaf)
{
	struct leaf *larger = leaves->count & (leaves->count - 1)
	                              ? leaves->list
	                              : realloc(leaves->list, (2 * leaves->count + 1) * sizeof(*larger));

	if (!larger) {
		pages->no_memory = true;
		return;
	}
	leaves->list = larger;
	leaves->list[leaves->count++] = leaf;
}

/* Adds a leaf of a tree, whose keys belong to runs `from` to `to`; nodes that are damaged are lost among these. */
static void
add_tree_leaf(struct pages *pages, enum store_db db, uint64_t number, const uint8_t *page, uint32_t from, uint32_t to,
              bool orphan)
{
	struct leaf leaf = {.page = number, .first = UINT32_MAX, .orphan = orphan};
	const unsigned count = count_nodes(pages, page);
	unsigned sound = 0;
	struct node node;

	for (unsigned i = 0; i < count; i++) {
		if (!read_node(pages, page, i, false, &node))
			continue;
		sound++;
		leaf.first = run_of(db, &node) < leaf.first ? run_of(db, &node) : leaf.first;
		leaf.last = run_of(db, &node) > leaf.last ? run_of(db, &node) : leaf.last;
	}
	pages->found[db] += sound;
	if (sound)
		add_leaf(pages, &pages->leaves[db], leaf);
	if (sound < count || !count)
		add_leaf(pages, &pages->lost[db], (struct leaf){.first = from, .last = to});
}

/* Goes through a tree below a page that has the keys of runs `from` to `to`. */
static void
walk_tree(struct pages *pages, enum store_db db, uint64_t number, unsigned depth, uint32_t from, uint32_t to)
{
	uint8_t *page = malloc(pages->size);
	bool leaf = page && read_page(pages, number, PAGE_LEAF, page);
	unsigned count = 0;

	pages->no_memory |= !page;
	if ((leaf || (page && read_page(pages, number, PAGE_BRANCH, page))) && depth < DEEPEST &&
	    !(pages->roles[number] & ROLE_REACHED))
		count = count_nodes(pages, page);
	if (!count) {
		add_leaf(pages, &pages->lost[db], (struct leaf){.first = from, .last = to});
		free(page);
		return;
	}
	pages->roles[number] |= ROLE_REACHED;
	if (leaf)
		add_tree_leaf(pages, db, number, page, from, to, false);
	for (unsigned i = 0; i < count && !leaf; i++) {
		struct node node, next;
		uint32_t first = from, last = to;

		if (!read_node(pages, page, i, true, &node)) {
			add_leaf(pages, &pages->lost[db], (struct leaf){.first = from, .last = to});
			continue;
		}
		if (i > 0 && has_runs(db))
			first = run_of(db, &node);
		if (i + 1 < count && has_runs(db) && read_node(pages, page, i + 1, true, &next))
			last = run_of(db, &next);
		if (first > last) { /* a key is damaged: it says nothing */
			first = from;
			last = to;
		}
		walk_tree(pages, db, node.child, depth + 1, first, last);
	}
	free(page);
}

/* A value: in its node, or in pages of its own. NULL: these are damaged. Valid until the next one is read. */
static const uint8_t *
read_value(struct pages *pages, const struct node *node)
{
	uint8_t head[HEADER], *larger;
	uint64_t number;
	const uint64_t needed = (HEADER - 1 + (uint64_t)node->size) / pages->size + 1;

	if (!(node->flags & NODE_OVERFLOW))
		return node->data;
	number = load_u64(node->data);
	if (number < 2 || number > pages->last || needed > pages->last + 1 - number ||
	    !read_bytes(pages, number * pages->size, head, sizeof(head)) || load_u64(head) != number ||
	    load_u16(head + 10) != PAGE_OVERFLOW || load_u32(head + 12) < needed)
		return NULL;
	larger = node->size <= pages->value_room ? pages->value : realloc(pages->value, node->size);
	if (!larger) {
		pages->no_memory = true;
		return NULL;
	}
	pages->value_room = larger == pages->value ? pages->value_room : node->size;
	pages->value = larger;
	return read_bytes(pages, number * pages->size + HEADER, larger, node->size) ? larger : NULL;
}

/* Marks the pages that one entry of the list of free pages names: how many, then which. */
static bool
mark_free(struct pages *pages, const uint8_t *value, size_t size)
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

/* False: the list of free pages is not whole. The trees' pages are marked before, and must not be in it. DB_META stands
 * in for the list, and is walked anew afterwards. */
static bool
read_free_pages(struct pages *pages, const struct tree *tree)
{
	const struct leaves *leaves = &pages->leaves[DB_META];
	bool whole = true;

	if (tree->root != NO_ROOT)
		walk_tree(pages, DB_META, tree->root, 0, 0, UINT32_MAX);
	whole = pages->lost[DB_META].count == 0 && pages->found[DB_META] == tree->entries;
	for (size_t i = 0; i < leaves->count && whole; i++) {
		whole = read_page(pages, leaves->list[i].page, PAGE_LEAF, pages->page);
		for (unsigned n = 0; whole && n < count_nodes(pages, pages->page); n++) {
			const uint8_t *value;
			struct node node;

			whole = read_node(pages, pages->page, n, false, &node) && (value = read_value(pages, &node)) &&
			        mark_free(pages, value, node.size);
		}
	}
	pages->leaves[DB_META].count = pages->lost[DB_META].count = 0;
	pages->found[DB_META] = 0;
	return whole;
}

/* The database that has records of this kind; DB_META: none in which leaves are looked for. */
static enum store_db
database_of(const uint8_t *record, size_t size)
{
	static const struct {
		uint8_t kind;
		enum store_db db;
	} kinds[] = {{RECORD_RUN_STATE, DB_RUN},   {RECORD_RUN_IDENTITY, DB_RUN}, {RECORD_COUNTERS, DB_RUN},
	             {RECORD_CLIENT, DB_RUN},      {RECORD_LABELS, DB_RUN},       {RECORD_USER_COLUMNS, DB_RUN},
	             {RECORD_RUN_NUMBER, DB_RUNS}, {RECORD_SESSION, DB_SESSIONS}, {RECORD_IDS, DB_IDS},
	             {RECORD_BATCH, DB_LOG},       {RECORD_EPOCH, DB_EPOCHS},     {RECORD_COLUMN, DB_COLUMNS},
	             {RECORD_PRESENCE, DB_COLUMNS}};

	for (size_t i = 0; size && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].kind == record[0])
			return kinds[i].db;
	return DB_META;
}

/* Finds the leaves below lost branches. */
static void
find_orphans(struct pages *pages)
{
	for (uint64_t number = 2; number <= pages->last && number < pages->count; number++) {
		enum store_db db = DB_META;
		const uint8_t *value;
		struct node node;

		if (pages->roles[number] || !read_page(pages, number, PAGE_LEAF, pages->page))
			continue;
		for (unsigned i = 0; i < count_nodes(pages, pages->page) && db == DB_META; i++)
			if (read_node(pages, pages->page, i, false, &node) && (value = read_value(pages, &node)))
				db = database_of(value, node.size);
		if (db != DB_META && pages->lost[db].count)
			add_tree_leaf(pages, db, number, pages->page, 0, UINT32_MAX, true);
	}
}

/* Finds the databases in the main tree; false: not all. */
static bool
find_databases(struct pages *pages, const struct tree *main)
{
	const struct leaves *leaves = &pages->leaves[DB_META];
	unsigned found = 0;

	walk_tree(pages, DB_META, main->root, 0, 0, UINT32_MAX);
	for (size_t i = 0; i < leaves->count; i++) {
		if (!read_page(pages, leaves->list[i].page, PAGE_LEAF, pages->page))
			continue;
		for (unsigned n = 0; n < count_nodes(pages, pages->page); n++) {
			struct node node;
			int db = 0;

			if (!read_node(pages, pages->page, n, false, &node) || node.flags != NODE_DATABASE ||
			    node.size != sizeof(struct tree))
				continue;
			while (db < DB_COUNT && (strlen(store_database_names[db]) != node.key_size ||
			                         memcmp(store_database_names[db], node.key, node.key_size) != 0))
				db++;
			if (db < DB_COUNT)
				memcpy(&pages->trees[db], node.data, sizeof(struct tree));
			found |= db < DB_COUNT ? 1u << db : 0;
		}
	}
	pages->leaves[DB_META].count = pages->lost[DB_META].count = 0;
	pages->found[DB_META] = 0;
	return found == (1u << DB_COUNT) - 1;
}

/* Reads the store as a commit left it. */
static bool
read_commit(struct pages *pages, const struct meta *meta)
{
	bool whole;

	free(pages->roles);
	pages->last = meta->last < pages->count ? meta->last : pages->count - 1;
	pages->roles = calloc(pages->count, 1);
	pages->no_memory |= !pages->roles;
	if (pages->no_memory || !find_databases(pages, &meta->main))
		return false;
	whole = read_free_pages(pages, &meta->free) && meta->last < pages->count;
	for (int db = 0; db < DB_COUNT; db++) {
		const struct tree *tree = &pages->trees[db];

		if (tree->root != NO_ROOT)
			walk_tree(pages, (enum store_db)db, tree->root, 0, 0, UINT32_MAX);
		else if (tree->entries)
			add_leaf(pages, &pages->lost[db], (struct leaf){.last = UINT32_MAX});
	}
	if (whole)
		find_orphans(pages);
	for (int db = 0; db < DB_COUNT; db++) {
		if (pages->found[db] == pages->trees[db].entries)
			pages->lost[db].count = 0; /* all of it was found elsewhere */
		else if (!pages->lost[db].count)
			add_leaf(pages, &pages->lost[db], (struct leaf){.last = UINT32_MAX});
	}
	return true;
}

/* Reads a meta page, of a file with pages of this size. */
static bool
read_meta(const struct pages *pages, unsigned number, size_t size, struct meta *meta)
{
	uint8_t page[152];

	if (!read_bytes(pages, number * size, page, sizeof(page)) || load_u64(page) != number ||
	    load_u16(page + 10) != PAGE_META || load_u32(page + 16) != META_MAGIC || load_u32(page + 20) != 1)
		return false;
	memcpy(&meta->free, page + 40, sizeof(meta->free));
	memcpy(&meta->main, page + 88, sizeof(meta->main));
	meta->last = load_u64(page + 136);
	meta->transaction = load_u64(page + 144);
	return meta->free.page_size == size;
}

static int
read_file(struct pages *pages, const char *directory, struct portolan_error *error)
{
	struct meta metas[2];
	size_t size = 4096;
	unsigned found = 0;
	struct stat status;

	for (size_t tried = 512; tried <= 65536 && !found; tried *= 2) {
		for (unsigned number = 0; number < 2; number++)
			found += read_meta(pages, number, tried, &metas[found]);
		size = tried;
	}
	if (found == 2 && metas[0].transaction < metas[1].transaction) {
		struct meta newer = metas[1];

		metas[1] = metas[0];
		metas[0] = newer;
	}
	if (fstat(pages->file, &status) != 0)
		return error_set(error, STORE_E_SYSTEM, "store '%s': %s", directory, strerror(errno));
	pages->size = size;
	pages->count = ((uint64_t)status.st_size + size - 1) / size;
	pages->page = malloc(size);
	pages->no_memory = !pages->page;
	for (unsigned i = 0; i < found && !pages->no_memory; i++)
		if (read_commit(pages, &metas[i]) && !pages->no_memory) {
			pages->older = found < 2 || i > 0;
			return 0;
		}
	return pages->no_memory
	               ? error_set(error, STORE_E_MEMORY, "store '%s': out of memory", directory)
	               : error_set(
	                         error, STORE_E_CORRUPT,
	                         "store '%s': nothing can be read: the pages of data.mdb that lead to its records are "
	                         "damaged; restore it from a backup",
	                         directory);
}

int
pages_open(const char *directory, struct pages **pages, struct portolan_error *error)
{
	struct pages *opened = calloc(1, sizeof(*opened));
	char path[PATH_MAX];
	int rc;

	if (!opened)
		return error_set(error, STORE_E_MEMORY, "store '%s': out of memory", directory);
	store_path(path, directory, "data.mdb");
	opened->file = open(path, O_RDONLY | O_CLOEXEC);
	if (opened->file < 0)
		rc = error_set(error, errno == ENOENT || errno == ENOTDIR ? STORE_E_NO_STORE : STORE_E_SYSTEM,
		               "no store at '%s': its data.mdb cannot be opened: %s", directory, strerror(errno));
	else
		rc = read_file(opened, directory, error);
	if (rc)
		pages_close(opened);
	else
		*pages = opened;
	return rc;
}

void
pages_close(struct pages *pages)
{
	if (!pages)
		return;
	for (int db = 0; db < DB_COUNT; db++) {
		free(pages->leaves[db].list);
		free(pages->lost[db].list);
	}
	if (pages->file >= 0)
		close(pages->file);
	free(pages->roles);
	free(pages->page);
	free(pages->value);
	free(pages);
}

bool
pages_are_older(const struct pages *pages)
{
	return pages->older;
}

static int
take_leaf(struct pages *pages, enum store_db db, uint32_t run, pages_take *take, void *context,
          struct portolan_error *error)
{
	const unsigned count = count_nodes(pages, pages->page);
	int rc = 0;

	for (unsigned i = 0; i < count && !rc; i++) {
		struct node node;

		if (!read_node(pages, pages->page, i, false, &node) ||
		    (run != PAGES_EVERY_RUN && run_of(db, &node) != run))
			continue;
		rc = take(context, db, node.key, node.key_size, read_value(pages, &node), node.size, error);
		if (!rc && pages->no_memory)
			rc = error_set(error, STORE_E_MEMORY, "out of memory for a record of %zu bytes", node.size);
	}
	return rc;
}

int
pages_each(struct pages *pages, enum store_db db, uint32_t run, pages_take *take, void *context,
           struct portolan_error *error)
{
	int rc = 0;

	for (int orphans = 1; orphans >= 0; orphans--) {
		for (size_t i = 0; i < pages->leaves[db].count && !rc; i++) {
			const struct leaf *leaf = &pages->leaves[db].list[i];

			if (leaf->orphan == orphans &&
			    (run == PAGES_EVERY_RUN || (leaf->first <= run && run <= leaf->last)) &&
			    read_page(pages, leaf->page, PAGE_LEAF, pages->page))
				rc = take_leaf(pages, db, run, take, context, error);
		}
	}
	return rc;
}

bool
pages_may_miss(const struct pages *pages, enum store_db db, uint32_t run)
{
	for (size_t i = 0; i < pages->lost[db].count; i++)
		if (pages->lost[db].list[i].first <= run && run <= pages->lost[db].list[i].last)
			return true;
	return false;
}
