/* map_sheet_paths.c: writes the paths of examples over a map as variables of its script. */
#include "map_sheet.h"

#include <math.h>

#define ARROW_LENGTH 12.0
#define ARROW_WIDTH 9.0

/* Writes a triangle in the middle between one place and the next, which it points to; along and across are in units. */
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

/* Sets the arrows, in a block for each path that has any; the third column is the number of the path. */
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
	for (size_t p = 0; p < drawing->path_count; p++) /* block 0: none */
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

	map_place_paths(&sheet->maps[0].axes, drawing->paths, drawing->path_count, text, places);
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
