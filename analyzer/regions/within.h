/*
 * within.h: finds which examples of a run are in a selection that a user made on the live page: polygons over two
 * axes, and filters. For `portolan select --within`, and for the live page itself. The page exports a selection as
 * this JSON:
 *
 *     {"name": "far right", "run": NAME, "x": "variability", "y": "confidence", "epochs": "1:6",
 *      "parts": [{"op": "add", "polygon": [[x, y], …]}, {"op": "remove", "polygon": …}],
 *      "filters": {"gold": {"in": [0, 2]}, "correctness": {"min": 0.2, "max": 0.8}, "id": {"in": […]}},
 *      "digests": {"variability": "0123456789abcdef", …}}
 *
 * `name` is what its user calls it, and decides nothing. An axis (`x`, `y`) is a measure, a user's column that was
 * logged, or "gold", on which an example's value is the number of its class. `polygon` in place of `parts` is one
 * part that adds. Parts are applied in their order, to nothing at first. Without either, all examples that pass the
 * filters are selected. The even-odd rule decides what is inside, exactly, on the values themselves as float64;
 * edges and vertices are inside. An example of which a value is missing or infinite is never inside.
 *
 * Bounds are inclusive. `gold` takes numbers of classes, names of classes, and null for examples without a label; `id`
 * takes numbers, or texts; measures and users' columns take "min", "max", and "in" with numbers, and with null for
 * examples without a value. An example must pass all members of a filter; without a value, it passes no bound. `digests`
 * show whether the data has changed since the selection was made: see within_is_changed().
 *
 * The live page has more, which needs the user's own file: axes "data:COLUMN", for numbers and categories; filters
 * "data:COLUMN", with "in" and texts or null, or like that of a measure; and "text": {"contains": ["a", "b"]} for
 * examples whose id or texts hold all of these. In an export, ids take their place.
 */
#ifndef WITHIN_H
#define WITHIN_H

#include "within_filters.h"

/* Adds to the request what must be loaded of a run to find the examples of the selection. */
void within_request(const struct within *within, struct dynamics_request *request);

/*
 * Finds the selected ones among the n examples in `order` (dense indices by ascending id), and lists them in kept[],
 * still by ascending id. kept[] has room for n, and may be `order` itself. PORTOLAN_E_INVALID: the run has no such
 * measure, column, class or kind of id. Safe from several threads on one `within`.
 */
int within_keep(const struct within *within, const struct dynamics *dynamics, const uint32_t *order, size_t n,
                uint32_t *kept, size_t *kept_count, struct portolan_error *error);

#define WITHIN_DIGEST_ROOM 17
/* A hash (XXH3) of the values of a column over the observed examples by ascending id, as 16 hexadecimal digits. If
 * `values` is NULL, of the gold labels, which must be loaded. */
void within_digest(const struct dynamics *dynamics, const double *values, char digest[WITHIN_DIGEST_ROOM]);

/* Has any column (or "gold") other values now than when the selection was made, as its digest shows? Columns that have
 * no digest, or are not loaded, count as unchanged. */
bool within_is_changed(const struct within *within, const struct dynamics *dynamics);

#endif
