/* options.c: a wrong option fails here, before a collector is started or a socket made. */
#include "options.h"

#include "session.h"
#include "wire_check.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LABEL_HEAD 3 /* bytes: the most that stands before a label in the `open` frame */
#define OTHERS 1024  /* bytes: what else it holds, the names of run and group among it */

static int
invalid_name(const char *what, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_INVALID, "%s must be 1 to %d bytes of UTF-8 without control characters",
	                 what, WIRE_MAX_NAME);
}

static bool
is_name(const char *text)
{
	return wire_name_is_valid(text, strnlen(text, WIRE_MAX_NAME + 1), false);
}

static int
check_where(const struct portolan_options *options, struct portolan_error *error)
{
	const char *endpoint = options->endpoint;

	if (!options->store == !endpoint)
		return error_set(error, PORTOLAN_E_INVALID, "give store (a directory) or endpoint, and not both");
	if (options->store && !options->store[0])
		return error_set(error, PORTOLAN_E_INVALID, "store is empty; give a directory");
	if (options->spool && !options->spool[0])
		return error_set(error, PORTOLAN_E_INVALID, "spool is empty; give a directory");
	if (endpoint && strncmp(endpoint, "tcp://", 6) != 0 && strncmp(endpoint, "ipc://", 6) != 0)
		return error_set(error, PORTOLAN_E_INVALID, "endpoint \"%.200s\" must be tcp://HOST:PORT or ipc://PATH",
		                 endpoint);
	if (options->keys && !options->keys[0])
		return error_set(error, PORTOLAN_E_INVALID, "keys is empty; give a directory");
	if (options->keys && (!endpoint || strncmp(endpoint, "tcp://", 6) != 0))
		return error_set(
		        error, PORTOLAN_E_INVALID,
		        "keys are for an endpoint tcp://HOST:PORT; a store's own socket, and ipc://, are guarded "
		        "by their files' permissions");
	return 0;
}

static int
check_labels(const struct portolan_options *options, struct portolan_error *error)
{
	if (options->label_count > WIRE_MAX_LABELS)
		return error_set(error, PORTOLAN_E_INVALID, "labels: %zu names; the limit is %d", options->label_count,
		                 WIRE_MAX_LABELS);
	if (options->label_count > 0 && !options->labels)
		return error_set(error, PORTOLAN_E_INVALID, "labels is NULL, but label_count is %zu",
		                 options->label_count);
	for (size_t i = 0; i < options->label_count; i++)
		if (!options->labels[i] ||
		    !wire_name_is_valid(options->labels[i], strnlen(options->labels[i], WIRE_MAX_NAME + 1), true))
			return error_set(error, PORTOLAN_E_INVALID,
			                 "labels: number %zu must be at most %d bytes of UTF-8 without control "
			                 "characters",
			                 i, WIRE_MAX_NAME);
	return 0;
}

/* Not a JSON parser: that it is text, an object by its braces, and not too long. */
static int
check_config(const char *config, struct portolan_error *error)
{
	static const char *const space = " \t\r\n";
	size_t size = strnlen(config, WIRE_MAX_CONFIG + 1), end = size;

	if (size > WIRE_MAX_CONFIG)
		return error_set(error, PORTOLAN_E_INVALID, "config has more than %d bytes", WIRE_MAX_CONFIG);
	while (end > 0 && strchr(space, config[end - 1]))
		end--;
	if (end == 0 || config[end - 1] != '}' || config[strspn(config, space)] != '{' ||
	    !wire_text_is_valid(config, size, true))
		return error_set(error, PORTOLAN_E_INVALID, "config must be a JSON object, in UTF-8");
	return 0;
}

/* All of it goes into one frame. */
static int
check_size(const struct portolan_options *options, struct portolan_error *error)
{
	size_t most = WIRE_MAX_FRAME - SESSION_OPEN_GROWS - OTHERS, size = 0, config = 0;

	for (size_t i = 0; i < options->label_count; i++)
		size += LABEL_HEAD + strlen(options->labels[i]);
	config = options->config ? strlen(options->config) : 0;
	if (size + config <= most)
		return 0;
	return error_set(error, PORTOLAN_E_INVALID,
	                 "labels have %zu bytes and config %zu; both together %zu at most: leave the labels out", size,
	                 config, most);
}

int
options_check(const char *name, const struct portolan_options *options, struct portolan_error *error)
{
	int status;

	if (!name || !is_name(name))
		return invalid_name("the run's name", error);
	if (!options)
		return error_set(error, PORTOLAN_E_INVALID, "options are missing: store or endpoint must be given");
	if (options->group && options->group[0] && !is_name(options->group))
		return invalid_name("group", error);
	if (options->mode != PORTOLAN_EPOCH_END && options->mode != PORTOLAN_TRAIN_FORWARD)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "mode must be PORTOLAN_EPOCH_END or PORTOLAN_TRAIN_FORWARD");
	if (options->when_full != PORTOLAN_WAIT && options->when_full != PORTOLAN_DROP)
		return error_set(error, PORTOLAN_E_INVALID, "when_full must be PORTOLAN_WAIT or PORTOLAN_DROP");
	if (options->resume && options->overwrite)
		return error_set(error, PORTOLAN_E_INVALID, "give resume or overwrite, and not both");
	if (options->open_timeout_ms < 0)
		return error_set(error, PORTOLAN_E_INVALID, "open_timeout_ms is negative");
	if (options->ring_bytes != 0 && options->ring_bytes < OPTIONS_LEAST_RING_BYTES)
		return error_set(error, PORTOLAN_E_INVALID, "ring_bytes is %zu; at least %zu is needed",
		                 options->ring_bytes, OPTIONS_LEAST_RING_BYTES);
	status = check_where(options, error);
	if (status == 0)
		status = check_labels(options, error);
	if (status == 0 && options->config)
		status = check_config(options->config, error);
	if (status == 0)
		status = check_size(options, error);
	return status;
}

static struct wire_bytes
text(const char *string)
{
	return (struct wire_bytes){(const uint8_t *)(string ? string : ""), string ? strlen(string) : 0};
}

int
options_request(const char *name, const struct portolan_options *options, struct wire_open *request,
                struct wire_bytes **labels, struct portolan_error *error)
{
	struct wire_bytes *texts = NULL;
	struct timespec now;

	if (options->label_count > 0) {
		texts = calloc(options->label_count, sizeof(*texts));
		if (!texts)
			return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
		for (size_t i = 0; i < options->label_count; i++)
			texts[i] = text(options->labels[i]);
	}
	clock_gettime(CLOCK_REALTIME, &now);
	*labels = texts;
	*request = (struct wire_open){
	        .run = text(name),
	        .group = text(options->group),
	        .client = text("libportolan/" PORTOLAN_VERSION),
	        .config = text(options->config),
	        .labels = texts,
	        .label_count = options->label_count,
	        .started = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
	        .examples = options->examples,
	        .rank = options->rank,
	        .mode = options->mode,
	        .resume = options->resume != 0,
	        .overwrite = options->overwrite != 0,
	};
	return 0;
}
