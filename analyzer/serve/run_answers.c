/*
 * run_answers.c: answers the live page's requests about runs: which there are (GET api/runs), how far the recording of
 * one is (api/progress), what can be shown of it (api/view), its classes (api/classes), one of its examples
 * (api/example) with its picture or sound (api/media), where its examples are in another run (api/match), and whether the two
 * are of the same data (api/fingerprint).
 */
#include "answers.h"
#include "examples.h"

#include "base/cleanup.h"
#include "base/number.h"
#include "measures/aggregate.h"
#include "regions/classes.h"
#include "verdict/run_report.h"

#include <portolan/error.h>

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define CLASSES_MORE 10000    /* classes without a name that are listed */
#define MATCH_NONE UINT32_MAX /* the other view has not observed the example */

int
answer_runs(const struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	struct open_stores *stores = question->server->stores;
	struct store *store;
	int code = open_stores_take(stores, &store, NULL, error);

	(void)answer;
	if (code < 0)
		return code;
	code = question->run ? run_report_one(question->report, store, question->run, error)
	                     : run_report_all(question->report, store, error);
	open_stores_return(stores, store);
	return code;
}

int
answer_progress(const struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	char *text;
	int code = progress_look(question->server->progress, question->run, &text, error);

	if (code >= 0)
		http_bytes(answer, "application/json", text, strlen(text));
	return code;
}

int
answer_fingerprint(const struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	(void)answer;
	return fingerprints_report(question->server->fingerprints, question->run,
	                           http_argument(question->request, "other"), question->report, error);
}

int
answer_view(const struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	const char *known = http_argument(question->request, "known");

	(void)error;
	if (known && strcmp(known, question->view->version) == 0)
		answer_unchanged(answer);
	else
		view_report(question->report, question->view, question->data->texts,
		            media_field(question->data->media));
	return 0;
}

static int
example_send(const struct question *question, uint32_t place, struct portolan_error *error)
{
	const struct server *server = question->server;
	CLEANUP(stories_free) struct stories stories = {0};
	int code = stories_read(&stories, server->stores, question->view, &place, 1, error);

	if (code < 0)
		return code;
	examples_report(question->report, question->view, question->data->texts, question->data->media, place, &stories,
	                0);
	return texts_check(question->data->texts, error);
}

/* Finds the place of the example whose id is given as text; *place = SIZE_MAX: it was not observed. */
static int
example_find(const struct view *view, const char *id, uint64_t *place, struct portolan_error *error)
{
	CLEANUP(ids_free) struct ids wanted = {.kind = view->dynamics.ids.kind};
	int code = ids_append_text(&wanted, id, strlen(id), error);

	*place = code == 0 ? view_find(view, &wanted, 0) : SIZE_MAX;
	return code;
}

int
answer_example(const struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	const char *id = http_argument(question->request, "id");
	uint64_t place;
	int code = answer_number(question->request, "place", 0, UINT32_MAX, UINT64_MAX, &place, error);

	if (code >= 0 && id)
		code = example_find(question->view, id, &place, error);
	if (code < 0)
		return code;
	if (place < question->view->dynamics.count)
		return example_send(question, (uint32_t)place, error);
	if (id) /* when a run is overwritten, an id still means the same example */
		http_lasting(answer, "application/json", "null\n", strlen("null\n"));
	else
		http_error(answer, 404, "no example at that place was observed in these epochs");
	return 0;
}

int
answer_media(const struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	struct open_stores *stores = question->server->stores;
	struct run_datas *datas = question->server->datas;
	const char *id = http_argument(question->request, "id");
	const struct run_data *data = NULL;
	struct store *store;
	uint32_t number;
	ino_t inode;
	int code = open_stores_take(stores, &store, &inode, error);

	if (code < 0)
		return code;
	code = store_find_run(store, question->run, &number, error);
	if (code >= 0 && !id)
		code = error_set(error, PORTOLAN_E_INVALID, "which example? Add &id=ID");
	if (code >= 0)
		data = run_datas_take_any(datas, store, inode, number);
	open_stores_return(stores, store);
	if (code < 0)
		return code;
	if (data->media)
		code = media_answer(data->media, id, answer, error);
	else
		http_error(answer, 404, "the server was started without --media FIELD --media-root DIR");
	run_datas_return(datas, data);
	return code;
}

/* A class as texts name it: its name, or else its number. */
static void
classes_report_one(struct report *report, const struct dynamics *dynamics, uint64_t number)
{
	const char *name = store_snapshot_label(dynamics->snapshot, number);
	char digits[NUMBER_ROOM];

	digits[number_print_u64(number, digits)] = '\0';
	report_text(report, NULL, name ? name : digits);
}

int
answer_classes(const struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	const struct dynamics *dynamics = &question->view->dynamics;
	uint64_t named = dynamics->info->label_count, more = 0;
	struct classes occurring = {0};
	int code = dynamics->gold && dynamics->count > 0
	                   ? classes_make(&occurring, dynamics->gold, dynamics->order, dynamics->count, error)
	                   : 0;

	(void)answer;
	if (code < 0)
		return code;
	report_begin(question->report, NULL);
	report_begin_list(question->report, "classes");
	for (uint64_t number = 0; number < named; number++)
		classes_report_one(question->report, dynamics, number);
	for (size_t c = 0; c < occurring.count && more < CLASSES_MORE; c++)
		if (occurring.labels[c] >= 0 && (uint64_t)occurring.labels[c] >= named) {
			classes_report_one(question->report, dynamics, (uint64_t)occurring.labels[c]);
			more++;
		}
	report_end(question->report);
	report_end(question->report);
	classes_free(&occurring);
	return 0;
}

/* Finds the place in `b` of each place in `a`, in one pass, as both are in the order of ids. */
static void
match_places(const struct dynamics *a, const struct dynamics *b, uint32_t *places)
{
	size_t j = 0;

	for (size_t i = 0; i < a->count; i++) {
		int difference = 1;

		while (j < b->count && (difference = ids_compare(&a->ids, a->order[i], &b->ids, b->order[j])) > 0)
			j++;
		places[i] = htole32(difference == 0 ? (uint32_t)j : MATCH_NONE);
	}
}

static int
match_send(const struct view *view, const struct view *other, struct http_answer *answer, struct portolan_error *error)
{
	size_t count = view->dynamics.count;
	uint32_t *places;
	int code = dynamics_check_alike(&view->dynamics, &other->dynamics, error);

	if (code < 0)
		return code;
	places = malloc((count + 1) * sizeof(*places));
	if (!places)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	match_places(&view->dynamics, &other->dynamics, places);
	http_bytes(answer, "application/octet-stream", places, count * sizeof(*places));
	return 0;
}

int
answer_match(const struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	const struct http_request *request = question->request;
	struct views *views = question->server->views;
	const char *run = http_argument(request, "other");
	const struct view *other;
	int code;

	if (!run)
		return error_set(error, PORTOLAN_E_INVALID, "which other run? Add &other=NAME");
	code = views_take(views, run, http_argument(request, "other_epochs"), http_argument(request, "other_version"),
	                  &other, error);
	if (code < 0)
		return code;
	code = match_send(question->view, other, answer, error);
	views_return(views, other);
	return code;
}
