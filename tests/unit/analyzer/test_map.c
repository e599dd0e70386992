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
assert_quoted(const char *text, size_t most, const char *expected)
{
	char *written;
	size_t length;
	FILE *stream = open_memstream(&written, &length);

	assert_non_null(stream);
	plot_quote(stream, text, most, draws_chinese);
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
	assert_quoted("grüße", 3, "'grü…'");
	assert_quoted("''", 1, "'’…'");
	assert_quoted("'90s", 100, "'’90s'");
	assert_quoted("地图 🙂", 100, "'地图 \xef\xbf\xbd'");
	assert_quoted("地图地图", 5, "'地图…'"); /* each as wide as two */
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
	for (size_t c = 0; c < MAP_CELLS_X * MAP_CELLS_Y; c++)
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
	        cmocka_unit_test(test_quote),
	        cmocka_unit_test(test_levels),
	        cmocka_unit_test(test_data),
	        cmocka_unit_test(test_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
