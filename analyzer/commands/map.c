/*
 * map.c: portolan map: draws the map of a run, or of a file of coordinates.
 *
 * Beside FILE.png stand FILE.gp and FILE.map-data, from which gnuplot draws the same picture again. gnuplot draws under
 * a temporary name; only a whole picture gets the name asked for.
 */
#include "commands.h"

#include "map/drawing.h"
#include "map_report.h"
#include "program/message.h"
#include "program/number.h"
#include "program/options.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

enum {
	KEY_COMPACT = OPTION_KEY,
	KEY_DENSITY,
	KEY_SAMPLE,
	KEY_SEED,
	KEY_TITLE,
	KEY_X,
	KEY_Y,
	KEY_COLOUR,
	KEY_COLOUR_FILE,
	KEY_ID_FIELD,
	KEY_BESIDE,
	KEY_SHIFT,
	KEY_PATH,
	KEY_FRAMES,
	KEY_FROM,
};

#define DEFAULT_SAMPLE 25000

struct map_line {
	struct options options;
	struct map_request request;
	const char *beside, *shift;
	char *path_text; /* the ids, cut at their commas; the caller's to free() */
	const char *paths[MAP_PATHS_MAX];
};

static int
take_number(const struct command *command, const char *option, const char *text, uint64_t least, uint64_t *number)
{
	if (!number_parse_u64(text, strlen(text), number) || *number < least)
		return options_wrong(command, "%s %s: a whole number from %llu", option, text,
		                     (unsigned long long)least);
	return 0;
}

/* "12,a7": a backslash before a comma makes it part of an id. */
static int
take_paths(struct map_line *line, const struct command *command, const char *text)
{
	char *to;

	free(line->path_text);
	line->path_text = to = strdup(text);
	line->request.path_count = 0;
	if (!to)
		return options_wrong(command, "--path: out of memory");
	for (const char *at = text;; at++) {
		char *begin = to;

		for (; *at && *at != ','; at++)
			*to++ = at[0] == '\\' && (at[1] == ',' || at[1] == '\\') ? *++at : *at;
		*to++ = '\0';
		if (!*begin)
			return options_wrong(command, "--path %s: ids, with commas between them", text);
		if (line->request.path_count == MAP_PATHS_MAX)
			return options_wrong(command, "--path: at most %d ids", MAP_PATHS_MAX);
		line->paths[line->request.path_count++] = begin;
		if (!*at)
			return 0;
	}
}

static int
take_option(struct map_line *line, const struct command *command, int key, const char *text)
{
	struct map_request *request = &line->request;
	const char **to = NULL;

	switch (key) {
	case KEY_COMPACT:
		request->compact = true;
		return 0;
	case KEY_DENSITY:
		request->density = true;
		return 0;
	case KEY_SAMPLE:
		return take_number(command, "--sample", text, 1, &request->options.sample);
	case KEY_SEED:
		return take_number(command, "--seed", text, 0, &request->options.seed);
	case KEY_PATH:
		return take_paths(line, command, text);
	case KEY_TITLE:
		to = &request->title;
		break;
	case KEY_X:
		to = &request->source.x;
		break;
	case KEY_Y:
		to = &request->source.y;
		break;
	case KEY_COLOUR:
		to = &request->source.colour;
		break;
	case KEY_COLOUR_FILE:
		to = &request->source.colour_file;
		break;
	case KEY_ID_FIELD:
		to = &request->source.id_field;
		break;
	case KEY_BESIDE:
		to = &line->beside;
		break;
	case KEY_SHIFT:
		to = &line->shift;
		break;
	case KEY_FRAMES:
		to = &request->frames;
		break;
	default:
		to = &request->from;
		break;
	}
	*to = text;
	return 0;
}

/* Options that say what kind of map is to be drawn. */
static int
check_kind(const struct map_line *line, const struct command *command, bool animated)
{
	const struct map_request *request = &line->request;
	const char *kinds[5];
	size_t count = 0;

	if (line->beside)
		kinds[count++] = "--beside";
	if (line->shift)
		kinds[count++] = "--shift";
	if (request->path_count > 0)
		kinds[count++] = "--path";
	if (animated)
		kinds[count++] = request->frames ? "--frames" : "an animation (.gif)";
	if (count > 1)
		return options_wrong(command, "%s and %s are two pictures: ask for one of them", kinds[0], kinds[1]);
	if (request->from && (request->path_count > 0 || animated))
		return options_wrong(command, "--from gives no epochs, which %s needs", kinds[0]);
	if (request->source.colour && (line->shift || request->path_count > 0))
		return options_wrong(command, "--colour: what %s draws has colours of its own", kinds[0]);
	if (request->density && request->path_count > 0)
		return options_wrong(command, "--path is drawn over points: leave out --density");
	return 0;
}

