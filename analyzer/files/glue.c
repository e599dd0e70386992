/* glue.c: for --glue: gives the records of SNLI, MNLI and QNLI the ids that the code published with Dataset Cartography
 * logs, and tells which records have no label (glue.h). */
#include "glue.h"

#include <string.h>

static bool
begins_with(const char *id, size_t length, const char *prefix)
{
	return length >= strlen(prefix) && memcmp(id, prefix, strlen(prefix)) == 0;
}

static char
last_digit(char letter)
{
	return letter == 'e' ? '0' : letter == 'c' ? '1' : letter == 'n' ? '2' : '3';
}

size_t
glue_number(const char *id, size_t length, char *digits)
{
	const char *code = begins_with(id, length, "vg_len") ? "555" : begins_with(id, length, "vg_verb") ? "444" : "";
	size_t used = strlen(code);

	memcpy(digits, code, used);
	for (size_t i = 0; i < length; i++)
		if (id[i] >= '0' && id[i] <= '9' && (used > 0 || id[i] != '0'))
			digits[used++] = id[i];
	if (used > 0 || last_digit(id[length - 1]) != '0')
		digits[used++] = last_digit(id[length - 1]);
	if (used == 0)
		digits[used++] = '0';
	return used;
}

bool
glue_is_unlabelled(enum table_format format, const struct record *record)
{
	const char *last = records_last_field(format, record);
	struct field label = {last, (size_t)(record->at + record->length - last), FIELD_TEXT};

	label = records_trim(label);
	return label.length == 0 || (label.length == 1 && *label.at == '-');
}
