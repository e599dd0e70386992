/* corrected.c: applies a file of corrections to a loaded run (corrected.h). */
#include "corrected.h"

#include "base/message.h"
#include "die/die.h"
#include "die/memory.h"

#include <string.h>

void
corrected_free(struct corrected *corrected)
{
	corrections_free(&corrected->corrections);
	array_free(corrected->recorded);
	array_free(corrected->marks);
	*corrected = (struct corrected){.marks = NULL};
}

void
corrected_apply(struct corrected *corrected, const char *path, struct dynamics *dynamics)
{
	const size_t rows = dynamics->ids.rows;
	const struct corrections *corrections = &corrected->corrections;

	must(corrections_read(&corrected->corrections, "--corrections", path, dynamics, &failure));
	if (corrections->count == 0 && corrections->unknown > 0)
		die("%s: none of its %llu ids belongs to an example of run '%s': the first is '%s'", path,
		    (unsigned long long)corrections->unknown, dynamics->info->name, corrections->first_unknown);
	if (corrections->unknown > 0)
		message_warning("%s: %s id%s to no example of run '%s'; the first is '%s'", path,
		                NUMBER_GROUPED(corrections->unknown),
		                corrections->unknown == 1 ? " belongs" : "s belong", dynamics->info->name,
		                corrections->first_unknown);
	corrected->recorded = memory_array(rows, sizeof(*corrected->recorded), "labels");
	corrected->marks = memory_array(rows, 1, "marks");
	memcpy(corrected->recorded, dynamics->gold, rows * sizeof(*corrected->recorded));
	for (size_t i = 0; i < corrections->count; i++) {
		const struct correction *one = &corrections->list[i];
		bool is_dropped = one->new_label == CORRECTION_DROP;

		corrected->marks[one->row] = is_dropped                         ? CORRECTED_DROPPED
		                             : one->new_label == one->old_label ? CORRECTED_RIGHT
		                                                                : CORRECTED_CHANGED;
		if (!is_dropped)
			dynamics->gold[one->row] = one->new_label;
	}
}
