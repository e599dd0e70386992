/*
 * layout.c: where the members of the public structs lie, and what the constants of portolan.h are worth, on machines of 64
 * bits. Programs that were compiled with version 1.0 have these numbers in them, so none ever changes while the soname is
 * libportolan.so.1. A new member takes room of `reserved`; a new constant gets a line.
 */
#include <portolan/portolan.h>

#define MEMBER(of, member, place)                                                                                      \
	_Static_assert(offsetof(struct of, member) == (place), "struct " #of ": member " #member " has moved")
#define VALUE(constant, value) _Static_assert((constant) == (value), #constant " has changed")

_Static_assert(sizeof(struct portolan_error) == 508, "size of struct portolan_error");
MEMBER(portolan_error, code, 0);
MEMBER(portolan_error, message, 4);
_Static_assert(sizeof(struct portolan_options) == 216, "size of struct portolan_options");
MEMBER(portolan_options, store, 0);
MEMBER(portolan_options, endpoint, 8);
MEMBER(portolan_options, keys, 16);
MEMBER(portolan_options, mode, 24);
MEMBER(portolan_options, examples, 32);
MEMBER(portolan_options, labels, 40);
MEMBER(portolan_options, label_count, 48);
MEMBER(portolan_options, config, 56);
MEMBER(portolan_options, group, 64);
MEMBER(portolan_options, rank, 72);
MEMBER(portolan_options, resume, 76);
MEMBER(portolan_options, overwrite, 80);
MEMBER(portolan_options, strict, 84);
MEMBER(portolan_options, when_full, 88);
MEMBER(portolan_options, ring_bytes, 96);
MEMBER(portolan_options, spool, 104);
MEMBER(portolan_options, spool_bytes, 112);
MEMBER(portolan_options, open_timeout_ms, 120);
MEMBER(portolan_options, cancelled, 128);
MEMBER(portolan_options, cancelled_context, 136);
MEMBER(portolan_options, collector_program, 144);
MEMBER(portolan_options, reserved, 152);
_Static_assert(sizeof(struct portolan_array) == 32, "size of struct portolan_array");
MEMBER(portolan_array, data, 0);
MEMBER(portolan_array, type, 8);
MEMBER(portolan_array, row_stride, 16);
MEMBER(portolan_array, column_stride, 24);
_Static_assert(sizeof(struct portolan_column) == 40, "size of struct portolan_column");
MEMBER(portolan_column, name, 0);
MEMBER(portolan_column, values, 8);
_Static_assert(sizeof(struct portolan_batch) == 224, "size of struct portolan_batch");
MEMBER(portolan_batch, epoch, 0);
MEMBER(portolan_batch, n, 8);
MEMBER(portolan_batch, classes, 16);
MEMBER(portolan_batch, kind, 24);
MEMBER(portolan_batch, scores, 32);
MEMBER(portolan_batch, ids, 64);
MEMBER(portolan_batch, string_ids, 96);
MEMBER(portolan_batch, string_lengths, 104);
MEMBER(portolan_batch, gold, 112);
MEMBER(portolan_batch, correct, 144);
MEMBER(portolan_batch, columns, 176);
MEMBER(portolan_batch, column_count, 184);
MEMBER(portolan_batch, reserved, 192);
_Static_assert(sizeof(struct portolan_text_field) == 24, "size of struct portolan_text_field");
MEMBER(portolan_text_field, name, 0);
MEMBER(portolan_text_field, texts, 8);
MEMBER(portolan_text_field, lengths, 16);
_Static_assert(sizeof(struct portolan_examples) == 104, "size of struct portolan_examples");
MEMBER(portolan_examples, n, 0);
MEMBER(portolan_examples, ids, 8);
MEMBER(portolan_examples, string_ids, 40);
MEMBER(portolan_examples, string_lengths, 48);
MEMBER(portolan_examples, fields, 56);
MEMBER(portolan_examples, field_count, 64);
MEMBER(portolan_examples, reserved, 72);
_Static_assert(sizeof(struct portolan_stats) == 128, "size of struct portolan_stats");
MEMBER(portolan_stats, logged, 0);
MEMBER(portolan_stats, acknowledged, 8);
MEMBER(portolan_stats, refused, 16);
MEMBER(portolan_stats, replaced, 24);
MEMBER(portolan_stats, dropped, 32);
MEMBER(portolan_stats, spooled, 40);
MEMBER(portolan_stats, bytes_sent, 48);
MEMBER(portolan_stats, reconnects, 56);
MEMBER(portolan_stats, waits, 64);
MEMBER(portolan_stats, reserved, 72);
VALUE(PORTOLAN_E_INVALID, -1);
VALUE(PORTOLAN_E_MEMORY, -2);
VALUE(PORTOLAN_E_NO_COLLECTOR, -3);
VALUE(PORTOLAN_E_REFUSED, -4);
VALUE(PORTOLAN_E_TIMEOUT, -5);
VALUE(PORTOLAN_E_FORKED, -6);
VALUE(PORTOLAN_E_CLOSED, -7);
VALUE(PORTOLAN_E_ROWS, -8);
VALUE(PORTOLAN_E_SYSTEM, -9);
VALUE(PORTOLAN_E_CANCELLED, -10);
VALUE(PORTOLAN_E_ENDED, -11);
VALUE(PORTOLAN_EPOCH_END, 0);
VALUE(PORTOLAN_TRAIN_FORWARD, 1);
VALUE(PORTOLAN_WAIT, 0);
VALUE(PORTOLAN_DROP, 1);
VALUE(PORTOLAN_F32, 1);
VALUE(PORTOLAN_F64, 2);
VALUE(PORTOLAN_I8, 3);
VALUE(PORTOLAN_U8, 4);
VALUE(PORTOLAN_I16, 5);
VALUE(PORTOLAN_U16, 6);
VALUE(PORTOLAN_I32, 7);
VALUE(PORTOLAN_U32, 8);
VALUE(PORTOLAN_I64, 9);
VALUE(PORTOLAN_U64, 10);
VALUE(PORTOLAN_F16, 11);
VALUE(PORTOLAN_BF16, 12);
VALUE(PORTOLAN_LOGITS, 1);
VALUE(PORTOLAN_PROBS, 2);
VALUE(PORTOLAN_GOLD_PROBS, 3);
VALUE(PORTOLAN_SIGNALS, 4);
VALUE(PORTOLAN_LOSSES, 5);
VALUE(PORTOLAN_WAIT_DEFAULT, -1);
VALUE(PORTOLAN_WAIT_FOREVER, -2);
VALUE(PORTOLAN_OWN_COLUMNS, 16);
VALUE(PORTOLAN_TEXT_FIELDS, 8);
VALUE(PORTOLAN_TEXTS_BYTES, 61440);

int
main(void)
{
	return 0;
}
