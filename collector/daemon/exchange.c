/*
 * exchange.c: hands messages from the receiver, the thread that reads the sockets, to the storer, the thread that
 * writes the store, and replies back, as lists. An eventfd wakes the receiver, a condition the storer.
 */
#include "exchange.h"

#include <portolan/clock.h>
#include <portolan/error.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

int
exchange_init(struct exchange *exchange, struct portolan_error *error)
{
	pthread_condattr_t attributes;

	*exchange = (struct exchange){.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .busy_since = clock_ms()};
	if (exchange->event < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot make an event: %s", strerror(errno));
	pthread_mutex_init(&exchange->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&exchange->arrived, &attributes);
	pthread_condattr_destroy(&attributes);
	return 0;
}

void
exchange_deinit(struct exchange *exchange)
{
	void *item;

	if (exchange->event < 0)
		return;
	list_move(&exchange->done, &exchange->waiting);
	while ((item = list_take(&exchange->done)))
		arrival_free(item);
	while ((item = list_take(&exchange->replies)))
		free(item);
	pthread_cond_destroy(&exchange->arrived);
	pthread_mutex_destroy(&exchange->mutex);
	close(exchange->event);
	exchange->event = -1;
}

void
exchange_put(struct exchange *exchange, struct list *arrivals, bool missed)
{
	if (!arrivals->first && !missed)
		return;
	pthread_mutex_lock(&exchange->mutex);
	list_move(&exchange->waiting, arrivals);
	exchange->missed |= missed;
	pthread_cond_signal(&exchange->arrived);
	pthread_mutex_unlock(&exchange->mutex);
}

void
exchange_collect(struct exchange *exchange, struct list *done, struct list *replies, struct storer_state *state,
                 int64_t *busy_since)
{
	uint64_t count;
	ssize_t ignored = read(exchange->event, &count, sizeof(count));

	(void)ignored;
	*done = (struct list){0};
	*replies = (struct list){0};
	pthread_mutex_lock(&exchange->mutex);
	list_move(done, &exchange->done);
	list_move(replies, &exchange->replies);
	*state = exchange->state;
	*busy_since = exchange->busy_since;
	pthread_mutex_unlock(&exchange->mutex);
}

void
exchange_stop(struct exchange *exchange)
{
	pthread_mutex_lock(&exchange->mutex);
	exchange->stop = true;
	pthread_cond_signal(&exchange->arrived);
	pthread_mutex_unlock(&exchange->mutex);
}

bool
exchange_take(struct exchange *exchange, int64_t until, struct list *arrivals, bool *missed)
{
	const struct timespec end = {.tv_sec = until / 1000, .tv_nsec = until % 1000 * 1000000};
	bool more;

	*arrivals = (struct list){0};
	pthread_mutex_lock(&exchange->mutex);
	exchange->busy_since = until > 0 ? 0 : exchange->busy_since;
	while (until > 0 && !exchange->waiting.first && !exchange->missed && !exchange->stop)
		if (pthread_cond_timedwait(&exchange->arrived, &exchange->mutex, &end) == ETIMEDOUT)
			break;
	exchange->busy_since = clock_ms();
	list_move(arrivals, &exchange->waiting);
	*missed |= exchange->missed;
	exchange->missed = false;
	more = arrivals->first || !exchange->stop;
	pthread_mutex_unlock(&exchange->mutex);
	return more;
}

void
exchange_post(struct exchange *exchange, struct list *done, struct list *replies, const struct storer_state *state)
{
	const uint64_t one = 1;
	bool is_news;
	ssize_t ignored;

	pthread_mutex_lock(&exchange->mutex);
	is_news = done->first || replies->first || state->failed || state->live != exchange->state.live ||
	          state->has_work != exchange->state.has_work;
	list_move(&exchange->done, done);
	list_move(&exchange->replies, replies);
	exchange->state = *state;
	pthread_mutex_unlock(&exchange->mutex);
	if (!is_news)
		return;
	ignored = write(exchange->event, &one, sizeof(one));
	(void)ignored;
}
