/* test_background.c: commands that the live page's server runs: how each may end. This program stands for the command,
 * too: the child is the same program, with words that say what to do. background.c is compiled with smaller limits. */
#include "unit.h"

#include "serve/background.h"

#include "two_stores.h"

#include <portolan/clock.h>

#include <jansson.h>
#include <signal.h>
#include <unistd.h>

#define PATIENCE_S 60.0

static struct two_stores two; /* each with a run "r" */

/* Does what the word says, as a command of portolan that is asked for JSON. */
static int
act(const char *what)
{
	if (strcmp(what, "answers") == 0) {
		printf("{\"process\": %d}\n", (int)getpid());
	} else if (strcmp(what, "refuses") == 0) {
		fputs("portolan: warning: of something\nportolan: refuses: --data x: it says why\n", stderr);
		return 1;
	} else if (strcmp(what, "fails") == 0) {
		fputs("portolan: failsafe: it says why\n", stderr);
		return 1;
	} else if (strcmp(what, "prints") == 0) {
		for (;;)
			puts("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[");
	} else {
		if (strcmp(what, "stays") == 0)
			signal(SIGTERM, SIG_IGN);
		sleep(600);
	}
	return 0;
}

static int
setup(void **state)
{
	return two_stores_setup(state, &two, two_stores_make("r", 1), two_stores_make("r", 1));
}

/* What is said of the command, which may be running. The caller's to release. */
static json_t *
ask(struct background *background, const char *command, bool is_anew)
{
	const char *const words[] = {command, "r", NULL};
	const struct background_question question = {words, "r", is_anew};
	struct portolan_error error;
	struct report report;
	json_t *said;
	bool is_made;

	assert_int_equal(report_open_memory(&report, &error), 0);
	if (background_ask(background, &question, &report, &is_made, &error) < 0)
		fail_msg("%s", error.message);
	said = json_loadb(report.output.buffer, report.output.used, 0, NULL);
	assert_non_null(said);
	assert_true(is_made == (strcmp(json_string_value(json_object_get(said, "state")), "making") != 0));
	report_discard(&report);
	return said;
}

/* Asks until the command has ended. */
static json_t *
await(struct background *background, const char *command, bool is_anew)
{
	double began = clock_s();
	json_t *said = ask(background, command, is_anew);

	while (strcmp(json_string_value(json_object_get(said, "state")), "making") == 0) {
		assert_true(clock_s() < began + PATIENCE_S);
		json_decref(said);
		usleep(5000);
		said = ask(background, command, false);
	}
	return said;
}

static void
check_error(struct background *background, const char *command, const char *expected)
{
	json_t *said = await(background, command, true);

	assert_string_equal(json_string_value(json_object_get(said, "state")), "failed");
	assert_string_equal(json_string_value(json_object_get(said, "error")), expected);
	json_decref(said);
}

static long long
check_answer(struct background *background, bool is_anew)
{
	json_t *said = await(background, "answers", is_anew);
	long long process = json_integer_value(json_object_get(json_object_get(said, "answer"), "process"));

	assert_string_equal(json_string_value(json_object_get(said, "state")), "made");
	assert_true(json_is_true(json_object_get(said, "current")) && process > 0);
	json_decref(said);
	return process;
}

static void
test_ends(void **state)
{
	struct open_stores *stores = open_stores_new(two.place);
	struct background *background = background_new(stores);
	long long process = check_answer(background, false);

	(void)state;
	assert_true(check_answer(background, false) == process);
	assert_true(check_answer(background, true) != process);
	check_error(background, "refuses", "portolan refuses: --data x: it says why");
	check_error(background, "fails", "portolan fails: failsafe: it says why");
	check_error(background, "prints",
	            "portolan prints was ended: it prints more than 64 MiB: run it in a terminal");
	check_error(background, "waits",
	            "portolan waits was ended: it took longer than 10 minutes: run it in a terminal");
	check_error(background, "stays",
	            "portolan stays was ended: it took longer than 10 minutes: run it in a terminal");
	json_decref(ask(background, "waits", true));
	background_free(background);
	open_stores_free(stores);
}

/* What a command printed of a run that was recorded anew under its name is not shown. */
static void
test_overwritten(void **state)
{
	struct open_stores *stores = open_stores_new(two.place);
	struct background *background = background_new(stores);
	long long process = check_answer(background, false);
	json_t *said;

	(void)state;
	two_stores_put(&two, two.second);
	said = ask(background, "answers", false);
	assert_string_equal(json_string_value(json_object_get(said, "state")), "making");
	json_decref(said);
	assert_true(check_answer(background, false) != process);
	assert_int_equal(unlink(two.place), 0);
	assert_true(check_answer(background, false) !=
	            process); /* nothing is known of the run: what was made is kept */
	two_stores_put(&two, two.first);
	background_free(background);
	open_stores_free(stores);
}

/* If SIGCHLD is ignored, the kernel keeps nothing of a child that has ended. */
static void
test_without_status(void **state)
{
	struct open_stores *stores = open_stores_new(two.place);
	struct background *background = background_new(stores);

	(void)state;
	signal(SIGCHLD, SIG_IGN);
	check_error(background, "answers", "portolan answers: its end could not be learnt");
	signal(SIGCHLD, SIG_DFL);
	background_free(background);
	open_stores_free(stores);
}

int
main(int count, char *words[])
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_ends),
	        cmocka_unit_test(test_overwritten),
	        cmocka_unit_test(test_without_status),
	};

	return count > 1 ? act(words[1]) : cmocka_run_group_tests(tests, setup, two_stores_teardown);
}
