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

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* The answer, which begins as {0}; one of the functions below fills it. */
struct http_answer {
	unsigned status;
	const char *type;              /* Content-Type */
	const char *security;          /* Content-Security-Policy; NULL: nothing may be loaded */
	const char *filename;          /* NULL, or the name under which a browser saves it, without quotes */
	const char *location, *cookie; /* the headers Location and Set-Cookie; NULL: none */
	void *bytes;
	size_t size;
	bool lasting; /* the bytes are not freed; otherwise free() frees them */
	bool is_file; /* `file`, from its first byte, is sent in place of the bytes */
	int file;
	uint64_t file_size;
	bool gzip; /* the bytes are compressed */
};

/* Makes these bytes the answer. http_bytes() takes them over, and free() frees them; with http_lasting() they stay. */
void http_bytes(struct http_answer *answer, const char *type, void *bytes, size_t size);
void http_lasting(struct http_answer *answer, const char *type, const void *bytes, size_t size);
/* Makes so many bytes of a file the answer, or the range of them that the client asks for; takes the descriptor over. */
void http_file(struct http_answer *answer, const char *type, int file, uint64_t size);
/* Makes an error the answer: {"error": …}. */
__attribute__((format(printf, 3, 4))) void http_error(struct http_answer *answer, unsigned status, const char *format,
                                                      ...);

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
