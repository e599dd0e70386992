/* server.c: answers the requests to the live page that the HTTP daemon has let in: finds the function for the path,
 * gives it the run and the view (view.h) that the request names, and turns a failure into an answer. */
#include "server.h"

#include "page.h"

#include "base/cleanup.h"
#include "base/message.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

#define PAGE_SECURITY                                                                                                                 \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self'; connect-src 'self'; " \
	"base-uri 'none'; form-action 'none'; "                                                                                       \
	"frame-ancestors 'self' http://localhost:* http://127.0.0.1:* https://localhost:*" /* for notebooks */

#define BEFORE_RUN "api/runs/"

static void
server_drop(struct server **server)
{
	server_free(*server);
}

int
server_new(struct server **server, const struct server_settings *settings, struct portolan_error *error)
{
	CLEANUP(server_drop) struct server *made = calloc(1, sizeof(*made));
	int code = 0;

	if (!made)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	made->settings = settings;
	made->stores = open_stores_new(settings->query->store);
	made->selections = selections_new();
	made->progress = progress_new(made->stores, settings->query->store);
	made->background = background_new(made->stores);
	made->fingerprints = fingerprints_new(made->stores);
	code = run_datas_new(&made->datas, settings, error);
	if (code >= 0)
		made->views = views_new(made->stores, made->datas, settings->query);
	if (code >= 0 && settings->tags)
		code = tags_open(&made->tags, settings->tags, settings->query->store, error);
	if (code < 0)
		return code;
	if (!made->stores || !made->selections || !made->progress || !made->views || !made->background ||
	    !made->fingerprints)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	*server = made;
	made = NULL;
	return 0;
}

void
server_free(struct server *server)
{
	if (!server)
		return;
	background_free(server->background); /* first: it asks the store */
	fingerprints_free(server->fingerprints);
	progress_free(server->progress);
	selections_free(server->selections);
	tags_free(server->tags);
	views_free(server->views);
	run_datas_free(server->datas);
	open_stores_free(server->stores);
	free(server);
}

void
server_warn_absent(struct server *server)
{
	const struct server_settings *settings = server->settings;
	struct portolan_error error;
	struct store *store;
	uint32_t number;

	if (open_stores_take(server->stores, &store, NULL, &error) < 0) {
		message_warning("%s", error.message);
		return;
	}
	for (size_t r = 0; r < settings->run_count; r++)
		if (store_find_run(store, settings->runs[r], &number, &error) < 0)
			message_warning("%s", error.message);
		else
			run_data_warn_of_fields(settings, store, settings->runs[r], number);
	open_stores_return(server->stores, store);
}

static void
server_answer_page(const char *name, const struct http_request *request, struct http_answer *answer)
{
	for (const struct page_file *file = page_files; file->name; file++)
		if (strcmp(file->name, name) == 0) {
			http_lasting(answer, file->type, request->takes_gzip ? file->packed : file->bytes,
			             request->takes_gzip ? file->packed_size : file->size);
			answer->gzip = request->takes_gzip;
			answer->security = PAGE_SECURITY;
			return;
		}
	http_error(answer, 404, "the page has no file %s", name);
}

static const struct route {
	const char *path;
	answer_function *answer;
	enum { OF_STORE, OF_RUN, OF_VIEW } of;
} routes[] = {
        {"api/runs", answer_runs, OF_STORE},
        {"api/view", answer_view, OF_VIEW},
        {"api/axis", answer_axis, OF_VIEW},
        {"api/points", answer_points, OF_VIEW},
        {"api/legend", answer_legend, OF_VIEW},
        {"api/bins", answer_bins, OF_VIEW},
        {"api/inside", answer_inside, OF_VIEW},
        {"api/match", answer_match, OF_VIEW},
        {"api/example", answer_example, OF_VIEW},
        {"api/report", answer_report, OF_VIEW},
        {"api/suspects", answer_suspects, OF_VIEW},
        {"api/progress", answer_progress, OF_RUN},
        {"api/selection", answer_selection, OF_RUN},
        {"api/tags", answer_tags, OF_RUN},
        {"api/media", answer_media, OF_RUN},
        {"api/classes", answer_classes, OF_VIEW},
        {"api/fingerprint", answer_fingerprint, OF_RUN},
        {"metrics", answer_metrics, OF_STORE},
};

