/* wire_fields.c: the table of the fields in each kind of frame, and of the words in them, by which the codec writes and
 * reads frames (wire_encode.c, wire_decode.c). */
#include "wire_fields.h"

#include <string.h>

#define FRAME(member) WIRE_MEMBER(struct wire_frame, member)
#define COUNTS(member) WIRE_MEMBER(struct wire_counts, member)

_Static_assert(WIRE_SESSION_SIZE == WIRE_STORE_SIZE && WIRE_SESSION_SIZE == WIRE_OWNER_SIZE, "a WIRE_ID has 16 bytes");

const char *const wire_kind_names[] = {
        [WIRE_OPEN] = "open",   [WIRE_BATCH] = "batch",       [WIRE_END_EPOCH] = "end", [WIRE_CLOSE] = "close",
        [WIRE_PING] = "ping",   [WIRE_REMOVE] = "remove",     [WIRE_OPENED] = "opened", [WIRE_ACK] = "ack",
        [WIRE_ERROR] = "error", [WIRE_EXAMPLES] = "examples",
};

const char *const wire_type_names[] = {
        [WIRE_F4] = "f4", [WIRE_I4] = "i4", [WIRE_U4] = "u4", [WIRE_U8] = "u8", [WIRE_BIT] = "bit", [WIRE_STR] = "str",
};

static const char *const code_names[] = {
        [WIRE_E_VERSION] = "version",
        [WIRE_E_MALFORMED] = "malformed",
        [WIRE_E_NO_SESSION] = "no-session",
        [WIRE_E_SEQUENCE] = "sequence",
        [WIRE_E_RUN_EXISTS] = "run-exists",
        [WIRE_E_RUN_DIFFERS] = "run-differs",
        [WIRE_E_REFUSED] = "refused",
        [WIRE_E_UNAVAILABLE] = "unavailable",
        [WIRE_E_RUN_REMOVED] = "run-removed",
        [WIRE_E_NO_RUN] = "no-run",
        [WIRE_E_RUN_DAMAGED] = "run-damaged",
        [WIRE_E_OTHER_STORE] = "other-store",
        [WIRE_E_NO_BEGINNING] = "no-beginning",
        [WIRE_E_OVER_CREDIT] = "over-credit",
        [WIRE_E_TOO_MANY_IDS] = "too-many-ids",
        [WIRE_E_SESSION_DIFFERS] = "session-differs",
        [WIRE_E_OWNER] = "owner",
        [WIRE_E_RIGHTS] = "rights",
        [WIRE_E_OTHER] = "other",
};

static const char *const mode_names[] = {
        [PORTOLAN_EPOCH_END] = "epoch-end",
        [PORTOLAN_TRAIN_FORWARD] = "train-forward",
};

static const char *const id_kind_names[] = {[WIRE_ID_NONE] = "none", [WIRE_ID_INT] = "int", [WIRE_ID_STR] = "str"};

