/* clock.h: the one clock for deadlines: milliseconds that never go back. */
#ifndef CLIENT_CLOCK_H
#define CLIENT_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_FOREVER INT64_MAX

static inline int64_t
clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#endif
