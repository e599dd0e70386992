/*
 * views.h: hands out views (view.h: a run over a range of epochs) to the live page's requests. A view is loaded once
 * for all of them, and again when the run has grown, or keeps other texts. Safe from several threads.
 *
 *     code = views_take(views, "snli/seed1", "0:6", NULL, &view, &error);
 *     … view->dynamics, which nobody changes …
 *     views_return(views, view);
 *
 * At most a tenth of the time goes into loading a view again: a view that takes a second to load is at most ten seconds
 * old.
 */
#ifndef VIEWS_H
#define VIEWS_H

#include "open_stores.h"
#include "run_data.h"
#include "view.h"

struct views;

/* `stores`, `datas` and `query` stay the caller's. `query` says how many threads, and how much memory, loading may use. NULL:
 * out of memory. */
struct views *views_new(struct open_stores *stores, struct run_datas *datas, const struct run_query *query);
void views_free(struct views *views); /* every view must have been returned; NULL: does nothing */

/* Gives a view of a run. `range`: as --epochs takes it, except "auto"; NULL or "": all epochs. `version`: the view must
 * have exactly this version; NULL: gives the newest. VIEW_E_RANGE, VIEW_E_VERSION; or a code of store.h: the store or
 * the run is not there, or cannot be read. */
int views_take(struct views *views, const char *run, const char *range, const char *version, const struct view **view,
               struct portolan_error *error);
void views_return(struct views *views, const struct view *view);

#endif
