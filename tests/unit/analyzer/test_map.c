/* test_map.c: samples, levels, cells, labels and the script's quoting. */
#include "unit.h"

#include "axis_of.h"
#include "map/layout.h"
#include "map/map_maker.h"
#include "output/output.h"
#include "plot/describe.h"
#include "statistics/random.h"

static void
assert_written(void (*set)(FILE *, const char *, size_t, const char *, double), const char *text, double room,
               const char *expected)
{
	char *written, *whole;
	size_t length;
	FILE *stream = open_memstream(&written, &length);

	assert_non_null(stream);
	set(stream, "t", 1, text, room);
	fclose(stream);
	assert_true(asprintf(&whole, "t[1] = %s; ", expected) > 0);
	assert_string_equal(written, whole);
	free(written);
	free(whole);
}

#define assert_quoted(text, room, expected) assert_written(script_set_text_item, text, room, expected)
#define assert_name(name, room, expected) assert_written(script_set_name_item, name, room, expected)

/* What a PDF gets that has such an end. */
static void
assert_pdf_gets(const char *pdf, const char *expected)
{
	struct portolan_error error;
	struct output output;
	FILE *file = tmpfile();

	assert_non_null(file);
	assert_true(fputs(pdf, file) >= 0 && fflush(file) == 0);
	assert_int_equal(output_open_memory(&output, 64, &error), 0);
	picture_describe(fileno(file), &output, PICTURE_PDF, "é", "d");
	output_bytes(&output, "", 1);
	assert_memory_equal(output.buffer, pdf, strlen(pdf));
	assert_string_equal(output.buffer + strlen(pdf), expected);
	output_discard(&output);
	fclose(file);
}

#define PDF_ROOTS "   /Root 8 0 R\n   /Info 7 0 R\n"
#define PDF_INFO                                                                                                       \
	"7 0 obj\n<< /Creator (portolan " PORTOLAN_VERSION                                                             \
	")\n   /Title <FEFF00E9>\n   /Subject <FEFF0064>\n>>\nendobj\n"

/* A title and a subject come with a table of the form that the PDF has: cairo before 1.18 writes text, and later ones
 * streams. */
static void
test_describe_pdf(void **state)
{
	(void)state;
	assert_pdf_gets("%PDF-1.5\nxref\n0 1\ntrailer\n<< /Size 9\n" PDF_ROOTS ">>\nstartxref\n9\n%%EOF\n",
	                PDF_INFO "xref\n7 1\n0000000088 00000 n \ntrailer\n<< /Size 9\n" PDF_ROOTS
	                         "   /Prev 9\n>>\nstartxref\n179\n%%EOF\n");
	assert_pdf_gets(
	        "%PDF-1.5\n9 0 obj\n<< /Type /XRef\n   /Size 10\n   /W [1 2 2]\n" PDF_ROOTS
	        ">>\nstream\n\nendstream\nendobj\nstartxref\n9\n%%EOF\n",
	        PDF_INFO
	        "10 0 obj\n<< /Type /XRef\n   /Size 11\n   /W [1 4 1]\n   /Index [7 1 10 1]\n   /Filter /ASCIIHexDecode\n   /Length 25\n" PDF_ROOTS
	        "   /Prev 9\n>>\nstream\n01000000860001000000e100>\nendstream\nendobj\nstartxref\n225\n%%EOF\n");
	assert_pdf_gets("%PDF-1.5\nno table\n", "");
}

/* Both ends of a name stay, as far as they have room, and none of its characters is cut in two. */
static void
test_quote_name(void **state)
{
	(void)state;
	assert_name("class number 5", 100, "'class number 5'");
	assert_name("class number 15", 7, "'class…er 15'");
	assert_name("class number 5", 2.9, "'clas…'"); /* too little for two ends */
	assert_name("地图地图地图上", 5.2, "'地图…图上'");
	assert_name("it's a 'name'", 4.5, "'it’…e’'");
	assert_name("\xff\xffgrößer\xff\xff als\xff", 3.8, "'gr…ls'");
	assert_name("", 3, "''");
}

