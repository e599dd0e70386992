/*
 * drawing_epochs.c: makes the maps of a run after each of its epochs, for an animation (`map -o FILE.gif`) or for
 * single pictures (--frames).
 *
 * Every block of the store (a fixed number of examples) is read twice: once for the ranges, which all maps share, and
 * once to draw. While a block is at hand, it is measured after each epoch, and added to the map of that epoch. Threads
 * share the epochs of a block, so a map gets its examples in their order whatever the number of threads. All maps show
 * the same sample. The regions' labels stand where the last map has them.
 */
#include "drawing.h"

#include "base/parallel.h"
#include "measures/trace.h"
#include "die/die.h"
#include "die/memory.h"

#include <progress.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What one thread works with. */
struct camera {
	struct trace trace;
	size_t block;   /* the number of the block that was read last */
	uint32_t *rows; /* the rows of that block whose examples are drawn */
	size_t count;
};

/* What the threads work on: a map for each epoch. */
struct film {
	struct map_drawing *drawing;
	struct map_input input; /* what the maps of all epochs have in common */
	struct camera *cameras;
	unsigned camera_count;
	size_t block;              /* the number of the block that all threads work on */
	struct map_ranges *ranges; /* by epoch */
	struct map_maker *makers;  /* by epoch; NULL: this is the pass for the ranges */
};

/* Describes the block that this thread has read: its examples, with their measures after the epoch that the thread
 * measured last. */
static struct map_input
film_input(const struct film *film, const struct camera *camera)
{
	const struct map_source *source = &film->drawing->sources[0];
	struct map_input input = film->input;

	input.regions = false;
	input.x.values = trace_values(&camera->trace, input.x.name);
	input.y.values = trace_values(&camera->trace, input.y.name);
	if (source->colour_values) /* a column of the user's file, which no epoch changes */
		input.colour.values = source->input.colour.values + camera->trace.block.first;
	else if (input.colouring != MAP_PLAIN)
		input.colour.values = trace_values(&camera->trace, input.colour.name);
	input.order = camera->rows;
	input.n = camera->count;
	input.first = camera->trace.block.first;
	input.rows = camera->trace.block.rows;
	return input;
}

/* Reads the film's block, if this thread has not read it yet, and lists its examples. An example that has no place
 * after all epochs is left out of all maps. */
static void
camera_read(struct camera *camera, const struct film *film)
{
	struct map_input input;

	if (camera->block == film->block)
		return;
	must(trace_block(&camera->trace, film->block, &failure));
	camera->block = film->block;
	trace_measure(&camera->trace, film->drawing->sources[0].dynamics.epoch_count, 0);
	input = film_input(film, camera);
	camera->count = 0;
	for (uint32_t r = 0; r < camera->trace.block.rows; r++)
		if (isfinite(input.x.values[r]) && isfinite(input.y.values[r]))
			camera->rows[camera->count++] = r;
}

/* The work of a thread: adds the film's block, as it was after one epoch, to that epoch's map or ranges. The epochs
 * that take longest come first. */
static int
film_visit_epoch(void *context, unsigned thread, unsigned slot, size_t index, struct portolan_error *error)
{
	const struct film *film = context;
	struct camera *camera = &film->cameras[thread];
	size_t epoch = film->drawing->sources[0].dynamics.epoch_count - 1 - index;
	struct map_input input;

	(void)slot;
	(void)error;
	camera_read(camera, film);
	trace_measure(&camera->trace, epoch + 1, 0);
	input = film_input(film, camera);
	if (film->makers)
		map_maker_add(&film->makers[epoch], &input);
	else
		map_ranges_add(&film->ranges[epoch], &input);
	return 0;
}

