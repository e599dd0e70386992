/*
 * map_paths.c: draws the paths of `map --path`: how single examples moved on the map from epoch to epoch. It places the
 * texts along the paths, finds where arrows have room, and writes all of it as variables of the map's gnuplot script.
 *
 * A text that was placed first keeps its place. A later one that would overlap it is moved, or left out; but a name is
 * never left out.
 */
#include "map_sheet.h"

#include <math.h>

#define NAME_HEIGHT 15.0
#define NAME_AWAY 9.0 /* the distance from the end of a path to its name */
#define NUMBER_HEIGHT 11.0
#define NUMBER_DIGIT 7.0 /* the width of a digit */
#define NUMBER_AWAY 11.0 /* the distance from a point to the number of its epoch */
#define NUMBER_MOST 10   /* numbers along a path, at most, besides that of its first point */
#define ARROW_LENGTH 12.0
#define ARROW_WIDTH 9.0
#define ARROW_ROOM 20.0 /* the least distance of two points that have an arrow between them */

static bool
path_name_is_free(const struct map_place *name, const struct map_place *others, size_t count, double text)
{
	for (size_t i = 0; i < count; i++)
		if (name->left < others[i].right && others[i].left < name->right &&
		    fabs(name->y - others[i].y) < NAME_HEIGHT * text - 0.01)
			return false;
	return name->y > MAP_BOTTOM + NAME_HEIGHT * text / 2 && name->y < MAP_TOP - NAME_HEIGHT * text / 2;
}

static struct map_place
path_place_name(const struct map_axes *axes, const struct map_path *path, double text, const struct map_place *others,
                size_t count)
{
	const double *end = path->places[path->count - 1];
	double width = text * (fmin(MAP_PATH_ROOM, MAP_CAPTION_EM * plot_width(path->name)) + 6);
	double y = map_y(axes, end[1]), away = NAME_AWAY * text;
	struct map_place place = {.x = map_x(axes, end[0]) + away};

	if (place.x + width > MAP_RIGHT)
		place.x -= 2 * away;
	place.left = place.x > map_x(axes, end[0]) ? place.x : place.x - width;
	place.right = place.left + width;
	for (int step = 0; step < 4 * MAP_PATHS_MAX; step++) {
		const int rows = (step + 1) / 2;

		place.y = y + (step % 2 ? 1 : -1) * rows * NAME_HEIGHT * text;
		if (path_name_is_free(&place, others, count, text))
			break;
	}
	return place;
}

void
map_place_names(const struct map_axes *axes, const struct map_path *paths, size_t count, double text,
                struct map_place *places)
{
	for (size_t p = 0; p < count; p++)
		places[p] = path_place_name(axes, &paths[p], text, places, p);
}

static double
path_number_width(uint32_t epoch, double text)
{
	return text * NUMBER_DIGIT * (epoch < 10 ? 1 : floor(log10(epoch)) + 1);
}

/* Are two boxes apart? Each is given by its middle and its size. */
static bool
path_texts_are_apart(double x, double y, double width, double height, double other_x, double other_y,
                     double other_width, double other_height)
{
	return fabs(x - other_x) >= (width + other_width) / 2 || fabs(y - other_y) >= (height + other_height) / 2;
}

/* The numbers that were placed so far, and the paths and names, which no number may hide. */
struct numbering {
	const struct map_axes *axes;
	const struct map_path *paths;
	size_t path_count;
	double text;
	const struct map_place *names;
	struct map_number *numbers;
	size_t count;
};

