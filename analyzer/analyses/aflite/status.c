/*
 * status.c: shows the user of `portolan aflite`, on one line of the terminal, how far the filter is, and how long it
 * will take at most.
 *
 * The estimate is the time of the last phase for one example, times the examples of all phases to come, if every slice
 * is full; the kept examples count once more, as they are scored in the end.
 */
#include "aflite.h"

#include "base/message.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double
status_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void
status_begin(struct status *status, const struct filter *filter)
{
	*status = (struct status){.enabled = !message_is_quiet() && isatty(STDERR_FILENO), .last = status_now()};
	if (status->enabled)
		fprintf(stderr, "phase %zu: %s examples, %s classifiers", filter->phases + 1,
		        NUMBER_GROUPED(filter_left(filter)), NUMBER_GROUPED(filter->options.partitions));
}

/* Prints "3:05" or "1:02:03". */
static void
status_print_time(double seconds, char *text, size_t room)
{
	unsigned long whole = (unsigned long)fmin(seconds, 1e7);

	if (whole >= 3600)
		snprintf(text, room, "%lu:%02lu:%02lu", whole / 3600, whole / 60 % 60, whole % 60);
	else
		snprintf(text, room, "%lu:%02lu", whole / 60, whole % 60);
}

void
status_update(struct status *status, const struct filter *filter)
{
	const struct filter_log *log = &filter->log[filter->phases - 1];
	double time = status_now(), left = (double)filter_left(filter), to_go;
	double phases = ceil((left - (double)filter->options.target) / (double)filter->options.slice);
	char examples[NUMBER_ROOM], remaining[32];

	if (!status->enabled)
		return;
	to_go = (phases * 0.5 * (left + (double)filter->options.target) + (double)filter->options.target) *
	        (time - status->last) / (double)log->left;
	status->last = time;
	number_print_grouped(filter_left(filter), examples);
	status_print_time(to_go, remaining, sizeof(remaining));
	fprintf(stderr, "\rphase %zu: %s left, mean p %.3f, held-out accuracy %.3f, at most %s to go\033[K",
	        filter->phases, examples, log->mean_p, log->accuracy, remaining);
	fflush(stderr);
}

void
status_end(struct status *status)
{
	if (status->enabled)
		fputs("\r\033[K", stderr);
	status->enabled = false;
}
