/*
 * frames.h: the bounded pool of frames between the threads that log and the thread that sends. A frame gathers the rows
 * that go to the collector in one message.
 *
 * A log call writes its rows into the columns of the newest frame. That frame is complete when the next one begins; the
 * consumer may also close it before. Frames are taken, and given back, in the order in which they began. A position is
 * a number in that order: a flush waits for "every frame before position p".
 *
 * One producer at a time (the caller holds a lock that the consumer never takes), one consumer. No function waits; the
 * producer's functions make no system call.
 */
#ifndef CLIENT_FRAMES_H
#define CLIENT_FRAMES_H

#include <portolan/wire.h>

#include <stdatomic.h>

#define FRAMES_MOST_ROWS 6144u    /* of one frame */
#define FRAMES_MAX_BYTES 75904u   /* of one frame, in memory and on the wire: 2,048 rows of logits with integer ids */
#define FRAMES_LEAST_BYTES 64000u /* of data, that a frame of the smallest pool (1 MiB) has room for */

/* The columns of a frame, in the order in which their arrays lie. A set of columns is a mask of FRAME_BIT(). */
enum frame_column {
	FRAME_GOLD_PROB,
	FRAME_MARGIN,
	FRAME_OTHER_SQ,
	FRAME_ENTROPY,
	FRAME_MAX_PROB,
	FRAME_PREDICTED,
	FRAME_GOLD,
	FRAME_TASK_LOSS,
	FRAME_CORRECT, /* a byte wide, on the wire a bit; the others are four bytes wide */
	FRAME_COLUMNS,
};
/* After these columns come the caller's own, each four bytes wide, in the order in which their names first came. */
#define FRAME_MOST_COLUMNS (FRAME_COLUMNS + PORTOLAN_OWN_COLUMNS)
#define FRAME_BIT(column) (1u << (column))
#define FRAME_HAS(set, column) (((set)&FRAME_BIT(column)) != 0)
#define FRAME_TEXTS (1u << 31) /* in place of columns: the frame has texts of examples */

/* The shape that all rows of a frame share. */
struct frame_shape {
	uint32_t epoch, columns; /* columns: a set */
	enum wire_id_kind id_kind;
};

struct frame {
	_Atomic uint32_t state; /* the number of rows, and flags of frames.c */
	uint32_t capacity;      /* how many rows of this shape fit */
	struct frame_shape shape;
	uint32_t text_bytes;
	/* The consumer fills these once it has taken the frame. */
	bool is_taken, ends_epoch; /* ends_epoch: the end of shape.epoch follows its rows, if it has any */
	uint32_t rows;
	union {
		uint32_t column[FRAME_COLUMNS]; /* where each column begins in `data`, behind the ids */
		struct {
			uint32_t ids, fields, texts; /* FRAME_TEXTS: bytes of ids, number of fields, bytes of texts */
		} packed;
	};
	_Alignas(64) uint8_t data[]; /* ids first: 8 bytes a row; 16 for string ids: lengths, then text */
};

struct frames {
	uint8_t *memory;
	size_t bytes, frame_size;
	uint32_t count;
	/* Names of the caller's own columns: the producer adds one before a frame has that column, and changes none. */
	char own_names[PORTOLAN_OWN_COLUMNS][WIRE_MAX_COLUMN_NAME + 1];
	uint32_t own_count;
	/* Each in a cache line of its own, so that producer and consumer do not slow each other down. */
	_Alignas(64) _Atomic uint64_t begun;    /* written by the producer */
	_Alignas(64) _Atomic uint64_t released; /* written by the consumer */
	struct wire_frame wire;                 /* the consumer's: the rows of the taken frame, or its texts */
	size_t populated;                       /* the consumer's: so many bytes of `memory` are mapped */
};

/* Rows of a frame that the producer may fill: `first` … first + rows − 1, with `text` bytes of string ids. */
struct frame_room {
	struct frame *frame;
	uint32_t first, rows, text;
};

int frames_init(struct frames *frames, size_t bytes, struct portolan_error *error);
void frames_deinit(struct frames *frames); /* twice does no harm */

bool frames_derives(const char *name); /* does the library itself derive the column of this name? */

/* Producer: the number of the caller's own column of this name, which must be valid; FRAME_MOST_COLUMNS: the run has no
 * room for another one. */
unsigned frames_own_column(struct frames *frames, const char *name);

/* Producer: reserves room for at least one row, whose string id has `text` bytes. `keep`: so many frames must stay
 * free. False: the pool is full. After true, frames_commit() must follow: `rows` rows were filled from room->first on,
 * with `text` bytes of string ids. */
bool frames_reserve(struct frames *frames, const struct frame_shape *shape, size_t text, unsigned keep,
                    struct frame_room *room);
void frames_commit(struct frames *frames, const struct frame_room *room, uint32_t rows, uint32_t text);
bool frames_end_epoch(struct frames *frames, uint32_t epoch); /* false: the pool is full */

/* Producer: a frame for the texts of examples; NULL: the pool is full. After that, frames_commit_examples() must follow:
 * packed and shape.id_kind are set, and `data` has the ids of `rows` examples as the wire has them (integers of 8
 * bytes), the fields' names (a byte of length, then the name), and the texts as the wire has them. */
struct frame *frames_reserve_examples(struct frames *frames, unsigned keep);
void frames_commit_examples(struct frames *frames, struct frame *frame, uint32_t rows);

static inline size_t
frames_data_size(const struct frames *frames)
{
	return frames->frame_size - sizeof(struct frame);
}

/* Where the values of a frame lie, from its row 0 on. */
static inline uint64_t *
frame_ids(struct frame *frame)
{
	return (uint64_t *)(void *)frame->data;
}

static inline uint8_t *
frame_text(struct frame *frame)
{
	return frame->data + frame->capacity;
}

static inline void *
frame_column(struct frame *frame, enum frame_column column)
{
	return frame->data + frame->column[column];
}

/* The same for one of the caller's own columns that the frame has. */
float *frame_own_column(struct frame *frame, unsigned column);

/* Producer: removes, from the `rows` rows that begin at room->first, those with leave_out[r] != 0. *text becomes the
 * bytes of the remaining string ids. Returns how many rows are left. */
uint32_t frames_compact(const struct frame_room *room, uint32_t rows, const uint8_t *leave_out, uint32_t *text);

/* How many frames were begun so far. Any thread. */
static inline uint64_t
frames_begun(const struct frames *frames)
{
	return atomic_load_explicit(&frames->begun, memory_order_acquire);
}

static inline uint64_t
frames_released(const struct frames *frames)
{
	return atomic_load_explicit(&frames->released, memory_order_acquire);
}

/* Consumer: takes the first frame that is not released. It then gets no more rows; frames->wire holds its rows, without
 * session and sequence number. NULL: there is no frame, or it is still being filled. `partial`: the newest frame may be
 * taken before it is full, unless a log call is writing into it. */
struct frame *frames_take(struct frames *frames, bool partial);
void frames_release(struct frames *frames); /* gives the taken frame back */

/* Consumer: has the kernel map the pages of the frames that will begin next, so that no log call has a page fault
 * there. Once all pages are mapped, makes no more system calls. */
void frames_populate(struct frames *frames);

#endif
