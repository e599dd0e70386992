/* map_paths.c: where chosen examples stood after each epoch: lines over a map, with the examples' ids at their ends. */
#include "map.h"

#include <math.h>
#include <string.h>

#define FONT PLOT_FONT
#define LABEL_EM 13.3 /* in units */
#define LABEL_HEIGHT 15.0
#define LABEL_ROOM 170.0
#define AWAY 9.0 /* from the end of the path to its label */

/* Okabe and Ito's, the yellow left out, which is too light for lines; the second round is dashed. */
static const char *const colours[] = {"#d55e00", "#0072b2", "#009e73", "#cc79a7", "#000000", "#56b4e9", "#e69f00"};
#define COLOURS (sizeof(colours) / sizeof(colours[0]))

struct place {
	double x, y; /* in units; of the end it is written from */
	double left, right;
};

static bool
is_near(const struct place *a, const struct place *b)
{
	return a->left < b->right && b->left < a->right && fabs(a->y - b->y) < LABEL_HEIGHT - 0.01;
}

static bool
is_free(const struct place *place, const struct place *others, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_near(place, &others[i]))
			return false;
	return place->y > MAP_BOTTOM + LABEL_HEIGHT / 2 && place->y < MAP_TOP - LABEL_HEIGHT / 2;
}

/* Beside the path's end, or as little above or below as other labels leave room. */
static struct place
place_label(const struct map_axes *axes, const struct map_path *path, const struct place *others, size_t count)
{
	const double *end = path->places[path->count - 1];
	double width = fmin(LABEL_ROOM, 8.5 * (double)strlen(path->name)) + 6, y = map_y(axes, end[1]);
	struct place place = {.x = map_x(axes, end[0]) + AWAY};

	if (place.x + width > MAP_RIGHT)
		place.x -= 2 * AWAY;
	place.left = place.x > map_x(axes, end[0]) ? place.x : place.x - width;
	place.right = place.left + width;
	for (int step = 0; step < 4 * MAP_PATHS_MAX; step++) {
		place.y = y + (step % 2 ? 1 : -1) * ((step + 1) / 2) * LABEL_HEIGHT;
		if (is_free(&place, others, count))
			break;
	}
	return place;
}

static void
write_label(FILE *stream, const struct map_script *script, size_t number, const struct place *place)
{
	fprintf(stream, "set label %zu ", 201 + number);
	plot_quote(stream, script->paths[number].name, LABEL_ROOM / LABEL_EM, script->can_draw);
	fprintf(stream, " at screen %.5f,%.5f %s noenhanced front boxed font '" FONT ",10' textcolor rgb '%s'\n",
	        place->x / map_script_width(script), place->y / MAP_HEIGHT, place->x > place->left ? "right" : "left",
	        colours[number % COLOURS]);
}

void
map_define_paths(FILE *stream, const struct map_script *script)
{
	struct place places[MAP_PATHS_MAX];

	if (script->path_count > 0)
		fputs("set style textbox opaque noborder fillcolor rgb '#ffffff' margins 0.4,0.4\n", stream);
	for (size_t p = 0; p < script->path_count; p++) {
		const struct map_path *path = &script->paths[p];

		places[p] = place_label(&script->frames[0].data->axes, path, places, p);
		write_label(stream, script, p, &places[p]);
		fprintf(stream, "$path%zu << EOD\n", p + 1);
		for (size_t e = 0; e < path->count; e++)
			fprintf(stream, "%.10g %.10g\n", path->places[e][0], path->places[e][1]);
		fputs("EOD\n", stream);
	}
}

void
map_write_paths(FILE *stream, const struct map_script *script)
{
	double scale = script->format == PICTURE_SVG ? 0.7 : 1;

	for (size_t p = 0; p < script->path_count; p++) {
		const char *colour = colours[p % COLOURS];

		fprintf(stream, ", \\\n\t$path%zu with lines linewidth 4 linecolor rgb '#ffffff' notitle", p + 1);
		fprintf(stream,
		        ", \\\n\t$path%zu with linespoints linewidth 1.8 dashtype %d pointtype 7 pointsize %.2f "
		        "linecolor "
		        "rgb '%s' notitle",
		        p + 1, p < COLOURS ? 1 : 2, 0.7 * scale, colour);
		fprintf(stream,
		        ", \\\n\t$path%zu every ::%zu with points pointtype 7 pointsize %.2f linecolor rgb '%s' "
		        "notitle",
		        p + 1, script->paths[p].count - 1, 1.4 * scale, colour);
		fprintf(stream,
		        ", \\\n\t$path%zu every ::0::0 with points pointtype 7 pointsize %.2f linecolor rgb '#ffffff' "
		        "notitle",
		        p + 1, 0.35 * scale);
	}
}
