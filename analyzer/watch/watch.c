/*
 * watch.c: portolan watch: shows the user a run while it is being recorded, look by look: as a screen, as lines, or as
 * JSON.
 *
 * Ctrl-C is the ordinary way to end. So signals are blocked, no handler runs, and `watch` waits for a signal between
 * two looks. That wait takes at least nine times as long as the look before it, so looking takes at most a tenth of the
 * time.
 */
#include "base/message.h"
#include "base/style.h"
#include "base/terminal.h"
#include "frame.h"
#include "options/options.h"
#include "output/report.h"

#include <portolan/clock.h>

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define INTERVAL_S 2.0
#define INTERVAL_MIN_S 0.05
#define INTERVAL_MAX_S 86400.0
#define SHARE 9.0    /* after a look, `watch` waits at least so many times as long as the look took */
#define TROUBLES 3   /* so many failed looks in a row end the program */
#define LEFT_FREE 3  /* lines left free below the last screen, beside the one that is always free */
#define IDLE_STEP 60 /* seconds: in lines, idle time is news only in steps of so many */

enum manner { MANNER_LINES, MANNER_JSON, MANNER_SCREEN };

struct watch {
	struct common_options common;
	double interval;
	bool once;
	/* set by the command itself */
	struct live live;
	struct live_view view;
	struct frame_moment moment;
	struct terminal terminal;
	enum manner manner;
	struct frame_pace pace;
	char *line; /* the last line printed, without what is no news in it: see watch_show_line() */
	unsigned troubles;
	bool ended; /* a signal has ended it: the next screen is the last */
	int status;
};

static void
watch_set_ends(sigset_t *signals)
{
	sigemptyset(signals);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGHUP);
}

static bool
watch_is_stopped(void)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) || sigismember(&pending, SIGHUP);
}

/* Waits for a signal, at most so many seconds; returns the signal, or 0. */
static int
watch_wait(double seconds)
{
	struct timespec time = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(fmod(seconds, 1) * 1e9)};
	sigset_t signals;
	int number;

	watch_set_ends(&signals);
	sigaddset(&signals, SIGWINCH);
	number = sigtimedwait(&signals, NULL, &time);
	return number > 0 ? number : 0;
}

/* Sets the moment of the look: the time, the rate since the last look, and for how long nothing was new. */
static void
watch_take_moment(struct watch *watch)
{
	time_t now = time(NULL);
	struct tm local;

	watch->moment.time = now;
	if (!localtime_r(&now, &local) ||
	    strftime(watch->moment.clock, sizeof(watch->moment.clock), "%H:%M:%S", &local) == 0)
		watch->moment.clock[0] = '\0';
	frame_take_pace(&watch->pace, &watch->view, clock_s(), &watch->moment);
}

/* Prints the line if it has news. A change in the time, the rate, or the seconds without data is no news. */
static bool
watch_show_line(struct watch *watch)
{
	struct frame_moment news = watch->moment;
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	bool shown = true;

	if (!stream)
		return false;
	news.clock[0] = '\0';
	news.rate = NAN;
	news.idle = floor(news.idle / IDLE_STEP) * IDLE_STEP;
	frame_line(stream, &watch->view, &news);
	fclose(stream);
	if (!watch->line || strcmp(watch->line, text) != 0) {
		frame_line(stdout, &watch->view, &watch->moment);
		shown = fflush(stdout) == 0;
	}
	free(watch->line);
	watch->line = text;
	return shown;
}

static bool
watch_show_json(struct watch *watch)
{
	struct report report;

	if (report_open(&report, NULL, 0, NULL) < 0)
		return false;
	frame_json(&report, &watch->view, &watch->moment);
	return report_close(&report, NULL) >= 0;
}

static bool
watch_show_screen(struct watch *watch)
{
	struct terminal_size size = terminal_size();
	bool is_last = watch->once || watch->ended || watch->view.state == LIVE_CLOSED;
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	unsigned lines;
	bool shown;

	if (!stream)
		return false;
	size.styled = *style(STDOUT_FILENO, STYLE_PLAIN) != '\0';
	if (is_last && size.lines > LEFT_FREE) /* so that the first line stays visible above the shell's next prompt */
		size.lines -= LEFT_FREE;
	lines = frame_screen(stream, &watch->view, &watch->moment, &size);
	fclose(stream);
	shown = terminal_draw(&watch->terminal, text, lines);
	free(text);
	return shown;
}

