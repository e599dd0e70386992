/* clock.h: the one clock of the collector. It is monotonic: it goes on while the time of day is set. */
#ifndef COLLECTOR_CLOCK_H
#define COLLECTOR_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t
clock_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static inline int64_t
clock_ms(void)
{
	return clock_us() / 1000;
}

#endif