static void
test_quote(void **state)
{
	(void)state;
	assert_quoted("plain", 100, "'plain'");
	assert_quoted("it's `ls` \"x\" $(x) \\n", 100, "'it’s `ls` \"x\" $(x) \\n'");
	assert_quoted("a\nb\tc\x7f\x01", 100, "'a b c'");
	assert_quoted("x\u202ey\u2067z\u2028", 100, "'xyz'");   /* turned directions */
	assert_quoted("\xc2\x85x\xff\xfey\xc3", 100, "'xy'");   /* a C1 control, bytes that are not UTF-8 */
	assert_quoted("\xe0\x80\x80z\xed\xa0\x80", 100, "'z'"); /* overlong; a surrogate */
	assert_quoted("grüße", 100, "'grüße'");
	assert_quoted("grüße", 2.1, "'grü…'");
	assert_quoted("''", 0.5, "'’…'");
	assert_quoted("'90s", 100, "'’90s'");
	assert_quoted("地图地图", 3, "'地图…'"); /* each as wide as an em */
	assert_quoted("WWWiiii", 3, "'WWW…'");
}

/* What no font has becomes U+FFFD, whether it is cut off by the end or not; all else stays. */
static void
test_undrawn(void **state)
{
	static const char script[] = "t = '地图 🙂 \u05d0 é' # \xff\nplot x";
	uint8_t *drawn = calloc(PLOT_CHARACTERS / 8, 1);
	struct output output;

	(void)state;
	assert_non_null(drawn);
	assert_true(plot_is_common("grüße – ≥ \xff"));
	assert_false(plot_is_common("x 地"));
	drawn[0x5730 / 8] |= 1 << 0x5730 % 8; /* 地 alone */
	assert_int_equal(output_open_memory(&output, 100, NULL), 0);
	assert_ptr_equal(plot_replace_undrawn(&output, script, drawn), strstr(script, "图"));
	output_bytes(&output, "", 1);
	assert_string_equal(output.buffer, "t = '地\ufffd \ufffd \ufffd é' # \xff\nplot x");
	output_clear(&output);
	assert_non_null(plot_replace_undrawn(&output, "é地", NULL));
	output_bytes(&output, "", 1);
	assert_string_equal(output.buffer, "é\ufffd");
	output_clear(&output);
	assert_null(plot_replace_undrawn(&output, "é", NULL));
	output_discard(&output);
	free(drawn);
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
	assert_string_equal(levels[0].name, "none");
	assert_string_equal(levels[1].name, "1 of 6");
	assert_string_equal(levels[6].name, "all");
	assert_int_equal(levels[3].slot, 3);
	assert_int_equal(map_level_of(5.0 / 6, 6), 5);
	assert_int_equal(map_levels(12, levels), 7);
	assert_string_equal(levels[0].name, "none");
	assert_string_equal(levels[1].name, "1–19%");
	assert_string_equal(levels[5].name, "80–99%");
	assert_string_equal(levels[6].name, "all");
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
	return (struct map_input){
	        .x = {"variability", bell->variability, MAP_VARIABILITY, 0},
	        .y = {"confidence", bell->confidence, MAP_SHARE, 0},
	        .colour = {"correctness", bell->correctness, MAP_SHARE, 1.0 / 6},
	        .colouring = MAP_BY_CORRECTNESS,
	        .epochs = 6,
	        .regions = true,
	        .labelled = true,
	        .order = bell->order,
	        .n = n,
	        .rows = (uint32_t)n,
	};
}

/* The map of a held source, without one. */
static void
map_data_make(const struct map_input *input, const struct map_axes *axes, const struct map_options *options,
              unsigned threads, struct map_data *data)
{
	struct map_cuts cuts;
	struct map_sample sample;
	struct map_maker maker = {.options = options, .sample = &sample, .threads = threads};

	map_sample_draw(&sample, input->order, NULL, input->n, options->sample, options->seed);
	if (input->regions && input->n > 0) {
		maker.cuts = &cuts;
		cuts = map_find_cuts(input, NULL);
	}
	map_maker_begin(&maker, input, axes, data);
	map_maker_add(&maker, input);
	map_maker_end(&maker);
	map_sample_free(&sample);
}

