/* records.c: field by field for a tile of rows: each inner loop reads one array and writes with one stride. */
#include "records.h"

#include <math.h>
#include <string.h>

size_t
records_observed(const struct store_block *block, uint32_t *rows)
{
	const struct store_values *correct = store_block_values(block, 0, STORE_CORRECT);
	size_t count = 0;

	if (!correct->values)
		return 0;
	for (uint32_t word = 0; word * 64 < block->rows; word++) {
		uint32_t rest = block->rows - word * 64;
		uint64_t present = correct->present[word];

		if (rest < 64)
			present &= (UINT64_C(1) << rest) - 1;
		for (; present; present &= present - 1)
			rows[count++] = word * 64 + (uint32_t)__builtin_ctzll(present);
	}
	return count;
}

static bool
is_present(const struct store_values *values, uint32_t row)
{
	return values->present[row / 64] >> row % 64 & 1;
}

/* Values of 4 bytes; `absent` where there is none. */
static void
put_values(const struct store_values *values, uint32_t absent, const uint32_t *rows, size_t n, char *to, size_t stride)
{
	const uint32_t *from = values->values;

	if (from && values->complete) {
		for (size_t i = 0; i < n; i++)
			memcpy(to + i * stride, &from[rows[i]], 4);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t value = from && is_present(values, rows[i]) ? from[rows[i]] : absent;

		memcpy(to + i * stride, &value, 4);
	}
}

static void
put_correct(const struct store_values *values, const uint32_t *rows, size_t n, char *to, size_t stride)
{
	const uint64_t *words = values->values;

	for (size_t i = 0; i < n; i++)
		to[i * stride] = (char)(words[rows[i] / 64] >> rows[i] % 64 & 1);
}

static void
put_ids(const struct records_source *source, const uint32_t *rows, size_t n, char *to)
{
	const struct layout *layout = source->layout;
	const struct store_ids *ids = source->ids;

	for (size_t i = 0; i < n; i++, to += layout->size) {
		const char *text;
		size_t length;

		if (layout->ids == LAYOUT_INTEGERS) {
			memcpy(to, &ids->integers[rows[i]], 8);
			continue;
		}
		text = ids->text + ids->offsets[rows[i]];
		length = ids->offsets[rows[i] + 1] - ids->offsets[rows[i]];
		if (layout->ids == LAYOUT_CHARACTERS) {
			npy_put_text(to, layout->id_room, text, length);
			continue;
		}
		memcpy(to, text, length);
		memset(to + length, 0, layout->id_room - length);
	}
}

static void
put_sessions(const struct records_source *source, enum layout_kind kind, const uint32_t *rows, size_t n, char *to)
{
	const struct layout *layout = source->layout;
	const uint32_t *numbers = store_block_values(source->block, 0, STORE_SESSION)->values;

	for (size_t i = 0; i < n; i++, to += layout->size) {
		uint32_t number = numbers[rows[i]];
		const struct layout_session *session = &layout->sessions[number < layout->session_count ? number : 0];

		if (kind == LAYOUT_SESSION_STARTED)
			memcpy(to, &session->started, 8);
		else if (kind == LAYOUT_RANK)
			memcpy(to, &session->rank, 4);
		else
			memcpy(to, session->digits, sizeof(session->digits));
	}
}

static void
put_field(const struct records_source *source, const struct layout_field *field, const uint32_t *rows, size_t n,
          char *to)
{
	const struct store_values *values = store_block_values(source->block, 0, (enum store_column)field->column);
	const uint32_t absent_class = (uint32_t)-1;
	size_t stride = source->layout->size;
	const float nan = NAN;
	uint32_t absent;

	memcpy(&absent, &nan, sizeof(absent));
	switch (field->kind) {
	case LAYOUT_ID:
		put_ids(source, rows, n, to);
		return;
	case LAYOUT_EPOCH:
		for (size_t i = 0; i < n; i++)
			memcpy(to + i * stride, &source->epoch, 4);
		return;
	case LAYOUT_CORRECT:
		put_correct(values, rows, n, to, stride);
		return;
	case LAYOUT_REAL:
		put_values(values, absent, rows, n, to, stride);
		return;
	case LAYOUT_GOLD:
		put_values(&source->block->gold, absent_class, rows, n, to, stride);
		return;
	case LAYOUT_CLASS:
	case LAYOUT_SESSION_NUMBER: /* which is always present */
		put_values(values, absent_class, rows, n, to, stride);
		return;
	default:
		put_sessions(source, field->kind, rows, n, to);
	}
}

void
records_make(const struct records_source *source, const uint32_t *rows, size_t n, char *to)
{
	const struct layout *layout = source->layout;

	for (size_t i = 0; i < n; i += RECORDS_TILE, to += RECORDS_TILE * layout->size) {
		size_t tile = n - i < RECORDS_TILE ? n - i : RECORDS_TILE;

		for (size_t f = 0; f < layout->count; f++)
			put_field(source, &layout->fields[f], rows + i, tile, to + layout->fields[f].at);
	}
}

static void
print_class(struct rows *rows, const char *at)
{
	int32_t value;

	memcpy(&value, at, sizeof(value));
	if (value < 0)
		rows_empty(rows);
	else
		rows_whole(rows, (uint64_t)value);
}

static void
print_whole(struct rows *rows, const char *at, bool is_long)
{
	uint64_t value = 0;

	memcpy(&value, at, is_long ? 8 : 4);
	rows_whole(rows, value);
}

void
records_print(const struct layout *layout, const char *record, struct rows *rows)
{
	for (size_t f = 0; f < layout->count; f++) {
		const struct layout_field *field = &layout->fields[f];
		const char *at = record + field->at;
		float real;

		switch (field->kind) {
		case LAYOUT_ID:
			if (layout->ids == LAYOUT_INTEGERS)
				print_whole(rows, at, true);
			else
				rows_bytes(rows, at, strnlen(at, layout->id_room));
			break;
		case LAYOUT_REAL:
			memcpy(&real, at, sizeof(real));
			rows_real_or_infinite(rows, real);
			break;
		case LAYOUT_CORRECT:
			rows_whole(rows, (uint64_t)*at);
			break;
		case LAYOUT_CLASS:
		case LAYOUT_GOLD:
			print_class(rows, at);
			break;
		case LAYOUT_SESSION:
			rows_bytes(rows, at, LAYOUT_SESSION_DIGITS);
			break;
		default:
			print_whole(rows, at, field->kind == LAYOUT_SESSION_STARTED);
		}
	}
}
