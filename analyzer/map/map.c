/*
 * map.c: the command `portolan map`: draws the data map of a run, as a picture or as a page: where each example lies by
 * how variable and how confident the model was about it. Here are the command's options, and the warnings of what the
 * data lack.
 */
#include "base/message.h"
#include "base/number.h"
#include "base/parallel.h"
#include "die/die.h"
#include "drawing.h"
#include "map_html.h"
#include "options/options.h"
#include "selection/rule_options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_SAMPLE 25000

struct map_line {
	struct common_options common;
	struct map_request request;
	struct map_html html;
};

/* Takes the value of --path, "12,a7": ids. A comma behind a backslash is part of an id. The ids stay in the text
 * itself, each with a NUL after it. */
static int
map_take_paths(void *context, char *text)
{
	struct map_line *line = context;
	char *to = text;

	line->request.path_count = 0;
	for (const char *at = text;; at++) {
		char *begin = to;
		bool is_last;

		for (; *at && *at != ','; at++)
			*to++ = at[0] == '\\' && (at[1] == ',' || at[1] == '\\') ? *++at : *at;
		is_last = !*at;
		if (to == begin)
			return options_wrong(&line->common,
			                     "--path: ids, with commas between them; one of these is empty");
		*to++ = '\0';
		if (line->request.path_count == MAP_PATHS_MAX)
			return options_wrong(&line->common, "--path: at most %d ids", MAP_PATHS_MAX);
		line->request.paths[line->request.path_count++] = begin;
		if (is_last)
			return 0;
	}
}

static int
map_take_texts(void *context, char *text)
{
	struct map_line *line = context;
	struct map_html *html = &line->html;
	size_t count = options_split(text, MAP_HTML_TEXTS - html->text_count, html->texts + html->text_count);

	if (count == 0)
		return options_wrong(&line->common,
		                     "--text takes names of fields, with commas between them, %d at most",
		                     MAP_HTML_TEXTS);
	html->text_count += count;
	return 0;
}

/* Takes the value of --regions: "V,C", "auto" or "none". */
static int
map_take_regions(void *context, char *text)
{
	struct map_line *line = context;
	struct map_request *request = &line->request;

	request->source.cuts = NULL;
	request->lines = strcmp(text, "none") == 0 ? MAP_LINES_NEVER : MAP_LINES_ALWAYS;
	if (strcmp(text, "none") == 0 || strcmp(text, "auto") == 0)
		return 0;
	request->source.cuts = &request->cuts;
	return rule_parse_cuts(&line->common, text, &request->cuts);
}

/* Takes the value of --width, "3.3in", and converts it to units. */
static int
map_take_width(void *context, char *text)
{
	static const struct {
		const char *name;
		double per_inch;
	} lengths[] = {{"in", 1}, {"cm", 2.54}, {"mm", 25.4}, {"pt", 72}};
	struct map_line *line = context;
	char *end;
	double length = strtod(text, &end);

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		double units = length / lengths[i].per_inch * MAP_UNITS_PER_INCH;

		if (end == text || strcmp(end, lengths[i].name) != 0)
			continue;
		if (!(units >= MAP_WIDTH_LEAST && units <= MAP_WIDTH_MOST))
			return options_wrong(&line->common, "--width %s: from %g to %g%s", text,
			                     MAP_WIDTH_LEAST / MAP_UNITS_PER_INCH * lengths[i].per_inch,
			                     MAP_WIDTH_MOST / MAP_UNITS_PER_INCH * lengths[i].per_inch, end);
		line->request.width = units;
		return 0;
	}
	return options_wrong(&line->common, "--width %s: say a length with its unit: 3.3in, 84mm, 8.4cm or 240pt",
	                     text);
}

/* Takes the value of --font, "Times New Roman,9". The name goes into a script and into an SVG, so only characters that
 * names of fonts have are allowed. */
