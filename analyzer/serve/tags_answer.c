/* tags_answer.c: answers two requests of the live page: GET api/tags, which asks for the tags of a run, and POST
 * api/runs/RUN/tags, which gives or takes away some. */
#include "answers.h"

#include "base/cleanup.h"

#include <portolan/error.h>

static void
tags_drop_json(json_t **value)
{
	json_decref(*value);
}

int
answer_tags(const struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	struct tags *tags = question->server->tags;
	uint64_t known;
	int code = answer_number(question->request, "known", 0, INT64_MAX, UINT64_MAX, &known, error);

	if (code < 0)
		return code;
	if (known == tags_serial(tags, question->run))
		answer_unchanged(answer);
	else
		tags_report(question->report, tags, question->run);
	return 0;
}

/* The changes of a request: {"changes": […]}, or one. */
static json_t *
tags_changes(json_t *body)
{
	json_t *changes = json_object_get(body, "changes");

	return changes && json_object_size(body) == 1 ? json_incref(changes) : json_pack("[O]", body);
}

int
answer_tag(const struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	const struct http_request *request = question->request;
	CLEANUP(tags_drop_json) json_t *body = NULL, *changes = NULL;
	json_error_t trouble;
	uint64_t serial = 0;
	int code;

	if (!question->server->tags) {
		http_error(answer, 409, "not saved: tags are kept by a server that was started with --tags FILE");
		return 0;
	}
	body = json_loadb(request->body ? request->body : "", request->body_size, JSON_REJECT_DUPLICATES, &trouble);
	if (!json_is_object(body))
		return error_set(error, PORTOLAN_E_INVALID,
		                 "a change of tags is a JSON object, {\"id\", \"tag\", \"label\"}%s%s",
		                 body ? "" : ": ", body ? "" : trouble.text);
	changes = tags_changes(body);
	if (!changes)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	code = answer_find_run(question, error); /* tags of a name that was mistyped would be found by nobody */
	if (code >= 0)
		code = tags_put(question->server->tags, question->run, changes, &serial, error);
	if (code < 0)
		return code;
	report_begin(question->report, NULL);
	report_whole(question->report, "serial", serial);
	report_end(question->report);
	return 0;
}
