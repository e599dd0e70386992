/* test_map.c: levels, bins, labels and the script's quoting. */
#include "unit.h"

#include "map/map.h"
#include "statistics/random.h"

static bool
draws_chinese(uint32_t character)
{
	return character >= 0x4e00 && character < 0x9fff;
}

static void
assert_quoted(const char *text, double room, const char *expected)
{
	char *written;
	size_t length;
	FILE *stream = open_memstream(&written, &length);

	assert_non_null(stream);
	plot_quote(stream, text, room, draws_chinese);
	fclose(stream);
	assert_string_equal(written, expected);
	free(written);
}

static void
test_quote(void **state)
{
	(void)state;
	assert_quoted("plain", 100, "'plain'");
	assert_quoted("it's `ls` \"x\" $(x) \\n", 100, "'it’s `ls` \"x\" $(x) \\n'");
	assert_quoted("a\nb\tc\x7f", 100, "'abc'");
	assert_quoted("\xc2\x85x\xff\xfey\xc3", 100, "'xy'");   /* a C1 control, bytes that are not UTF-8 */
	assert_quoted("\xe0\x80\x80z\xed\xa0\x80", 100, "'z'"); /* overlong; a surrogate */
	assert_quoted("grüße", 100, "'grüße'");
	assert_quoted("grüße", 2.1, "'grü…'");
	assert_quoted("''", 0.5, "'’…'");
	assert_quoted("'90s", 100, "'’90s'");
	assert_quoted("地图 🙂", 100, "'地图 \xef\xbf\xbd'");
	assert_quoted("地图地图", 3, "'地图…'"); /* each as wide as an em */
	assert_quoted("WWWiiii", 3, "'WWW…'");
}

static void
test_levels(void **state)
{
	struct map_level levels[MAP_LEVELS_MAX];

	(void)state;
	assert_int_equal(map_levels(1, levels), 2);
	assert_int_equal(levels[0].slot, 0);
	assert_int_equal(levels[1].slot, 6);
	assert_int_equal(map_levels(6, levels), 7);
	assert_string_equal(levels[0].name, "0");
	assert_string_equal(levels[1].name, "0.17");
	assert_string_equal(levels[6].name, "1");
	assert_int_equal(levels[3].slot, 3);
	assert_int_equal(map_level_of(5.0 / 6, 6), 5);
	assert_int_equal(map_levels(12, levels), 7);
	assert_string_equal(levels[1].name, "0–0.2");
	assert_int_equal(map_level_of(0, 12), 0);
	assert_int_equal(map_level_of(1.0 / 12, 12), 1);
	assert_int_equal(map_level_of(3.0 / 5, 10), 4);
	assert_int_equal(map_level_of(11.0 / 12, 12), 5);
	assert_int_equal(map_level_of(1, 12), 6);
}

#define N 3000

struct bell {
	double variability[N], confidence[N], correctness[N];
	uint32_t order[N];
};

static struct bell *
bell_new(void)
{
	struct bell *bell = calloc(1, sizeof(*bell));
	struct random_state random;

	assert_non_null(bell);
	random_seed(&random, 1);
	for (uint32_t i = 0; i < N; i++) {
		double c = (double)random_below(&random, 1000) / 1000;

		bell->confidence[i] = c;
		bell->variability[i] = sqrt(c * (1 - c)) * 0.9 * (double)random_below(&random, 1000) / 1000;
		bell->correctness[i] = round(c * 6) / 6;
		bell->order[i] = i;
	}
	return bell;
}

static struct map_input
input_of(const struct bell *bell, size_t n)
{
	return (struct map_input){bell->variability, bell->confidence, bell->correctness, bell->order, n, 6};
}

static void
test_data(void **state)
{
	struct bell *bell = bell_new();
	struct map_input input = input_of(bell, N);
	struct map_options options = {.sample = 500, .seed = 3};
	struct map_data data, again;
	uint64_t confidence = 0, variability = 0, levels = 0;
	double cells = 0;

	(void)state;
	assert_int_equal(map_data_make(&input, &options, &data, NULL), 0);
	assert_int_equal(data.shown, 500);
	assert_int_equal(data.point_count, 1000);
	assert_true(data.points[0].level == data.points[1].level + MAP_HALO);
	assert_true(data.variability_max == 0.5);
	for (unsigned b = 0; b < MAP_BINS; b++) {
		confidence += data.confidence_bins[b];
		variability += data.variability_bins[b];
	}
	for (unsigned k = 0; k < data.level_count; k++)
		levels += data.levels[k].examples;
	for (size_t c = 0; c < (size_t)data.cells_x * data.cells_y; c++)
		cells += isnan(data.cells[c]) ? 0 : (double)data.cells[c];
	assert_int_equal(confidence, N);
	assert_int_equal(variability, N);
	assert_int_equal(levels, N);
	assert_true(cells == N);
	assert_int_equal(map_data_make(&input, &options, &again, NULL), 0);
	assert_memory_equal(data.points, again.points, data.point_count * sizeof(*data.points));
	map_data_free(&again);
	options.seed = 4;
	assert_int_equal(map_data_make(&input, &options, &again, NULL), 0);
	assert_true(memcmp(data.points, again.points, data.point_count * sizeof(*data.points)) != 0);
	map_data_free(&again);
	map_data_free(&data);
	free(bell);
}

