/* run_query.c: the words of --never, and reads a range of epochs as users write it for --epochs: "1:", ":5", "2:3". */
#include "run_query.h"

#include "base/number.h"

#include <string.h>

const char *const never_names[] = {"empty", "next", NULL};

static bool
parse_epoch(const char *text, size_t length, uint32_t empty, uint32_t *epoch)
{
	uint64_t value;

	if (length == 0) {
		*epoch = empty;
		return true;
	}
	if (!number_parse_u64(text, length, &value) || value >= UINT32_MAX)
		return false;
	*epoch = (uint32_t)value;
	return true;
}

bool
run_query_parse_epochs(const char *text, uint32_t *from, uint32_t *to)
{
	const char *colon = strchr(text, ':');

	return colon && parse_epoch(text, (size_t)(colon - text), 0, from) &&
	       parse_epoch(colon + 1, strlen(colon + 1), UINT32_MAX, to);
}