static bool
path_number_is_free(const struct numbering *all, const struct map_number *number)
{
	double width = path_number_width(number->epoch, all->text), height = NUMBER_HEIGHT * all->text;

	if (number->x - width / 2 < MAP_LEFT || number->x + width / 2 > MAP_RIGHT ||
	    number->y - height / 2 < MAP_BOTTOM || number->y + height / 2 > MAP_TOP)
		return false;
	for (size_t i = 0; i < all->count; i++)
		if (!path_texts_are_apart(number->x, number->y, width, height, all->numbers[i].x, all->numbers[i].y,
		                          path_number_width(all->numbers[i].epoch, all->text), height))
			return false;
	for (size_t p = 0; p < all->path_count; p++) {
		const struct map_place *name = &all->names[p];

		if (!path_texts_are_apart(number->x, number->y, width, height, (name->left + name->right) / 2, name->y,
		                          name->right - name->left, NAME_HEIGHT * all->text))
			return false;
		for (size_t e = 0; e < all->paths[p].count; e++)
			if (!path_texts_are_apart(
			            number->x, number->y, width, height, map_x(all->axes, all->paths[p].places[e][0]),
			            map_y(all->axes, all->paths[p].places[e][1]), 5 * all->text, 5 * all->text))
				return false;
	}
	return true;
}

/* Places the number of a point's epoch at the first place that is free: above the point, below it, beside it, or
 * diagonally; or nowhere. */
static void
path_place_number(struct numbering *all, size_t path, size_t at)
{
	static const double ways[][2] = {{0, 1},     {0, -1},     {1, 0},      {-1, 0},
	                                 {0.8, 0.8}, {-0.8, 0.8}, {0.8, -0.8}, {-0.8, -0.8}};
	const double *place = all->paths[path].places[at];
	struct map_number number = {.epoch = all->paths[path].epochs[at], .path = path};
	double away = NUMBER_AWAY * all->text;

	for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
		number.x = map_x(all->axes, place[0]) + ways[w][0] * away;
		number.y = map_y(all->axes, place[1]) + ways[w][1] * away;
		if (all->count < MAP_NUMBERS_MAX && path_number_is_free(all, &number)) {
			all->numbers[all->count++] = number;
			return;
		}
	}
}

size_t
map_place_numbers(const struct map_axes *axes, const struct map_path *paths, size_t count, double text,
                  const struct map_place *names, struct map_number numbers[MAP_NUMBERS_MAX])
{
	struct numbering all = {axes, paths, count, text, names, numbers, 0};

	for (size_t p = 0; p < count; p++) {
		size_t each = (paths[p].count + NUMBER_MOST - 1) / NUMBER_MOST;

		path_place_number(&all, p, 0);
		for (size_t e = each; e < paths[p].count; e += each)
			path_place_number(&all, p, e);
	}
	return all.count;
}

bool
map_path_has_arrow(const struct map_axes *axes, const struct map_path *path, size_t at, double text)
{
	double right = map_x(axes, path->places[at + 1][0]) - map_x(axes, path->places[at][0]);
	double up = map_y(axes, path->places[at + 1][1]) - map_y(axes, path->places[at][1]);

	return sqrt(right * right + up * up) >= ARROW_ROOM * text;
}

/* Writes an arrow: a triangle halfway between one place and the next, pointing to the next. */
static void
sheet_write_arrow(const struct sheet *sheet, const struct map_path *path, size_t at, size_t number)
{
	static const double corners[][2] = {{0.5, 0}, {-0.5, 0.5}, {-0.5, -0.5}, {0.5, 0}};
	const struct map_axes *axes = &sheet->maps[0].axes;
	double text = sheet->drawing->request->options.text;
	double from_x = map_x(axes, path->places[at][0]), from_y = map_y(axes, path->places[at][1]);
	double right = map_x(axes, path->places[at + 1][0]) - from_x;
	double up = map_y(axes, path->places[at + 1][1]) - from_y, length = sqrt(right * right + up * up);

	for (size_t c = 0; c < 4; c++) {
		double along = ARROW_LENGTH * text * corners[c][0] / length;
		double across = ARROW_WIDTH * text * corners[c][1] / length;
		double x = from_x + right * (0.5 + along) - up * across - MAP_LEFT;
		double y = from_y + up * (0.5 + along) + right * across - MAP_BOTTOM;

		fprintf(sheet->stream, "%.10g %.10g %zu\n",
		        axes->x.from + x / (MAP_RIGHT - MAP_LEFT) * (axes->x.to - axes->x.from),
		        axes->y.from + y / (MAP_TOP - MAP_BOTTOM) * (axes->y.to - axes->y.from), number);
	}
	fputc('\n', sheet->stream);
}

