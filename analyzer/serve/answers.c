/* answers.c: helpers of the functions that answer the live page's requests: they read a number or a scale from a
 * request's query, find out whether a run is there, and answer "not modified". */
#include "answers.h"

#include "base/number.h"

#include <portolan/error.h>

#include <string.h>

void
answer_unchanged(struct http_answer *answer)
{
	http_lasting(answer, "application/json", "", 0);
	answer->status = 304;
}

int
answer_number(const struct http_request *request, const char *name, uint64_t least, uint64_t most, uint64_t otherwise,
              uint64_t *number, struct portolan_error *error)
{
	const char *text = http_argument(request, name);

	*number = otherwise;
	if (!text || (number_parse_u64(text, strlen(text), number) && *number >= least && *number <= most))
		return 0;
	return error_set(error, PORTOLAN_E_INVALID, "%s is a number from %llu to %llu, not '%.40s'", name,
	                 (unsigned long long)least, (unsigned long long)most, text);
}

int
answer_find_run(const struct question *question, struct portolan_error *error)
{
	struct open_stores *stores = question->server->stores;
	struct store *store;
	uint32_t number;
	int code = open_stores_take(stores, &store, NULL, error);

	if (code < 0)
		return code;
	code = store_find_run(store, question->run, &number, error);
	open_stores_return(stores, store);
	return code;
}

int
answer_is_log(const struct http_request *request, const char *name, bool *is_log, struct portolan_error *error)
{
	const char *text = http_argument(request, name);

	*is_log = text && strcmp(text, "log") == 0;
	if (!text || *is_log || strcmp(text, "linear") == 0)
		return 0;
	return error_set(error, PORTOLAN_E_INVALID, "%s is linear or log, not '%.40s'", name, text);
}
