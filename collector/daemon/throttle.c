/*
 * throttle.c: writes one line to the log for many events that strangers cause, and counts those for which no line is
 * written yet. It stands apart from log.c, whose log_line() tests replace.
 */
#include "throttle.h"

#include "log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool
throttle_log(struct throttle *throttle, uint64_t events, int64_t now, const char *format, ...)
{
	char line[1024], count[64] = "";
	va_list arguments;

	throttle->events += events;
	if (now >= throttle->until)
		throttle->lines = 0;
	if (throttle->events == 0 || throttle->lines >= (throttle->most ? throttle->most : 1))
		return false;
	if (throttle->lines++ == 0)
		throttle->until = now + THROTTLE_MS;
	if (throttle->events > 1)
		snprintf(count, sizeof(count), " (%" PRIu64 " such since the last line)", throttle->events);
	throttle->events = 0;
	va_start(arguments, format);
	vsnprintf(line, sizeof(line) - sizeof(count), format, arguments);
	va_end(arguments);
	log_line("%s%s", line, count);
	return true;
}
