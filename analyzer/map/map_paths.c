/* map_paths.c: where the names of chosen examples go, at the ends of their paths. */
#include "map.h"

#include <math.h>
#include <string.h>

#define HEIGHT 15.0
#define AWAY 9.0 /* from the end of the path */

static bool
is_near(const struct map_place *a, const struct map_place *b)
{
	return a->left < b->right && b->left < a->right && fabs(a->y - b->y) < HEIGHT - 0.01;
}

static bool
is_free(const struct map_place *place, const struct map_place *others, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_near(place, &others[i]))
			return false;
	return place->y > MAP_BOTTOM + HEIGHT / 2 && place->y < MAP_TOP - HEIGHT / 2;
}

static struct map_place
place_path(const struct map_axes *axes, const struct map_path *path, const struct map_place *others, size_t count)
{
	const double *end = path->places[path->count - 1];
	double width = fmin(MAP_PATH_ROOM, 8.5 * (double)strlen(path->name)) + 6, y = map_y(axes, end[1]);
	struct map_place place = {.x = map_x(axes, end[0]) + AWAY};

	if (place.x + width > MAP_RIGHT)
		place.x -= 2 * AWAY;
	place.left = place.x > map_x(axes, end[0]) ? place.x : place.x - width;
	place.right = place.left + width;
	for (int step = 0; step < 4 * MAP_PATHS_MAX; step++) {
		place.y = y + (step % 2 ? 1 : -1) * ((step + 1) / 2) * HEIGHT;
		if (is_free(&place, others, count))
			break;
	}
	return place;
}

void
map_place_paths(const struct map_axes *axes, const struct map_path *paths, size_t count, struct map_place *places)
{
	for (size_t p = 0; p < count; p++)
		places[p] = place_path(axes, &paths[p], places, p);
}
