/*
 * parallel.c: runs numbered parts of work in threads, and hands their results to the caller in order (parallel.h).
 *
 * A result waits in a slot until it is delivered. Part p has slot p mod slots, and is begun only when part p − slots
 * was delivered. Parts are begun in order, so all parts before a failed one are delivered first, and the reported error
 * is always the same. With one thread, or if the system refuses to start more, the caller's thread does the work.
 */
#include "parallel.h"

#include <portolan/error.h>
#include <progress.h>

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#define THREADS_MOST 1024u

struct result {
	bool ready;
	int code;
	struct portolan_error error;
};

struct window {
	const struct parallel *parallel;
	unsigned slots;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t room, ready;
	size_t next, delivered;
	bool stop;
	struct result *results; /* by slot */
};

struct thread {
	struct window *window;
	unsigned number;
	pthread_t id;
};

unsigned
parallel_threads(unsigned asked)
{
	cpu_set_t cores;

	if (asked == 0 && sched_getaffinity(0, sizeof(cores), &cores) == 0)
		asked = (unsigned)CPU_COUNT(&cores);
	if (asked == 0)
		return 1;
	return asked < THREADS_MOST ? asked : THREADS_MOST;
}

unsigned
parallel_slots(unsigned threads)
{
	return threads > 1 ? 2 * threads : 1;
}

static void *
work(void *argument)
{
	const struct thread *thread = argument;
	struct window *window = thread->window;
	const struct parallel *parallel = window->parallel;

	pthread_mutex_lock(&window->lock);
	for (;;) {
		struct result *result;
		unsigned slot;
		size_t part;

		while (!window->stop && window->next < parallel->count &&
		       window->next - window->delivered >= window->slots)
			pthread_cond_wait(&window->room, &window->lock);
		if (window->stop || window->next >= parallel->count)
			break;
		part = window->next++;
		slot = (unsigned)(part % window->slots);
		result = &window->results[slot];
		pthread_mutex_unlock(&window->lock);
		result->code = parallel->work(parallel->context, thread->number, slot, part, &result->error);
		pthread_mutex_lock(&window->lock);
		result->ready = true;
		pthread_cond_signal(&window->ready);
	}
	pthread_mutex_unlock(&window->lock);
	return NULL;
}

/* Waits for the part and takes its result. */
static int
take_part(struct window *window, size_t part, struct portolan_error *error)
{
	const struct parallel *parallel = window->parallel;
	unsigned slot = (unsigned)(part % window->slots);
	struct result *result = &window->results[slot];

	pthread_mutex_lock(&window->lock);
	while (!result->ready)
		pthread_cond_wait(&window->ready, &window->lock);
	result->ready = false;
	pthread_mutex_unlock(&window->lock);
	if (result->code < 0) {
		if (error)
			*error = result->error;
		return result->code;
	}
	return parallel->deliver ? parallel->deliver(parallel->context, slot, part, error) : 0;
}

static int
take_all(struct window *window, struct progress *progress, struct portolan_error *error)
{
	int code = 0;

	for (size_t part = 0; part < window->parallel->count && code >= 0; part++) {
		code = take_part(window, part, error);
		pthread_mutex_lock(&window->lock);
		window->delivered++;
		window->stop = code < 0;
		pthread_cond_broadcast(&window->room);
		pthread_mutex_unlock(&window->lock);
		progress_show(progress, part + 1);
	}
	return code < 0 ? code : 0;
}

static int
run_alone(const struct parallel *parallel, struct progress *progress, struct portolan_error *error)
{
	for (size_t part = 0; part < parallel->count; part++) {
		int code = parallel->work(parallel->context, 0, 0, part, error);

		if (code >= 0 && parallel->deliver)
			code = parallel->deliver(parallel->context, 0, part, error);
		if (code < 0)
			return code;
		progress_show(progress, part + 1);
	}
	return 0;
}

static int
run_threads(const struct parallel *parallel, struct progress *progress, struct portolan_error *error)
{
	struct window window = {.parallel = parallel,
	                        .slots = parallel_slots(parallel->threads),
	                        .lock = PTHREAD_MUTEX_INITIALIZER,
	                        .room = PTHREAD_COND_INITIALIZER,
	                        .ready = PTHREAD_COND_INITIALIZER};
	struct thread *threads = calloc(parallel->threads, sizeof(*threads));
	unsigned started = 0;
	int code;

	window.results = calloc(window.slots, sizeof(*window.results));
	while (threads && window.results && started < parallel->threads) {
		threads[started] = (struct thread){.window = &window, .number = started};
		if (pthread_create(&threads[started].id, NULL, work, &threads[started]) != 0)
			break;
		started++;
	}
	code = started ? take_all(&window, progress, error) : run_alone(parallel, progress, error);
	for (unsigned t = 0; t < started; t++)
		pthread_join(threads[t].id, NULL);
	pthread_mutex_destroy(&window.lock);
	pthread_cond_destroy(&window.room);
	pthread_cond_destroy(&window.ready);
	free(window.results);
	free(threads);
	return code;
}

int
parallel_run(const struct parallel *parallel, struct portolan_error *error)
{
	struct progress progress = {0};
	int code;

	if (parallel->what)
		progress_begin(&progress, parallel->what, parallel->count);
	if (parallel->threads > 1 && parallel->count > 1)
		code = run_threads(parallel, &progress, error);
	else
		code = run_alone(parallel, &progress, error);
	progress_clear(&progress);
	return code;
}
