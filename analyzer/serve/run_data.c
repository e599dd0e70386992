/*
 * run_data.c: keeps copies of the texts of the runs that the live page is asked about (run_data.h).
 *
 * A copy never changes after it was made. It is found again by its run and by the counts that the store has of the
 * run's texts, which change with each write; they are read before the texts, so a copy may be newer than its counts, but
 * not older. Copies that nobody has are dropped: all but the newest of a run at once, and beyond COPIES_KEPT these, too.
 */
#include "run_data.h"

#include "base/cleanup.h"
#include "base/message.h"
#include "files/kept_texts.h"

#include <portolan/error.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define COPIES_KEPT 2 /* copies that nobody has, for who asks again */

struct kept_data {
	struct run_data data;   /* the first member: run_datas_return() gets its address */
	struct kept_data *next; /* was made before this one */
	char store[STORE_ID_ROOM];
	ino_t inode;  /* of the store, and */
	uint32_t run; /* the run's number in it */
	unsigned users;
	uint64_t returned;                     /* by the clock of `returns`: when it was returned last */
	bool failed;                           /* its texts could not be copied */
	struct store_texts names;              /* with the counts that it is found by */
	const char *fields[STORE_TEXT_FIELDS]; /* that are shown; the texts refer to them */
	size_t field_count;
};