static int
check_options(struct map_line *line, const struct command *command)
{
	struct map_request *request = &line->request;
	struct map_source_request *source = &request->source;
	const char *output = request->common->output;
	struct portolan_error error;
	int code;

	if (request->from && line->options.operand_count > 0)
		return options_wrong(command, "--from FILE is drawn in place of a run: name one of them");
	if (!request->from && options_one_operand(&line->options, "run") != 0)
		return STATUS_USAGE;
	if (!output && !request->frames)
		return options_wrong(command, "where to? -o FILE.png, FILE.svg or FILE.pdf; FILE.gif for an animation");
	if (source->colour_file && !source->colour)
		return options_wrong(command, "--colour-file needs --colour FIELD, the column to colour by");
	if (source->id_field && !source->colour_file && !request->from)
		return options_wrong(command, "--id-field is for --colour-file and --from");
	if (request->from && request->common->epochs_given)
		return options_wrong(command, "--epochs: the coordinates of --from are of no epochs");
	code = check_kind(line, command, request->frames || (output && picture_is_animation(output)));
	if (code != 0 || !output)
		return code;
	if (picture_is_animation(output))
		code = picture_init_animation(&request->picture, "-o", output, MAP_DATA_ENDING, &error);
	else if (request->frames)
		return options_wrong(command, "-o %s: with --frames, an animation: FILE.gif", output);
	else
		code = picture_init(&request->picture, "-o", output, MAP_DATA_ENDING, &error);
	request->has_picture = true;
	return code < 0 ? options_wrong(command, "%s%s", error.message,
	                                code == PORTOLAN_E_INVALID ? "; or with .gif, for an animation" : "")
	                : 0;
}

/* What is incomplete is said of every run; the gravest status. */
static int
warn(const struct map_drawing *drawing)
{
	const struct map_request *request = drawing->request;
	int status = STATUS_DONE;

	for (size_t s = 0; s < drawing->source_count; s++) {
		const struct map_source *source = &drawing->sources[s];
		char number[NUMBER_ROOM];
		int its = STATUS_DONE;

		if (source->is_run) {
			dynamics_report_first_epoch(&source->dynamics);
			its = dynamics_report_gaps(&source->dynamics, request->common->strict);
		}
		if (source->colour_unknown > 0) {
			number_print_grouped(source->colour_unknown, number);
			message_warning("%s: records of no example of %s: %s", request->source.colour_file,
			                source->name, number);
		}
		if (source->colour_unmatched > 0) {
			number_print_grouped(source->colour_unmatched, number);
			message_warning("%s has no record for %s example%s of %s", request->source.colour_file, number,
			                source->colour_unmatched == 1 ? "" : "s", source->name);
		}
		status = its > status ? its : status;
	}
	return status;
}

/* An exit status, or a negative code. */
static int
draw(const struct map_request *request, struct portolan_error *error)
{
	struct map_drawing drawing;
	int code = request->has_picture ? picture_check(&request->picture, error) : 0;

	if (code >= 0)
		code = map_drawing_load(&drawing, request, error);
	if (code < 0)
		return code;
	code = map_drawing_draw(&drawing, error);
	if (code >= 0 && request->common->json)
		code = map_report(&drawing, error);
	if (code >= 0)
		code = warn(&drawing);
	map_drawing_free(&drawing);
	return code;
}

/* Correctness on points has its own colours and shapes. */
static void
complete(struct map_line *line)
{
	struct map_request *request = &line->request;
	struct map_source_request *source = &request->source;

	request->run = request->from ? NULL : line->options.operands[0];
	request->other = line->beside ? line->beside : line->shift;
	request->shift = line->shift != NULL;
	request->paths = line->paths;
	source->plain = request->path_count > 0;
	if (source->colour && !source->colour_file && !request->density && strcmp(source->colour, "correctness") == 0)
		source->colour = NULL;
}

static int
run_line(struct map_line *line, const struct command *command)
{
	struct portolan_error error;
	int key, status;

	while ((key = options_next(&line->options)) > 0) {
		status = take_option(line, command, key, line->options.argument);
		if (status != 0)
			return status;
	}
	if (key != OPTIONS_END)
		return line->options.status;
	status = check_options(line, command);
	if (status != 0)
		return status;
	complete(line);
	status = draw(&line->request, &error);
	if (status < 0) {
		message_error("%s", error.message);
		return STATUS_FAILED;
	}
	return status;
}

