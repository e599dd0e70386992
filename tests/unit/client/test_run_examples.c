/* test_run_examples.c: portolan_log_examples(): what it refuses, that texts arrive whole and once, and what happens beside
 * a collector that keeps none. */
#include "run_fixture.h"

#include <portolan/clock.h>

#define N 5000

struct logged {
	uint64_t ids[N];
	const char *texts[N];
};

static struct portolan_examples
examples_of(struct logged *logged, struct portolan_text_field *field, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++) {
		logged->ids[i] = i;
		logged->texts[i] = text;
	}
	*field = (struct portolan_text_field){.name = "text", .texts = logged->texts};
	return (struct portolan_examples){
	        .n = n, .ids = {logged->ids, PORTOLAN_U64, sizeof(uint64_t), 0}, .fields = field, .field_count = 1};
}

/* Texts fill many frames, between the rows of batches; after a loss of contact they are sent again. */
static void
test_all_arrive(void **state)
{
	static struct logged logged;
	struct fake *fake = *state;
	struct portolan_text_field field;
	struct portolan_examples examples = examples_of(&logged, &field, N, "a text of a certain length");
	portolan_run *run;

	fake->takes_texts = true;
	fake_start(fake);
	run = open_with(fake, (struct portolan_options){.ring_bytes = 1 << 20});
	log_rows(run, 0, 0, 100);
	assert_int_equal(portolan_log_examples(run, &examples, NULL), 0);
	assert_int_equal(portolan_end_epoch(run, 0, NULL), 0);
	assert_int_equal(portolan_flush(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	assert_int_equal(fake_get(fake, &fake->texts), N);
	assert_int_equal(fake_get(fake, &fake->text_bytes), N * (4 + strlen(field.texts[0])));
	assert_int_equal(fake_get(fake, &fake->ends), 1);
	pthread_mutex_lock(&fake->mutex);
	fake->next_error = WIRE_E_NO_SESSION;
	pthread_mutex_unlock(&fake->mutex);
	assert_int_equal(portolan_log_examples(run, &examples, NULL), 0);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	assert_int_equal(fake_get(fake, &fake->texts), 2 * N);
	assert_int_equal(fake_get(fake, &fake->rows), 100);
	assert_int_equal(fake_get(fake, &fake->undecodable), 0);
	fake_stop(fake);
}

static void
test_the_longest(void **state)
{
	static struct logged logged;
	struct fake *fake = *state;
	char *longest = calloc(1, PORTOLAN_TEXTS_BYTES + 2);
	struct portolan_text_field field;
	struct portolan_examples examples = examples_of(&logged, &field, 3, longest);
	struct portolan_error error;
	portolan_run *run;

	fake->takes_texts = true;
	fake_start(fake);
	run = open_with(fake, (struct portolan_options){.ring_bytes = 1 << 20});
	memset(longest, 'x', PORTOLAN_TEXTS_BYTES);
	assert_int_equal(portolan_log_examples(run, &examples, &error), 0);
	longest[PORTOLAN_TEXTS_BYTES] = 'x';
	logged.ids[0] = 4711;
	assert_int_equal(portolan_log_examples(run, &examples, &error), PORTOLAN_E_INVALID);
	assert_string_equal(error.message,
	                    "field 'text': row 0, id 4711: the example's texts have more than 61440 bytes "
	                    "together: log the part to be shown");
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	assert_int_equal(fake_get(fake, &fake->texts), 3);
	assert_int_equal(fake_get(fake, &fake->undecodable), 0);
	fake_stop(fake);
	free(longest);
}

static void
test_arguments(void **state)
{
	static struct logged logged;
	struct fake *fake = *state;
	struct portolan_text_field field, nine[PORTOLAN_TEXT_FIELDS + 1];
	struct portolan_examples examples = examples_of(&logged, &field, 3, "x");
	const size_t lengths[] = {1, 1, 2};
	struct portolan_error error;
	portolan_run *run;

	fake->takes_texts = true;
	fake_start(fake);
	run = open_with(fake, (struct portolan_options){.examples = 3});
#define REFUSES(says)                                                                                                  \
	assert_int_equal(portolan_log_examples(run, &examples, &error), PORTOLAN_E_INVALID);                           \
	assert_non_null(strstr(error.message, says))
	field.name = "id";
	REFUSES("field 'id': a name is 1 to 32");
	field.name = "text";
	logged.texts[1] = NULL;
	REFUSES("field 'text': row 1, id 1: there is no text");
	logged.texts[1] = "\xc3(";
	REFUSES("field 'text': row 1, id 1: it is not UTF-8, or has a null character");
	logged.texts[1] = logged.texts[2] = "a\0b";
	field.lengths = lengths; /* with the null character */
	REFUSES("field 'text': row 2, id 2: it is not UTF-8, or has a null character");
	field.lengths = NULL;
	logged.ids[2] = 3;
	REFUSES("ids: row 2 has 3, which is above 2");
	logged.ids[2] = 2;
	examples.string_ids = logged.texts;
	REFUSES("ids: give integers or strings, and not both");
	examples.string_ids = NULL;
	for (size_t f = 0; f <= PORTOLAN_TEXT_FIELDS; f++)
		nine[f] = field;
	examples.fields = nine;
	examples.field_count = PORTOLAN_TEXT_FIELDS + 1;
	REFUSES("there are 9 fields of texts; a call takes 1 to 8");
	examples.field_count = 2;
	REFUSES("field 'text' is there twice");
	examples.field_count = 0;
	REFUSES("there are 0 fields of texts");
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	assert_int_equal(fake_get(fake, &fake->texts), 0);
	fake_stop(fake);
}

/* The recording goes on; only who asked to be strict gets an error. */
static void
test_an_earlier_collector(void **state)
{
	static struct logged logged;
	struct fake *fake = *state;
	struct portolan_text_field field;
	struct portolan_examples examples = examples_of(&logged, &field, 3, "x");
	struct portolan_error error;
	portolan_run *run;

	fake_start(fake);
	for (int strict = 0; strict < 2; strict++) {
		run = open_with(fake, (struct portolan_options){.strict = strict});
		error.message[0] = '\0';
		assert_int_equal(portolan_log_examples(run, &examples, &error), strict ? PORTOLAN_E_REFUSED : 0);
		if (strict)
			assert_string_equal(error.message,
			                    "run words/seed1: the collector is of an earlier version, and keeps "
			                    "no texts: use portoland of this release, or give the commands "
			                    "--data FILE");
		log_rows(run, 0, 0, 10);
		assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
		pthread_mutex_lock(&fake->mutex);
		fake->stored = 0; /* the next run's numbers begin anew */
		pthread_mutex_unlock(&fake->mutex);
	}
	assert_int_equal(fake_get(fake, &fake->rows), 20);
	assert_int_equal(fake_get(fake, &fake->texts), 0);
	fake_stop(fake);
}

/* What stderr says while `run` is closed, which is to succeed. */
static void
close_and_read(portolan_run *run, char *said, size_t size)
{
	int saved = dup(STDERR_FILENO), ends[2], status;
	ssize_t length;

	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	status = portolan_close(run, 0, NULL);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(ends[1]);
	length = read(ends[0], said, size - 1);
	said[length < 0 ? 0 : length] = '\0';
	close(ends[0]);
	assert_int_equal(status, 0);
}

/* No collector comes: texts are named, and the file in which they are. */
static void
test_no_collector(void **state)
{
	static struct logged logged;
	struct fake *fake = *state;
	struct portolan_text_field field;
	struct portolan_examples examples = examples_of(&logged, &field, 200, "x");
	char said[1000];
	portolan_run *run;

	for (int rows = 0; rows <= 10; rows += 10) {
		run = open_with(fake, (struct portolan_options){.spool = "spool", .open_timeout_ms = 50});
		assert_int_equal(portolan_log_examples(run, &examples, NULL), 0);
		log_rows(run, 0, 0, (size_t)rows);
		close_and_read(run, said, sizeof(said));
		assert_non_null(
		        strstr(said, rows ? "10 of 10 observations and the texts of 200 examples are in a file, "
		                            "and 0 are lost: portolan import /"
		                          : "0 of 0 observations and the texts of 200 examples are in a file, "
		                            "and 0 are lost: portolan import /"));
	}
}

/* Waits until the run knows that so many observations are acknowledged: it may learn that a collector has come a moment
 * after the collector has got them, and would until then be closed as one without. */
static void
wait_for_acknowledged(const portolan_run *run, uint64_t least)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	const int64_t until = clock_ms() + 20000;

	while (stats_of(run).acknowledged < least && clock_ms() < until)
		nanosleep(&pause, NULL);
	assert_true(stats_of(run).acknowledged >= least);
}

/* Of a run that began without a collector, an earlier one gets all but the texts. */
static void
test_an_earlier_collector_comes_late(void **state)
{
	static struct logged logged;
	struct fake *fake = *state;
	struct portolan_text_field field;
	struct portolan_examples examples = examples_of(&logged, &field, N, "a text of a certain length");
	portolan_run *run = open_with(fake, (struct portolan_options){.spool = "spool", .open_timeout_ms = 50});

	assert_int_equal(portolan_log_examples(run, &examples, NULL), 0);
	log_rows(run, 0, 0, 100);
	fake_start(fake);
	fake_wait(fake, &fake->rows, 100);
	wait_for_acknowledged(run, 100);
	assert_int_equal(portolan_log_examples(run, &examples, NULL), 0);
	log_rows(run, 1, 0, 100);
	assert_int_equal(portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	assert_int_equal(fake_get(fake, &fake->rows), 200);
	assert_int_equal(fake_get(fake, &fake->texts), 0);
	assert_int_equal(fake_get(fake, &fake->undecodable), 0);
	fake_stop(fake);
}

struct other {
	portolan_run *run;
	_Atomic bool over;
	int64_t longest; /* ms of one call */
};

static void *
log_meanwhile(void *argument)
{
	struct other *other = argument;

	while (!atomic_load(&other->over)) {
		int64_t began = clock_ms(), took;

		log_rows(other->run, 0, 0, 10);
		took = clock_ms() - began;
		other->longest = took > other->longest ? took : other->longest;
	}
	return NULL;
}

/* Logs texts while another thread logs rows. Was each of its calls shorter than a quarter of that? */
static bool
logs_meanwhile(struct other *other, const struct portolan_examples *examples)
{
	int64_t began = clock_ms();
	pthread_t thread;

	other->longest = 0;
	atomic_store(&other->over, false);
	assert_int_equal(pthread_create(&thread, NULL, log_meanwhile, other), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(portolan_log_examples(other->run, examples, NULL), 0);
	began = clock_ms() - began;
	atomic_store(&other->over, true);
	pthread_join(thread, NULL);
	return 4 * other->longest <= began;
}

/* Another thread logs while many texts are logged: it waits for a frame, and not for all of them. */
static void
test_other_threads_log_meanwhile(void **state)
{
	static struct logged logged;
	struct fake *fake = *state;
	char *text = calloc(1, 20001);
	struct portolan_text_field field;
	struct portolan_examples examples = examples_of(&logged, &field, N, memset(text, 'x', 20000));
	struct other other = {0};
	unsigned times = 0;
	bool kept_up = false;

	fake->takes_texts = true;
	fake_start(fake);
	other.run = open_with(fake, (struct portolan_options){.ring_bytes = 1 << 20});
	for (; times < 3 && !kept_up; times++) /* other work on the machine may stop a thread */
		kept_up = logs_meanwhile(&other, &examples);
	assert_int_equal(portolan_close(other.run, PORTOLAN_WAIT_DEFAULT, NULL), 0);
	assert_int_equal(fake_get(fake, &fake->texts), 2 * times * N);
	assert_true(kept_up);
	fake_stop(fake);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_all_arrive, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_the_longest, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_arguments, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_an_earlier_collector, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_no_collector, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_an_earlier_collector_comes_late, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_other_threads_log_meanwhile, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
