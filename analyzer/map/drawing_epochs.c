/*
 * drawing_epochs.c: the maps of a run after each of its epochs.
 *
 * Every block is read once for the ranges, which all maps share, and once to draw: it is measured after each epoch
 * while it is at hand, and added to as many maps. Threads share the epochs of a block, so a map takes its examples in
 * their order whatever the number of threads. All maps show the same sample, and the regions' labels where the last one
 * has them.
 */
#include "drawing.h"

#include "base/parallel.h"
#include "measures/trace.h"

#include <portolan/error.h>
#include <progress.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The memory of one thread. */
struct camera {
	struct trace trace;
	size_t block; /* the one read last */
	uint32_t *rows;
	size_t count;
};

struct film {
	struct map_drawing *drawing;
	struct camera *cameras;
	unsigned camera_count;
	size_t block; /* being read */
	struct map_ranges *ranges;
	struct map_maker *makers; /* NULL: ranges are taken */
};

/* The steps of correctness differ after each epoch. */
static struct map_input
input_of(const struct map_drawing *drawing)
{
	struct map_input input = map_drawing_input(drawing, 0);

	input.epochs = input.epochs > 1 ? MAP_LEVELS_MAX : input.epochs;
	input.x.grid = input.x.kind == MAP_SHARE ? 0 : input.x.grid;
	input.y.grid = input.y.kind == MAP_SHARE ? 0 : input.y.grid;
	input.colour.grid = input.colour.kind == MAP_SHARE ? 0 : input.colour.grid;
	return input;
}

/* Of the block that was read last. */
static struct map_input
input_after(const struct film *film, const struct camera *camera)
{
	const struct map_source *source = &film->drawing->sources[0];
	struct map_input input = input_of(film->drawing);

	input.regions = false;
	input.x.values = trace_values(&camera->trace, input.x.name);
	input.y.values = trace_values(&camera->trace, input.y.name);
	if (source->colour_values) /* which no epoch changes */
		input.colour.values = source->input.colour.values + camera->trace.block.first;
	else if (input.colouring != MAP_PLAIN)
		input.colour.values = trace_values(&camera->trace, input.colour.name);
	input.order = camera->rows;
	input.n = camera->count;
	input.first = camera->trace.block.first;
	return input;
}

/* An example without a place after all epochs is in none of the maps. */
static void
list_rows(const struct film *film, struct camera *camera)
{
	const struct dynamics *dynamics = &film->drawing->sources[0].dynamics;
	struct map_input input = input_after(film, camera);
	uint32_t rows = camera->trace.block.rows;

	trace_measure(&camera->trace, dynamics->epoch_count, 0);
	camera->count = 0;
	for (uint32_t r = 0; r < rows; r++)
		if (isfinite(input.x.values[r]) && isfinite(input.y.values[r]))
			camera->rows[camera->count++] = r;
}

static int
read_block(const struct film *film, struct camera *camera, struct portolan_error *error)
{
	int code = 0;

	if (camera->block == film->block)
		return 0;
	code = trace_block(&camera->trace, film->block, error);
	if (code < 0)
		return code;
	camera->block = film->block;
	list_rows(film, camera);
	return 0;
}

/* The epochs that take longest come first. */
static int
visit_epoch(void *context, unsigned thread, unsigned slot, size_t index, struct portolan_error *error)
{
	const struct film *film = context;
	struct camera *camera = &film->cameras[thread];
	size_t epoch = film->drawing->sources[0].dynamics.epoch_count - 1 - index;
	struct map_input input;
	int code = read_block(film, camera, error);

	(void)slot;
	if (code < 0)
		return code;
	trace_measure(&camera->trace, epoch + 1, 0);
	input = input_after(film, camera);
	if (film->makers)
		map_maker_add(&film->makers[epoch], &input);
	else
		map_ranges_add(&film->ranges[epoch], &input);
	return 0;
}