static int
run(const struct command *command, int argc, char **argv)
{
	struct map_line line = {
	        .request = {.options.sample = DEFAULT_SAMPLE, .source = {.x = "variability", .y = "confidence"}},
	};
	int status;

	line.request.common = &line.options.common;
	options_begin(&line.options, command, argc, argv);
	status = run_line(&line, command);
	free(line.path_text);
	return status;
}

static const struct command_option options[] = {
        {"x", KEY_X, "MEASURE",
         "What goes to the right: a measure, or a column of the user's own. Default: variability."},
        {"y", KEY_Y, "MEASURE", "What goes up. Default: confidence."},
        {"colour", KEY_COLOUR, "MEASURE",
         "Colour the points by this measure instead of correctness; with --density, each cell by its mean."},
        {"color", KEY_COLOUR, "MEASURE", "The same."},
        {"colour-file", KEY_COLOUR_FILE, "FILE",
         "Take what --colour names from FILE: a field of JSONL, CSV or TSV, with a number for each example."},
        {"id-field", KEY_ID_FIELD, "NAME",
         "The field of the examples' ids in the files of --colour-file and --from. Default: guid, else id."},
        {"density", KEY_DENSITY, NULL,
         "Show how many examples lie where, as a heat map of all of them, instead of points."},
        {"beside", KEY_BESIDE, "RUN", "Draw the map of another run beside it, with the same axes."},
        {"shift", KEY_SHIFT, "RUN", "Draw the difference of two densities: another run's less this one's."},
        {"path", KEY_PATH, "ID[,ID...]",
         "Draw where these examples stood after each epoch, over a grey map. A comma within an id is written \\,."},
        {"frames", KEY_FRAMES, "DIR", "Write the map after each epoch to DIR, as epoch-000.png and so on."},
        {"from", KEY_FROM, "FILE",
         "Draw a file of coordinates (JSONL, CSV, TSV) instead of a run; - is standard input."},
        {"compact", KEY_COMPACT, NULL, "The map alone, without the density panels."},
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
                    "other measures: which are forgotten, and when were they learned?\n"
                    "portolan map snli/seed1 --x first_learned --y forgetting_events -o forgetting.png\n"
                    "where annotators agree: the mean of a column of your own, by place\n"
                    "portolan map snli/seed1 --density --colour-file snli.jsonl --id-field pairID --colour agreement "
                    "-o agreement.png\n"
                    "two runs side by side\n"
                    "portolan map snli/seed1 --beside snli/seed2 -o seeds.png\n"
                    "where the examples of one have gone in the other\n"
                    "portolan map snli/seed1 --shift snli/flipped -o shift.png\n"
                    "the way of three examples through training\n"
                    "portolan map snli/seed1 --path 17,4711,90210 -o paths.svg\n"
                    "the map after each epoch, moving, and as single pictures\n"
                    "portolan map snli/seed1 -o training.gif --frames frames\n"
                    "coordinates that other tools wrote\n"
                    "portolan map --from td_metrics.jsonl -o published.png\n"
                    "draw it again after changing the script\n"
                    "gnuplot data-map.gp\n",
        .help = "Draws variability against confidence, coloured by correctness, after Swayamdipta et al. 2020, with "
                "histograms of the three beside it. FILE's ending says how: png, svg or pdf; gif for an animation, the "
                "map after each epoch. The script and its data are left beside the picture as FILE.gp and "
                "FILE.map-data (FILE without its ending); characters other than letters, digits and ._- become _ in "
                "their names. --json prints what was drawn: examples, axes, regions, files.\n\n"
                "The points are a sample, the histograms, cells and regions count every example. Points that lie on "
                "whole numbers, or on steps of correctness, are spread around them, so that they do not hide one "
                "another. Examples without a value on an axis are not drawn, and counted.\n\n"
                "The labels stand near the middle of their regions: ambiguous is the third with the highest "
                "variability; of the rest, easy-to-learn has confidence 0.5 or more. Where the axes are others there "
                "are none.\n\n"
                "Of the file of --from the columns variability, confidence and correctness are read, or those that "
                "--x, --y and "
                "--colour name. Correctness may be a count of epochs: the highest, or the column epochs, then says how "
                "many "
                "there were.\n\n"
                "The colours can be told apart by readers who are colour-blind. Needs gnuplot (Debian: gnuplot-nox).",
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_JSON | COMMON_STRICT | COMMON_THREADS |
                  COMMON_MEMORY,
        .options = options,
        .run = run,
};
