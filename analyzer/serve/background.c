/*
 * background.c: runs other commands of portolan for the live page (background.h).
 *
 * A command has a task, which is found by its words. While the command runs, a thread waits for it. The kernel ends the
 * command with this thread, so also when the server is killed (base/start.h).
 */
#include "background.h"

#include "view.h"

#include "base/start.h"
#include "base/status.h"

#include <portolan/clock.h>
#include <portolan/error.h>
#include <portolan/store.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOWEST 19                    /* the priority of a command, which runs beside a training */
#ifndef LONGEST_S                    /* tests have shorter limits */
#define LONGEST_S 600.0              /* a command that takes longer is ended */
#define MOST_BYTES ((off_t)64 << 20) /* that a command may print; all that is kept is little more */
#endif
#define TASKS_KEPT 8
#define REST_SHARE 9.0 /* a command that took T is started again, for a grown run, 9 T after its end at the earliest */
#define LOOK_NS 20000000  /* between two looks whether the command has ended */
#define LOOK_AT_RUN_S 1.0 /* between two looks whether its run is still there */
#define PATIENCE_S 2.0    /* from SIGTERM to SIGKILL */
#define PREFIX "portolan: "
#define NO_STATUS (-1) /* in place of what waitpid() gives */

/* A run at one moment. One that is overwritten gets another number; that of another store has another inode. */
struct run_state {
	ino_t inode;
	uint32_t number; /* 0: nothing is known */
	char version[VIEW_VERSION_ROOM];
};

struct task {
	char **words; /* with NULL at the end */
	char *run;
	struct run_state state; /* just before the command was started last: what it read may be newer, not older */
	bool is_wanted;         /* it was asked for anew while another command ran */
	char *answer;           /* what it printed; NULL: nothing yet, or it failed */
	size_t size;
	char *why;          /* why it failed; NULL: it did not */
	time_t made;        /* when it ended */
	double ended, took; /* when it ended (clock.h), and how long it took, in seconds; ended 0: it has not run yet */
	struct task *next;  /* was asked for less recently */
};

struct background {
	struct open_stores *stores;
	pthread_mutex_t lock; /* guards everything below */
	pthread_cond_t wake;  /* the server ends */
	bool is_ending;
	struct task *list, *running; /* running: NULL: no command runs */
	pthread_t thread;            /* of the command that runs, or ran last */
	bool has_thread;
};

