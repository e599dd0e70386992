/* http_answer.h: the answer to a request. */
#ifndef HTTP_ANSWER_H
#define HTTP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

/* The answer, which begins as {0}; one of the functions below fills it. */
struct http_answer {
	unsigned status;
	const char *type;              /* Content-Type */
	const char *security;          /* Content-Security-Policy; NULL: nothing may be loaded */
	const char *filename;          /* NULL, or the name under which a browser saves it, without quotes */
	const char *location, *cookie; /* where it leads; what the browser keeps; NULL: nothing */
	void *bytes;
	size_t size;
	bool lasting; /* the bytes are never freed; else they are, with free() */
	bool gzip;    /* they are compressed */
};

/* Sets the answer: these bytes (taken over); this text (copied); or an error, {"error": …}. */
void http_bytes(struct http_answer *answer, const char *type, void *bytes, size_t size);
void http_lasting(struct http_answer *answer, const char *type, const void *bytes, size_t size);
__attribute__((format(printf, 3, 4))) void http_error(struct http_answer *answer, unsigned status, const char *format,
                                                      ...);

#endif