static struct map_axes
axes_of(const struct map_input *input)
{
	struct map_ranges ranges = MAP_RANGES_EMPTY;
	struct map_axes axes;

	map_ranges_add(&ranges, input);
	map_axes_make(&axes, input, &ranges, input->n);
	return axes;
}

static void
make(const struct map_input *input, uint64_t sample, uint64_t seed, struct map_data *data)
{
	struct map_options options = {.sample = sample, .seed = seed};
	struct map_axes axes = axes_of(input);

	map_data_make(input, &axes, &options, 1, data);
}

static void
test_data(void **state)
{
	struct bell *bell = bell_new();
	struct map_input input = input_of(bell, N);
	struct map_data data, again;
	uint64_t confidence = 0, variability = 0, levels = 0, regions = 0;
	double cells = 0;

	(void)state;
	make(&input, 500, 3, &data);
	assert_int_equal(data.examples, N);
	assert_int_equal(data.shown, 500);
	assert_int_equal(data.point_count, 500);
	assert_true(data.axes.x.high == 0.5);
	for (unsigned b = 0; b < MAP_BINS; b++) {
		confidence += data.y_bins[b];
		variability += data.x_bins[b];
	}
	for (unsigned k = 0; k < data.level_count; k++)
		levels += data.levels[k].examples;
	for (size_t c = 0; c < (size_t)data.axes.cells_x * data.axes.cells_y; c++)
		cells += isnan(data.counts[c]) ? 0 : (double)data.counts[c];
	for (unsigned r = 0; r < REGION_COUNT; r++)
		regions += data.region_examples[r];
	assert_int_equal(confidence, N);
	assert_int_equal(variability, N);
	assert_int_equal(levels, N);
	assert_int_equal(regions, N);
	assert_int_equal(data.region_examples[REGION_AMBIGUOUS], N / 3);
	assert_true(cells == N);
	assert_true(data.labels[REGION_EASY].shown && data.labels[REGION_AMBIGUOUS].shown &&
	            data.labels[REGION_HARD].shown);
	assert_true(data.labels[REGION_EASY].y > data.labels[REGION_HARD].y + 100);
	assert_true(data.labels[REGION_AMBIGUOUS].x > data.labels[REGION_EASY].x + 100);
	make(&input, 500, 3, &again);
	assert_memory_equal(data.points, again.points, data.point_count * sizeof(*data.points));
	map_data_free(&again);
	make(&input, 500, 4, &again);
	assert_true(memcmp(data.points, again.points, data.point_count * sizeof(*data.points)) != 0);
	map_data_free(&again);
	map_data_free(&data);
	free(bell);
}

/* Two threads make the same map as one, to the last bit of every sum. */
static void
test_threads(void **state)
{
	struct bell *bell = bell_new();
	const struct map_input input = input_of(bell, N);
	const struct map_axes axes = axes_of(&input);
	const struct map_options options = {.sample = N, .seed = 3};
	const size_t cells = (size_t)axes.cells_x * axes.cells_y;

	(void)state;
	for (int turn = 0; turn < 20; turn++) {
		struct map_data one, two;

		map_data_make(&input, &axes, &options, 1, &one);
		map_data_make(&input, &axes, &options, 2, &two);
		assert_int_equal(one.point_count, two.point_count);
		assert_memory_equal(one.points, two.points, one.point_count * sizeof(*one.points));
		assert_memory_equal(one.counts, two.counts, cells * sizeof(*one.counts));
		assert_memory_equal(one.means, two.means, cells * sizeof(*one.means));
		assert_memory_equal(one.levels, two.levels, sizeof(one.levels));
		assert_memory_equal(one.x_bins, two.x_bins, sizeof(one.x_bins));
		assert_memory_equal(one.y_bins, two.y_bins, sizeof(one.y_bins));
		assert_memory_equal(one.region_examples, two.region_examples, sizeof(one.region_examples));
		assert_memory_equal(one.labels, two.labels, sizeof(one.labels));
		assert_int_equal(two.examples, N);
		map_data_free(&one);
		map_data_free(&two);
	}
	free(bell);
}