static void
film_visit_all(struct film *film, const char *what)
{
	const struct dynamics *dynamics = &film->drawing->sources[0].dynamics;
	size_t blocks = store_snapshot_blocks(dynamics->snapshot);
	struct parallel parallel = {.threads = film->camera_count,
	                            .count = dynamics->epoch_count,
	                            .context = film,
	                            .work = film_visit_epoch};
	struct progress progress;

	for (unsigned c = 0; c < film->camera_count; c++)
		film->cameras[c].block = SIZE_MAX;
	progress_begin(&progress, what, blocks);
	for (film->block = 0; film->block < blocks; film->block++) {
		must(parallel_run(&parallel, &failure));
		progress_show(&progress, film->block + 1);
	}
	progress_clear(&progress);
}

static void
film_init(struct film *film, struct map_drawing *drawing, const struct map_input *input)
{
	const struct dynamics *dynamics = &drawing->sources[0].dynamics;
	size_t epochs = dynamics->epoch_count;
	unsigned threads = dynamics->threads < epochs ? dynamics->threads : (unsigned)epochs;

	*film = (struct film){
	        .drawing = drawing,
	        .input = *input,
	        .cameras = memory_new(threads, sizeof(*film->cameras)),
	        .ranges = memory_new(epochs, sizeof(*film->ranges)),
	};
	/* The steps of correctness differ from epoch to epoch, so the maps have no common grid of it. */
	film->input.epochs = input->epochs > 1 ? MAP_LEVELS_MAX : input->epochs;
	film->input.x.grid = input->x.kind == MAP_SHARE ? 0 : input->x.grid;
	film->input.y.grid = input->y.kind == MAP_SHARE ? 0 : input->y.grid;
	film->input.colour.grid = input->colour.kind == MAP_SHARE ? 0 : input->colour.grid;
	for (size_t e = 0; e < epochs; e++)
		film->ranges[e] = MAP_RANGES_EMPTY;
	while (film->camera_count < threads) {
		struct camera *camera = &film->cameras[film->camera_count++];

		camera->rows = memory_new(STORE_CHUNK, sizeof(*camera->rows));
		must(trace_init(&camera->trace, dynamics, STORE_CHUNK, &failure));
	}
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
	free(film->makers);
}

/* Makes the maps after each epoch, all in one pass over the run. */
static void
film_make_maps(struct film *film, const struct map_sample *sample, const struct map_label labels[REGION_COUNT])
{
	struct map_drawing *drawing = film->drawing;
	size_t epochs = drawing->sources[0].dynamics.epoch_count;

	film->makers = memory_new(epochs, sizeof(*film->makers));
	for (; drawing->map_count < epochs; drawing->map_count++) {
		struct map_maker *maker = &film->makers[drawing->map_count];

		*maker = (struct map_maker){.options = &drawing->request->options, .sample = sample};
		map_maker_begin(maker, &film->input, &drawing->axes, &drawing->maps[drawing->map_count]);
	}
	film_visit_all(film, "mapping");
	for (size_t m = 0; m < epochs; m++) {
		map_maker_end(&film->makers[m]);
		memcpy(drawing->maps[m].labels, labels, sizeof(drawing->maps[m].labels));
	}
}

/* Makes the film in three steps: takes the ranges; makes the map after all epochs, for its sample and the places of its
 * labels; makes the maps after each epoch. */
static void
film_make(struct film *film)
{
	struct map_drawing *drawing = film->drawing;
	const struct map_source *source = &drawing->sources[0];
	struct map_ranges ranges = MAP_RANGES_EMPTY;
	struct map_sample sample;
	struct map_data last;

	film_visit_all(film, "measuring");
	for (size_t e = 0; e < source->dynamics.epoch_count; e++)
		map_ranges_join(&ranges, &film->ranges[e]);
	map_axes_make(&drawing->axes, &film->input, &ranges, film->input.n);
	map_source_map(source, &film->input, &drawing->axes, &drawing->request->options, &last, &sample);
	film_make_maps(film, &sample, last.labels);
	map_data_free(&last);
	map_sample_free(&sample);
}

void
map_drawing_epochs(struct map_drawing *drawing, const struct map_input *input)
{
	struct film film;

	film_init(&film, drawing, input);
	film_make(&film);
	film_free(&film);
}
