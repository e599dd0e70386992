/*
 * table_columns.h: describes a table by its columns: what each column is called, and where in memory its values lie.
 * Code that makes tables fills these structs; the writers of table.h read them.
 *
 * A column says what its values are and where they lie: value i stands `stride` bytes after value i − 1. So a table
 * over an array of structs and a table over arrays are one thing, and no cell is handed over one by one:
 *
 *     static const struct table_column columns[] = {
 *             {"epoch", TABLE_U32, offsetof(struct tally_epoch, epoch)},
 *             {"accuracy", TABLE_F64, offsetof(struct tally_epoch, accuracy)}};
 *     struct table table = TABLE_OF(columns, epochs, epoch_count);
 *
 *     const struct table_column columns[] = {{"id", TABLE_ID, .of = &ids}, {"score", TABLE_F64, .values = scores}};
 *     struct table table = TABLE_OF_ARRAYS(columns, n);
 *     table.order = ranked;
 *
 * What is computed for a table is put into an array of structs of its own first. `order` gives the rows in another
 * order than that of the memory, or some of them.
 *
 * Empty is nothing in CSV and TSV, null in JSON, "-" for people; in npy NaN, -1 or an empty text. All that a table
 * points to stays the caller's, and is only read. A table that is not written may be read by several threads.
 */
#ifndef TABLE_COLUMNS_H
#define TABLE_COLUMNS_H

#include "base/ids.h"
#include "base/names.h"

/* The types of values in memory, which need not be aligned. */
enum table_type {
	TABLE_F64, /* NaN is empty; so is infinity, unless the column says `infinite` */
	TABLE_F32,
	TABLE_U64, /* never empty */
	TABLE_U32,
	TABLE_I64, /* whole numbers from 0 on; less is empty */
	TABLE_I32,
	TABLE_REAL_OF, /* the double that the column's `real` computes from the table's struct */
	TABLE_FLAG,    /* bool, or a byte: 0 or 1 */
	TABLE_BITS,    /* bit i of words of 64 bits: 0 or 1. `values` only */
	TABLE_TEXT,    /* const char *; NULL is empty */
	TABLE_CHARS,   /* the text itself, ended by a NUL, or after `width` bytes */
	TABLE_BYTES,   /* struct table_bytes; NULL is empty */
	TABLE_CELL,    /* struct table_cell: texts and numbers in one column. In npy, and for people, all are texts */
	TABLE_WORD,    /* int32_t, or an enum: the index of a text in `of`, an array of texts; below 0 is empty */
	/* int32_t: a class, whose name is in `of`, struct store_snapshot; -1, and a class without a name, are empty */
	TABLE_LABEL,
	TABLE_NAME,  /* uint32_t: the number of a text in `of`, struct names; NAMES_NONE is empty */
	TABLE_ID,    /* the id that the row has in `of`, struct ids; the column needs no values of its own */
	TABLE_ID_AT, /* uint32_t: the row whose id in `of`, struct ids, is the value */
};

struct table_bytes {
	const char *at;
	size_t length;
};

enum table_kind { TABLE_EMPTY, TABLE_WHOLE, TABLE_REAL, TABLE_STRING };
struct table_cell {
	enum table_kind kind;
	union {
		uint64_t whole;
		double real;
		const char *text; /* `length` bytes */
	};
	size_t length;
};

struct table_column {
	const char *name;
	enum table_type type;
	size_t offset;                   /* in the table's structs, unless there are `values` */
	const void *values;              /* an array; NULL: the column lies in the table's structs */
	size_t stride;                   /* of `values`; 0: they follow one another */
	const void *of;                  /* of TABLE_WORD and the types after it: what the values are numbers in */
	double (*real)(const void *row); /* of TABLE_REAL_OF: computes the value; NaN and infinity are empty */
	const uint64_t *present;         /* a bit for each row: 0 where the row has no value; NULL: all have one */
	const uint32_t *through;         /* the value of row i is values[through[i]]; NULL: values[i] */
	bool is_same;                    /* every row has the first value */
	bool infinite; /* infinity is a value, and not empty: "inf"; in JSON lines 1e999, which readers take for it */
	bool whole;    /* TABLE_F64: whole numbers */
	/* of whole numbers that are names, as ids are: people read them without "," between the digits */
	bool is_name;
	bool is_number; /* of texts that are numbers, as "14%": for people they end below one another */
	/* The type in npy: "<u4", "<i8", "<f4", "|b1", "|S" … NULL: "<f8", or "<f4" of TABLE_F32; "<U"; for whole numbers
	 * "<u8", or "<i8" where one is empty. */
	const char *npy;
	size_t width; /* of texts in npy: characters, or bytes of "|S"; 0: as long as the longest */
};

#define TABLE_ENDS 10 /* rows that an excerpt has of each end of a table */

struct table {
	const struct table_column *columns;
	size_t column_count;
	size_t rows;
	const void *structs; /* the structs in which columns without `values` lie, */
	size_t struct_size;
	const uint32_t *order; /* the rows of the memory in the order of the table, `rows` of them; NULL: 0, 1, 2 … */
	/* What the rows are, such as "examples": of a long table, people then get the first and the last TABLE_ENDS
	 * rows, and a message that counts them all. NULL: they get all rows. */
	const char *excerpt;
	size_t left_out;       /* how many rows were cut out after the first TABLE_ENDS: see table_cut() */
	bool continues;        /* CSV, TSV and JSON lines: the values continue a line that the caller begins and ends */
	bool for_spreadsheets; /* CSV: see text_csv_for_spreadsheets() */
};

#define TABLE_COUNT(columns) (sizeof(columns) / sizeof((columns)[0]))
/* A table over `count` structs: `list` is an array of them, or a pointer to the first. */
#define TABLE_OF(column_list, list, count)                                                                             \
	((struct table){.columns = (column_list),                                                                      \
	                .column_count = TABLE_COUNT(column_list),                                                      \
	                .rows = (count),                                                                               \
	                .structs = (list),                                                                             \
	                .struct_size = sizeof(*(list))})

/* A table over arrays: every column has `values`, or is a TABLE_ID. */
#define TABLE_OF_ARRAYS(column_list, count)                                                                            \
	((struct table){.columns = (column_list), .column_count = TABLE_COUNT(column_list), .rows = (count)})

#endif