const struct wire_field wire_fields[] = {
        {"run", WIRE_OPEN, WIRE_TEXT, WIRE_REQUIRED, FRAME(open.run), 1, WIRE_MAX_NAME},
        {"started", WIRE_OPEN, WIRE_NUMBER, WIRE_REQUIRED, FRAME(open.started), 1, INT64_MAX},
        {"mode", WIRE_OPEN, WIRE_WORD, WIRE_REQUIRED, FRAME(open.mode), PORTOLAN_EPOCH_END, PORTOLAN_TRAIN_FORWARD,
         mode_names},
        {"client", WIRE_OPEN, WIRE_TEXT, WIRE_OPTIONAL, FRAME(open.client), 0, WIRE_MAX_NAME},
        {"group", WIRE_OPEN, WIRE_TEXT, WIRE_OPTIONAL, FRAME(open.group), 0, WIRE_MAX_NAME},
        {"rank", WIRE_OPEN, WIRE_NUMBER, WIRE_OPTIONAL, FRAME(open.rank), 0, UINT32_MAX},
        {"examples", WIRE_OPEN, WIRE_NUMBER, WIRE_OPTIONAL, FRAME(open.examples), 0, UINT64_MAX},
        {"resume", WIRE_OPEN, WIRE_FLAG, WIRE_OPTIONAL, FRAME(open.resume)},
        {"overwrite", WIRE_OPEN, WIRE_FLAG, WIRE_OPTIONAL, FRAME(open.overwrite)},
        {"whole", WIRE_OPEN, WIRE_FLAG, WIRE_OPTIONAL, FRAME(open.whole)},
        {"late", WIRE_OPEN, WIRE_FLAG, WIRE_OPTIONAL, FRAME(open.late)},
        {"after", WIRE_OPEN, WIRE_NUMBER, WIRE_OPTIONAL, FRAME(open.after), 0, UINT64_MAX},
        {"partial", WIRE_OPEN, WIRE_FLAG, WIRE_OPTIONAL, FRAME(open.partial)},
        {"store", WIRE_OPEN, WIRE_ID, WIRE_OPTIONAL, FRAME(open.store)},
        {"owner", WIRE_OPEN, WIRE_ID, WIRE_OPTIONAL, FRAME(open.owner)},
        {"turn", WIRE_OPEN, WIRE_NUMBER, WIRE_OPTIONAL, FRAME(open.turn), 0, UINT64_MAX},
        {"host", WIRE_OPEN, WIRE_TEXT, WIRE_OPTIONAL, FRAME(open.host), 0, WIRE_MAX_HOST},
        {"process", WIRE_OPEN, WIRE_NUMBER, WIRE_OPTIONAL, FRAME(open.process), 0, UINT64_MAX},
        {"config", WIRE_OPEN, WIRE_LINES, WIRE_OPTIONAL, FRAME(open.config), 0, WIRE_MAX_CONFIG},
        {"q", WIRE_BATCH, WIRE_NUMBER, WIRE_REQUIRED, FRAME(sequence), 1, UINT64_MAX},
        {"e", WIRE_BATCH, WIRE_NUMBER, WIRE_REQUIRED, FRAME(batch.epoch), 0, WIRE_MAX_EPOCH},
        {"n", WIRE_BATCH, WIRE_NUMBER, WIRE_REQUIRED, FRAME(batch.rows), 1, WIRE_MAX_ROWS},
        {"q", WIRE_EXAMPLES, WIRE_NUMBER, WIRE_REQUIRED, FRAME(sequence), 1, UINT64_MAX},
        {"n", WIRE_EXAMPLES, WIRE_NUMBER, WIRE_REQUIRED, FRAME(examples.rows), 1, WIRE_MAX_ROWS},
        {"q", WIRE_END_EPOCH, WIRE_NUMBER, WIRE_REQUIRED, FRAME(sequence), 1, UINT64_MAX},
        {"e", WIRE_END_EPOCH, WIRE_NUMBER, WIRE_REQUIRED, FRAME(end_epoch.epoch), 0, WIRE_MAX_EPOCH},
        {"q", WIRE_CLOSE, WIRE_NUMBER, WIRE_REQUIRED, FRAME(sequence), 1, UINT64_MAX},
        {"counts", WIRE_CLOSE, WIRE_COUNTS, WIRE_OPTIONAL, FRAME(close.counts)},
        {"counts", WIRE_PING, WIRE_COUNTS, WIRE_OPTIONAL, FRAME(ping.counts)},
        {"run", WIRE_REMOVE, WIRE_TEXT, WIRE_REQUIRED, FRAME(remove.run), 1, WIRE_MAX_NAME},
        {"owner", WIRE_REMOVE, WIRE_ID, WIRE_OPTIONAL, FRAME(remove.owner)},
        {"a", WIRE_OPENED, WIRE_NUMBER, WIRE_REQUIRED, FRAME(opened.acknowledged), 0, UINT64_MAX},
        {"c", WIRE_OPENED, WIRE_NUMBER, WIRE_REQUIRED, FRAME(opened.credit), 0, UINT64_MAX},
        {"ids", WIRE_OPENED, WIRE_WORD, WIRE_REQUIRED, FRAME(opened.id_kind), WIRE_ID_NONE, WIRE_ID_STR, id_kind_names},
        {"store", WIRE_OPENED, WIRE_ID, WIRE_OPTIONAL, FRAME(opened.store)},
        {"turn", WIRE_OPENED, WIRE_NUMBER, WIRE_OPTIONAL, FRAME(opened.turn), 0, UINT64_MAX},
        {"texts", WIRE_OPENED, WIRE_FLAG, WIRE_OPTIONAL, FRAME(opened.texts)},
        {"a", WIRE_ACK, WIRE_NUMBER, WIRE_REQUIRED, FRAME(ack.acknowledged), 0, UINT64_MAX},
        {"c", WIRE_ACK, WIRE_NUMBER, WIRE_REQUIRED, FRAME(ack.credit), 0, UINT64_MAX},
        {"replaced", WIRE_ACK, WIRE_NUMBER, WIRE_WRITTEN, FRAME(ack.replaced), 0, UINT64_MAX},
        {"refused", WIRE_ACK, WIRE_NUMBER, WIRE_WRITTEN, FRAME(ack.refused), 0, UINT64_MAX},
        /* WIRE_REMARK, so that an error frame is understood even if its message is not valid text. */
        {"code", WIRE_ERROR, WIRE_CODE, WIRE_REQUIRED, FRAME(error.code), WIRE_E_VERSION, WIRE_E_OTHER, code_names},
        {"message", WIRE_ERROR, WIRE_REMARK, WIRE_WRITTEN, FRAME(error.message), 0, WIRE_MAX_MESSAGE},
        {"q", WIRE_ERROR, WIRE_NUMBER, WIRE_OPTIONAL, FRAME(error.sequence), 0, UINT64_MAX},
        {"path", WIRE_ERROR, WIRE_REMARK, WIRE_OPTIONAL, FRAME(error.path), 0, WIRE_MAX_PATH},
        {"held", WIRE_ERROR, WIRE_FLAG, WIRE_OPTIONAL, FRAME(error.held)},
        {"logged", WIRE_IN_COUNTS, WIRE_NUMBER, WIRE_WRITTEN, COUNTS(logged), 0, UINT64_MAX},
        {"refused", WIRE_IN_COUNTS, WIRE_NUMBER, WIRE_WRITTEN, COUNTS(refused), 0, UINT64_MAX},
        {"dropped", WIRE_IN_COUNTS, WIRE_NUMBER, WIRE_WRITTEN, COUNTS(dropped), 0, UINT64_MAX},
        {"spooled", WIRE_IN_COUNTS, WIRE_NUMBER, WIRE_WRITTEN, COUNTS(spooled), 0, UINT64_MAX},
        {"waits", WIRE_IN_COUNTS, WIRE_NUMBER, WIRE_WRITTEN, COUNTS(waits), 0, UINT64_MAX},
        {0},
};

bool
wire_bytes_equal(struct wire_bytes a, const char *b)
{
	return a.size == strlen(b) && memcmp(a.data, b, a.size) == 0;
}

unsigned
wire_find_word(const char *const *words, unsigned first, unsigned last, struct wire_bytes word)
{
	unsigned index = first;

	while (index <= last && !wire_bytes_equal(word, words[index]))
		index++;
	return index;
}
