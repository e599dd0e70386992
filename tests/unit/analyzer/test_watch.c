/* test_watch.c: sums over epochs, the small map, and what is shown. */
#include "unit.h"

#include "watch/frame.h"
#include "watch/small_map.h"

#define WORD(bits) ((const uint64_t[STORE_CHUNK_WORDS]){(bits)})

static void
add(struct tally_block *block, struct tally_sample *sample, const float *p, uint64_t present, uint64_t correct,
    struct tally_epoch *epoch)
{
	struct store_values gold_prob = {.values = p, .present = WORD(present)};
	struct store_values right = {.values = WORD(correct), .present = WORD(present)};

	tally_add(block, &gold_prob, &right, 4, epoch);
	tally_sample_add(sample, &gold_prob, &right, 0, 4);
}

/* Example 0: right, wrong, right; 1: wrong always; 2: right, absent, wrong; 3: absent, right, right. */
static void
test_tally(void **state)
{
	static struct tally_point points[TALLY_POINTS];
	struct tally_sample sample = {.points = points};
	struct tally_block block = {{0}};
	struct tally_epoch epochs[3] = {{0}};
	struct tally_counts counts = {0};

	(void)state;
	memset(points, 0, sizeof(points));
	tally_sample_grow(&sample, 4);
	add(&block, &sample, (const float[]){0.75F, 0.25F, 0.5F, 9}, 7, 5, &epochs[0]);
	add(&block, &sample, (const float[]){0.25F, 0.25F, 9, 0.5F}, 11, 8, &epochs[1]);
	add(&block, &sample, (const float[]){1, 0.25F, 0.125F, 0.5F}, 15, 9, &epochs[2]);
	assert_int_equal(epochs[0].observed, 3);
	assert_int_equal(epochs[0].correct, 2);
	assert_int_equal(epochs[0].learned, 2);
	assert_int_equal(epochs[0].forgotten, 0);
	assert_true(epochs[0].gold_prob == 1.5);
	assert_close(epochs[0].loss, -log(0.75 * 0.25 * 0.5), 1e-15);
	assert_close(epochs[2].loss, -log(0.25 * 0.125 * 0.5), 1e-15);
	assert_int_equal(epochs[1].observed, 3);
	assert_int_equal(epochs[1].correct, 1);
	assert_int_equal(epochs[1].forgotten, 1); /* 0 */
	assert_int_equal(epochs[1].learned, 1);   /* 3 */
	assert_true(epochs[1].gold_prob == 1);
	assert_int_equal(epochs[2].observed, 4);
	assert_int_equal(epochs[2].forgotten, 1); /* 2, though it was not seen between */
	assert_int_equal(epochs[2].learned, 0);   /* 0 is right again, not for the first time */
	tally_count(&block, &counts);
	assert_int_equal(counts.examples, 4);
	assert_int_equal(counts.forgotten, 2);
	assert_int_equal(counts.never_learned, 1);
	assert_int_equal(points[2].count, 2);
	assert_int_equal(points[0].right, 2);
	assert_int_equal(points[1].right, 0);
	assert_int_equal(points[3].right, 2);
	assert_close(points[2].mean, 0.3125, 1e-15);
	assert_close(tally_variability(&points[2]), 0.1875, 1e-15);
	assert_close(tally_variability(&points[0]), sqrt(7.0 / 72), 1e-15); /* of 3/4, 1/4, 1: mean 2/3 */
	assert_true(tally_variability(&points[1]) == 0);
}

/* Twice as many examples as there is room for: every second one is followed. */
static void
test_sample(void **state)
{
	static struct tally_point points[TALLY_POINTS];
	struct tally_sample sample = {.points = points};
	static float values[STORE_CHUNK];
	static uint64_t present[STORE_CHUNK_WORDS];
	struct store_values gold_prob = {.values = values, .present = present};

	(void)state;
	memset(points, 0, sizeof(points));
	memset(present, 0xff, sizeof(present));
	for (uint32_t i = 0; i < STORE_CHUNK; i++)
		values[i] = (float)i;
	tally_sample_grow(&sample, STORE_CHUNK);
	tally_sample_add(&sample, &gold_prob, &gold_prob, 0, STORE_CHUNK);
	assert_true(points[5].mean == 5);
	tally_sample_grow(&sample, 4 * STORE_CHUNK);
	assert_int_equal(sample.stride, 2);
	assert_int_equal(tally_sample_points(&sample), 2 * STORE_CHUNK);
	assert_true(points[5].mean == 10);
	assert_int_equal(points[STORE_CHUNK / 2].count, 0); /* that of example STORE_CHUNK, which has not come */
	tally_sample_add(&sample, &gold_prob, &gold_prob, STORE_CHUNK, STORE_CHUNK);
	assert_true(points[STORE_CHUNK / 2 + 3].mean == 6);
	tally_sample_grow(&sample, 1000 * (uint64_t)STORE_CHUNK);
	assert_int_equal(sample.stride, 512);
	assert_true(points[1].mean == 512);
}