struct background *
background_new(struct open_stores *stores)
{
	struct background *background = calloc(1, sizeof(*background));
	pthread_condattr_t monotonic;

	if (!background)
		return NULL;
	background->stores = stores;
	pthread_mutex_init(&background->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&background->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return background;
}

static void
background_free_task(struct task *task)
{
	for (size_t w = 0; task->words && task->words[w]; w++)
		free(task->words[w]);
	free(task->words);
	free(task->run);
	free(task->answer);
	free(task->why);
	free(task);
}

void
background_free(struct background *background)
{
	if (!background)
		return;
	pthread_mutex_lock(&background->lock);
	background->is_ending = true;
	pthread_cond_signal(&background->wake);
	pthread_mutex_unlock(&background->lock);
	if (background->has_thread)
		pthread_join(background->thread, NULL);
	for (struct task *task = background->list, *next; task; task = next) {
		next = task->next;
		background_free_task(task);
	}
	pthread_cond_destroy(&background->wake);
	pthread_mutex_destroy(&background->lock);
	free(background);
}

/* How the run is now. A code of store.h: nothing is known. */
static int
background_look(struct background *background, const char *run, struct run_state *state)
{
	struct run_state found;
	struct store *store;
	int code = open_stores_take(background->stores, &store, &found.inode, NULL);

	*state = (struct run_state){0};
	if (code < 0)
		return code;
	code = store_find_run(store, run, &found.number, NULL);
	if (code >= 0)
		code = view_read_version(store, found.inode, run, found.version, NULL);
	if (code >= 0)
		*state = found;
	open_stores_return(background->stores, store);
	return code;
}

static bool
background_is_same_run(const struct run_state *a, const struct run_state *b)
{
	return a->inode == b->inode && a->number == b->number;
}

/* Is the run gone, or was it overwritten? False also if that cannot be found out. */
static bool
background_lost_run(struct background *background, const char *run, const struct run_state *before)
{
	struct run_state now;
	int code = background_look(background, run, &now);

	return code == STORE_E_NO_STORE || code == STORE_E_NO_RUN ||
	       (code >= 0 && before->number > 0 && !background_is_same_run(&now, before));
}

/* Why a command that runs since `began` must be ended; NULL: it may go on. `output` is the file that it prints to. Called
 * with the lock held, which is released while the store is read. */
static const char *
background_why_end(struct background *background, const struct task *task, double began, double *looked, int output)
{
	struct stat printed;
	double now = clock_s();
	bool is_lost;

	if (background->is_ending)
		return "the server has ended";
	if (now > began + LONGEST_S)
		return "it took longer than 10 minutes: run it in a terminal";
	if (fstat(output, &printed) == 0 && printed.st_size > MOST_BYTES)
		return "it prints more than 64 MiB: run it in a terminal";
	if (now < *looked + LOOK_AT_RUN_S)
		return NULL;
	pthread_mutex_unlock(&background->lock);
	is_lost = background_lost_run(background, task->run, &task->state);
	pthread_mutex_lock(&background->lock);
	*looked = clock_s();
	return is_lost ? "the run is no longer in the store" : NULL;
}

/* Waits until the command has ended, and ends it if it must be. Returns why it was ended; NULL: it ended by itself, and
 * *status is as waitpid() gives it, or NO_STATUS. */
static const char *
background_await(struct background *background, const struct task *task, pid_t child, int output, int *status)
{
	double began = clock_s(), looked = began, told = 0;
	const char *why = NULL;
	pid_t ended;

	pthread_mutex_lock(&background->lock);
	while ((ended = waitpid(child, status, WNOHANG)) == 0) {
		struct timespec until;

		if (!why) {
			why = background_why_end(background, task, began, &looked, output);
			told = clock_s();
			if (why)
				kill(child, SIGTERM);
		} else if (clock_s() > told + PATIENCE_S) {
			kill(child, SIGKILL);
		}
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += LOOK_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&background->wake, &background->lock, &until);
	}
	pthread_mutex_unlock(&background->lock);
	if (ended < 0)
		*status = NO_STATUS;
	return why;
}

/* Why a command failed, from its status and the last line of its messages. The caller's to free(). */
static char *
background_describe_failure(const char *command, int status, char *messages)
{
	const size_t length = strlen(command);
	const char *said;
	char *why = NULL, *line;

	while (messages && *messages && messages[strlen(messages) - 1] == '\n')
		messages[strlen(messages) - 1] = '\0';
	line = messages ? strrchr(messages, '\n') : NULL;
	said = line ? line + 1 : messages ? messages : "";
	if (strncmp(said, PREFIX, strlen(PREFIX)) == 0)
		said += strlen(PREFIX);
	if (strncmp(said, command, length) == 0 && strncmp(said + length, ": ", 2) == 0)
		said += length + 2;
	if (status == NO_STATUS)
		(void)!asprintf(&why, "portolan %s: its end could not be learnt", command);
	else if (WIFSIGNALED(status))
		(void)!asprintf(&why, "portolan %s was ended by a signal: %s", command, strsignal(WTERMSIG(status)));
	else if (*said)
		(void)!asprintf(&why, "portolan %s: %s", command, said);
	else
		(void)!asprintf(&why, "portolan %s ended with status %d", command, WEXITSTATUS(status));
	return why;
}