static int
map_take_font(void *context, char *text)
{
	struct map_line *line = context;
	char *comma = strrchr(text, ',');

	line->request.points = 0;
	if (comma) {
		*comma = '\0';
		if (!number_parse(comma + 1, &line->request.points) || line->request.points < MAP_POINTS_LEAST ||
		    line->request.points > MAP_POINTS_MOST)
			return options_wrong(&line->common, "--font: the size is from %g to %g points, as in '%s,9'",
			                     MAP_POINTS_LEAST, MAP_POINTS_MOST, text);
	}
	for (const unsigned char *at = (const unsigned char *)text; *at; at++)
		if (*at < 0x80 && !isalnum(*at) && !strchr(" -._+", *at))
			return options_wrong(&line->common,
			                     "--font: a name has letters, digits, spaces and -._+, not %c", *at);
	line->request.font = *text ? text : NULL;
	return 0;
}

static int
map_check_picture(struct map_line *line, struct portolan_error *error)
{
	struct map_request *request = &line->request;
	const struct common_options *common = &line->common;
	int code;

	if (line->html.text_count > 0)
		return options_wrong(common, "--text is of a page: -o FILE.html");
	if (line->html.data && !request->source.colour)
		return options_wrong(common, "--data of a picture gives its colour: --colour COLUMN");
	request->has_picture = common->output != NULL;
	if (!common->output)
		return 0;
	code = picture_init(&request->picture, PICTURE_MAP, "-o", common->output, common->script, error);
	if (code < 0)
		return options_wrong(
		        common, "%s%s", error->message,
		        code == PORTOLAN_E_INVALID ? "; or with .gif, for an animation; or .html, for a page" : "");
	if (request->frames && request->picture.format != PICTURE_GIF)
		return options_wrong(common, "-o %s: with --frames, an animation: FILE.gif", common->output);
	return 0;
}

