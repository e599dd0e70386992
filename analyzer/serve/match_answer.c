/* match_answer.c: GET api/match: the places of a view's examples in another view, by id. */
#include "answers.h"

#include "measures/aggregate.h"

#include <portolan/error.h>

#include <endian.h>
#include <stdlib.h>

#define MATCH_NONE UINT32_MAX /* the other view has not observed the example */

/* The view that the request names by other, other_epochs and other_version; return it later. False: `answer` has the
 * reason. */
static bool
take_other(struct server *server, const struct http_request *request, const struct view **other,
           struct http_answer *answer)
{
	const char *run = http_argument(request, "other");
	struct portolan_error error;
	int code;

	if (!run) {
		http_error(answer, 400, "which other run? Add &other=NAME");
		return false;
	}
	code = views_take(server->views, run, http_argument(request, "other_epochs"),
	                  http_argument(request, "other_version"), other, &error);
	if (code < 0)
		answer_failure(answer, code, &error);
	return code >= 0;
}

/* Both orders ascend by id: one pass finds the place in `b` of each place in `a`. */
static void
match(const struct dynamics *a, const struct dynamics *b, uint32_t *places)
{
	size_t j = 0;

	for (size_t i = 0; i < a->count; i++) {
		int difference = 1;

		while (j < b->count && (difference = ids_compare(&a->ids, a->order[i], &b->ids, b->order[j])) > 0)
			j++;
		places[i] = htole32(difference == 0 ? (uint32_t)j : MATCH_NONE);
	}
}

static void
send_match(const struct view *view, const struct view *other, struct http_answer *answer)
{
	size_t count = view->dynamics.count;
	struct portolan_error error;
	uint32_t *places;

	if (dynamics_check_ids(&view->dynamics, &other->dynamics, &error) < 0) {
		http_error(answer, 400, "%s", error.message);
		return;
	}
	places = malloc((count + 1) * sizeof(*places));
	if (!places) {
		http_error(answer, 503, "out of memory");
		return;
	}
	match(&view->dynamics, &other->dynamics, places);
	http_bytes(answer, "application/octet-stream", places, count * sizeof(*places));
}

void
answer_match(struct server *server, const struct http_request *request, struct http_answer *answer)
{
	const struct view *view, *other;

	if (!answer_take_view(server, request, &view, answer))
		return;
	if (take_other(server, request, &other, answer)) {
		send_match(view, other, answer);
		views_return(server->views, other);
	}
	views_return(server->views, view);
}
