/* http_answer.c: makes bytes, or an error as JSON, the answer to an HTTP request, for the functions that answer the
 * live page's requests. */
#include "http_answer.h"

#include "output/report.h"

#include <portolan/error.h>

#include <microhttpd.h>
#include <stdarg.h>
#include <string.h>
#include <unistr.h>

void
http_bytes(struct http_answer *answer, const char *type, void *bytes, size_t size)
{
	answer->status = MHD_HTTP_OK;
	answer->type = type;
	answer->bytes = bytes;
	answer->size = size;
}

void
http_lasting(struct http_answer *answer, const char *type, const void *bytes, size_t size)
{
	http_bytes(answer, type, (void *)(uintptr_t)bytes, size);
	answer->lasting = true;
}

void
http_file(struct http_answer *answer, const char *type, int file, uint64_t size)
{
	http_lasting(answer, type, NULL, 0);
	answer->is_file = true;
	answer->file = file;
	answer->file_size = size;
}

void
http_error(struct http_answer *answer, unsigned status, const char *format, ...)
{
	char message[1024];
	const uint8_t *broken;
	struct portolan_error error;
	struct report report;
	char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	while ((broken = u8_check((uint8_t *)message, strlen(message)))) /* a quoted text may be cut */
		message[broken - (const uint8_t *)message] = '?';
	if (report_open_memory(&report, &error) >= 0) {
		report_begin(&report, NULL);
		report_text(&report, "error", message);
		report_end(&report);
		if (output_check(&report.output, &error) >= 0)
			text = strndup(report.output.buffer, report.output.used);
		output_discard(&report.output);
	}
	if (text)
		http_bytes(answer, "application/json", text, strlen(text));
	else
		http_lasting(answer, "application/json", "{\"error\":\"failed\"}", 18);
	answer->status = status;
}
