/*
 * run_data.h: the texts that the live page shows of a run, with what is derived from them: those of the user's file
 * (--data), which stand for every run, or else those that the run itself keeps (run.log_examples), and no other run's.
 * Kept texts are copied. Copies of the same texts are one, and users are counted: a copy stays while any has it, and
 * the next taker gets a new copy only if texts were written since. Safe from several threads.
 *
 *     view->data = run_datas_take(datas, store, inode, number);
 *     … view->data->texts, which may be NULL …
 *     run_datas_return(datas, view->data);
 */
#ifndef RUN_DATA_H
#define RUN_DATA_H

#include "media.h"
#include "searches.h"
#include "settings.h"

#include <portolan/store.h>

#include <sys/types.h>

struct run_data {
	struct texts *texts;       /* NULL: none */
	struct searches *searches; /* of the texts; NULL likewise */
	struct media *media;       /* NULL: none, or no --media */
};

struct run_datas;

/* If --text names fields, and the texts that runs keep are shown: warns that this run keeps none, or of each field that
 * it does not keep. */
void run_data_warn_of_fields(const struct server_settings *settings, struct store *store, const char *run,
                             uint32_t number);

/* Opens the user's file, if there is one. Errors as texts_open() and media_open(). The settings stay the caller's. */
int run_datas_new(struct run_datas **datas, const struct server_settings *settings, struct portolan_error *error);
void run_datas_free(struct run_datas *datas); /* all must have been returned; NULL: does nothing */

/* Gives what is shown of the run of this number in the store, whose file has this inode. Never NULL; what cannot be read
 * is warned of once, and not shown. The texts are at least as new as this call. */
const struct run_data *run_datas_take(struct run_datas *datas, struct store *store, ino_t inode, uint32_t run);
/* The same, but the texts may be older than this call: copies them only if there is no copy yet. */
const struct run_data *run_datas_take_any(struct run_datas *datas, struct store *store, ino_t inode, uint32_t run);
void run_datas_return(struct run_datas *datas, const struct run_data *data); /* NULL: does nothing */

#endif
