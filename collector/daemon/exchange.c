/* exchange.c: see exchange.h. */
#include "exchange.h"

#include "clock.h"

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

static void
free_arrivals(struct arrivals *list)
{
	while (list->first) {
		struct arrival *arrival = list->first;

		list->first = arrival->next;
		arrival_free(arrival);
	}
}

void
exchange_deinit(struct exchange *exchange)
{
	if (exchange->event < 0)
		return;
	free_arrivals(&exchange->waiting);
	free_arrivals(&exchange->done);
	while (exchange->replies.first) {
		struct reply *reply = exchange->replies.first;

		exchange->replies.first = reply->next;
		free(reply);
	}
	pthread_cond_destroy(&exchange->arrived);
	pthread_mutex_destroy(&exchange->mutex);
	close(exchange->event);
	exchange->event = -1;
}

/* Moves all of `from` to the end of `to`. */
static void
move_arrivals(struct arrivals *to, struct arrivals *from)
{
	if (!from->first)
		return;
	*(to->first ? to->last : &to->first) = from->first;
	to->last = from->last;
	*from = (struct arrivals){0};
}

static void
move_replies(struct replies *to, struct replies *from)
{
	if (!from->first)
		return;
	*(to->first ? to->last : &to->first) = from->first;
	to->last = from->last;
	*from = (struct replies){0};
}

void
exchange_put(struct exchange *exchange, struct arrivals *arrivals, struct refusals *refused)
{
	if (!arrivals->first && refused->unreadable == 0 && refused->dropped == 0)
		return;
	pthread_mutex_lock(&exchange->mutex);
	move_arrivals(&exchange->waiting, arrivals);
	exchange->refused.unreadable += refused->unreadable;
	exchange->refused.dropped += refused->dropped;
	*refused = (struct refusals){0};
	pthread_cond_signal(&exchange->arrived);
	pthread_mutex_unlock(&exchange->mutex);
}

void
exchange_collect(struct exchange *exchange, struct arrivals *done, struct replies *replies, struct storer_state *state,
                 int64_t *busy_since)
{
	uint64_t count;
	ssize_t ignored = read(exchange->event, &count, sizeof(count));

	(void)ignored;
	*done = (struct arrivals){0};
	*replies = (struct replies){0};
	pthread_mutex_lock(&exchange->mutex);
	move_arrivals(done, &exchange->done);
	move_replies(replies, &exchange->replies);
	*state = exchange->state;
	*busy_since = exchange->busy_since;
	pthread_mutex_unlock(&exchange->mutex);
}

bool
exchange_is_idle(struct exchange *exchange)
{
	bool is_idle;

	pthread_mutex_lock(&exchange->mutex);
	is_idle = exchange->busy_since == 0 && !exchange->waiting.first && !exchange->replies.first &&
	          !exchange->done.first;
	pthread_mutex_unlock(&exchange->mutex);
	return is_idle;
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
exchange_take(struct exchange *exchange, int64_t until, struct arrivals *arrivals, struct refusals *refused)
{
	const struct timespec end = {.tv_sec = until / 1000, .tv_nsec = until % 1000 * 1000000};
	bool more;

	*arrivals = (struct arrivals){0};
	pthread_mutex_lock(&exchange->mutex);
	exchange->busy_since = until > 0 ? 0 : exchange->busy_since;
	while (until > 0 && !exchange->waiting.first && !exchange->stop)
		if (pthread_cond_timedwait(&exchange->arrived, &exchange->mutex, &end) == ETIMEDOUT)
			break;
	exchange->busy_since = clock_ms();
	move_arrivals(arrivals, &exchange->waiting);
	*refused = exchange->refused;
	exchange->refused = (struct refusals){0};
	more = arrivals->first || !exchange->stop;
	pthread_mutex_unlock(&exchange->mutex);
	return more;
}

void
exchange_post(struct exchange *exchange, struct arrivals *done, struct replies *replies,
              const struct storer_state *state)
{
	const uint64_t one = 1;
	bool is_news;
	ssize_t ignored;

	pthread_mutex_lock(&exchange->mutex);
	is_news = done->first || replies->first || state->failed || state->live != exchange->state.live ||
	          state->has_work != exchange->state.has_work;
	move_arrivals(&exchange->done, done);
	move_replies(&exchange->replies, replies);
	exchange->state = *state;
	pthread_mutex_unlock(&exchange->mutex);
	if (!is_news)
		return;
	ignored = write(exchange->event, &one, sizeof(one));
	(void)ignored;
}
