/*
 * map.c: portolan map: draws the data map of a run.
 *
 * Beside FILE.png stand FILE.gp and FILE.map-data, from which gnuplot draws the same picture again. gnuplot draws under
 * a temporary name; only a whole picture gets the name asked for.
 */
#include "commands.h"

#include "dynamics/dynamics.h"
#include "map/map.h"
#include "plot/gnuplot.h"
#include "plot/picture.h"
#include "program/message.h"
#include "program/number.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

enum { KEY_COMPACT = OPTION_KEY, KEY_DENSITY, KEY_SAMPLE, KEY_SEED, KEY_TITLE };

#define DEFAULT_SAMPLE 25000

struct map_request {
	struct options options;
	struct map_options map;
	struct picture picture;
	bool compact;
	const char *title;
};

static int
take_number(const struct command *command, const char *option, const char *text, uint64_t least, uint64_t *number)
{
	if (!number_parse_u64(text, strlen(text), number) || *number < least)
		return options_wrong(command, "%s %s: a whole number from %llu", option, text,
		                     (unsigned long long)least);
	return 0;
}

static int
take_option(struct map_request *request, const struct command *command, int key, const char *text)
{
	switch (key) {
	case KEY_COMPACT:
		request->compact = true;
		return 0;
	case KEY_DENSITY:
		request->map.density = true;
		return 0;
	case KEY_SAMPLE:
		return take_number(command, "--sample", text, 1, &request->map.sample);
	case KEY_SEED:
		return take_number(command, "--seed", text, 0, &request->map.seed);
	default:
		request->title = text;
		return 0;
	}
}

/* "25,000 of 550,000 examples shown, sampled · epochs 1 to 5 · measured at the end of each epoch". */
static void
write_caption(char *text, size_t room, const struct map_request *request, const struct dynamics *dynamics,
              const struct map_data *data)
{
	char shown[NUMBER_ROOM], all[NUMBER_ROOM], epochs[64];
	uint32_t first = dynamics->epochs[0], last = dynamics->epochs[dynamics->epoch_count - 1];
	bool sampled = !request->map.density && data->shown < data->examples;

	number_print_grouped(data->shown, shown);
	number_print_grouped(data->examples, all);
	if (first == last)
		snprintf(epochs, sizeof(epochs), "epoch %u", first);
	else
		snprintf(epochs, sizeof(epochs), "epochs %u to %u", first, last);
	snprintf(text, room, "%s%s%s example%s%s · %s · %s", sampled ? shown : "", sampled ? " of " : "", all,
	         data->examples == 1 ? "" : "s", sampled ? " shown, sampled" : "", epochs,
	         dynamics->info->mode == PORTOLAN_TRAIN_FORWARD ? "measured as training goes by"
	                                                        : "measured at the end of each epoch");
}

static int
write_data(const struct map_request *request, const struct map_data *data, struct portolan_error *error)
{
	if (request->map.density)
		return picture_write_data(&request->picture, data->cells,
		                          (size_t)data->cells_x * data->cells_y * sizeof(*data->cells), error);
	return picture_write_data(&request->picture, data->points, data->point_count * sizeof(*data->points), error);
}

static int
write_script(const struct map_request *request, const struct dynamics *dynamics, const struct map_data *data,
             struct portolan_error *error)
{
	char caption[256], *text = NULL;
	size_t length;
	struct map_script script = {
	        .data = data,
	        .format = request->picture.format,
	        .compact = request->compact,
	        .density = request->map.density,
	        .picture = request->picture.safe_picture,
	        .data_file = request->picture.data,
	        .title = request->title ? request->title : dynamics->info->name,
	        .caption = caption,
	        .can_draw = gnuplot_has_glyph,
	};

	FILE *stream = open_memstream(&text, &length);
	int code;

	write_caption(caption, sizeof(caption), request, dynamics, data);
	if (stream)
		map_script_write(stream, &script);
	if (!stream || fclose(stream) != 0)
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory for the script");
	else
		code = picture_write_script(&request->picture, text, length, error);
	free(text);
	return code;
}

