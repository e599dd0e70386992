/*
 * table_cartography.c: td_metrics.jsonl, as the tools published with Dataset Cartography write and read it.
 *
 * With --include-ci they put the deviation with its confidence interval where the variability stands.
 */
#include "table_format.h"
#include "text.h"

#include <math.h>

void
table_write_cartography(struct output *output, const struct dynamics *part, const uint32_t *rows, size_t count,
                        bool with_ci)
{
	const double *epochs = dynamics_measure(part, MEASURE_EPOCHS);
	const double *closeness = dynamics_measure(part, MEASURE_THRESHOLD_CLOSENESS);
	const double *confidence = dynamics_measure(part, MEASURE_CONFIDENCE);
	const double *variability = dynamics_measure(part, with_ci ? MEASURE_VARIABILITY_CI : MEASURE_VARIABILITY);
	const double *correctness = dynamics_measure(part, MEASURE_CORRECTNESS);
	const double *events = dynamics_measure(part, MEASURE_FORGETTING_EVENTS);

	for (size_t i = 0; i < count; i++) {
		uint32_t row = rows[i];

		output_text(output, "{\"guid\":");
		table_write_id(output, part, row, text_json);
		output_text(output, ",\"index\":");
		text_integer(output, part->first + row);
		output_text(output, ",\"threshold_closeness\":");
		text_number(output, closeness[row]);
		output_text(output, ",\"confidence\":");
		text_number(output, confidence[row]);
		output_text(output, ",\"variability\":");
		table_write_json_number(output, variability[row]);
		output_text(output, ",\"correctness\":");
		text_integer(output, (uint64_t)lround(correctness[row] * epochs[row]));
		output_text(output, ",\"forgetfulness\":");
		table_write_json_number(output, events[row]);
		output_text(output, "}\n");
	}
}