static void
test_small_map(void **state)
{
	static struct tally_point points[TALLY_POINTS];
	struct tally_sample sample = {.points = points, .stride = 1, .rows = 7};
	struct small_map map;

	(void)state;
	memset(points, 0, sizeof(points));
	for (int i = 0; i < 4; i++)
		points[i] = (struct tally_point){.mean = 1, .count = 2, .right = i % 2 ? 2 : 1};
	points[4] = (struct tally_point){.mean = 0, .squares = 0, .count = 2};
	points[5] = (struct tally_point){.mean = 0.5, .squares = 0.5, .count = 2}; /* 0 and 1: the most there can be */
	assert_true(small_map_make(&sample, false, 4, 2, &map));
	assert_true(map.variability_max == 0.5);
	assert_int_equal(map.points, 6);
	assert_int_equal(map.shades[0][0], SMALL_MAP_SHADES - 1);
	assert_int_equal(map.shades[1][0], 1);
	assert_int_equal(map.shades[0][3], 1); /* confidence 0.5 belongs to the upper half */
	assert_int_equal(map.shades[1][3], 0);
	assert_int_equal(map.thirds[0][0], 2); /* the mean of 1/2, 1, 1/2, 1 */
	assert_int_equal(map.thirds[0][3], 0);
	points[5].right = 1;
	assert_true(small_map_make(&sample, false, 4, 2, &map));
	assert_int_equal(map.thirds[0][3], 1);
	assert_false(small_map_make(&sample, false, 0, 2, &map));
	points[4].mean = -3; /* losses: the edges are those of the points */
	assert_true(small_map_make(&sample, true, 4, 2, &map));
	assert_true(map.mean_min == -3 && map.mean_max == 1 && map.variability_max == 0.5);
	assert_int_equal(map.shades[0][3], 1);
	assert_int_equal(map.shades[1][0], 1);
	for (int i = 0; i < 7; i++)
		points[i].count = points[i].count ? 1 : 0;
	assert_false(small_map_make(&sample, false, 4, 2, &map));
}

static struct live_view
view_of(struct tally_epoch *epochs, size_t count)
{
	struct live_view view = {.state = LIVE_RECORDING, .epochs = epochs, .epoch_count = count, .collector = true};

	view.info.declared = view.expected = 1000;
	return view;
}

/* However small the terminal, no line is longer or below its end. */
static void
test_screen_fits(void **state)
{
	static struct tally_point points[TALLY_POINTS];
	struct tally_epoch epochs[30];
	struct live_view view = view_of(epochs, 30);
	struct frame_moment moment = {
	        .run = "r\033[2Jun", .directory = "s", .clock = "12:00:00", .rate = 10, .idle = 99};

	(void)state;
	points[0] = (struct tally_point){.mean = 0.5, .squares = 0.1, .count = 2};
	view.sample = (struct tally_sample){.points = points, .stride = 1, .rows = 1};
	view.clients.dropped = 3;
	for (unsigned e = 0; e < 30; e++)
		epochs[e] = (struct tally_epoch){.epoch = e, .observed = 500, .correct = 250, .gold_prob = 400};
	for (unsigned lines = 1; lines < 60; lines++) {
		view.info.of_losses = lines % 3 == 0;
		for (unsigned e = 0; e < 30; e++)
			epochs[e].of_losses = view.info.of_losses;
		for (unsigned columns = 1; columns < 130; columns += 7) {
			struct terminal_size size = {.columns = columns, .lines = lines, .unicode = lines % 2};
			char *text;
			size_t length;
			FILE *stream = open_memstream(&text, &length);
			unsigned used = frame_screen(stream, &view, &moment, &size), counted = 0, width = 0;

			fclose(stream);
			for (size_t i = 0; i < length; i++) {
				counted += text[i] == '\n';
				width = text[i] == '\n' ? 0 : width + ((text[i] & 0xc0) != 0x80);
				assert_true(width <= columns);
				assert_true(text[i] == '\n' || (unsigned char)text[i] >= ' ');
				assert_true(size.unicode || (unsigned char)text[i] < 0x7f);
			}
			assert_int_equal(counted, used);
			assert_true(used <= (lines > 1 ? lines - 1 : 1));
			if (lines == 41 && columns == 92) {
				assert_non_null(strstr(text, "50%  500 of 1,000  10/s  0:50 left\n"));
				assert_non_null(strstr(text, "! 3 observations dropped"));
				assert_non_null(strstr(text, "! nothing new for 99 seconds"));
				assert_non_null(strstr(text, "    29           500    0.5000      0.8000"));
				assert_non_null(strstr(text, "0  variability"));
			}
			if (lines == 42 && columns == 92) {
				assert_non_null(strstr(text, " epoch      observed   mean loss\n"));
				assert_non_null(strstr(text, "    29           500         0.8\n"));
				assert_non_null(strstr(text, "\nmean loss\n     1.5 "));
				assert_null(strstr(text, "learned"));
				assert_null(strstr(text, "confidence"));
			}
			free(text);
		}
	}
}

