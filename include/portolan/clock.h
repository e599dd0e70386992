/* clock.h: the one clock for deadlines and durations, in all code of Portolan. It is monotonic: setting the time of day
 * does not change it. */
#ifndef PORTOLAN_CLOCK_H
#define PORTOLAN_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_FOREVER INT64_MAX /* a deadline that never comes */

static inline int64_t
clock_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static inline int64_t
clock_ms(void)
{
	return clock_us() / 1000;
}

static inline double
clock_s(void)
{
	return (double)clock_us() / 1e6;
}

#endif
