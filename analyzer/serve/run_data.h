/*
 * run_data.h: the texts that the live page shows of a run, with what is derived from them: those of the user's file
 * (--data), which stand for every run, or else those that the run itself keeps (run.log_examples), and no other run's.
 * Kept texts are copied when a run is first asked about and has some; those that come later are not seen. Safe from
 * several threads.
 */
#ifndef RUN_DATA_H
#define RUN_DATA_H

#include "media.h"
#include "searches.h"
#include "settings.h"
#include "view.h"

#include <portolan/store.h>

struct open_stores;

struct run_data {
	struct texts *texts;       /* NULL: none */
	struct searches *searches; /* of the texts; NULL likewise */
	struct media *media;       /* NULL: none, or no --media */
};

struct run_datas;

/* Opens the user's file, if there is one. Errors as texts_open() and media_open(). The settings stay the caller's. */
int run_datas_new(struct run_datas **datas, const struct server_settings *settings, struct open_stores *stores,
                  struct portolan_error *error);
void run_datas_free(struct run_datas *datas); /* NULL: does nothing */

/* Gives what is shown of the view's run, or of the run of this name; it stays until run_datas_free(). What cannot be
 * read is warned of once, and not shown. */
const struct run_data *run_datas_of_view(struct run_datas *datas, const struct view *view);
const struct run_data *run_datas_of_run(struct run_datas *datas, const char *run);

#endif
