/*
 * progress.c: draws the progress bar of a command in one line of the terminal.
 *
 * The line is drawn when the percentage changes, and twice a second; not in the first half second. A thread counts the
 * seconds, so that they go on while a part of the work takes long. Without memory, or threads, there is no bar. The
 * reader of a piped output may be a pager, which shows its page on the same terminal for as long as it blocks the work:
 * the thread then draws nothing.
 */
#include "progress.h"

#include <portolan/clock.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 500
#define TICK_MS 500
#define BAR 40

static bool is_quiet;

struct progress_line {
	const char *what;
	uint64_t total;
	int64_t started; /* ms, monotonic */
	bool piped;      /* standard output is a pipe */
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows, and the line on the terminal */
	pthread_cond_t ended;
	int percent;
	bool shown, end;
};

/* The bar that was begun last, for progress_end(); the lock guards it against progress_clear(). */
static struct progress_line *last_line;
static pthread_mutex_t last_lock = PTHREAD_MUTEX_INITIALIZER;

void
progress_set_quiet(bool quiet)
{
	is_quiet = quiet;
}

static void
progress_draw(struct progress_line *line, int64_t now)
{
	static const char full[BAR + 1] = "########################################";
	int64_t seconds = (now - line->started) / 1000;

	fprintf(stderr, "\r%s", line->what);
	if (line->total > 0)
		fprintf(stderr, " [%-*.*s] %3d%%", BAR, line->percent * BAR / 100, full, line->percent);
	if (seconds > 0)
		fprintf(stderr, "%s %lld s", line->total > 0 ? "," : ":", (long long)seconds);
	fputs("\033[K", stderr);
	fflush(stderr);
	line->shown = true;
}

static void *
progress_tick(void *argument)
{
	struct progress_line *line = argument;
	int64_t at = line->started + PATIENCE_MS;

	pthread_mutex_lock(&line->lock);
	for (; !line->end; at += TICK_MS) {
		const struct timespec next = {.tv_sec = at / 1000, .tv_nsec = at % 1000 * 1000000};

		while (!line->end && pthread_cond_timedwait(&line->ended, &line->lock, &next) == 0)
			;
		if (!line->end && !line->piped)
			progress_draw(line, clock_ms());
	}
	pthread_mutex_unlock(&line->lock);
	return NULL;
}

static void
progress_set_last(struct progress_line *from, struct progress_line *to)
{
	pthread_mutex_lock(&last_lock);
	if (!from || last_line == from)
		last_line = to;
	pthread_mutex_unlock(&last_lock);
}

/* Signals are for the caller's threads. */
static bool
progress_start_thread(struct progress_line *line)
{
	sigset_t all, before;
	bool started;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&line->thread, NULL, progress_tick, line) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

static bool
progress_is_piped(void)
{
	struct stat status;

	return fstat(STDOUT_FILENO, &status) == 0 && S_ISFIFO(status.st_mode);
}

static void
progress_line_free(struct progress_line *line)
{
	pthread_cond_destroy(&line->ended);
	pthread_mutex_destroy(&line->lock);
	free(line);
}

void
progress_begin(struct progress *progress, const char *what, uint64_t total)
{
	struct progress_line *line = !is_quiet && isatty(STDERR_FILENO) ? malloc(sizeof(*line)) : NULL;
	pthread_condattr_t monotonic;

	progress->line = NULL;
	if (!line)
		return;
	*line = (struct progress_line){
	        .what = what, .total = total, .started = clock_ms(), .piped = progress_is_piped()};
	pthread_mutex_init(&line->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&line->ended, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (!progress_start_thread(line)) {
		progress_line_free(line);
		return;
	}
	progress->line = line;
	progress_set_last(NULL, line);
}

void
progress_show(struct progress *progress, uint64_t done)
{
	struct progress_line *line = progress->line;
	int64_t now;
	int percent;

	if (!line || line->total == 0)
		return;
	percent = done < line->total ? (int)((double)done * 100 / (double)line->total) : 100;
	now = clock_ms();
	pthread_mutex_lock(&line->lock);
	if (percent > line->percent || (percent == line->percent && !line->shown)) {
		line->percent = percent;
		if (now - line->started >= PATIENCE_MS)
			progress_draw(line, now);
	}
	pthread_mutex_unlock(&line->lock);
}

void
progress_hide(struct progress *progress)
{
	struct progress_line *line = progress->line;

	if (!line)
		return;
	pthread_mutex_lock(&line->lock);
	if (line->shown)
		fputs("\r\033[K", stderr);
	line->shown = false;
	pthread_mutex_unlock(&line->lock);
}

void
progress_clear(struct progress *progress)
{
	struct progress_line *line = progress->line;

	if (!line)
		return;
	progress_set_last(line, NULL);
	pthread_mutex_lock(&line->lock);
	line->end = true;
	pthread_cond_signal(&line->ended);
	pthread_mutex_unlock(&line->lock);
	pthread_join(line->thread, NULL);
	progress_hide(progress);
	progress_line_free(line);
	progress->line = NULL;
}

/* Keeps both locks, so that no thread draws the bar again. */
void
progress_end(void)
{
	pthread_mutex_lock(&last_lock);
	if (last_line) {
		pthread_mutex_lock(&last_line->lock);
		if (last_line->shown)
			fputs("\r\033[K", stderr);
	}
}
