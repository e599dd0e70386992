/* example_answer.c: GET api/example and api/search: examples by place, id and text. */
#include "answers.h"
#include "examples.h"

#include "program/number.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

/* The place of an id given as text; SIZE_MAX: there is none. Looks at all of them. */
static size_t
place_of_id(const struct view *view, const char *id)
{
	const struct dynamics *dynamics = &view->dynamics;
	size_t length = strlen(id);
	uint64_t number;

	if (dynamics->ids.kind != STORE_ID_STR && !number_parse_u64(id, length, &number))
		return SIZE_MAX;
	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t index = dynamics->order[i];
		const char *known;
		size_t known_length;

		if (dynamics->ids.kind != STORE_ID_STR) {
			if (dynamics->ids.integers[index] == number)
				return i;
			continue;
		}
		known = ids_text(&dynamics->ids, index, &known_length);
		if (known_length == length && memcmp(known, id, length) == 0)
			return i;
	}
	return SIZE_MAX;
}

static void
send_example(struct server *server, const struct view *view, uint32_t place, struct http_answer *answer)
{
	struct portolan_error error;
	struct stories stories;
	struct report report;
	int code = stories_read(&stories, server->views, view, &place, 1, &error);

	if (code < 0) {
		answer_failure(answer, code, &error);
		return;
	}
	if (answer_begin(&report, answer)) {
		examples_report(&report, view, server->texts, place, &stories, 0);
		answer_finish(&report, answer);
	}
	stories_free(&stories);
}

void
answer_example(struct server *server, const struct http_request *request, struct http_answer *answer)
{
	const char *id = http_argument(request, "id");
	const struct view *view;
	uint64_t place;

	if (!answer_take_view(server, request, &view, answer))
		return;
	if (answer_number(request, "place", 0, UINT32_MAX, UINT64_MAX, &place, answer)) {
		if (id)
			place = place_of_id(view, id);
		if (place < view->dynamics.count)
			send_example(server, view, (uint32_t)place, answer);
		else
			http_error(answer, 404, "no example %s was observed in these epochs",
			           id ? id : "at that place");
	}
	views_return(server->views, view);
}

static void
report_found(struct report *report, const uint32_t *found, size_t count, size_t searched, size_t all)
{
	report_begin(report, NULL);
	report_begin_list(report, "places");
	for (size_t i = 0; i < count; i++)
		report_whole(report, NULL, found[i]);
	report_end(report);
	report_whole(report, "searched", searched);
	report_flag(report, "complete", searched == all);
	report_end(report);
}

static void
send_found(const struct server *server, const struct view *view, const char *part, size_t most,
           struct http_answer *answer)
{
	const struct dynamics *dynamics = &view->dynamics;
	uint32_t *found = malloc((dynamics->count + 1) * sizeof(*found));
	size_t searched, count;
	struct report report;

	if (!found) {
		http_error(answer, 503, "out of memory");
		return;
	}
	count = examples_search(view, server->texts, dynamics->order, dynamics->count, part, most, found, &searched);
	if (answer_begin(&report, answer)) {
		report_found(&report, found, count, searched, dynamics->count);
		answer_finish(&report, answer);
	}
	free(found);
}

void
answer_search(struct server *server, const struct http_request *request, struct http_answer *answer)
{
	const char *part = http_argument(request, "q");
	const struct view *view;
	uint64_t most;

	if (!part || !*part) {
		http_error(answer, 400, "search for what? Add &q=TEXT");
		return;
	}
	if (!answer_number(request, "most", 1, 10000, 1000, &most, answer) ||
	    !answer_take_view(server, request, &view, answer))
		return;
	send_found(server, view, part, (size_t)most, answer);
	views_return(server->views, view);
}
