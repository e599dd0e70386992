/*
 * http_file.c: sends a file as the answer to an HTTP request, all of it or one range of bytes, for the daemon (http.c).
 *
 * The file is read as the client takes it, in blocks, so a large one needs no memory. If it becomes shorter meanwhile,
 * the connection is closed, and the client sees that the answer is not whole.
 */
#include "http_file.h"

#include "base/number.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK 32768

struct file_sending {
	int file;
	uint64_t from; /* the first byte that is sent */
};

static ssize_t
http_file_read(void *context, uint64_t position, char *bytes, size_t most)
{
	const struct file_sending *sending = context;
	ssize_t got;

	do
		got = pread(sending->file, bytes, most, (off_t)(sending->from + position));
	while (got < 0 && errno == EINTR);
	return got > 0 ? got : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void
http_file_release(void *context)
{
	struct file_sending *sending = context;

	close(sending->file);
	free(sending);
}

enum range { RANGE_ALL, RANGE_PART, RANGE_BEYOND };

/* Reads "bytes=FROM-TO", "bytes=FROM-" or "bytes=-LAST", for a file of `size` bytes; *to is the byte after the last one.
 * A text that is none of these asks for all, as HTTP has it (RFC 9110, 14.2). */
static enum range
http_file_parse(const char *text, uint64_t size, uint64_t *from, uint64_t *to)
{
	const char *minus = text && strncmp(text, "bytes=", 6) == 0 ? strchr(text, '-') : NULL;
	bool has_from, has_to;
	uint64_t first = 0, last = 0;

	if (!minus)
		return RANGE_ALL;
	text += 6;
	has_from = minus > text;
	has_to = minus[1] != '\0';
	if ((!has_from && !has_to) || (has_from && !number_parse_u64(text, (size_t)(minus - text), &first)) ||
	    (has_to && !number_parse_u64(minus + 1, strlen(minus + 1), &last)) || (has_from && has_to && last < first))
		return RANGE_ALL;
	if (!has_from)
		first = last < size ? size - last : 0;
	if (first >= size || (!has_from && last == 0))
		return RANGE_BEYOND;
	*from = first;
	*to = has_from && has_to && last < size - 1 ? last + 1 : size;
	return RANGE_PART;
}

struct MHD_Response *
http_file_respond(struct http_answer *answer, const char *wanted)
{
	uint64_t from = 0, to = answer->file_size;
	enum range range = http_file_parse(wanted, answer->file_size, &from, &to);
	struct file_sending *sending = malloc(sizeof(*sending));
	struct MHD_Response *response = NULL;
	char text[96];

	if (range == RANGE_BEYOND)
		to = 0;
	if (sending) {
		*sending = (struct file_sending){answer->file, from};
		response =
		        MHD_create_response_from_callback(to - from, BLOCK, http_file_read, sending, http_file_release);
	}
	if (!response) {
		free(sending);
		close(answer->file);
		return NULL;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_ACCEPT_RANGES, "bytes");
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_DISPOSITION, "inline");
	if (range == RANGE_ALL)
		return response;
	answer->status = range == RANGE_PART ? MHD_HTTP_PARTIAL_CONTENT : MHD_HTTP_RANGE_NOT_SATISFIABLE;
	if (range == RANGE_PART)
		snprintf(text, sizeof(text), "bytes %llu-%llu/%llu", (unsigned long long)from,
		         (unsigned long long)to - 1, (unsigned long long)answer->file_size);
	else
		snprintf(text, sizeof(text), "bytes */%llu", (unsigned long long)answer->file_size);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_RANGE, text);
	return response;
}
