/* table.c: the text formats; see table.h. Numbers read back exactly. */
#include "table.h"

#include "text.h"

#include <math.h>
#include <string.h>

void
table_write_id_csv(struct output *output, const struct dynamics *dynamics, uint32_t index)
{
	size_t length;
	const char *text;

	if (dynamics->ids.kind == STORE_ID_INT) {
		text_integer(output, dynamics->ids.integers[index]);
		return;
	}
	text = ids_text(&dynamics->ids, index, &length);
	text_csv(output, text, length);
}

void
table_write_id_json(struct output *output, const struct dynamics *dynamics, uint32_t index)
{
	size_t length;
	const char *text;

	if (dynamics->ids.kind == STORE_ID_INT) {
		text_integer(output, dynamics->ids.integers[index]);
		return;
	}
	text = ids_text(&dynamics->ids, index, &length);
	text_json(output, text, length);
}

void
table_write_names(struct output *output, const struct dynamics *dynamics, char separator)
{
	for (size_t c = 0; c < dynamics->column_count; c++) {
		const char *name = dynamics->columns[c].name;

		output_bytes(output, &separator, 1);
		if (separator == ',')
			text_csv(output, name, strlen(name));
		else
			output_text(output, name);
	}
}

void
table_write_values(struct output *output, const struct dynamics *dynamics, uint32_t index, char separator)
{
	for (size_t c = 0; c < dynamics->column_count; c++) {
		double value = dynamics->columns[c].values[index];

		output_bytes(output, &separator, 1);
		if (!isnan(value))
			text_number(output, value);
	}
}

void
table_write_members(struct output *output, const struct dynamics *dynamics, uint32_t index)
{
	for (size_t c = 0; c < dynamics->column_count; c++) {
		const struct dynamics_column *column = &dynamics->columns[c];

		output_bytes(output, ",", 1);
		text_json(output, column->name, strlen(column->name));
		output_bytes(output, ":", 1);
		if (isnan(column->values[index]))
			output_text(output, "null");
		else
			text_number(output, column->values[index]);
	}
}

void
table_write_csv(struct output *output, const struct dynamics *dynamics, const uint32_t *rows, size_t count)
{
	bool labels = dynamics->info->label_count > 0;

	output_text(output, "id,gold");
	table_write_names(output, dynamics, ',');
	output_text(output, labels ? ",label\n" : "\n");
	for (size_t i = 0; i < count; i++) {
		const char *label = dynamics_label(dynamics, rows[i]);

		table_write_id_csv(output, dynamics, rows[i]);
		output_bytes(output, ",", 1);
		if (dynamics->gold[rows[i]] >= 0)
			text_integer(output, (uint64_t)dynamics->gold[rows[i]]);
		table_write_values(output, dynamics, rows[i], ',');
		if (labels)
			output_bytes(output, ",", 1);
		if (labels && label)
			text_csv(output, label, strlen(label));
		output_bytes(output, "\n", 1);
	}
}

void
table_write_jsonl(struct output *output, const struct dynamics *dynamics, const uint32_t *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *label = dynamics_label(dynamics, rows[i]);

		output_text(output, "{\"id\":");
		table_write_id_json(output, dynamics, rows[i]);
		output_text(output, ",\"gold\":");
		if (dynamics->gold[rows[i]] >= 0)
			text_integer(output, (uint64_t)dynamics->gold[rows[i]]);
		else
			output_text(output, "null");
		table_write_members(output, dynamics, rows[i]);
		if (dynamics->info->label_count > 0) {
			output_text(output, ",\"label\":");
			if (label)
				text_json(output, label, strlen(label));
			else
				output_text(output, "null");
		}
		output_text(output, "}\n");
	}
}

void
table_write_cartography(struct output *output, const struct dynamics *dynamics, const uint32_t *rows, size_t count)
{
	const double *epochs = dynamics_measure(dynamics, MEASURE_EPOCHS);
	const double *closeness = dynamics_measure(dynamics, MEASURE_THRESHOLD_CLOSENESS);
	const double *confidence = dynamics_measure(dynamics, MEASURE_CONFIDENCE);
	const double *variability = dynamics_measure(dynamics, MEASURE_VARIABILITY);
	const double *correctness = dynamics_measure(dynamics, MEASURE_CORRECTNESS);
	const double *events = dynamics_measure(dynamics, MEASURE_FORGETTING_EVENTS);

	for (size_t i = 0; i < count; i++) {
		uint32_t row = rows[i];

		output_text(output, "{\"guid\":");
		table_write_id_json(output, dynamics, row);
		output_text(output, ",\"index\":");
		text_integer(output, row);
		output_text(output, ",\"threshold_closeness\":");
		text_number(output, closeness[row]);
		output_text(output, ",\"confidence\":");
		text_number(output, confidence[row]);
		output_text(output, ",\"variability\":");
		text_number(output, variability[row]);
		output_text(output, ",\"correctness\":");
		text_integer(output, (uint64_t)lround(correctness[row] * epochs[row]));
		output_text(output, ",\"forgetfulness\":");
		text_integer(output, correctness[row] > 0 ? (uint64_t)events[row] : 1000);
		output_text(output, "}\n");
	}
}
