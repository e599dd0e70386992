/*
 * parallel.c: runs numbered parts of work in threads, and hands their results to the caller in order (parallel.h).
 *
 * A result waits in a slot until it is delivered. Part p has slot p mod slots, and is begun only when part p − slots
 * was delivered. Parts are begun in order, so all parts before a failed one are delivered first, and the reported error
 * is always the same.
 *
 * The caller's thread is one of the threads. It delivers what it can, and works on a part where there is nothing to
 * deliver. So there are no more threads than asked for, and hardly ever does one wait for another. Where `deliver` is
 * NULL nobody has to wait for the caller: any thread counts the finished parts that are next as delivered. If the
 * system refuses to start more threads, or there is no memory for their results, those that there are do the work.
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
	struct progress *progress;
	unsigned slots;
	pthread_mutex_t lock;   /* guards what follows */
	pthread_cond_t changed; /* there is room to begin a part, a result for the caller to deliver, or an end */
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

static bool
has_begun_all(const struct window *window)
{
	return window->stop || window->next >= window->parallel->count;
}

static bool
has_room(const struct window *window)
{
	return window->next - window->delivered < window->slots;
}

/* The result of the part that is delivered next. */
static struct result *
next_result(const struct window *window)
{
	return &window->results[window->delivered % window->slots];
}

/* Shows how much is done. The lock is held before and after, but not meanwhile: a terminal can be stopped. */
static void
show_progress(struct window *window)
{
	const size_t done = window->delivered;

	pthread_mutex_unlock(&window->lock);
	progress_show(window->progress, done);
	pthread_mutex_lock(&window->lock);
}

/* Counts the results that are next as delivered. A failure is left to the caller. */
static void
pass_over(struct window *window)
{
	struct result *result = next_result(window);

	for (; result->ready && result->code >= 0; result = next_result(window)) {
		result->ready = false;
		window->delivered++;
		pthread_cond_broadcast(&window->changed);
	}
	show_progress(window);
}

/* Works on the next part. The lock is held before and after, but not meanwhile. */
static void
do_part(struct window *window, unsigned thread)
{
	const struct parallel *parallel = window->parallel;
	const size_t part = window->next++;
	const unsigned slot = (unsigned)(part % window->slots);
	struct result *result = &window->results[slot];

	pthread_mutex_unlock(&window->lock);
	result->code = parallel->work(parallel->context, thread, slot, part, &result->error);
	pthread_mutex_lock(&window->lock);
	result->ready = true;
	if (!parallel->deliver)
		pass_over(window);
}

static void *
help(void *argument)
{
	const struct thread *thread = argument;
	struct window *window = thread->window;

	pthread_mutex_lock(&window->lock);
	for (;;) {
		while (!has_begun_all(window) && !has_room(window))
			pthread_cond_wait(&window->changed, &window->lock);
		if (has_begun_all(window))
			break;
		do_part(window, thread->number);
		if (next_result(window)->ready)
			pthread_cond_broadcast(&window->changed);
	}
	pthread_mutex_unlock(&window->lock);
	return NULL;
}

/* Delivers the next result, which is ready. The lock is held before and after, but not meanwhile. */
static int
deliver_next(struct window *window, struct portolan_error *error)
{
	const struct parallel *parallel = window->parallel;
	const size_t part = window->delivered;
	struct result *result = next_result(window);
	int code = result->code;

	result->ready = false;
	pthread_mutex_unlock(&window->lock);
	if (code < 0 && error)
		*error = result->error;
	else if (code >= 0 && parallel->deliver)
		code = parallel->deliver(parallel->context, (unsigned)(part % window->slots), part, error);
	pthread_mutex_lock(&window->lock);
	window->stop = code < 0;
	window->delivered++;
	pthread_cond_broadcast(&window->changed);
	show_progress(window);
	return code;
}

static int
do_all(struct window *window, struct portolan_error *error)
{
	int code = 0;

	pthread_mutex_lock(&window->lock);
	while (window->delivered < window->parallel->count && code >= 0) {
		if (next_result(window)->ready)
			code = deliver_next(window, error);
		else if (!has_begun_all(window) && has_room(window))
			do_part(window, 0);
		else
			pthread_cond_wait(&window->changed, &window->lock);
	}
	pthread_mutex_unlock(&window->lock);
	return code < 0 ? code : 0;
}

static int
run_threads(const struct parallel *parallel, struct progress *progress, struct portolan_error *error)
{
	struct result alone = {0};
	struct window window = {.parallel = parallel,
	                        .progress = progress,
	                        .slots = parallel_slots(parallel->threads),
	                        .lock = PTHREAD_MUTEX_INITIALIZER,
	                        .changed = PTHREAD_COND_INITIALIZER};
	struct thread *threads = NULL;
	unsigned started = 1;
	int code;

	if (parallel->threads > 1) {
		window.results = calloc(window.slots, sizeof(*window.results));
		threads = window.results ? calloc(parallel->threads, sizeof(*threads)) : NULL;
	}
	while (threads && started < parallel->threads && started < parallel->count) {
		threads[started] = (struct thread){.window = &window, .number = started};
		if (pthread_create(&threads[started].id, NULL, help, &threads[started]) != 0)
			break;
		started++;
	}
	if (!window.results) {
		window.results = &alone;
		window.slots = 1;
	}
	code = do_all(&window, error);
	for (unsigned t = 1; t < started; t++)
		pthread_join(threads[t].id, NULL);
	pthread_mutex_destroy(&window.lock);
	pthread_cond_destroy(&window.changed);
	if (window.results != &alone)
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
	code = run_threads(parallel, &progress, error);
	progress_clear(&progress);
	return code;
}
