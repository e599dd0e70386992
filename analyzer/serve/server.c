/* server.c: maps requests to the functions that answer them. */
#include "answers.h"
#include "page.h"

#include "base/message.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

#define PAGE_SECURITY                                                                                                  \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "    \
	"base-uri 'none'; form-action 'none'; "                                                                        \
	"frame-ancestors 'self' http://localhost:* http://127.0.0.1:* https://localhost:*" /* notebooks */

int
server_new(struct server **server, const struct server_settings *settings, struct portolan_error *error)
{
	struct server *made = calloc(1, sizeof(*made));
	int code = made ? views_new(&made->views, settings->query, error) : PORTOLAN_E_MEMORY;

	if (code >= 0) {
		made->settings = *settings;
		made->selections = selections_new();
		made->progress = progress_new(settings->query->store);
	}
	if (code < 0 || !made->selections || !made->progress)
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	if (code >= 0 && settings->data)
		code = texts_open(&made->texts, settings->data, settings->id_field, settings->glue,
		                  settings->text_fields, settings->text_count, error);
	if (code >= 0 && made->texts) {
		made->searches = searches_new(made->texts, settings->query->threads);
		code = made->searches ? code : error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	}
	if (code < 0)
		server_free(made);
	else
		*server = made;
	return code;
}

void
server_free(struct server *server)
{
	if (!server)
		return;
	progress_free(server->progress);
	selections_free(server->selections);
	searches_free(server->searches);
	texts_free(server->texts);
	views_free(server->views);
	free(server);
}

void
server_warn_absent(struct server *server)
{
	const struct server_settings *settings = &server->settings;
	struct portolan_error error;
	struct store *store;
	uint32_t number;

	if (views_take_store(server->views, &store, NULL, &error) < 0) {
		message_warning("%s", error.message);
		return;
	}
	for (size_t r = 0; r < settings->run_count; r++)
		if (store_find_run(store, settings->runs[r], &number, &error) < 0)
			message_warning("%s", error.message);
	views_return_store(server->views, store);
}

static void
answer_page(const char *name, const struct http_request *request, struct http_answer *answer)
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
	void (*answer)(struct server *server, const struct http_request *request, struct http_answer *answer);
} routes[] = {
        {"api/view", answer_view},
        {"api/points", answer_points},
        {"api/legend", answer_legend},
        {"api/bins", answer_bins},
        {"api/inside", answer_inside},
        {"api/match", answer_match},
        {"api/example", answer_example},
        {"api/progress", answer_progress},
        {"api/selection", answer_selection},
        {"metrics", answer_metrics},
        {NULL, NULL},
};

static void
answer_get(struct server *server, const struct http_request *request, struct http_answer *answer)
{
	const char *path = request->path;

	for (const struct route *route = routes; route->path; route++)
		if (strcmp(route->path, path) == 0) {
			route->answer(server, request, answer);
			return;
		}
	if (*path == '\0')
		answer_page("index.html", request, answer);
	else if (strncmp(path, "page/", 5) == 0)
		answer_page(path + 5, request, answer);
	else if (strcmp(path, "api/runs") == 0)
		answer_runs(server, request, NULL, answer);
	else if (strncmp(path, "api/runs/", 9) == 0)
		answer_runs(server, request, path + 9, answer);
	else
		http_error(answer, 404, "there is nothing at /%s", path);
}

/* The run's name is between the two; it may have slashes. */
static void
answer_post(struct server *server, const struct http_request *request, struct http_answer *answer)
{
	static const char before[] = "api/runs/", after[] = "/select";
	const char *path = request->path;
	size_t length = strlen(path), around = strlen(before) + strlen(after);
	char *run;

	if (length <= around || strncmp(path, before, strlen(before)) != 0 ||
	    strcmp(path + length - strlen(after), after) != 0) {
		http_error(answer, 405, "POST is for api/runs/RUN/select");
		return;
	}
	run = strndup(path + strlen(before), length - around);
	if (run)
		answer_select(server, request, run, answer);
	else
		http_error(answer, 503, "out of memory");
	free(run);
}

void
server_answer(void *server, const struct http_request *request, struct http_answer *answer)
{
	if (request->post)
		answer_post(server, request, answer);
	else
		answer_get(server, request, answer);
}