/* Four examples on two whole numbers each way, of which one has no place and one no value. */
static void
test_values(void **state)
{
	static const double x[] = {1, 2, 1, NAN, 1}, y[] = {0, 3, 0, 1, 0}, value[] = {5, -1, 2, 7, NAN};
	static const uint32_t order[] = {0, 1, 2, 3, 4};
	const struct map_input input = {
	        .x = {"a", x, MAP_ANY, 1},
	        .y = {"b", y, MAP_ANY, 1},
	        .colour = {"c", value, MAP_ANY, 0},
	        .colouring = MAP_BY_VALUE,
	        .order = order,
	        .n = 5,
	        .rows = 5,
	};
	struct map_data data;
	uint64_t valued = 0;

	(void)state;
	make(&input, 25, 0, &data);
	assert_int_equal(data.examples, 4);
	assert_int_equal(data.shown, 4);
	assert_int_equal(data.without_colour, 1);
	assert_int_equal(data.axes.cells_x, 2);
	assert_int_equal(data.axes.cells_y, 4);
	assert_true(data.counts[0] == 3 && data.counts[7] == 1 && isnan(data.counts[1]));
	assert_true(data.means[0] == 3.5f && data.means[7] == -1 && isnan(data.means[1]));
	assert_true(data.most_per_cell == 3 && data.mean_low == -1 && data.mean_high == 3.5);
	assert_int_equal(data.x_bins[0], 3);
	assert_int_equal(data.y_bins[3], 1);
	for (unsigned b = 0; b < MAP_BINS; b++)
		valued += data.colour_bins[b];
	assert_int_equal(valued, 3);
	for (size_t i = 0; i < data.point_count; i++) { /* spread, but by less than half a step */
		double off = (double)data.points[i].x - round((double)data.points[i].x);

		assert_true(fabs(off) <= 0.3 + 1e-6);
		assert_true(fabs((double)data.points[i].y - round((double)data.points[i].y)) <= 0.3 + 1e-6);
		assert_true(off != 0);
	}
	map_data_free(&data);
}

static void
test_shift(void **state)
{
	float first[4] = {1, 3, NAN, NAN}, second[4] = {NAN, 5, 5, NAN}, cells[4];
	const struct map_data before = {.axes = {.cells_x = 2, .cells_y = 2}, .examples = 4, .counts = first};
	const struct map_data after = {.axes = {.cells_x = 2, .cells_y = 2}, .examples = 10, .counts = second};

	(void)state;
	assert_true(map_shift(&before, &after, cells) == 50);
	assert_true(cells[0] == -25 && cells[1] == -25 && cells[2] == 50 && isnan(cells[3]));
}

/* What of these points, in drawing order, is left for a format: their numbers, as text. */
static void
assert_left(const struct map_point *points, size_t count, enum picture_format format, const char *expected)
{
	struct map_data data = {.shown = count, .point_count = count};
	char left[32] = "";

	data.axes.x = axis_of(MAP_VARIABILITY, 0, 0, 0.5, 0.024);
	data.axes.y = axis_of(MAP_SHARE, 0, 0, 1, 0.03);
	data.level_count = map_levels(6, data.levels);
	data.points = calloc(2 * count, sizeof(*data.points));
	assert_non_null(data.points);
	memcpy(data.points, points, count * sizeof(*points));
	map_leave_out_hidden(&data, format);
	for (size_t i = 0; i < data.point_count; i += 2) {
		size_t number = 0;

		assert_true(data.points[i].edge == 1 && data.points[i + 1].edge == 0);
		assert_memory_equal(&data.points[i], &data.points[i + 1], offsetof(struct map_point, edge));
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
	        {0.2f, 0.5f, 6, 0},       /* 0: under 2 */
	        {0.4f, 0.9f, 0, 0},       /* 1: alone */
	        {0.2002f, 0.5003f, 6, 0}, /* 2: under 7, but that is a cross */
	        {0.1f, 0.1f, 0, 0},       /* 3: under the square 4 */
	        {0.1f, 0.1f, 2, 0},       /* 4 */
	        {0.3f, 0.3f, 2, 0},       /* 5: partly under 6 */
	        {0.305f, 0.3f, 2, 0},     /* 6 */
	        {0.2f, 0.5f, 3, 0},       /* 7 */
	};
	static const struct map_point damaged[] = {
	        {NAN, 0.5f, 1, 0}, {0.2f, INFINITY, 1, 0}, {0.2f, -3, 1, 0}, {7, 0.5f, 1, 0}};
	struct map_point squares[3] = {{0.2f, 0.5f, 2, 0}, {0.2f, 0.506f, 2, 0}, {0.2f, 0.52f, 2, 0}};

	(void)state;
	for (size_t f = 0; f < 3; f++) {
		assert_left(points, 8, formats[f], "124567");
		assert_left(points, 1, formats[f], "0");
		assert_left(damaged, 4, formats[f], "0123");
		assert_left(squares, 3, formats[f], "012");
		squares[2].y = 0.494f; /* the first is now hidden by the two together */
		assert_left(squares, 3, formats[f], "12");
		squares[2].y = 0.52f;
	}
}

