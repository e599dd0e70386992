/*
 * pages.h: finds the records of a damaged data.mdb for `portolan salvage`, page by page, without LMDB; private to the
 * writing half.
 *
 * LMDB trusts its pages: a damaged one ends the process, or leads nowhere. Here every number in a page is checked
 * before it is used, and the file is read by calls, not through a map. A page that does not fit is left out, and what
 * it may have held is known by the keys around it. The records themselves are the caller's to check.
 */
#ifndef STORE_PAGES_H
#define STORE_PAGES_H

#include "layout.h"

#include <portolan/error.h>

struct pages;

/* Opens the file for reading. STORE_E_CORRUPT: neither of its two meta pages leads to the databases. */
int pages_open(const char *directory, struct pages **pages, struct portolan_error *error);
void pages_close(struct pages *pages); /* NULL accepted */

/* Was the page of the last commit damaged, so that an earlier one may have been read? */
bool pages_are_older(const struct pages *pages);

/* Gets a record; `value` NULL: its pages are damaged. A result other than 0 ends the walk. */
typedef int pages_take(void *context, enum store_db db, const uint8_t *key, size_t key_size, const uint8_t *value,
                       size_t size, struct portolan_error *error);

/* Gives to `take` the records of a run that can be found in a database; or all records of a database whose keys do not
 * begin with a run. A key may come twice: the later one counts. */
int pages_each(struct pages *pages, enum store_db db, uint32_t run, pages_take *take, void *context,
               struct portolan_error *error);

/* pages_sound.c: can the first `most` records whose keys begin with a number (8 bytes, zeros behind a shorter key) from
 * `from` to `to` be deleted? PAGES_UNSOUND: no, a page is damaged that LMDB would read or change. */
#define PAGES_UNSOUND 1
struct view;
int pages_check_range(const struct view *view, enum store_db db, uint64_t from, uint64_t to, size_t most,
                      struct portolan_error *error);

#define PAGES_EVERY_RUN UINT32_MAX

/* May records of this run be missing from the database, without a trace? */
bool pages_may_miss(const struct pages *pages, enum store_db db, uint32_t run);

#endif
