/* example_answer.c: GET api/example: an example by place, or by id. */
#include "answers.h"
#include "examples.h"

#include "base/cleanup.h"
#include "base/number.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

/* The place of an id given as text; SIZE_MAX: there is none. Looks at all of them. */
static size_t
example_find(const struct view *view, const char *id)
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

static int
example_send(const struct question *question, uint32_t place, struct http_answer *answer, struct portolan_error *error)
{
	const struct server *server = question->server;
	CLEANUP(report_discard) struct report report = {0};
	CLEANUP(stories_free) struct stories stories = {0};
	int code = stories_read(&stories, server->stores, question->view, &place, 1, error);

	if (code >= 0)
		code = report_open_memory(&report, error);
	if (code < 0)
		return code;
	examples_report(&report, question->view, server->texts, place, &stories, 0);
	code = texts_check(server->texts, error);
	return code < 0 ? code : answer_report(&report, answer, error);
}

int
answer_example(const struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	const char *id = http_argument(question->request, "id");
	uint64_t place;
	int code = answer_number(question->request, "place", 0, UINT32_MAX, UINT64_MAX, &place, error);

	if (code < 0)
		return code;
	if (id)
		place = example_find(question->view, id);
	if (place < question->view->dynamics.count)
		return example_send(question, (uint32_t)place, answer, error);
	if (id) /* ids outlive a run that is overwritten */
		http_lasting(answer, "application/json", "null\n", strlen("null\n"));
	else
		http_error(answer, 404, "no example at that place was observed in these epochs");
	return 0;
}