/* Calls the function of the route. If the route is about a run or a view, finds first the one that the query names. */
static int
server_answer_route(const struct route *route, struct question *question, struct http_answer *answer,
                    struct portolan_error *error)
{
	const struct http_request *request = question->request;
	struct views *views = question->server->views;
	int code;

	if (route->of == OF_STORE)
		return route->answer(question, answer, error);
	question->run = http_argument(request, "run");
	if (!question->run)
		return error_set(error, PORTOLAN_E_INVALID, "which run? Add ?run=NAME");
	if (route->of == OF_RUN)
		return route->answer(question, answer, error);
	code = views_take(views, question->run, http_argument(request, "epochs"), http_argument(request, "version"),
	                  &question->view, error);
	if (code < 0)
		return code;
	question->data = question->view->data;
	code = route->answer(question, answer, error);
	views_return(views, question->view);
	return code;
}

static int
server_answer_get(struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	const char *path = question->request->path;

	for (size_t r = 0; r < sizeof(routes) / sizeof(*routes); r++)
		if (strcmp(routes[r].path, path) == 0)
			return server_answer_route(&routes[r], question, answer, error);
	if (strncmp(path, BEFORE_RUN, strlen(BEFORE_RUN)) == 0) {
		question->run = path + strlen(BEFORE_RUN);
		return answer_runs(question, answer, error);
	}
	if (*path == '\0')
		server_answer_page("index.html", question->request, answer);
	else if (strncmp(path, "page/", 5) == 0)
		server_answer_page(path + 5, question->request, answer);
	else
		http_error(answer, 404, "there is nothing at /%s", path);
	return 0;
}

/* What a POST may ask of a run. The run's name stands between BEFORE_RUN and `after` in the path; it may have
 * slashes. */
static const struct posted {
	const char *after;
	answer_function *answer;
} posts[] = {{"/select", answer_select}, {"/tags", answer_tag}};

static int
server_answer_post(struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	const char *path = question->request->path;
	size_t length = strlen(path), before = strlen(BEFORE_RUN);
	CLEANUP_FREE char *run = NULL;

	for (size_t p = 0; p < sizeof(posts) / sizeof(*posts); p++) {
		size_t after = strlen(posts[p].after);

		if (length <= before + after || strncmp(path, BEFORE_RUN, before) != 0 ||
		    strcmp(path + length - after, posts[p].after) != 0)
			continue;
		question->run = run = strndup(path + before, length - before - after);
		return run ? posts[p].answer(question, answer, error)
		           : error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	}
	http_error(answer, 405, "POST is for " BEFORE_RUN "RUN/select and " BEFORE_RUN "RUN/tags");
	return 0;
}

/* Makes the answer from what was written to `output`. */
static int
server_take_report(struct output *output, struct http_answer *answer, struct portolan_error *error)
{
	if (output_check(output, NULL) < 0)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	http_bytes(answer, answer->type ? answer->type : "application/json", output->buffer, output->used);
	output->buffer = NULL;
	return 0;
}

/* Makes the answer from an error. Its status is 400 for a wrong request, 404 for a run that is not there, 409 for a
 * version of a view that is gone, 503 for the rest. */
static void
server_answer_error(struct http_answer *answer, int code, const struct portolan_error *error)
{
	unsigned status = code == STORE_E_NO_RUN                               ? 404
	                  : code == VIEW_E_VERSION                             ? 409
	                  : code == VIEW_E_RANGE || code == PORTOLAN_E_INVALID ? 400
	                                                                       : 503;

	http_error(answer, status, "%s", error->message);
	answer->filename = NULL;
}

void
server_answer(void *server, const struct http_request *request, struct http_answer *answer)
{
	CLEANUP(report_discard) struct report report = {0};
	struct question question = {.server = server, .request = request, .report = &report};
	struct portolan_error error;
	int code = report_open_memory(&report, &error);

	if (code >= 0)
		code = request->post ? server_answer_post(&question, answer, &error)
		                     : server_answer_get(&question, answer, &error);
	if (code >= 0 && answer->status == 0)
		code = server_take_report(&report.output, answer, &error);
	if (code < 0)
		server_answer_error(answer, code, &error);
}