static bool
watch_show(struct watch *watch)
{
	bool shown = watch->manner == MANNER_JSON    ? watch_show_json(watch)
	             : watch->manner == MANNER_LINES ? watch_show_line(watch)
	                                             : watch_show_screen(watch);

	if (!shown) {
		message_error("cannot write standard output: %s", strerror(errno ? errno : ENOMEM));
		watch->status = STATUS_FAILED;
	}
	return shown;
}

/* Reads the run once, and shows it. False: watching is over. */
static bool
watch_look(struct watch *watch, struct portolan_error *error)
{
	struct live_view view;
	int code = live_look(&watch->live, &view, error);
	bool absent;

	if (code == PORTOLAN_E_CANCELLED)
		return true; /* the caller then takes the signal */
	watch->troubles = code < 0 ? watch->troubles + 1 : 0;
	absent = code >= 0 && (view.state == LIVE_NO_STORE || view.state == LIVE_NO_RUN);
	if (watch->troubles == TROUBLES || (watch->once && (code < 0 || absent))) {
		message_error("%s", code < 0 ? error->message : view.why);
		watch->status = STATUS_FAILED;
		return false;
	}
	if (code < 0) { /* the epochs of the last look are no longer valid */
		watch->view = (struct live_view){.state = LIVE_NO_RUN};
		watch->moment.trouble = error->message;
	} else {
		watch->view = view;
		watch->moment.trouble = NULL;
	}
	watch_take_moment(watch);
	return watch_show(watch) && !watch->once && watch->view.state != LIVE_CLOSED;
}

/* Ctrl-C is the normal end. Any other signal ends the program like any program. */
static bool
watch_take_signal(struct watch *watch, int number)
{
	sigset_t signals;

	if (number == SIGWINCH)
		return watch->manner != MANNER_SCREEN || (terminal_clear(&watch->terminal) && watch_show_screen(watch));
	watch->ended = true;
	if (number == SIGINT && watch->manner == MANNER_SCREEN)
		watch_show_screen(watch);
	if (number != SIGINT) {
		sigemptyset(&signals);
		sigaddset(&signals, number);
		raise(number);
		sigprocmask(SIG_UNBLOCK, &signals, NULL);
	}
	return false;
}

static int
watch_until_end(struct watch *watch, struct portolan_error *error)
{
	sigset_t signals, before;
	bool going = true;

	watch_set_ends(&signals);
	sigaddset(&signals, SIGWINCH);
	sigprocmask(SIG_BLOCK, &signals, &before);
	while (going) {
		double began = clock_s(), until;

		going = watch_look(watch, error);
		until = clock_s() + fmax(watch->interval, SHARE * (clock_s() - began));
		for (int number = 0; going && clock_s() < until;) {
			number = watch_wait(fmax(until - clock_s(), 0));
			going = number == 0 || watch_take_signal(watch, number);
		}
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	live_free(&watch->live);
	free(watch->line);
	return watch->status;
}

static int
watch_run(void *context, struct portolan_error *error)
{
	struct watch *watch = context;
	const struct common_options *common = &watch->common;

	watch->live = (struct live){
	        .directory = common->query.store, .run = common->operands[0], .stopped = watch_is_stopped};
	watch->moment.directory = common->query.store;
	watch->moment.run = common->operands[0];
	if (common->json)
		watch->manner = MANNER_JSON;
	else if (terminal_is_there())
		watch->manner = MANNER_SCREEN;
	return watch_until_end(watch, error);
}

#define TO(member) .offset = offsetof(struct watch, member)
static const struct option_spec options[] = {
        {"interval", "SECONDS", OPTION_REAL, TO(interval), 'n', .range = RANGE_FROM_TO, .from = INTERVAL_MIN_S,
         .to = INTERVAL_MAX_S, .group = OPTION_GROUP_HOW},
        {"once", NULL, OPTION_FLAG, TO(once), .group = OPTION_GROUP_HOW},
        {0},
};

static const struct watch defaults = {.interval = INTERVAL_S};

extern const struct help help_watch;

const struct command watch_command = {
        .name = "watch",
        .operands = "RUN",
        .help = &help_watch,
        .common = COMMON_STORE | COMMON_JSON,
        .options = options,
        .operand = "run",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct watch),
        .defaults = &defaults,
        .run = watch_run,
};
