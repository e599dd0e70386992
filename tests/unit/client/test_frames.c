/*
 * test_frames.c: rows come out as they went in, whole and in order, whatever closes a frame; a full pool says so; and
 * neither side spoils what the other is at; and what begins next has its pages.
 */
#include "frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE (1u << 20)

static const struct frame_shape integers = {
        .epoch = 3, .columns = FRAME_BIT(FRAME_GOLD_PROB) | FRAME_BIT(FRAME_CORRECT), .id_kind = WIRE_ID_INT};

static int
setup(void **state)
{
	static struct frames frames;

	frames = (struct frames){0};
	*state = &frames;
	return frames_init(&frames, SIZE, NULL);
}

static int
teardown(void **state)
{
	frames_deinit(*state);
	frames_deinit(*state); /* twice does no harm */
	return 0;
}

/* Rows with ids from `id` on, as many of `rows` as go into one frame; p = id / 1000, correct = id mod 3 == 0. */
static uint32_t
fill(const struct frame_room *room, uint64_t id, uint32_t rows)
{
	rows = rows < room->rows ? rows : room->rows;
	for (uint32_t r = 0; r < rows; r++) {
		uint32_t at = room->first + r;

		frame_ids(room->frame)[at] = id + r;
		((float *)frame_column(room->frame, FRAME_GOLD_PROB))[at] = (float)(id + r) / 1000;
		((uint8_t *)frame_column(room->frame, FRAME_CORRECT))[at] = (id + r) % 3 == 0;
	}
	return rows;
}

/* Of all frames with rows like those of fill(). */
static uint32_t
capacity(const struct frames *frames)
{
	return ((struct frame *)(void *)frames->memory)->capacity;
}

static uint32_t
put(struct frames *frames, const struct frame_shape *shape, uint64_t id, uint32_t rows)
{
	struct frame_room room;

	if (!frames_reserve(frames, shape, 0, 0, &room))
		return 0;
	rows = fill(&room, id, rows);
	frames_commit(frames, &room, rows, 0);
	return rows;
}

static uint64_t
id_of(const struct wire_batch *batch, uint32_t row)
{
	uint64_t id = 0;
	size_t width = batch->id_type == WIRE_U4 ? 4 : 8;

	memcpy(&id, batch->ids.data + row * width, width);
	return id;
}

/* The next frame holds `rows` rows with ids from `id` on. */
static void
expect(struct frames *frames, uint64_t id, uint32_t rows, bool ends_epoch)
{
	struct frame *frame = frames_take(frames, true);
	const struct wire_batch *batch = &frames->wire.batch;

	assert_non_null(frame);
	assert_ptr_equal(frames_take(frames, false), frame); /* until it is released */
	assert_int_equal(frame->rows, rows);
	assert_int_equal(frame->ends_epoch, ends_epoch);
	for (uint32_t r = 0; r < rows; r++) {
		float p = (float)(id + r) / 1000;

		assert_int_equal(id_of(batch, r), id + r);
		assert_memory_equal(batch->columns[0].data.data + r * 4, &p, 4);
		assert_int_equal(batch->columns[1].data.data[r / 8] >> r % 8 & 1, (id + r) % 3 == 0);
	}
	if (rows > 0) {
		assert_int_equal(batch->rows, rows);
		assert_int_equal(batch->column_count, 2);
		assert_int_equal(batch->columns[0].data.size, rows * 4);
		assert_int_equal(batch->columns[1].data.size, (rows + 7) / 8);
		assert_memory_equal(batch->columns[0].name.data, "gold_prob", 9);
	}
	frames_release(frames);
}

static void
test_in_order(void **state)
{
	struct frames *frames = *state;

	assert_null(frames_take(frames, true));
	assert_int_equal(put(frames, &integers, 10, 5), 5);
	assert_int_equal(put(frames, &integers, 15, 20), 20);
	assert_int_equal(frames_begun(frames), 1);
	assert_null(frames_take(frames, false)); /* more may come */
	expect(frames, 10, 25, false);
	assert_int_equal(frames_released(frames), 1);
	assert_null(frames_take(frames, true));
	assert_int_equal(put(frames, &integers, UINT32_MAX - 1, 4), 4);
	expect(frames, UINT32_MAX - 1, 4, false); /* in eight bytes */
	assert_int_equal(put(frames, &integers, 1, 1), 1);
	expect(frames, 1, 1, false);
}

