/* selections.c: keeps the last selection of each run, with a serial number, so that the live page and programs can
 * share it. */
#include "selections.h"

#include <pthread.h>
#include <stdlib.h>

struct selections {
	pthread_mutex_t lock;
	json_t *runs; /* {run: {"serial", "selection"}} */
	uint64_t serial;
};

struct selections *
selections_new(void)
{
	struct selections *selections = calloc(1, sizeof(*selections));

	if (!selections)
		return NULL;
	selections->runs = json_object();
	pthread_mutex_init(&selections->lock, NULL);
	return selections;
}

void
selections_free(struct selections *selections)
{
	if (!selections)
		return;
	json_decref(selections->runs);
	pthread_mutex_destroy(&selections->lock);
	free(selections);
}

uint64_t
selections_put(struct selections *selections, const char *run, const json_t *selection)
{
	json_t *copy = json_deep_copy(selection), *entry;
	uint64_t serial = 0;

	if (!copy)
		return 0;
	pthread_mutex_lock(&selections->lock);
	entry = json_pack("{s:I, s:o}", "serial", (json_int_t)selections->serial + 1, "selection", copy);
	if (entry && json_object_set_new(selections->runs, run, entry) == 0)
		serial = ++selections->serial;
	pthread_mutex_unlock(&selections->lock);
	return serial;
}

uint64_t
selections_serial(struct selections *selections, const char *run)
{
	json_int_t serial;

	pthread_mutex_lock(&selections->lock);
	serial = json_integer_value(json_object_get(json_object_get(selections->runs, run), "serial"));
	pthread_mutex_unlock(&selections->lock);
	return (uint64_t)serial;
}

void
selections_report(struct report *report, struct selections *selections, const char *run)
{
	const json_t *entry;

	pthread_mutex_lock(&selections->lock);
	entry = json_object_get(selections->runs, run);
	report_begin(report, NULL);
	report_whole(report, "serial", (uint64_t)json_integer_value(json_object_get(entry, "serial")));
	report_json(report, "selection", json_object_get(entry, "selection"));
	report_end(report);
	pthread_mutex_unlock(&selections->lock);
}