/* Starts the command, as JSON and with its own commands one after another. Returns 0, or an errno. */
static int
background_start(const struct task *task, int output, int messages, pid_t *child)
{
	static const char *const more[] = {"--json", "--threads", "1"};
	const size_t more_count = sizeof(more) / sizeof(*more);
	size_t count = 0, used = 0;
	char **arguments;
	int refused;

	while (task->words[count])
		count++;
	arguments = calloc(count + more_count + 2, sizeof(*arguments));
	if (!arguments)
		return ENOMEM;
	arguments[used++] = (char *)(uintptr_t) "/proc/self/exe";
	arguments[used++] = task->words[0];
	for (size_t m = 0; m < more_count; m++)
		arguments[used++] = (char *)(uintptr_t)more[m];
	memcpy(arguments + used, task->words + 1, (count - 1) * sizeof(*arguments));
	refused = start_program(arguments, true, output, messages, NULL, 0, child);
	free(arguments);
	return refused;
}

/* Runs the command. Gives what it printed, or why it failed: both are the caller's to free(), and one is NULL. */
static void
background_run(struct background *background, const struct task *task, char **answer, size_t *size, char **why)
{
	int output = memfd_create("output", MFD_CLOEXEC), messages = memfd_create("messages", MFD_CLOEXEC);
	int refused = output < 0 || messages < 0 ? errno : 0, status = 0;
	const char *ended = NULL;
	size_t said_size;
	char *said;
	pid_t child;

	if (refused == 0)
		refused = background_start(task, output, messages, &child);
	if (refused != 0) {
		(void)!asprintf(why, "portolan %s cannot be started: %s", task->words[0], strerror(refused));
	} else if ((ended = background_await(background, task, child, output, &status))) {
		(void)!asprintf(why, "portolan %s was ended: %s", task->words[0], ended);
	} else if (status != NO_STATUS && WIFEXITED(status) &&
	           (WEXITSTATUS(status) == STATUS_DONE || WEXITSTATUS(status) == STATUS_INCOMPLETE)) {
		*answer = start_read(output, size);
	} else {
		said = start_read(messages, &said_size);
		*why = background_describe_failure(task->words[0], status, said);
		free(said);
	}
	if (output >= 0)
		close(output);
	if (messages >= 0)
		close(messages);
}

static void *
background_work(void *context)
{
	struct background *background = context;
	struct task *task = background->running; /* no other thread uses more of it than its words, until the end */
	char *answer = NULL, *why = NULL;
	size_t size = 0;
	double began = clock_s();

	(void)setpriority(PRIO_PROCESS, 0, LOWEST); /* of this thread; what it starts inherits it */
	(void)background_look(background, task->run, &task->state);
	background_run(background, task, &answer, &size, &why);
	pthread_mutex_lock(&background->lock);
	free(task->answer);
	free(task->why);
	task->answer = answer;
	task->size = size;
	task->why = why;
	task->made = time(NULL);
	task->ended = clock_s();
	task->took = task->ended - began;
	background->running = NULL;
	pthread_mutex_unlock(&background->lock);
	return NULL;
}

static bool
background_has_words(const struct task *task, const char *const *words)
{
	size_t w = 0;

	while (task->words[w] && words[w] && strcmp(task->words[w], words[w]) == 0)
		w++;
	return !task->words[w] && !words[w];
}

/* A new task. NULL: out of memory. */
static struct task *
background_make_task(const struct background_question *question)
{
	struct task *task = calloc(1, sizeof(*task));
	size_t count = 0;

	if (!task)
		return NULL;
	while (question->words[count])
		count++;
	task->run = strdup(question->run);
	task->words = calloc(count + 1, sizeof(*task->words));
	for (size_t w = 0; task->words && w < count; w++)
		if (!(task->words[w] = strdup(question->words[w])))
			count = 0;
	if (task->run && task->words && count > 0)
		return task;
	background_free_task(task);
	return NULL;
}

/* Finds or makes the task of the question, and moves it to the front of the list. NULL: out of memory. */
static struct task *
background_find(struct background *background, const struct background_question *question)
{
	struct task **at = &background->list, *found;

	while (*at && !background_has_words(*at, question->words))
		at = &(*at)->next;
	found = *at;
	if (found)
		*at = found->next;
	else
		found = background_make_task(question);
	if (!found)
		return NULL;
	found->next = background->list;
	background->list = found;
	return found;
}

