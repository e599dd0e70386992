/* http_file.h: sends a file as an answer, all of it or a range of bytes. For the daemon of the live page (http.c). */
#ifndef HTTP_FILE_H
#define HTTP_FILE_H

#include "http_answer.h"

struct MHD_Response;

/* Makes the response for an answer of http_file(), whose file it takes over. `wanted` is the request's header Range;
 * NULL, or a range that cannot be understood: all of the file is sent. Sets the answer's status to 206 or 416 if a range
 * is asked for. NULL: out of memory; the file is closed then, too. */
struct MHD_Response *http_file_respond(struct http_answer *answer, const char *wanted);

#endif