/* Refuses, for a run less another, what is of one run's own measures. */
static int
map_check_minus(const struct common_options *common)
{
	static const char *const others[] = {"beside", "shift", "path", "frames", "from", "regions", "corrections"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (option_given(common, others[i]))
			return options_wrong(
			        common, "--%s does not go with --minus: it is about one run's own measures", others[i]);
	if (map_html_is_meant(common->output))
		return options_wrong(common, "--minus is of pictures: -o FILE.png, FILE.svg or FILE.pdf");
	return 0;
}

/* Refuses, for an animation or single pictures, the options that only make sense for one map. */
static int
map_check_animation(const struct map_line *line)
{
	static const char *const still[] = {"beside", "shift", "path", "facet", "minus"};
	const struct common_options *common = &line->common;

	for (size_t i = 0; i < sizeof(still) / sizeof(still[0]); i++)
		if (option_given(common, still[i]))
			return options_wrong(common, "--%s and an animation are two pictures: ask for one of them",
			                     still[i]);
	if (option_given(common, "regions"))
		return options_wrong(common, "--regions: those of an animation have other cuts after each epoch");
	if (line->request.from)
		return options_wrong(common, "--from gives no epochs, which an animation needs");
	return 0;
}

static int
map_check(void *context, struct portolan_error *error)
{
	struct map_line *line = context;
	const struct map_request *request = &line->request;
	const struct common_options *common = &line->common;
	int status;

	if (request->from && common->operand_count > 0)
		return options_wrong(common, "--from FILE is drawn in place of a run: name one of them");
	if (!request->from && common->operand_count == 0)
		return options_wrong(common, "which run? portolan map %s", common->command->operands);
	if (!common->output && !request->frames)
		return options_wrong(common, "where to? -o FILE.png, FILE.svg or FILE.pdf; FILE.gif for an animation; "
		                             "FILE.html for a page");
	if (option_given(common, "regions") &&
	    (strcmp(request->source.x, "variability") != 0 || strcmp(request->source.y, "confidence") != 0))
		return options_wrong(common, "--regions are of variability and confidence: leave --x and --y out");
	status = common->query.minus ? map_check_minus(common) : 0;
	if (status != 0)
		return status;
	if (map_html_is_meant(common->output) && request->lines == MAP_LINES_NEVER)
		return options_wrong(common,
		                     "--regions none is of pictures: the page has its lines, which can be moved");
	if (map_html_is_meant(common->output))
		return map_html_check(common);
	if (request->source.highlight && request->other && strcmp(request->source.highlight, "-") == 0)
		return options_wrong(
		        common, "--highlight -: standard input can be read only once, and --beside reads it twice");
	if (request->source.corrections && request->other && strcmp(request->source.corrections, "-") == 0)
		return options_wrong(
		        common, "--corrections -: standard input can be read only once, and --beside reads it twice");
	if (request->source.corrections && request->source.colour && strcmp(request->source.colour, "gold") != 0)
		return options_wrong(common, "--corrections changes labels: only --colour gold goes with it");
	status = map_check_picture(line, error);
	if (status != 0)
		return status;
	if (request->frames || (request->has_picture && request->picture.format == PICTURE_GIF))
		return map_check_animation(line);
	return 0;
}

/* The measures of which dynamics_report_variability() may warn: variability, if the map shows it. */
static uint32_t
map_drawn_measures(const struct map_source_request *source)
{
	const char *names[] = {source->x, source->y, source->colour_file || !source->colour ? "" : source->colour};

	for (size_t i = 0; i < 3; i++)
		if (strcmp(names[i], measure_infos[MEASURE_VARIABILITY].name) == 0)
			return MEASURE_BIT(MEASURE_VARIABILITY);
	return 0;
}

/* Warns of what is incomplete in the runs and the user's files. Returns the gravest status. */
static int
map_warn(const struct map_drawing *drawing, bool strict)
{
	const struct map_request *request = drawing->request;
	int status = STATUS_DONE;

	for (size_t s = 0; s < drawing->source_count; s++) {
		const struct map_source *source = &drawing->sources[s];
		int its = STATUS_DONE;

		if (source->minus) {
			its = aggregate_report_gaps(source->minus, strict);
		} else if (source->is_run) {
			dynamics_report_variability(&source->dynamics, map_drawn_measures(&request->source));
			its = dynamics_report(&source->dynamics, strict);
		}
		if (source->corrected.corrections.unknown > 0 && strict) /* corrected_apply() has said so */
			its = STATUS_INCOMPLETE;
		if (source->colour_unknown > 0)
			message_warning("%s: records of no example of %s: %s", request->source.colour_file,
			                source->name, NUMBER_GROUPED(source->colour_unknown));
		if (source->colour_unmatched > 0)
			message_warning("%s has no record for %s example%s of %s", request->source.colour_file,
			                NUMBER_GROUPED(source->colour_unmatched),
			                source->colour_unmatched == 1 ? "" : "s", source->name);
		if (source->highlight_unknown > 0) {
			message_warning("%s: %s id%s of no example of %s; the first is '%s'", request->source.highlight,
			                NUMBER_GROUPED(source->highlight_unknown),
			                source->highlight_unknown == 1 ? "" : "s", source->name, source->first_unknown);
			its = strict ? STATUS_INCOMPLETE : its;
		}
		status = its > status ? its : status;
	}
	return status;
}

/* Draws the pictures. gnuplot gets ready while the run is read. Returns an exit status. */
static int
map_draw_picture(struct map_line *line)
{
	struct map_request *request = &line->request;
	struct picture_draft draft;
	struct map_drawing drawing;
	int status;

	if (request->has_picture) {
		must(picture_check(&request->picture, &failure));
		picture_open(&draft, &request->picture);
	}
	map_drawing_load(&drawing, request);
	map_drawing_draw(&drawing, request->has_picture ? &draft : NULL);
	if (line->common.json)
		map_drawing_report(&drawing);
	status = map_warn(&drawing, line->common.strict);
	map_drawing_free(&drawing);
	return status;
}

/* Sets what follows from several options together. A scatter coloured by correctness gets levels, with `--colour
 * correctness` as without --colour. */
static void
map_complete(struct map_line *line)
{
	struct map_request *request = &line->request;
	struct map_source_request *source = &request->source;

	request->query = &line->common.query;
	source->threads = parallel_threads(request->query->threads);
	request->script = line->common.script;
	request->run = request->from ? NULL : line->common.operands[0];
	request->shift = option_given(&line->common, "shift");
	source->plain = request->path_count > 0;
	source->y_given = option_given(&line->common, "y");
	source->regions_given = option_given(&line->common, "regions") && request->lines != MAP_LINES_NEVER;
	if (line->html.data && !map_html_is_meant(line->common.output) && strcmp(source->colour, "gold") != 0)
		source->colour_file = line->html.data;
	source->colour_name = source->colour;
	if (source->colour && !source->colour_file && !request->density && strcmp(source->colour, "correctness") == 0)
		source->colour = NULL;
}

static int
map_run(void *context, struct portolan_error *error)
{
	struct map_line *line = context;

	(void)error;
	map_complete(line);
	if (map_html_is_meant(line->common.output))
		return map_html_write(&line->html, &line->request, &line->common);
	return map_draw_picture(line);
}

#define TO(member) .offset = offsetof(struct map_line, member)
static const char *const colour_words[] = {"gold", NULL};
static const struct option_spec options[] = {
        {"x", "MEASURE", OPTION_MEASURE, TO(request.source.x)},
        {"y", "MEASURE", OPTION_MEASURE, TO(request.source.y)},
        {"colour", "MEASURE", OPTION_MEASURE, TO(request.source.colour), .choices = colour_words,
         .excludes = "shift path", .old_names = "color", .often = true},
        {"facet", NULL, OPTION_FLAG, TO(request.facet), .needs = "colour", .excludes = "density beside path frames"},
        {"highlight", "FILE", OPTION_INPUT, TO(request.source.highlight), .excludes = "colour shift path density",
         .often = true},
        {"corrections", "FILE", OPTION_INPUT, TO(request.source.corrections),
         .excludes = "highlight shift path density from"},
        {"data", "FILE", OPTION_INPUT, TO(html.data), .old_names = "colour-file", .often = true},
        {"id-field", "FIELD", OPTION_TEXT, TO(request.source.id_field), .needs = "data from highlight", .often = true},
        {"glue", NULL, OPTION_FLAG, TO(request.source.glue), .needs = "data", .group = OPTION_GROUP_HOW},
        {"text", "FIELD[,FIELD]", OPTION_TEXT, .take = map_take_texts, .needs = "data"},
        {"density", NULL, OPTION_FLAG, TO(request.density), .group = OPTION_GROUP_HOW, .often = true},
        {"beside", "RUN", OPTION_RUN, TO(request.other), .excludes = "shift path frames", .group = OPTION_GROUP_HOW,
         .often = true},
        {"shift", "RUN", OPTION_RUN, TO(request.other), .excludes = "path frames", .group = OPTION_GROUP_HOW},
        {"path", "ID[,ID...]", OPTION_TEXT, .take = map_take_paths, .excludes = "frames from density",
         .group = OPTION_GROUP_HOW},
        {"frames", "DIR", OPTION_FOLDER, TO(request.frames), .excludes = "from", .group = OPTION_GROUP_OUTPUT},
        {"from", "FILE", OPTION_INPUT, TO(request.from), .excludes = "epochs"},
        {"regions", "V,C", OPTION_TEXT, .take = map_take_regions, .excludes = "shift path facet frames",
         .group = OPTION_GROUP_HOW},
        {"width", "LENGTH", OPTION_TEXT, .take = map_take_width, .group = OPTION_GROUP_OUTPUT},
        {"font", "NAME[,SIZE]", OPTION_TEXT, .take = map_take_font, .group = OPTION_GROUP_OUTPUT},
        {"compact", NULL, OPTION_FLAG, TO(request.compact), .group = OPTION_GROUP_OUTPUT, .often = true},
        {"sample", "N", OPTION_WHOLE, TO(request.options.sample), .least = 1, .group = OPTION_GROUP_HOW},
        {"seed", "N", OPTION_WHOLE, TO(request.options.seed), .group = OPTION_GROUP_HOW},
        {"title", "T", OPTION_TEXT, TO(request.title), .group = OPTION_GROUP_OUTPUT},
        {0},
};

static const struct map_line defaults = {
        .request = {.options.sample = DEFAULT_SAMPLE, .source = {.x = "variability", .y = "confidence"}},
};

extern const struct help help_map;

const struct command map_command = {
        .name = "map",
        .operands = "RUN -o FILE",
        .help = &help_map,
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_WINDOW | COMMON_MINUS | COMMON_JSON |
                  COMMON_STRICT | COMMON_THREADS | COMMON_MEMORY | COMMON_SCRIPT,
        .options = options,
        .operand = "run",
        .most = 1,
        .request_size = sizeof(struct map_line),
        .defaults = &defaults,
        .check = map_check,
        .run = map_run,
};
