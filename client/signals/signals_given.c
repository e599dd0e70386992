/* signals_given.c: takes over signals that the caller of portolan_log() has derived already, on the accelerator that
 * has the logits: separates them into columns and checks them. */
#include "signals.h"

#include <string.h>

size_t
signals_given(const struct portolan_array *block, size_t n, const int32_t *gold, const struct signals_columns *columns,
              uint8_t *refused)
{
	size_t bad = 0;

	for (size_t row = 0; row < n; row++) {
		float given[SIGNALS_GIVEN], zero = 0; /* zero: becomes NaN if one of the given values is not finite */

		memcpy(given, (const char *)block->data + (ptrdiff_t)row * block->row_stride, sizeof(given));
		for (int i = 0; i < SIGNALS_GIVEN; i++)
			zero += 0 * given[i];
		refused[row] = !(zero == 0 && given[0] >= 0 && given[0] <= 1 && given[5] >= 0 && given[5] < 0x1p31f);
		bad += refused[row];
		columns->gold_prob[row] = given[0];
		columns->margin[row] = given[1];
		columns->other_sq[row] = given[2];
		columns->entropy[row] = given[3];
		columns->max_prob[row] = given[4];
		columns->predicted[row] = refused[row] ? 0 : (int32_t)given[5];
		columns->correct[row] = columns->predicted[row] == gold[row];
	}
	return bad;
}