static int
visit_all(struct film *film, const char *what, struct portolan_error *error)
{
	const struct dynamics *dynamics = &film->drawing->sources[0].dynamics;
	size_t blocks = store_snapshot_blocks(dynamics->snapshot);
	struct parallel parallel = {
	        .threads = film->camera_count, .count = dynamics->epoch_count, .context = film, .work = visit_epoch};
	struct progress progress;
	int code = 0;

	for (unsigned c = 0; c < film->camera_count; c++)
		film->cameras[c].block = SIZE_MAX;
	progress_begin(&progress, what, blocks);
	for (film->block = 0; film->block < blocks && code >= 0; film->block++) {
		code = parallel_run(&parallel, error);
		progress_show(&progress, film->block + 1);
	}
	progress_clear(&progress);
	return code;
}

static int
film_init(struct film *film, struct map_drawing *drawing, struct portolan_error *error)
{
	const struct dynamics *dynamics = &drawing->sources[0].dynamics;
	size_t epochs = dynamics->epoch_count;
	unsigned threads = dynamics->threads < epochs ? dynamics->threads : (unsigned)epochs;
	int code = 0;

	*film = (struct film){.drawing = drawing};
	film->cameras = calloc(threads, sizeof(*film->cameras));
	film->ranges = malloc(epochs * sizeof(*film->ranges));
	if (!film->cameras || !film->ranges)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu maps", epochs);
	for (size_t e = 0; e < epochs; e++)
		film->ranges[e] = MAP_RANGES_EMPTY;
	while (film->camera_count < threads && code >= 0) {
		struct camera *camera = &film->cameras[film->camera_count++];

		camera->rows = malloc(STORE_CHUNK * sizeof(*camera->rows));
		code = camera->rows ? trace_init(&camera->trace, dynamics, STORE_CHUNK, error)
		                    : error_set(error, PORTOLAN_E_MEMORY, "out of memory for a block of examples");
	}
	return code;
}

static void
film_free(struct film *film)
{
	for (unsigned c = 0; c < film->camera_count; c++) {
		trace_free(&film->cameras[c].trace);
		free(film->cameras[c].rows);
	}
	free(film->cameras);
	free(film->ranges);
}

/* All maps side by side. */
static int
make_maps(struct film *film, const struct map_input *all, const struct map_sample *sample,
          const struct map_label labels[REGION_COUNT], struct portolan_error *error)
{
	struct map_drawing *drawing = film->drawing;
	size_t epochs = drawing->sources[0].dynamics.epoch_count;
	int code = 0;

	film->makers = calloc(epochs, sizeof(*film->makers));
	if (!film->makers)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu maps", epochs);
	for (; drawing->map_count < epochs && code >= 0; drawing->map_count += code >= 0) {
		struct map_maker *maker = &film->makers[drawing->map_count];

		*maker = (struct map_maker){.options = &drawing->request->options, .sample = sample, .by_index = true};
		code = map_maker_begin(maker, all, &drawing->axes, &drawing->maps[drawing->map_count], error);
	}
	if (code >= 0)
		code = visit_all(film, "mapping", error);
	for (size_t m = 0; m < drawing->map_count; m++) {
		map_maker_end(&film->makers[m]);
		memcpy(drawing->maps[m].labels, labels, sizeof(drawing->maps[m].labels));
	}
	free(film->makers);
	film->makers = NULL;
	return code;
}

static int
draw(struct film *film, struct portolan_error *error)
{
	struct map_drawing *drawing = film->drawing;
	struct map_source *source = &drawing->sources[0];
	struct map_ranges ranges = MAP_RANGES_EMPTY;
	struct map_input all = input_of(drawing);
	struct map_sample sample = {0};
	struct map_data last = {0};
	int code = visit_all(film, "measuring", error);

	if (code < 0)
		return code;
	for (size_t e = 0; e < source->dynamics.epoch_count; e++)
		map_ranges_join(&ranges, &film->ranges[e]);
	map_axes_make(&drawing->axes, &all, &ranges, all.n);
	code = map_source_map(source, &all, &drawing->axes, &drawing->request->options, &last, &sample, error);
	if (code >= 0)
		code = make_maps(film, &all, &sample, last.labels, error);
	map_data_free(&last);
	map_sample_free(&sample);
	return code;
}

int
map_drawing_epochs(struct map_drawing *drawing, struct portolan_error *error)
{
	struct film film;
	int code = film_init(&film, drawing, error);

	if (code >= 0)
		code = draw(&film, error);
	film_free(&film);
	return code;
}
