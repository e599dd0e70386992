/* run_data.c: keeps the texts of each run that the live page was asked about (run_data.h). An entry never changes after it
 * was made, and none is dropped while the server runs: a view may refer to its texts. */
#include "run_data.h"

#include "open_stores.h"

#include "base/cleanup.h"
#include "base/message.h"
#include "files/kept_texts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct kept_data {
	struct kept_data *next;
	ino_t inode;  /* of the store, and */
	uint32_t run; /* the run's number in it */
	struct store_texts names;
	const char *fields[STORE_TEXT_FIELDS]; /* that are shown; the texts refer to them */
	size_t field_count;
	struct run_data data;
};

struct run_datas {
	const struct server_settings *settings;
	struct open_stores *stores;
	bool is_by_run;       /* there is no file of the user's */
	struct run_data file; /* of the user's file */
	pthread_mutex_t lock; /* guards the list, and is held while texts are copied */
	struct kept_data *list;
};

static const struct run_data no_data;

static void
data_close(struct run_data *data)
{
	searches_free(data->searches);
	media_free(data->media);
	texts_free(data->texts);
}

/* `media`: the field that names pictures; NULL: none. */
static int
data_open(struct run_data *data, const struct server_settings *settings, const char *path, const char *const *fields,
          size_t count, const char *media, struct portolan_error *error)
{
	int code = texts_open(&data->texts, path, settings->id_field ? settings->id_field : KEPT_TEXTS_ID,
	                      settings->glue, fields, count, error);

	if (code >= 0 && media)
		code = media_open(&data->media, data->texts, media, settings->media_root, error);
	if (code >= 0 && !(data->searches = searches_new(data->texts, settings->query->threads)))
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	return code;
}

int
run_datas_new(struct run_datas **datas, const struct server_settings *settings, struct open_stores *stores,
              struct portolan_error *error)
{
	struct run_datas *made = calloc(1, sizeof(*made));
	int code = 0;

	if (!made)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	pthread_mutex_init(&made->lock, NULL);
	made->settings = settings;
	made->stores = stores;
	made->is_by_run = !settings->data || kept_texts_is(settings->data);
	if (!made->is_by_run && !kept_texts_are_refused(settings->data))
		code = data_open(&made->file, settings, settings->data, settings->text_fields, settings->text_count,
		                 settings->media_field, error);
	if (code < 0)
		run_datas_free(made);
	else
		*datas = made;
	return code;
}

void
run_datas_free(struct run_datas *datas)
{
	if (!datas)
		return;
	data_close(&datas->file);
	for (struct kept_data *kept = datas->list, *next; kept; kept = next) {
		next = kept->next;
		data_close(&kept->data);
		free(kept);
	}
	pthread_mutex_destroy(&datas->lock);
	free(datas);
}

static bool
kept_has_field(const struct kept_data *kept, const char *name)
{
	for (size_t f = 0; f < kept->names.field_count; f++)
		if (strcmp(kept->names.fields[f], name) == 0)
			return true;
	return false;
}

/* Shows the fields that --text names, of those that the run has, or else all, as far as a server shows so many. */
static void
kept_choose_fields(struct kept_data *kept, const struct server_settings *settings)
{
	for (size_t t = 0; t < settings->text_count; t++)
		if (kept_has_field(kept, settings->text_fields[t]))
			kept->fields[kept->field_count++] = settings->text_fields[t];
	for (size_t f = 0; f < kept->names.field_count && settings->text_count == 0 && f < SERVER_TEXTS_MAX; f++)
		kept->fields[kept->field_count++] = kept->names.fields[f];
}

/* Copies the texts of the run, which keeps some. Without them, after a failure, the entry stands all the same. */
static void
kept_load(struct kept_data *kept, const struct run_datas *datas, struct store *store)
{
	const struct server_settings *settings = datas->settings;
	const char *media =
	        settings->media_field && kept_has_field(kept, settings->media_field) ? settings->media_field : NULL;
	struct portolan_error error;
	int code = kept_texts_write(store, kept->run, NULL, &kept->names, &error);

	kept_choose_fields(kept, settings);
	if (code >= 0)
		code = data_open(&kept->data, settings, KEPT_TEXTS, kept->fields, kept->field_count, media, &error);
	if (code >= 0)
		return;
	message_warning("the texts of a run are not shown: %s", error.message);
	data_close(&kept->data);
	kept->data = no_data;
}

/* The run's entry; under the lock. NULL: it keeps no texts yet, or the store cannot be read. */
static const struct kept_data *
kept_find(struct run_datas *datas, struct store *store, ino_t inode, uint32_t run)
{
	struct portolan_error error;
	struct kept_data *kept;
	struct store_texts names;

	for (kept = datas->list; kept; kept = kept->next)
		if (kept->inode == inode && kept->run == run)
			return kept;
	if (store_texts(store, run, &names, &error) < 0 || names.examples == 0)
		return NULL;
	kept = calloc(1, sizeof(*kept));
	if (!kept)
		return NULL;
	*kept = (struct kept_data){.next = datas->list, .inode = inode, .run = run, .names = names};
	kept_load(kept, datas, store);
	datas->list = kept;
	return kept;
}

/* The data of the run of this number in the store of this inode, or, with a name, of the run of that name now. */
static const struct run_data *
datas_find(struct run_datas *datas, const char *name, ino_t inode, uint32_t run)
{
	const struct kept_data *kept = NULL;
	struct portolan_error error;
	struct store *store;
	ino_t now;

	if (!datas->is_by_run)
		return &datas->file;
	if (open_stores_take(datas->stores, &store, &now, &error) < 0)
		return &no_data;
	if (name ? store_find_run(store, name, &run, &error) == 0 : now == inode) {
		pthread_mutex_lock(&datas->lock);
		kept = kept_find(datas, store, now, run);
		pthread_mutex_unlock(&datas->lock);
	}
	open_stores_return(datas->stores, store);
	return kept ? &kept->data : &no_data;
}

const struct run_data *
run_datas_of_view(struct run_datas *datas, const struct view *view)
{
	return datas_find(datas, NULL, view->inode, view->dynamics.info->number);
}

const struct run_data *
run_datas_of_run(struct run_datas *datas, const char *run)
{
	return datas_find(datas, run, 0, 0);
}