static void
test_what_begins_a_frame(void **state)
{
	struct frames *frames = *state;
	struct frame_shape other = integers;
	uint32_t some;

	put(frames, &integers, 0, 8);
	other.epoch = 4;
	put(frames, &other, 8, 8);
	assert_non_null(frames_take(frames, false)); /* complete, as another one has begun */
	expect(frames, 0, 8, false);
	assert_null(frames_take(frames, false));
	some = put(frames, &other, 16, SIZE); /* to its end */
	assert_int_equal(8 + some, capacity(frames));
	put(frames, &other, 16 + some, 1);
	expect(frames, 8, 8 + some, false);
	assert_non_null(frames_take(frames, true)); /* closed */
	put(frames, &other, 17 + some, 2);
	expect(frames, 16 + some, 1, false);
	expect(frames, 17 + some, 2, false);
}

static void
test_a_frame_at_work_is_left(void **state)
{
	struct frames *frames = *state;
	struct frame_room room;

	assert_true(frames_reserve(frames, &integers, 0, 0, &room));
	assert_null(frames_take(frames, true)); /* nothing is in it */
	frames_commit(frames, &room, fill(&room, 0, 3), 0);
	assert_true(frames_reserve(frames, &integers, 0, 0, &room));
	assert_int_equal(room.first, 3);
	assert_null(frames_take(frames, true));
	frames_commit(frames, &room, 0, 0); /* all its rows were refused */
	expect(frames, 0, 3, false);
	assert_true(frames_reserve(frames, &integers, 0, 0, &room));
	frames_commit(frames, &room, 0, 0);
	assert_int_equal(frames_begun(frames), 1); /* a frame without rows does not begin */
}

static void
test_full(void **state)
{
	struct frames *frames = *state;
	struct frame_room room;
	uint64_t id = 0;
	uint32_t rows;

	while ((rows = put(frames, &integers, id, SIZE)) > 0)
		id += rows;
	assert_int_equal(id, frames->count * capacity(frames));
	assert_true(id * 13 > SIZE / 100 * 97); /* bytes: an id, a float and a flag */
	assert_false(frames_end_epoch(frames, 9));
	assert_true(frames_end_epoch(frames, 3)); /* of the newest frame */
	expect(frames, 0, capacity(frames), false);
	assert_false(frames_reserve(frames, &integers, 0, 1, &room)); /* one is to be kept */
	assert_true(frames_end_epoch(frames, 9));
	assert_false(frames_reserve(frames, &integers, 0, 0, &room));
}

static void
test_ends_of_epochs(void **state)
{
	struct frames *frames = *state;

	assert_true(frames_end_epoch(frames, 1)); /* nothing was logged of it */
	put(frames, &integers, 0, 4);
	assert_true(frames_end_epoch(frames, 3));
	assert_int_equal(frames_begun(frames), 2);
	put(frames, &integers, 4, 4); /* comes late, and stays behind the end */
	assert_true(frames_end_epoch(frames, 3));
	assert_int_equal(frames_begun(frames), 3);
	assert_true(frames_end_epoch(frames, 3)); /* again */
	assert_int_equal(frames_begun(frames), 4);
	assert_int_equal(frames_take(frames, true)->shape.epoch, 1);
	expect(frames, 0, 0, true);
	expect(frames, 0, 4, true);
	expect(frames, 4, 4, true);
	expect(frames, 0, 0, true);
}

static void
test_strings(void **state)
{
	static const char *const words[] = {"a", "bcd", "ef", "ghij"};
	static const uint8_t leave_out[] = {0, 1, 0, 1};
	struct frame_shape shape = integers;
	struct frames *frames = *state;
	struct frame_room room;

	shape.id_kind = WIRE_ID_STR;
	for (int turn = 0; turn < 2; turn++) {
		uint32_t text = 0, rows;

		assert_true(frames_reserve(frames, &shape, 255, 0, &room));
		fill(&room, 0, 4); /* the columns; ids follow */
		for (uint32_t r = 0; r < 4; r++) {
			room.frame->data[room.first + r] = (uint8_t)strlen(words[r]);
			memcpy(frame_text(room.frame) + room.frame->text_bytes + text, words[r], strlen(words[r]));
			text += (uint32_t)strlen(words[r]);
		}
		for (uint32_t r = 0; r < 4; r++)
			((float *)frame_column(room.frame, FRAME_GOLD_PROB))[room.first + r] = (float)r;
		rows = frames_compact(&room, 4, leave_out, &text);
		assert_int_equal(rows, 2);
		assert_int_equal(text, 3);
		frames_commit(frames, &room, rows, text);
	}
	assert_non_null(frames_take(frames, true));
	assert_int_equal(frames->wire.batch.id_type, WIRE_STR);
	assert_int_equal(frames->wire.batch.rows, 4);
	assert_int_equal(frames->wire.batch.ids.size, 4 + 6);
	assert_memory_equal(frames->wire.batch.ids.data, "\1\2\1\2aefaef", 10);
	assert_memory_equal(frames->wire.batch.columns[0].data.data, ((float[]){0, 2, 0, 2}), 16);
}

