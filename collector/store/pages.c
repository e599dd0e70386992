/*
 * pages.c: finds the records of a damaged data.mdb for a salvage: all that are not on a damaged page.
 *
 * The file begins with two meta pages. Each is the root of a whole store: that of the last commit, and that of the one
 * before, whose pages LMDB has not used again. The newer one whose list of databases can be read is taken.
 *
 * The trees of the databases lead to their leaves (pages_tree.c). Where a branch is lost, the leaves below it may be
 * found all the same (pages_lost.c).
 */
#include "pages.h"

#include "environment.h"
#include "pages_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define META_MAGIC 0xBEEFC0DEu

struct meta {
	uint64_t last, transaction;
	struct tree free, main;
};

/* Finds the trees of the databases in the main tree; false: not all. Meanwhile the leaves of the main tree stand in
 * DB_META's list; DB_META's own are listed later. */
static bool
pages_find_databases(struct pages *pages, const struct tree *main)
{
	const struct leaves *leaves = &pages->leaves[DB_META];
	unsigned found = 0;

	pages_walk_tree(pages, DB_META, main->root, 0, 0, UINT32_MAX);
	for (size_t i = 0; i < leaves->count; i++) {
		struct node node;

		if (!pages_read_page(pages, leaves->list[i].page, PAGE_LEAF, pages->page))
			continue;
		for (unsigned n = 0; pages_next_node(pages, &n, &node);) {
			int db = 0;

			if (node.flags != NODE_DATABASE || node.size != sizeof(struct tree))
				continue;
			while (db < DB_COUNT && (strlen(store_database_names[db]) != node.key_size ||
			                         memcmp(store_database_names[db], node.key, node.key_size) != 0))
				db++;
			if (db < DB_COUNT)
				memcpy(&pages->trees[db], node.data, sizeof(struct tree));
			found |= db < DB_COUNT ? 1u << db : 0;
		}
	}
	pages_forget_leaves(pages, DB_META);
	return found == (1u << DB_COUNT) - 1;
}

/* Reads the store as a commit left it. */
static bool
pages_read_commit(struct pages *pages, const struct meta *meta)
{
	bool whole;

	free(pages->roles);
	pages->last = meta->last < pages->count ? meta->last : pages->count - 1;
	pages->roles = calloc(pages->count, 1);
	pages->no_memory |= !pages->roles;
	if (pages->no_memory || !pages_find_databases(pages, &meta->main))
		return false;
	whole = pages_mark_free(pages, &meta->free) && meta->last < pages->count;
	for (int db = 0; db < DB_COUNT; db++) {
		const struct tree *tree = &pages->trees[db];

		if (tree->root != NO_ROOT)
			pages_walk_tree(pages, (enum store_db)db, tree->root, 0, 0, UINT32_MAX);
		else if (tree->entries)
			pages_add_lost(pages, db, 0, UINT32_MAX);
	}
	if (whole)
		pages_find_orphans(pages);
	for (int db = 0; db < DB_COUNT; db++) {
		if (pages->found[db] == pages->trees[db].entries)
			/* no key is missing: those of lost pages were found in leaves without a branch */
			pages->lost[db].count = 0;
		else if (!pages->lost[db].count)
			pages_add_lost(pages, db, 0, UINT32_MAX);
	}
	return true;
}

/* Reads a meta page, of a file with pages of this size. */
static bool
pages_read_meta(const struct pages *pages, unsigned number, size_t size, struct meta *meta)
{
	uint8_t page[152];

	if (!pages_read_bytes(pages, number * size, page, sizeof(page)) || load_u64(page) != number ||
	    load_u16(page + 10) != PAGE_META || load_u32(page + 16) != META_MAGIC || load_u32(page + 20) != 1)
		return false;
	memcpy(&meta->free, page + 40, sizeof(meta->free));
	memcpy(&meta->main, page + 88, sizeof(meta->main));
	meta->last = load_u64(page + 136);
	meta->transaction = load_u64(page + 144);
	return meta->free.page_size == size;
}

static int
pages_read_file(struct pages *pages, const char *directory, struct portolan_error *error)
{
	struct meta metas[2];
	size_t size = 4096;
	unsigned found = 0;
	struct stat status;

	for (size_t tried = 512; tried <= 65536 && !found; tried *= 2) {
		for (unsigned number = 0; number < 2; number++)
			found += pages_read_meta(pages, number, tried, &metas[found]);
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
		if (pages_read_commit(pages, &metas[i]) && !pages->no_memory) {
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
		rc = pages_read_file(opened, directory, error);
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
pages_take_leaf(struct pages *pages, enum store_db db, uint32_t run, pages_take *take, void *context,
                struct portolan_error *error)
{
	struct node node;
	int rc = 0;

	for (unsigned i = 0; !rc && pages_next_node(pages, &i, &node);) {
		if (run != PAGES_EVERY_RUN && pages_run_of(db, &node) != run)
			continue;
		rc = take(context, db, node.key, node.key_size, pages_read_value(pages, &node), node.size, error);
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
			    pages_read_page(pages, leaf->page, PAGE_LEAF, pages->page))
				rc = pages_take_leaf(pages, db, run, take, context, error);
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
