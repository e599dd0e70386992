/* error.h: fills a struct portolan_error with a code and a message, for every function of Portolan that can fail;
 * private. A NULL error is accepted. */
#ifndef PORTOLAN_ERROR_H
#define PORTOLAN_ERROR_H

#include <portolan/portolan.h>

#include <stdarg.h>
#include <stdio.h>

/* Sets code and message (one line, cut at the buffer's end) and returns `code`, so that a failure is one statement:
 *     return error_set(error, PORTOLAN_E_INVALID, "epoch %u: …", epoch);
 * Weak: each file compiles a copy of this function, and the linker keeps one; so the client library is 3 KB smaller. */
__attribute__((format(printf, 3, 4), weak, visibility("hidden"))) int error_set(struct portolan_error *error, int code,
                                                                                const char *format, ...);

int
error_set(struct portolan_error *error, int code, const char *format, ...)
{
	if (error) {
		va_list arguments;

		va_start(arguments, format);
		vsnprintf(error->message, sizeof(error->message), format, arguments);
		va_end(arguments);
		error->code = code;
	}
	return code;
}

#endif