/* A frame whose text is full, though not its rows, is followed by another. */
static void
test_long_strings(void **state)
{
	struct frame_shape shape = integers;
	struct frames *frames = *state;
	struct frame_room room;
	uint32_t strings = 0;

	shape.id_kind = WIRE_ID_STR;
	while (frames_begun(frames) < 2) {
		assert_true(frames_reserve(frames, &shape, 255, 0, &room));
		assert_true(room.text >= 255);
		room.frame->data[room.first] = 255;
		memset(frame_text(room.frame) + room.frame->text_bytes, 'x', 255);
		frames_commit(frames, &room, 1, 255);
		strings++;
	}
	assert_int_equal(strings, ((struct frame *)(void *)frames->memory)->capacity * 15 / 255 + 1);
	assert_non_null(frames_take(frames, false));
	assert_int_equal(frames->wire.batch.ids.size, (strings - 1) * 256);
}

#define MANY 300000u

static void *
produce(void *argument)
{
	struct frame_shape shape = integers;
	uint32_t random = 1;

	for (uint64_t id = 0; id < MANY;) {
		uint32_t rows;

		random = random * 1664525 + 1013904223;
		rows = random >> 8 & 127;
		if (random >> 28 == 0)
			shape.epoch++;
		rows = put(argument, &shape, id, rows < MANY - id ? rows : (uint32_t)(MANY - id));
		if (random >> 26 == 1)
			while (!frames_end_epoch(argument, shape.epoch))
				sched_yield();
		if (rows == 0)
			sched_yield();
		id += rows;
	}
	return NULL;
}

static void
test_two_threads(void **state)
{
	struct frames *frames = *state;
	uint32_t random = 7, epoch = 0;
	pthread_t thread;
	uint64_t id = 0;

	assert_int_equal(pthread_create(&thread, NULL, produce, frames), 0);
	while (id < MANY) {
		struct frame *frame = frames_take(frames, (random = random * 1664525 + 1013904223) >> 30 == 0);

		if (!frame) {
			sched_yield();
			continue;
		}
		assert_true(frame->shape.epoch >= epoch);
		epoch = frame->shape.epoch;
		for (uint32_t r = 0; r < frame->rows; r++)
			assert_int_equal(id_of(&frames->wire.batch, r), id + r);
		id += frame->rows;
		frames_release(frames);
	}
	pthread_join(thread, NULL);
	assert_int_equal(id, MANY);
}

/* Columns of the caller's own lie behind the others, have the names that they came with, and lose the rows that are
 * left out. */
static void
test_own_columns(void **state)
{
	static const uint8_t leave_out[5] = {0, 1, 0, 0, 1};
	struct frames *frames = *state;
	unsigned length = frames_own_column(frames, "length"), share = frames_own_column(frames, "share_2");
	struct frame_shape shape = integers;
	const struct wire_batch *batch = &frames->wire.batch;
	struct frame_room room;
	uint32_t text;
	char name[8];

	assert_int_equal(frames_own_column(frames, "length"), length);
	assert_int_not_equal(length, share);
	shape.columns |= FRAME_BIT(length) | FRAME_BIT(share);
	assert_true(frames_reserve(frames, &shape, 0, 0, &room));
	fill(&room, 100, room.rows); /* to its end: nothing overlaps */
	for (uint32_t r = 0; r < room.rows; r++) {
		frame_own_column(room.frame, length)[r] = (float)r;
		frame_own_column(room.frame, share)[r] = (float)r + 0.5f;
	}
	assert_true((uint8_t *)(frame_own_column(room.frame, share) + room.rows) <=
	            frames->memory + frames->frame_size);
	assert_int_equal(frames_compact(&room, 5, leave_out, &text), 3);
	frames_commit(frames, &room, 3, 0);
	assert_non_null(frames_take(frames, true));
	assert_int_equal(batch->column_count, 4);
	assert_memory_equal(batch->columns[2].name.data, "length", 6);
	assert_memory_equal(batch->columns[3].name.data, "share_2", 7);
	assert_int_equal(batch->columns[3].type, WIRE_F4);
	assert_memory_equal(batch->columns[2].data.data, ((float[]){0, 2, 3}), 12);
	assert_memory_equal(batch->columns[3].data.data, ((float[]){0.5f, 2.5f, 3.5f}), 12);
	frames_release(frames);
	for (unsigned i = 2; i < PORTOLAN_OWN_COLUMNS; i++) {
		snprintf(name, sizeof(name), "c%u", i);
		assert_int_equal(frames_own_column(frames, name), FRAME_COLUMNS + i);
	}
	assert_int_equal(frames_own_column(frames, "another"), FRAME_MOST_COLUMNS);
	assert_int_equal(frames_own_column(frames, "share_2"), share);
}