/* The beginning of a number is another number. */
static void
test_screen_marks_what_is_cut(void **state)
{
	struct tally_epoch epochs[1] = {{.observed = 12000, .correct = 9000, .gold_prob = 8000}};
	struct live_view view = view_of(epochs, 1);
	struct frame_moment moment = {.run = "run", .directory = "s", .clock = "12:00:00", .rate = NAN};

	(void)state;
	view.events = 706;
	for (unsigned unicode = 0; unicode < 2; unicode++) {
		struct terminal_size size = {.columns = 20, .lines = 5, .unicode = unicode};
		char *text;
		size_t length;
		FILE *stream = open_memstream(&text, &length);

		frame_screen(stream, &view, &moment, &size);
		fclose(stream);
		assert_non_null(strstr(text, unicode ? "\nforgetting events 7…\n" : "\nforgetting events 7~\n"));
		free(text);
	}
}

/* Colour takes no room, and is ended at the end of each line; the map is as wide as the terminal. */
static void
test_screen_is_filled_and_styled(void **state)
{
	static struct tally_point points[TALLY_POINTS];
	struct tally_epoch epochs[30] = {{.observed = 3, .correct = 2, .gold_prob = 2}};
	struct live_view view = view_of(epochs, 30);
	struct frame_moment moment = {.run = "run", .directory = "s", .clock = "12:00:00", .rate = NAN};
	struct terminal_size size = {.columns = 200, .lines = 60, .unicode = true};
	unsigned marks = 0;
	char *texts[2];
	size_t length;

	(void)state;
	points[0] = (struct tally_point){.mean = 0.1, .squares = 0.49, .count = 2};
	points[1] = (struct tally_point){.mean = 0.9, .squares = 0.01, .count = 2, .right = 2};
	points[2] = (struct tally_point){.mean = 0.5, .squares = 0.2, .count = 2, .right = 1};
	view.sample = (struct tally_sample){.points = points, .stride = 1, .rows = 3};
	for (unsigned i = 0; i < 2; i++) {
		FILE *stream = open_memstream(&texts[i], &length);

		size.styled = i;
		assert_int_equal(frame_screen(stream, &view, &moment, &size), 59);
		fclose(stream);
	}
	assert_null(strchr(texts[0], '\033'));
	for (const char *line = strstr(texts[1], "\033[3"); line; line = strstr(strchr(line, '\n'), "\033[3")) {
		const char *end = strstr(line, "\033[0m\n");

		assert_true(end && end < strchr(line, '\n'));
		marks += strncmp(line + 5, "░", strlen("░")) == 0;
	}
	assert_int_equal(marks, 3);
	/* As in a picture of the map: the point above, mostly right, is red, the one below blue. */
	assert_true(strstr(texts[1], "\033[31m░") < strstr(texts[1], "\033[39m░"));
	assert_true(strstr(texts[1], "\033[39m░") < strstr(texts[1], "\033[34m░"));
	assert_non_null(strstr(texts[1], "\033[31m░"));
	assert_non_null(strstr(texts[1], "colours, as in the map, are correctness: red high, blue low\n"));
	assert_non_null(strstr(texts[0], "0  variability"));
	free(texts[0]);
	free(texts[1]);
}

/* A character of double width takes two columns; one that would be cut in half is left out. */
static void
test_screen_counts_columns(void **state)
{
	struct live_view view = {.state = LIVE_NO_RUN, .why = ""};
	struct frame_moment moment = {.run = "日本語日本語", .directory = "s", .clock = "1"};
	struct terminal_size size = {.lines = 5, .unicode = true};
	const char *const expected[] = {"1  waiting  日本語日本語\n", "1  waiting  日本語日本…\n",
	                                "1  waiting  日本語日…\n", "1  waiting  日本語日…\n"};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		char *text;
		size_t length;
		FILE *stream = open_memstream(&text, &length);

		size.columns = 24 - i;
		frame_screen(stream, &view, &moment, &size);
		fclose(stream);
		assert_true(strncmp(text, expected[i], strlen(expected[i])) == 0);
		free(text);
	}
}

static void
test_line(void **state)
{
	struct tally_epoch epochs[1] = {{.epoch = 4, .observed = 999, .correct = 333, .gold_prob = 111}};
	struct live_view view = view_of(epochs, 1);
	struct frame_moment moment = {.run = "run", .directory = "s", .clock = "12:00:00", .rate = NAN};
	char *text;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	(void)state;
	view.info.replaced = 1234;
	view.collector = false;
	frame_line(stream, &view, &moment);
	fclose(stream);
	assert_string_equal(
	        text, "12:00:00 run: epoch 4, 999 of 1,000 (99%), accuracy 0.3333, confidence 0.1111; forgetting "
	              "events 0, not learned yet 0; warning: 1,234 observations replaced by later ones of the same "
	              "example and epoch; warning: no collector serves the store: clients keep what they log until "
	              "one does (portoland --store s)\n");
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_tally),
	        cmocka_unit_test(test_sample),
	        cmocka_unit_test(test_small_map),
	        cmocka_unit_test(test_screen_is_filled_and_styled),
	        cmocka_unit_test(test_screen_counts_columns),
	        cmocka_unit_test(test_screen_fits),
	        cmocka_unit_test(test_screen_marks_what_is_cut),
	        cmocka_unit_test(test_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
