/*
 * http.h: runs the HTTP daemon of the live page (libmicrohttpd), for `portolan serve`: checks who may ask, keeps to
 * limits, and sends the answers that a function of the caller makes.
 *
 *     struct http_settings settings = {.socket = fd, .access = {token}, .answer = answer, .context = server};
 *     http_start(&http, &settings, &error); … http_stop(http);
 *
 * Each connection has a thread, which calls `answer` for each allowed request, so `answer` must be safe from several
 * threads. Requests without the token, or with another Host or Origin, never reach it.
 */
#ifndef HTTP_H
#define HTTP_H

#include "access.h"
#include "http_answer.h"

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stddef.h>

#define HTTP_BODY_MAX ((size_t)32 << 20)
#define HTTP_CONNECTIONS 800 /* at most; from 700 on, the oldest one without the token is closed for a new one */
#define HTTP_SILENCE_S 20    /* a connection without data for so long is closed */

struct http_request {
	bool post;
	const char *path; /* decoded, without the leading slash */
	const char *body; /* of a POST; ends with '\0', which body_size does not count */
	size_t body_size;
	bool takes_gzip;
	void *private; /* see http_argument() */
};

struct http_settings {
	int socket; /* bound and listening; http_stop() closes it */
	struct access access;
	void (*answer)(void *context, const struct http_request *request, struct http_answer *answer);
	void *context;
};

struct http;

/* Starts the daemon. What the settings point to must stay until http_stop(). PORTOLAN_E_SYSTEM. */
int http_start(struct http **http, const struct http_settings *settings, struct portolan_error *error);
void http_stop(struct http *http); /* waits for answers under way; NULL: does nothing */

/* An argument of the query, decoded; valid as long as the request. NULL: not given, or not valid UTF-8. */
const char *http_argument(const struct http_request *request, const char *name);

#endif
