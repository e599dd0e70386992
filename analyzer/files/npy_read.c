/*
 * npy_read.c: opens the NumPy arrays of users (feature vectors, lists), and checks that the program can use them
 * (npy_read.h). The header is a Python dictionary with three keys; the parser knows only these.
 *
 * Only arrays that can be used without conversion are opened; for others, the message says how NumPy converts them. A
 * file that is shorter or longer than its header says is refused, as either may be wrong.
 */
#include "npy_read.h"

#include <portolan/error.h>

#include <math.h>
#include <string.h>

#define MAGIC "\x93NUMPY"
#define HEADER_MAX 65536 /* a plain array's header takes some hundred bytes */

struct scan {
	const char *at, *end, *path;
	struct portolan_error *error;
};

static int
wrong(const struct scan *scan, const char *field, const char *what)
{
	return error_set(scan->error, PORTOLAN_E_INVALID, "%s: the NumPy header's %s %s", scan->path, field, what);
}

static void
skip_space(struct scan *scan)
{
	while (scan->at < scan->end &&
	       (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\t' || *scan->at == '\r'))
		scan->at++;
}

static bool
take_character(struct scan *scan, char c)
{
	skip_space(scan);
	if (scan->at >= scan->end || *scan->at != c)
		return false;
	scan->at++;
	return true;
}

static bool
take_word(struct scan *scan, const char *word)
{
	size_t length = strlen(word);

	skip_space(scan);
	if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, word, length) != 0)
		return false;
	scan->at += length;
	return true;
}

/* Takes a string literal without escapes. */
static bool
take_string(struct scan *scan, char *text, size_t room)
{
	size_t used = 0;
	char quote;

	skip_space(scan);
	if (scan->at >= scan->end || (*scan->at != '\'' && *scan->at != '"'))
		return false;
	quote = *scan->at++;
	for (; scan->at < scan->end && *scan->at != quote; scan->at++) {
		if (used + 1 >= room || *scan->at == '\\' || (unsigned char)*scan->at < ' ')
			return false;
		text[used++] = *scan->at;
	}
	text[used] = '\0';
	return take_character(scan, quote);
}

