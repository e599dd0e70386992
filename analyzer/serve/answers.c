/* answers.c: shared by the functions that answer requests. */
#include "answers.h"

#include "base/number.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

void
answer_failure(struct http_answer *answer, int code, const struct portolan_error *error)
{
	unsigned status = code == STORE_E_NO_RUN                               ? 404
	                  : code == VIEW_E_VERSION                             ? 409
	                  : code == VIEW_E_RANGE || code == PORTOLAN_E_INVALID ? 400
	                                                                       : 503;

	http_error(answer, status, "%s", error->message);
}

void
answer_output(struct output *output, const char *type, struct http_answer *answer)
{
	struct portolan_error error;
	char *bytes = output_check(output, &error) < 0 ? NULL : malloc(output->used + 1);

	if (bytes) {
		memcpy(bytes, output->buffer, output->used);
		http_bytes(answer, type, bytes, output->used);
	} else {
		http_error(answer, 503, "out of memory");
	}
	output_discard(output);
}

bool
answer_begin(struct report *report, struct http_answer *answer)
{
	struct portolan_error error;

	if (report_open_memory(report, &error) >= 0)
		return true;
	http_error(answer, 503, "out of memory");
	return false;
}

void
answer_finish(struct report *report, struct http_answer *answer)
{
	answer_output(&report->output, "application/json", answer);
}

void
answer_finish_or_fail(struct report *report, int code, const struct portolan_error *error, struct http_answer *answer)
{
	if (code >= 0) {
		answer_finish(report, answer);
		return;
	}
	output_discard(&report->output);
	answer_failure(answer, code, error);
}

bool
answer_number(const struct http_request *request, const char *name, uint64_t least, uint64_t most, uint64_t otherwise,
              uint64_t *number, struct http_answer *answer)
{
	const char *text = http_argument(request, name);

	*number = otherwise;
	if (!text)
		return true;
	if (number_parse_u64(text, strlen(text), number) && *number >= least && *number <= most)
		return true;
	http_error(answer, 400, "%s is a number from %llu to %llu, not '%.40s'", name, (unsigned long long)least,
	           (unsigned long long)most, text);
	return false;
}

bool
answer_take_view(struct server *server, const struct http_request *request, const struct view **view,
                 struct http_answer *answer)
{
	const char *run = http_argument(request, "run");
	struct portolan_error error;
	int code;

	if (!run) {
		http_error(answer, 400, "which run? Add ?run=NAME");
		return false;
	}
	code = views_take(server->views, run, http_argument(request, "epochs"), http_argument(request, "version"), view,
	                  &error);
	if (code < 0)
		answer_failure(answer, code, &error);
	return code >= 0;
}

const struct dynamics_column *
answer_column(const struct view *view, const struct http_request *request, const char *name, struct http_answer *answer)
{
	const char *column = http_argument(request, name);
	const struct dynamics_column *found = column ? dynamics_column(&view->dynamics, column) : NULL;

	if (!found)
		http_error(answer, 400, "%s is a measure of the run, not '%.100s'", name, column ? column : "");
	return found;
}