/* Forgets the tasks that were asked for the longest ago: those beyond TASKS_KEPT, or beyond MOST_BYTES of answers. */
static void
background_forget_old(struct background *background)
{
	struct task **at = &background->list;
	size_t count = 0, bytes = 0;

	while (*at) {
		struct task *task = *at;

		bytes += task->size;
		if (count++ == 0 || task == background->running ||
		    (count <= TASKS_KEPT && bytes <= (size_t)MOST_BYTES)) {
			at = &task->next;
			continue;
		}
		*at = task->next;
		background_free_task(task);
	}
}

/* Forgets what a command printed of a run that was overwritten since. */
static void
background_forget_answer(struct task *task)
{
	free(task->answer);
	free(task->why);
	task->answer = task->why = NULL;
	task->size = 0;
	task->ended = 0;
}

static bool
background_is_due(const struct task *task, const struct run_state *now)
{
	return task->is_wanted || task->ended == 0 ||
	       (strcmp(task->state.version, now->version) != 0 && clock_s() >= task->ended + REST_SHARE * task->took);
}

/* Starts the task's command in a thread, unless another command runs. Called with the lock held. */
static int
background_begin(struct background *background, struct task *task, struct portolan_error *error)
{
	int refused;

	if (background->running)
		return 0;
	if (background->has_thread)
		pthread_join(background->thread, NULL); /* it has nothing left to do */
	background->running = task;
	refused = pthread_create(&background->thread, NULL, background_work, background);
	background->has_thread = refused == 0;
	if (refused != 0) {
		background->running = NULL;
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot start a thread: %s", strerror(refused));
	}
	task->is_wanted = false;
	return 0;
}

/* The answer of the command stands in the JSON as it was printed. */
static void
background_report(struct report *report, const struct background *background, const struct task *task,
                  const struct run_state *now, bool is_made)
{
	const char *running = background->running && background->running != task ? background->running->words[0] : NULL;
	char made[32] = "";
	struct tm parts;

	report_begin(report, NULL);
	report_text(report, "state", !is_made ? "making" : task->answer ? "made" : "failed");
	report_begin_list(report, "command");
	report_text(report, NULL, "portolan");
	for (size_t w = 0; task->words[w]; w++)
		report_text(report, NULL, task->words[w]);
	report_end(report);
	if (!is_made) {
		report_text(report, "waits_for", running);
	} else {
		if (gmtime_r(&task->made, &parts))
			strftime(made, sizeof(made), "%Y-%m-%dT%H:%M:%SZ", &parts);
		report_text(report, "version", task->state.version);
		report_flag(report, "current", strcmp(task->state.version, now->version) == 0);
		report_text(report, "made", made);
		report_real(report, "took", task->took);
		if (task->answer) {
			output_text(&report->output, ",\"answer\":");
			output_bytes(&report->output, task->answer, task->size);
		} else {
			report_text(report, "error", task->why ? task->why : "out of memory");
		}
	}
	report_end(report);
}

int
background_ask(struct background *background, const struct background_question *question, struct report *report,
               bool *is_made, struct portolan_error *error)
{
	struct run_state now;
	bool is_known = background_look(background, question->run, &now) >= 0;
	struct task *task;
	int code = 0;

	pthread_mutex_lock(&background->lock);
	task = background_find(background, question);
	if (!task) {
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	} else {
		const bool is_running = task == background->running;

		if (!is_known && !is_running)
			now = task->state; /* as far as anybody knows */
		if (!is_running && !background_is_same_run(&task->state, &now))
			background_forget_answer(task);
		task->is_wanted |= question->is_anew && !is_running;
		if (!is_running && background_is_due(task, &now))
			code = background_begin(background, task, error);
		*is_made = task != background->running && !task->is_wanted && task->ended > 0;
		background_forget_old(background);
		if (code >= 0)
			background_report(report, background, task, &now, *is_made);
	}
	pthread_mutex_unlock(&background->lock);
	return code;
}