static int
draw(const struct map_request *request, const struct dynamics *dynamics, struct portolan_error *error)
{
	struct map_input input = {
	        .variability = dynamics_measure(dynamics, MEASURE_VARIABILITY),
	        .confidence = dynamics_measure(dynamics, MEASURE_CONFIDENCE),
	        .correctness = dynamics_measure(dynamics, MEASURE_CORRECTNESS),
	        .order = dynamics->order,
	        .n = dynamics->count,
	        /* Steps of 1/epochs mean something only where every example has that many. */
	        .epochs = dynamics->gaps ? MAP_LEVELS_MAX : dynamics->epoch_count,
	};
	struct map_data data;
	int code = map_data_make(&input, &request->map, &data, error);

	if (code < 0)
		return code;
	if (!request->map.density)
		code = map_leave_out_hidden(&data, request->picture.format, error);
	if (code >= 0)
		code = write_data(request, &data, error);
	if (code >= 0)
		code = write_script(request, dynamics, &data, error);
	if (code >= 0)
		code = picture_draw(&request->picture, error);
	map_data_free(&data);
	return code;
}

/* An exit status, or a negative code. */
static int
draw_run(const struct map_request *request, struct portolan_error *error)
{
	const struct dynamics_request wanted = {
	        .measures = MEASURE_BIT(MEASURE_VARIABILITY) | MEASURE_BIT(MEASURE_CONFIDENCE) |
	                    MEASURE_BIT(MEASURE_CORRECTNESS),
	};
	struct dynamics dynamics;
	int code = dynamics_load(&dynamics, &request->options.common, request->options.operands[0], &wanted, error);

	if (code < 0)
		return code;
	code = draw(request, &dynamics, error);
	if (code >= 0) {
		dynamics_report_first_epoch(&dynamics);
		code = dynamics_report_gaps(&dynamics, request->options.common.strict);
	}
	dynamics_free(&dynamics);
	return code;
}

static int
run(const struct command *command, int argc, char **argv)
{
	struct map_request request = {.map.sample = DEFAULT_SAMPLE};
	struct portolan_error error;
	int key, status;

	options_begin(&request.options, command, argc, argv);
	while ((key = options_next(&request.options)) > 0) {
		status = take_option(&request, command, key, request.options.argument);
		if (status != 0)
			return status;
	}
	if (key != OPTIONS_END)
		return request.options.status;
	if (options_one_operand(&request.options, "run") != 0)
		return STATUS_USAGE;
	if (!request.options.common.output)
		return options_wrong(command, "where to? -o FILE.png, FILE.svg or FILE.pdf");
	if (picture_init(&request.picture, "-o", request.options.common.output, ".map-data", &error) < 0)
		return options_wrong(command, "%s", error.message);
	status = picture_check(&request.picture, &error);
	if (status >= 0)
		status = draw_run(&request, &error);
	if (status < 0) {
		message_error("%s", error.message);
		return STATUS_FAILED;
	}
	return status;
}

static const struct command_option options[] = {
        {"compact", KEY_COMPACT, NULL, "The map alone, without the density panels."},
        {"density", KEY_DENSITY, NULL,
         "Show how many examples lie where, as a heat map of all of them, instead of points."},
        {"sample", KEY_SAMPLE, "N", "Show at most N points, drawn at random. Default: 25000."},
        {"seed", KEY_SEED, "N", "Seed of that sample. Default: 0."},
        {"title", KEY_TITLE, "T", "The title. Default: the run's name."},
        {0},
};

const struct command map_command = {
        .name = "map",
        .operands = "RUN -o FILE",
        .summary = "draw the data map of a run",
        .examples = "the data map\n"
                    "portolan map snli/seed1 -o data-map.png\n"
                    "without the first epoch, for a model trained from scratch\n"
                    "portolan map words/seed1 --epochs 1: -o data-map.svg\n"
                    "for a paper's column\n"
                    "portolan map snli/seed1 --compact --title 'SNLI, RoBERTa' -o data-map.pdf\n"
                    "draw it again after changing the script\n"
                    "gnuplot data-map.gp\n",
        .help = "Draws variability against confidence, coloured by correctness, after Swayamdipta et al. 2020, with "
                "histograms of "
                "the three beside it. FILE's ending says how: png, svg or pdf. The script and its data are left beside "
                "the picture "
                "as FILE.gp and FILE.map-data (FILE without its ending); characters other than letters, digits and ._- "
                "become _ in "
                "their names.\n\n"
                "The points are a sample, the histograms count every example. The labels stand near the middle of "
                "their "
                "regions: ambiguous is the third with the highest variability; of the rest, easy-to-learn has "
                "confidence 0.5 "
                "or more. Needs gnuplot (Debian: gnuplot-nox).",
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_STRICT,
        .options = options,
        .run = run,
};