/* What of these points, in drawing order, is left for a format: their numbers, as text. */
static void
assert_left(const struct map_point *points, size_t count, enum picture_format format, const char *expected)
{
	struct map_data data = {.shown = count, .variability_max = 0.5, .point_count = 2 * count};
	char left[32] = "";

	data.level_count = map_levels(6, data.levels);
	data.points = calloc(2 * count, sizeof(*data.points));
	assert_non_null(data.points);
	for (size_t i = 0; i < count; i++) {
		data.points[2 * i] = data.points[2 * i + 1] = points[i];
		data.points[2 * i].level += MAP_HALO;
	}
	assert_int_equal(map_leave_out_hidden(&data, format, NULL), 0);
	for (size_t i = 0; i < data.point_count; i += 2) {
		size_t number = 0;

		assert_true(data.points[i].level == data.points[i + 1].level + MAP_HALO);
		while (memcmp(&points[number], &data.points[i + 1], sizeof(*points)) != 0)
			number++;
		snprintf(left + strlen(left), sizeof(left) - strlen(left), "%zu", number);
	}
	assert_int_equal(data.shown, count);
	assert_string_equal(left, expected);
	free(data.points);
}

/* Only what is hidden wholly is left out, and the rest keeps its order. */
static void
test_hidden(void **state)
{
	static const enum picture_format formats[] = {PICTURE_PNG, PICTURE_SVG, PICTURE_PDF};
	static const struct map_point points[] = {
	        {0.2f, 0.5f, 6},       /* 0: under 2 */
	        {0.4f, 0.9f, 0},       /* 1: alone */
	        {0.2002f, 0.5003f, 6}, /* 2: under 7, but that is a cross */
	        {0.1f, 0.1f, 0},       /* 3: under the square 4 */
	        {0.1f, 0.1f, 2},       /* 4 */
	        {0.3f, 0.3f, 2},       /* 5: partly under 6 */
	        {0.305f, 0.3f, 2},     /* 6 */
	        {0.2f, 0.5f, 3},       /* 7 */
	};
	static const struct map_point damaged[] = {{NAN, 0.5f, 1}, {0.2f, INFINITY, 1}, {0.2f, -3, 1}, {7, 0.5f, 1}};
	struct map_point squares[3] = {{0.2f, 0.5f, 2}, {0.2f, 0.506f, 2}, {0.2f, 0.52f, 2}};

	(void)state;
	for (size_t f = 0; f < 3; f++) {
		assert_left(points, 8, formats[f], "124567");
		assert_left(points, 1, formats[f], "0");
		assert_left(damaged, 4, formats[f], "0123");
		assert_left(squares, 3, formats[f], "012");
		squares[2].confidence = 0.494f; /* the first is now hidden by the two together */
		assert_left(squares, 3, formats[f], "12");
		squares[2].confidence = 0.52f;
	}
}

/* Boxes stay within the frame and apart, whatever the data. */
static void
test_labels(void **state)
{
	struct bell *bell = bell_new();
	struct map_options options = {.sample = 25000};

	(void)state;
	for (size_t n = 1; n <= N; n = n * 3 + 1) {
		struct map_input input = input_of(bell, n);
		struct map_data data;

		assert_int_equal(map_data_make(&input, &options, &data, NULL), 0);
		for (unsigned r = 0; r < REGION_COUNT; r++) {
			double corners[MAP_BOX_CORNERS][2];
			size_t count;

			if (!data.labels[r].shown)
				continue;
			count = map_label_box((enum region)r, &data.labels[r], corners);
			assert_int_equal(count, MAP_BOX_CORNERS);
			for (size_t c = 0; c < count; c++) {
				assert_in_range((uintmax_t)corners[c][0], (uintmax_t)MAP_LEFT, (uintmax_t)MAP_RIGHT);
				assert_in_range((uintmax_t)corners[c][1], (uintmax_t)MAP_BOTTOM, (uintmax_t)MAP_TOP);
			}
			for (unsigned other = 0; other < r; other++)
				assert_true(!data.labels[other].shown ||
				            fabs(data.labels[r].y - data.labels[other].y) > 25 ||
				            fabs(data.labels[r].x - data.labels[other].x) > 90);
		}
		map_data_free(&data);
	}
	free(bell);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_quote),  cmocka_unit_test(test_levels), cmocka_unit_test(test_data),
	        cmocka_unit_test(test_hidden), cmocka_unit_test(test_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