struct run_datas {
	const struct server_settings *settings;
	bool is_by_run;          /* there is no file of the user's */
	struct run_data file;    /* of the user's file */
	pthread_mutex_t copying; /* held while texts are copied, one run's after another's; taken before `lock` */
	pthread_mutex_t lock;    /* guards the list and the counts of users; held for moments */
	struct kept_data *list;
	uint64_t returns;
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
run_datas_new(struct run_datas **datas, const struct server_settings *settings, struct portolan_error *error)
{
	struct run_datas *made = calloc(1, sizeof(*made));
	int code = 0;

	if (!made)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	pthread_mutex_init(&made->copying, NULL);
	pthread_mutex_init(&made->lock, NULL);
	made->settings = settings;
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

/* Frees a chain of copies. */
static void
kept_free(struct kept_data *list)
{
	for (struct kept_data *kept = list, *next; kept; kept = next) {
		next = kept->next;
		data_close(&kept->data);
		free(kept);
	}
}

void
run_datas_free(struct run_datas *datas)
{
	if (!datas)
		return;
	data_close(&datas->file);
	kept_free(datas->list);
	pthread_mutex_destroy(&datas->lock);
	pthread_mutex_destroy(&datas->copying);
	free(datas);
}

static bool
kept_has_field(const struct store_texts *texts, const char *name)
{
	for (size_t f = 0; f < texts->field_count; f++)
		if (strcmp(texts->fields[f], name) == 0)
			return true;
	return false;
}

/* Lists names as "a, b"; the caller frees it. NULL: out of memory. */
static char *
kept_list_fields(const struct store_texts *texts)
{
	char *list = calloc(1, sizeof(texts->fields) + 2 * STORE_TEXT_FIELDS), *end = list;

	for (size_t f = 0; f < texts->field_count && list; f++)
		end = stpcpy(stpcpy(end, f ? ", " : ""), texts->fields[f]);
	return list;
}

void
run_data_warn_of_fields(const struct server_settings *settings, struct store *store, const char *run, uint32_t number)
{
	struct store_texts texts;
	struct portolan_error error;
	CLEANUP_FREE char *list = NULL;

	if ((settings->data && !kept_texts_is(settings->data)) || settings->text_count == 0 ||
	    store_texts(store, number, &texts, &error) < 0)
		return;
	if (texts.examples == 0) {
		message_warning("run '%s' keeps no texts yet, so none are shown: run.log_examples logs them", run);
		return;
	}
	list = kept_list_fields(&texts);
	for (size_t t = 0; t < settings->text_count && list; t++)
		if (!kept_has_field(&texts, settings->text_fields[t]))
			message_warning("run '%s' keeps no text '%s' yet (see --text); it keeps: %s", run,
			                settings->text_fields[t], list);
}

/* Shows the fields that --text names, of those that the run has, or else all, as far as a server shows so many. */
static void
kept_choose_fields(struct kept_data *kept, const struct server_settings *settings)
{
	for (size_t t = 0; t < settings->text_count; t++)
		if (kept_has_field(&kept->names, settings->text_fields[t]))
			kept->fields[kept->field_count++] = settings->text_fields[t];
	for (size_t f = 0; f < kept->names.field_count && settings->text_count == 0 && f < SERVER_TEXTS_MAX; f++)
		kept->fields[kept->field_count++] = kept->names.fields[f];
}

static bool
kept_is_of_run(const struct kept_data *a, const struct kept_data *b)
{
	return a->inode == b->inode && a->run == b->run && strcmp(a->store, b->store) == 0;
}

/* The newest copy of the run of `wanted`, whatever its counts. Under the lock. */
static struct kept_data *
kept_newest(const struct run_datas *datas, const struct kept_data *wanted)
{
	struct kept_data *kept = datas->list;

	while (kept && !kept_is_of_run(kept, wanted))
		kept = kept->next;
	return kept;
}

/* Takes the copy with the counts of `wanted`. NULL: there is none. */
static struct kept_data *
kept_take(struct run_datas *datas, const struct kept_data *wanted)
{
	struct kept_data *kept;

	pthread_mutex_lock(&datas->lock);
	kept = kept_newest(datas, wanted);
	if (kept && (kept->names.writes != wanted->names.writes || kept->names.examples != wanted->names.examples ||
	             kept->names.bytes != wanted->names.bytes))
		kept = NULL;
	if (kept)
		kept->users++;
	pthread_mutex_unlock(&datas->lock);
	return kept;
}

/* Copies the texts of the run. Without them, after a failure, the entry stands all the same. */
static void
kept_load(struct kept_data *kept, const struct run_datas *datas, struct store *store, bool failed_before)
{
	const struct server_settings *settings = datas->settings;
	const struct store_texts counts = kept->names;
	const char *media;
	struct portolan_error error;
	int code = kept_texts_write(store, kept->run, NULL, &kept->names, &error);

	if (code >= 0 && kept->names.examples == 0) /* removed just now */
		return;
	kept_choose_fields(kept, settings);
	media = settings->media_field && kept_has_field(&kept->names, settings->media_field) ? settings->media_field
	                                                                                     : NULL;
	if (code >= 0)
		code = data_open(&kept->data, settings, KEPT_TEXTS, kept->fields, kept->field_count, media, &error);
	kept->names.examples = counts.examples;
	kept->names.bytes = counts.bytes;
	kept->names.writes = counts.writes;
	if (code >= 0)
		return;
	if (!failed_before)
		message_warning("the texts of a run are not shown: %s", error.message);
	kept->failed = true;
	data_close(&kept->data);
	kept->data = no_data;
}

/* Finds, in the list, a copy that nobody has and that is to be dropped. NULL: there is none. Under the lock. */
static struct kept_data **
kept_find_old(struct run_datas *datas)
{
	struct kept_data **oldest = NULL;
	unsigned idle = 0;

	for (struct kept_data **at = &datas->list; *at; at = &(*at)->next) {
		if ((*at)->users > 0)
			continue;
		if (kept_newest(datas, *at) != *at)
			return at;
		if (!oldest || (*at)->returned < (*oldest)->returned)
			oldest = at;
		idle++;
	}
	return idle > COPIES_KEPT ? oldest : NULL;
}

/* Takes the copies to be dropped out of the list. Under the lock; they are the caller's to free without it. */
static struct kept_data *
kept_drop_old(struct run_datas *datas)
{
	struct kept_data *dropped = NULL, **at;

	while ((at = kept_find_old(datas))) {
		struct kept_data *old = *at;

		*at = old->next;
		old->next = dropped;
		dropped = old;
	}
	return dropped;
}

/* Takes a new copy of the texts of the run of `wanted`, unless another thread has made it meanwhile. NULL: out of
 * memory. */
static struct kept_data *
kept_make(struct run_datas *datas, struct store *store, const struct kept_data *wanted)
{
	struct kept_data *kept, *dropped = NULL;

	pthread_mutex_lock(&datas->copying);
	kept = kept_take(datas, wanted);
	if (!kept && (kept = malloc(sizeof(*kept)))) {
		const struct kept_data *before;
		bool failed_before;

		pthread_mutex_lock(&datas->lock);
		before = kept_newest(datas, wanted);
		failed_before = before && before->failed;
		pthread_mutex_unlock(&datas->lock);
		*kept = *wanted;
		kept->users = 1;
		kept_load(kept, datas, store, failed_before);
		pthread_mutex_lock(&datas->lock);
		kept->next = datas->list;
		datas->list = kept;
		dropped = kept_drop_old(datas);
		pthread_mutex_unlock(&datas->lock);
	}
	pthread_mutex_unlock(&datas->copying);
	kept_free(dropped);
	return kept;
}

const struct run_data *
run_datas_take(struct run_datas *datas, struct store *store, ino_t inode, uint32_t run)
{
	struct kept_data wanted = {.inode = inode, .run = run}, *kept;
	struct portolan_error error;

	if (!datas->is_by_run)
		return &datas->file;
	if (store_texts(store, run, &wanted.names, &error) < 0 || wanted.names.examples == 0)
		return &no_data;
	store_id(store, wanted.store);
	kept = kept_take(datas, &wanted);
	if (!kept)
		kept = kept_make(datas, store, &wanted);
	return kept ? &kept->data : &no_data;
}

const struct run_data *
run_datas_take_any(struct run_datas *datas, struct store *store, ino_t inode, uint32_t run)
{
	struct kept_data wanted = {.inode = inode, .run = run}, *kept;

	store_id(store, wanted.store);
	pthread_mutex_lock(&datas->lock);
	kept = kept_newest(datas, &wanted);
	if (kept)
		kept->users++;
	pthread_mutex_unlock(&datas->lock);
	return kept ? &kept->data : run_datas_take(datas, store, inode, run);
}

void
run_datas_return(struct run_datas *datas, const struct run_data *data)
{
	struct kept_data *dropped;

	if (!data || data == &no_data || data == &datas->file)
		return;
	pthread_mutex_lock(&datas->lock);
	for (struct kept_data *kept = datas->list; kept; kept = kept->next)
		if (&kept->data == data) {
			kept->users--;
			kept->returned = ++datas->returns;
			break;
		}
	dropped = kept_drop_old(datas);
	pthread_mutex_unlock(&datas->lock);
	kept_free(dropped);
}
