/* match_answer.c: GET api/match: the places of a view's examples in another view, by id. */
#include "answers.h"

#include "measures/aggregate.h"

#include <portolan/error.h>

#include <endian.h>
#include <stdlib.h>

#define MATCH_NONE UINT32_MAX /* the other view has not observed the example */

/* Both orders ascend by id: one pass finds the place in `b` of each place in `a`. */
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
	int code = dynamics_check_ids(&view->dynamics, &other->dynamics, error);

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