/* Boxes stay within the frame and apart, whatever the data. */
static void
test_labels(void **state)
{
	struct bell *bell = bell_new();

	(void)state;
	for (size_t n = 1; n <= N; n = n * 3 + 1) {
		struct map_input input = input_of(bell, n);
		struct map_data data;

		make(&input, 25000, 0, &data);
		for (unsigned r = 0; r < REGION_COUNT; r++) {
			double angle = MAP_LABEL_ANGLE * M_PI / 180;

			if (!data.labels[r].shown)
				continue;
			for (int c = 0; c < 4; c++) {
				double along = (c & 1 ? 0.5 : -0.5) * map_label_widths[r];
				double across = (c & 2 ? 0.5 : -0.5) * MAP_LABEL_HEIGHT;
				double x = data.labels[r].x + along * cos(angle) - across * sin(angle);
				double y = data.labels[r].y + along * sin(angle) + across * cos(angle);

				assert_true(x >= MAP_LEFT && x <= MAP_RIGHT && y >= MAP_BOTTOM && y <= MAP_TOP);
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

/* Places, and then what stands there. */
static void
test_sample(void **state)
{
	static const size_t sizes[][2] = {{0, 5},       {1, 1},      {7, 7},      {7, 3},
	                                  {1000, 1000}, {1000, 999}, {1000, 400}, {100000, 50}};

	(void)state;
	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		size_t n = sizes[s][0], count = sizes[s][1] < n ? sizes[s][1] : n;
		uint32_t *list = malloc((n + 1) * sizeof(*list)), *order = malloc((n + 1) * sizeof(*order));
		struct random_state random;
		struct map_sample sample;

		for (size_t i = 0; i < n; i++) {
			list[i] = (uint32_t)i;
			order[i] = (uint32_t)(n - i);
		}
		random_seed(&random, 11 + s);
		random_sample(&random, list, n, count);
		map_sample_draw(&sample, NULL, NULL, n, sizes[s][1], 11 + s);
		assert_int_equal(sample.count, count);
		for (size_t k = 0; k < count; k++) {
			assert_int_equal(sample.items[k].key, list[sample.items[k].value]);
			assert_true(k == 0 || sample.items[k].key > sample.items[k - 1].key);
		}
		map_sample_free(&sample);
		map_sample_draw(&sample, order, NULL, n, sizes[s][1], 11 + s);
		assert_int_equal(sample.count, count);
		for (size_t k = 0; k < count; k++) {
			assert_int_equal(n - sample.items[k].key, list[sample.items[k].value]);
			assert_true(k == 0 || sample.items[k].key > sample.items[k - 1].key);
		}
		map_sample_free(&sample);
		free(order);
		free(list);
	}
}

/* Without a width of its own a picture has a whole map's frame; with one, everything for text keeps its size, and the
 * frame has the rest. */
static void
test_layout(void **state)
{
	static const struct map_key levels = {.entries = 7, .name_width = 4};
	struct map_layout_request request = {.key = levels};
	struct map_layout layout;
	double x, y, last;

	(void)state;
	assert_true(map_layout_make(&layout, &request));
	assert_true(layout.width == MAP_WIDTH && layout.height == MAP_HEIGHT && layout.text == 1 && layout.scale == 1);
	assert_true(layout.left == MAP_LEFT && layout.right == MAP_RIGHT && layout.bottom == MAP_BOTTOM);
	assert_true(layout.top == MAP_TOP && layout.panels && !layout.narrow);
	assert_true(map_layout_x(&layout, 100) == 100 && map_layout_y(&layout, 100) == 100);
	request.compact = true;
	assert_true(map_layout_make(&layout, &request));
	assert_true(layout.width == MAP_COMPACT_WIDTH && layout.right == MAP_RIGHT && !layout.panels);
	request.beside = true;
	assert_true(map_layout_make(&layout, &request));
	assert_true(layout.width == MAP_COMPACT_WIDTH + MAP_BESIDE && layout.beside == MAP_BESIDE);
	request = (struct map_layout_request){.width = 317, .key = levels};
	assert_true(map_layout_make(&layout, &request));
	assert_true(layout.width == 317 && layout.narrow && !layout.panels && layout.text * 11 == 8);
	assert_true(fabs(map_layout_x(&layout, MAP_RIGHT) - layout.right) < 1e-9);
	assert_true(fabs(map_layout_y(&layout, MAP_TOP) - layout.top) < 1e-9);
	assert_true(fabs((layout.right - layout.left) / (layout.top - layout.bottom) - 604.0 / 552) < 1e-9);
	for (unsigned k = 0; k < 7; k++) {
		map_layout_key(&layout, k, &x, &y);
		assert_true(x >= 0 && x + layout.key_width <= layout.width && y > layout.top && y < layout.key_top);
		assert_true(k == 0 || y <= last);
		last = y;
	}
	request.points = 14;
	assert_true(map_layout_make(&layout, &request) && layout.text == 14 / 11.0);
	request.points = 40;
	assert_false(map_layout_make(&layout, &request));
}

/* Two paths that end in one place: the names and numbers lie apart, and each number is beside its point. */
static void
test_paths(void **state)
{
	static double first[][2] = {{0.1, 0.2}, {0.2, 0.4}, {0.3, 0.6}},
	              second[][2] = {{0.1, 0.8}, {0.1001, 0.8}, {0.3, 0.6}};
	static uint32_t epochs[] = {0, 1, 12};
	const struct map_path paths[] = {{"a", first, epochs, 3}, {"b", second, epochs, 3}};
	struct map_axes axes = {.x = axis_of(MAP_VARIABILITY, 0, 0, 0.5, 0.024),
	                        .y = axis_of(MAP_SHARE, 0, 0, 1, 0.03)};
	struct map_number numbers[MAP_NUMBERS_MAX];
	struct map_place names[2];
	size_t count;

	(void)state;
	for (double text = 1; text <= 2; text++) {
		map_place_names(&axes, paths, 2, text, names);
		assert_true(fabs(names[0].y - names[1].y) >= 15 * text - 0.1);
		count = map_place_numbers(&axes, paths, 2, text, names, numbers);
		assert_in_range(count, 4, 6);
		for (size_t i = 0; i < count; i++) {
			const struct map_path *path = &paths[numbers[i].path];
			size_t at = numbers[i].epoch == 12 ? 2 : numbers[i].epoch;

			assert_true(fabs(numbers[i].x - map_x(&axes, path->places[at][0])) <= 11 * text + 0.01);
			assert_true(fabs(numbers[i].y - map_y(&axes, path->places[at][1])) <= 11 * text + 0.01);
			for (size_t k = 0; k < i; k++)
				assert_true(fabs(numbers[i].x - numbers[k].x) >= 7 * text - 0.01 ||
				            fabs(numbers[i].y - numbers[k].y) >= 11 * text - 0.01);
		}
		assert_true(map_path_has_arrow(&axes, &paths[0], 0, text));
		assert_false(map_path_has_arrow(&axes, &paths[1], 0, text)); /* too near */
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_quote),   cmocka_unit_test(test_quote_name), cmocka_unit_test(test_describe_pdf),
	        cmocka_unit_test(test_undrawn), cmocka_unit_test(test_levels),     cmocka_unit_test(test_data),
	        cmocka_unit_test(test_hidden),  cmocka_unit_test(test_labels),     cmocka_unit_test(test_values),
	        cmocka_unit_test(test_shift),   cmocka_unit_test(test_sample),     cmocka_unit_test(test_layout),
	        cmocka_unit_test(test_paths),   cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