static bool
take_number(struct scan *scan, uint64_t *number)
{
	const char *from;
	uint64_t value = 0;

	skip_space(scan);
	from = scan->at;
	for (; scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9'; scan->at++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*scan->at - '0'), &value))
			return false;
	if (scan->at == from)
		return false;
	if (scan->at < scan->end && *scan->at == 'L') /* the mark of a long integer in Python 2 */
		scan->at++;
	*number = value;
	return true;
}

/* Takes a type such as "<f4": the byte order, the kind, the number of bytes (for U: of characters). */
static int
take_descr(struct scan *scan, struct npy_header *header)
{
	char text[16];
	struct scan digits = {.at = text + 2};
	uint64_t size;

	skip_space(scan);
	if (scan->at < scan->end && *scan->at == '[')
		return wrong(scan, "descr", "is one of records: save one field as an array of its own");
	if (!take_string(scan, text, sizeof(text)) || strlen(text) < 2 || !strchr("<>|=", text[0]))
		return wrong(scan, "descr", "is no type that is known here");
	if (text[1] == 'O')
		return wrong(scan, "descr", "is one of Python objects: save numbers or strings, as by X.astype('f4')");
	digits.end = text + strlen(text);
	if (!strchr("fiubSU", text[1]) || !take_number(&digits, &size) || digits.at != digits.end || size == 0 ||
	    size > 1 << 20)
		return wrong(scan, "descr", "is no type that is known here");
	header->kind = text[1];
	header->item_size = (size_t)size * (text[1] == 'U' ? 4 : 1);
	header->is_swapped = text[0] == '>' && text[1] != 'S' && header->item_size > 1;
	if (strchr("fiub", text[1]) && (size > 16 || (size & (size - 1)) != 0))
		return wrong(scan, "descr", "is no type that is known here");
	return 0;
}

static int
take_shape(struct scan *scan, struct npy_header *header)
{
	if (!take_character(scan, '('))
		return wrong(scan, "shape", "is not a tuple");
	while (!take_character(scan, ')')) {
		if (header->dimensions == NPY_DIMENSIONS_MAX)
			return wrong(scan, "shape", "has too many dimensions");
		if (!take_number(scan, &header->shape[header->dimensions]))
			return wrong(scan, "shape", "holds something else than whole numbers");
		header->dimensions++;
		if (!take_character(scan, ',')) {
			if (!take_character(scan, ')'))
				return wrong(scan, "shape", "is not a tuple");
			break;
		}
	}
	return 0;
}

static int
take_fortran(struct scan *scan, struct npy_header *header)
{
	header->is_fortran = take_word(scan, "True");
	return header->is_fortran || take_word(scan, "False")
	               ? 0
	               : wrong(scan, "fortran_order", "is neither True nor False");
}

static const struct {
	const char *name;
	int (*take)(struct scan *scan, struct npy_header *header);
} members[] = {{"descr", take_descr}, {"fortran_order", take_fortran}, {"shape", take_shape}};
#define MEMBERS 3

static int
take_member(struct scan *scan, struct npy_header *header, unsigned *seen)
{
	char name[32];

	if (!take_string(scan, name, sizeof(name)) || !take_character(scan, ':'))
		return wrong(scan, "dictionary", "is not well-formed");
	for (unsigned m = 0; m < MEMBERS; m++) {
		if (strcmp(name, members[m].name) != 0)
			continue;
		if (*seen & 1u << m)
			return wrong(scan, name, "stands there twice");
		*seen |= 1u << m;
		return members[m].take(scan, header);
	}
	return wrong(scan, "dictionary", "has a member that is none of descr, fortran_order and shape");
}

static int
take_dictionary(struct scan *scan, struct npy_header *header)
{
	unsigned seen = 0;
	int code;

	if (!take_character(scan, '{'))
		return wrong(scan, "dictionary", "is missing");
	while (!take_character(scan, '}')) {
		code = take_member(scan, header, &seen);
		if (code < 0)
			return code;
		if (!take_character(scan, ',')) {
			if (!take_character(scan, '}'))
				return wrong(scan, "dictionary", "is not well-formed");
			break;
		}
	}
	skip_space(scan);
	if (scan->at < scan->end)
		return wrong(scan, "dictionary", "is followed by something else");
	for (unsigned m = 0; m < MEMBERS; m++)
		if (!(seen & 1u << m))
			return wrong(scan, members[m].name, "is missing");
	return 0;
}

/* Finds where the dictionary begins and ends. */
static int
find_dictionary(struct scan *scan, const uint8_t *bytes, size_t size, size_t *offset)
{
	size_t fixed, length;

	if (size < 10 || memcmp(bytes, MAGIC, 6) != 0)
		return error_set(scan->error, PORTOLAN_E_INVALID, "%s is no NumPy file (.npy)%s", scan->path,
		                 size >= 2 && memcmp(bytes, "PK", 2) == 0
		                         ? ": an .npz archive holds several; save one array with numpy.save()"
		                         : "");
	if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
		return error_set(scan->error, PORTOLAN_E_INVALID,
		                 "%s: version %u.%u of the NumPy format is not known here", scan->path, bytes[6],
		                 bytes[7]);
	fixed = bytes[6] == 1 ? 10 : 12;
	length = bytes[8] | (size_t)bytes[9] << 8;
	if (fixed == 12 && size >= fixed)
		length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
	if (length > HEADER_MAX)
		return wrong(scan, "length", "is far too large");
	if (size < fixed || size - fixed < length)
		return error_set(scan->error, PORTOLAN_E_INVALID, "%s is cut short: it ends within its NumPy header",
		                 scan->path);
	scan->at = (const char *)bytes + fixed;
	scan->end = scan->at + length;
	*offset = fixed + length;
	return 0;
}

int
npy_parse_header(const void *bytes, size_t size, const char *path, struct npy_header *header,
                 struct portolan_error *error)
{
	struct scan scan = {.path = path, .error = error};
	struct npy_header found = {.count = 1};
	uint64_t data, end;
	int code = find_dictionary(&scan, bytes, size, &found.offset);

	if (code >= 0)
		code = take_dictionary(&scan, &found);
	if (code < 0)
		return code;
	for (size_t d = 0; d < found.dimensions; d++)
		if (found.shape[d] == 0)
			/* a dimension is 0, so there are no values, even if the others are too large to multiply */
			found.count = 0;
	for (size_t d = 0; d < found.dimensions; d++)
		if (__builtin_mul_overflow(found.count, found.shape[d], &found.count))
			return wrong(&scan, "shape", "is too large");
	if (__builtin_mul_overflow(found.count, (uint64_t)found.item_size, &data) ||
	    __builtin_add_overflow(data, (uint64_t)found.offset, &end) || end > SIZE_MAX)
		return wrong(&scan, "shape", "is too large");
	*header = found;
	return 0;
}

void
npy_close(struct npy_array *array)
{
	content_close(&array->content);
	*array = (struct npy_array){0};
}

static int
check_size(const struct npy_array *array, struct portolan_error *error)
{
	const struct npy_header *header = &array->header;
	uint64_t expected = header->count * header->item_size, there = array->content.size - header->offset;

	if (header->is_swapped)
		return error_set(
		        error, PORTOLAN_E_INVALID,
		        "%s: the NumPy header's descr is big-endian: save it as X.astype(X.dtype.newbyteorder('<'))",
		        array->path);
	if (there == expected)
		return 0;
	return error_set(error, PORTOLAN_E_INVALID,
	                 "%s is %s: its NumPy header's shape and descr mean %llu bytes of data, and there are %llu",
	                 array->path, there < expected ? "cut short" : "too long", (unsigned long long)expected,
	                 (unsigned long long)there);
}

int
npy_open(struct npy_array *array, const char *path, struct portolan_error *error)
{
	int code;

	*array = (struct npy_array){.path = path};
	code = content_open(&array->content, path, error);
	if (code >= 0)
		code = npy_parse_header(array->content.bytes, array->content.size, path, &array->header, error);
	if (code >= 0)
		code = check_size(array, error);
	if (code < 0) {
		npy_close(array);
		return code;
	}
	array->data = (const uint8_t *)array->content.bytes + array->header.offset;
	return 0;
}

static int
check_matrix(const struct npy_array *array, bool any, struct portolan_error *error)
{
	const struct npy_header *header = &array->header;
	struct scan scan = {.path = array->path, .error = error};

	if (header->dimensions != 2)
		return wrong(&scan, "shape",
		             "has not two dimensions: one row for each example, one column for each feature");
	if (header->shape[1] == 0)
		return wrong(&scan, "shape", "has no columns");
	if (header->kind != 'f' ||
	    (header->item_size != 4 && header->item_size != 8 && !(any && header->item_size == 2)))
		return wrong(&scan, "descr",
		             any ? "is none of float16, float32 and float64: save X.astype('f4')"
		                 : "is neither float32 nor float64: save X.astype('f4')");
	if (!any && header->is_fortran && header->shape[0] > 1 && header->shape[1] > 1)
		return wrong(&scan, "fortran_order", "is True: save numpy.ascontiguousarray(X)");
	return 0;
}

int
npy_check_matrix(const struct npy_array *array, struct portolan_error *error)
{
	return check_matrix(array, false, error);
}

int
npy_check_matrix_any(const struct npy_array *array, struct portolan_error *error)
{
	return check_matrix(array, true, error);
}

int
npy_check_finite(const struct npy_array *array, struct portolan_error *error)
{
	const struct npy_header *header = &array->header;

	for (uint64_t i = 0; i < header->count; i++) {
		const uint8_t *at = array->data + i * header->item_size;
		float small;
		double value;

		if (header->item_size == 4) {
			memcpy(&small, at, sizeof(small));
			value = small;
		} else {
			memcpy(&value, at, sizeof(value));
		}
		if (!isfinite(value))
			return error_set(error, PORTOLAN_E_INVALID,
			                 "%s: row %llu, column %llu (from 0) is %s; features must be finite numbers",
			                 array->path, (unsigned long long)(i / header->shape[1]),
			                 (unsigned long long)(i % header->shape[1]), isnan(value) ? "NaN" : "infinite");
	}
	return 0;
}
