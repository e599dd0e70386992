/* example_answer.c: GET api/example: an example by place, or by id. */
#include "answers.h"
#include "examples.h"

#include "base/number.h"

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
		code = texts_check(server->texts, &error);
		answer_finish_or_fail(&report, code, &error, answer);
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
		else if (id) /* ids outlive a run that is overwritten */
			http_lasting(answer, "application/json", "null\n", strlen("null\n"));
		else
			http_error(answer, 404, "no example at that place was observed in these epochs");
	}
	views_return(server->views, view);
}