static void
test_sizes(void **state)
{
	/* losses come without the others */
	const struct frame_shape all = {0, (FRAME_BIT(FRAME_COLUMNS) - 1) & ~FRAME_BIT(FRAME_TASK_LOSS), WIRE_ID_INT};
	struct frames frames = {0};
	struct frame_room room;

	(void)state;
	assert_int_equal(frames_init(&frames, 32u << 20, NULL), 0);
	assert_int_equal(frames.frame_size, FRAMES_MAX_BYTES);
	assert_true(frames_reserve(&frames, &all, 0, 0, &room));
	assert_int_equal(room.rows, 2048);                        /* batches of 2ⁿ rows are not cut */
	assert_true(frames.count * room.rows > (32u << 20) / 38); /* a row takes 37 bytes */
	frames_deinit(&frames);
	assert_int_equal(frames_init(&frames, 32u << 20, NULL), 0);
	assert_true(frames_reserve(&frames, &integers, 0, 0, &room));
	assert_in_range(room.rows, 5000, FRAMES_MOST_ROWS);
	assert_int_equal(room.rows % 256, 0);
	frames_deinit(&frames);
	assert_int_equal(frames_init(&frames, (1u << 20) + 13, NULL), 0);
	assert_true(frames.count >= 16 && frames_reserve(&frames, &all, 0, 0, &room) && room.rows >= 1024);
	frames_deinit(&frames);
	assert_int_equal(frames_init(&frames, SIZE_MAX / 2, NULL), PORTOLAN_E_MEMORY);
}

static bool
has_pages(const struct frames *frames, size_t begin, size_t end)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), count = (end - begin + page - 1) / page;
	unsigned char there[SIZE / 512];

	assert_true(count <= sizeof(there));
	assert_int_equal(mincore(frames->memory + begin / page * page, end - begin, there), 0);
	for (size_t i = 0; i < count; i++)
		if (!(there[i] & 1))
			return false;
	return true;
}

/* The frames that begin next have their pages, those far off do not, and all of them have in the end. */
static void
test_pages(void **state)
{
	struct frames *frames = *state, large = {0};
	char *probe;
	int known;

	if (getenv("UNDER_QEMU")) /* which does not say which pages are there */
		skip();
	probe = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	known = madvise(probe, 4096, MADV_POPULATE_WRITE);
	munmap(probe, 4096);
	if (known < 0)
		skip();
	assert_false(has_pages(frames, 0, 1));
	frames_populate(frames);
	assert_true(has_pages(frames, 0, SIZE));
	assert_int_equal(frames_init(&large, 32u << 20, NULL), 0);
	frames_populate(&large);
	assert_true(has_pages(&large, 0, 8 * large.frame_size));
	assert_false(has_pages(&large, large.count / 2 * large.frame_size, large.count / 2 * large.frame_size + 1));
	for (uint32_t f = 0; f < large.count; f++) {
		assert_true(has_pages(&large, f * large.frame_size, (f + 1) * large.frame_size));
		assert_true(put(&large, &integers, 0, FRAMES_MOST_ROWS) > 0);
		frames_populate(&large);
	}
	assert_true(has_pages(&large, large.count * large.frame_size, large.bytes));
	frames_deinit(&large);
}

/* Not by way of the thread sanitizer: it has a memory of its own beside this one, which a child does share. */
__attribute__((no_sanitize("thread"))) static void
write_to_each_page(volatile char *memory)
{
	for (size_t at = 0; at < SIZE; at += 4096)
		memory[at] = 2;
}

/* A child does not make the parent's next rows cost a copy of every page. */
static void
test_pages_after_fork(void **state)
{
	struct frames *frames = *state;
	struct rusage before, after;
	int ends[2];
	pid_t child;
	char end;

	if (getenv("UNDER_QEMU")) /* whose own page faults are counted, too */
		skip();
	memset(frames->memory, 1, SIZE);
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		close(ends[1]);
		_exit(read(ends[0], &end, 1) != 0); /* lives until the parent has written */
	}
	close(ends[0]);
	getrusage(RUSAGE_SELF, &before);
	write_to_each_page((char *)frames->memory);
	getrusage(RUSAGE_SELF, &after);
	close(ends[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(after.ru_minflt - before.ru_minflt < SIZE / 4096 / 4); /* some are of the stack */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_in_order, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_what_begins_a_frame, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_a_frame_at_work_is_left, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_full, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_ends_of_epochs, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_strings, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_long_strings, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_two_threads, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_pages, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_pages_after_fork, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_own_columns, setup, teardown),
	        cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