/* Sets the arrows: a block of data for each path that has any. Its third column is the number of the path. */
static void
sheet_set_arrows(const struct sheet *sheet)
{
	const struct map_drawing *drawing = sheet->drawing;
	size_t blocks[MAP_PATHS_MAX] = {0}, count = 0;

	fputs("$arrows << EOD\n", sheet->stream);
	for (size_t p = 0; p < drawing->path_count; p++) {
		const struct map_path *path = &drawing->paths[p];

		for (size_t e = 0; e + 1 < path->count; e++) {
			if (!map_path_has_arrow(&sheet->maps[0].axes, path, e, drawing->request->options.text))
				continue;
			blocks[p] = blocks[p] ? blocks[p] : ++count;
			sheet_write_arrow(sheet, path, e, p + 1);
		}
		fputs(blocks[p] ? "\n" : "", sheet->stream);
	}
	fputs("EOD\n", sheet->stream);
	for (size_t p = 0; p < drawing->path_count; p++) /* block 0: the path has no arrows */
		script_set_items(sheet->stream, "PathArrows", p + 1, (double[]){(double)blocks[p]});
}

/* Sets the names of the paths, and the numbers of epochs beside their points. */
static void
sheet_set_path_texts(const struct sheet *sheet)
{
	const struct map_drawing *drawing = sheet->drawing;
	const struct map_layout *layout = &drawing->layout;
	double text = drawing->request->options.text;
	struct map_place places[MAP_PATHS_MAX];
	struct map_number numbers[MAP_NUMBERS_MAX];
	size_t count;

	map_place_names(&sheet->maps[0].axes, drawing->paths, drawing->path_count, text, places);
	for (size_t p = 0; p < drawing->path_count; p++) {
		script_set_name_item(sheet->stream, "PathName", p + 1, drawing->paths[p].name,
		                     MAP_PATH_ROOM / MAP_CAPTION_EM);
		script_set_items(sheet->stream, "PathX PathY PathToLeft PathLast", p + 1,
		                 (double[]){map_layout_x(layout, places[p].x), map_layout_y(layout, places[p].y),
		                            places[p].x > places[p].left, (double)drawing->paths[p].count - 1});
	}
	count = map_place_numbers(&sheet->maps[0].axes, drawing->paths, drawing->path_count, text, places, numbers);
	script_set(sheet->stream, "numbers", (double)count);
	if (count > 0)
		script_declare(sheet->stream, "NumberEpoch NumberPath NumberX NumberY", count);
	for (size_t i = 0; i < count; i++)
		script_set_items(sheet->stream, "NumberEpoch NumberPath NumberX NumberY", i + 1,
		                 (double[]){numbers[i].epoch, (double)numbers[i].path + 1,
		                            map_layout_x(layout, numbers[i].x), map_layout_y(layout, numbers[i].y)});
}

void
map_sheet_paths(const struct sheet *sheet)
{
	const struct map_drawing *drawing = sheet->drawing;

	script_set(sheet->stream, "paths", (double)drawing->path_count);
	if (drawing->path_count == 0)
		return;
	script_declare(sheet->stream, "PathName PathX PathY PathToLeft PathLast PathArrows", drawing->path_count);
	sheet_set_path_texts(sheet);
	fputs("$paths << EOD\n", sheet->stream);
	for (size_t p = 0; p < drawing->path_count; p++) {
		for (size_t e = 0; e < drawing->paths[p].count; e++)
			fprintf(sheet->stream, "%.10g %.10g\n", drawing->paths[p].places[e][0],
			        drawing->paths[p].places[e][1]);
		fputs("\n\n", sheet->stream);
	}
	fputs("EOD\n", sheet->stream);
	sheet_set_arrows(sheet);
}
