/* http_answer.h: the answer to an HTTP request, and the functions that fill it: for those that answer the live page's
 * requests, and for the daemon that sends it (http.h). */
#ifndef HTTP_ANSWER_H
#define HTTP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
