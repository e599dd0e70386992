/*
 * frames.c: hands rows from the threads that log to the thread that sends them to the collector, without a lock. A
 * frame, which gathers rows, is a slot of one piece of memory. The slots are used in turn: `released` ≤ `begun` ≤
 * released + count.
 *
 * The two sides meet in one word, the state of the newest frame. The producer sets BUSY before it writes rows, and
 * clears it together with storing the new number of rows. The consumer sets CLOSED, unless the frame is BUSY: then it
 * tries again later. A producer that finds CLOSED begins another frame. So neither side ever waits for the other, and
 * only the consumer touches the rows of a frame that is CLOSED, or no longer the newest. Compare-and-exchange decides
 * which side wins; acquire and release order the rows.
 */
#include "frames.h"

#include "session.h"
#include "wire_check.h"

#include <portolan/error.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WIDTH(column) ((column) == FRAME_CORRECT ? 1u : 4u) /* bytes of a value */
#define ROWS 0xffffu
#define BUSY 0x10000u
#define CLOSED 0x20000u
#define ENDS 0x40000u     /* flag: the end of the epoch follows the frame's rows */
#define FEWEST_FRAMES 16u /* in any pool, so that some can be filled while others are sent */
#define FRAMES_AHEAD 32u  /* mapped ahead (2.5 MB): more than a fast loop fills while the consumer sleeps */

_Static_assert(FRAMES_MAX_BYTES == sizeof(struct frame) + 2048 * 37, "2,048 rows of logits with integer ids");
_Static_assert(FRAMES_MAX_BYTES + 1024 <= WIRE_MAX_FRAME, "a frame goes out as it is");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "columns go out as they are, and the wire is little-endian");

_Static_assert(FRAME_MOST_COLUMNS <= WIRE_MAX_COLUMNS && FRAME_MOST_COLUMNS < 32, "a set of columns is a mask");

static const char *const column_names[FRAME_COLUMNS] = {
        [FRAME_GOLD_PROB] = "gold_prob", [FRAME_MARGIN] = "margin",     [FRAME_OTHER_SQ] = "other_sq",
        [FRAME_ENTROPY] = "entropy",     [FRAME_MAX_PROB] = "max_prob", [FRAME_PREDICTED] = "predicted",
        [FRAME_GOLD] = "gold",           [FRAME_CORRECT] = "correct",   [FRAME_TASK_LOSS] = "task_loss",
};

static struct frame *
frames_at(const struct frames *frames, uint64_t position)
{
	return (struct frame *)(void *)(frames->memory + position % frames->count * frames->frame_size);
}

int
frames_init(struct frames *frames, size_t bytes, struct portolan_error *error)
{
	size_t size = bytes / FEWEST_FRAMES < FRAMES_MAX_BYTES ? bytes / FEWEST_FRAMES : FRAMES_MAX_BYTES;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory: ring_bytes is %zu", bytes);
	/* A forked child does not use the frames. If it shared their pages, the parent's next write to each page would
	 * copy it: a page fault within a log call. */
	(void)madvise(memory, bytes, MADV_WIPEONFORK);
	frames->memory = memory;
	frames->bytes = bytes;
	frames->populated = 0;
	frames->frame_size = size & ~(size_t)63;
	frames->count = (uint32_t)(bytes / frames->frame_size);
	atomic_init(&frames->begun, 0);
	atomic_init(&frames->released, 0);
	return 0;
}

void
frames_deinit(struct frames *frames)
{
	if (frames->memory)
		munmap(frames->memory, frames->bytes);
	frames->memory = NULL;
}

static void
frames_set_room(struct frame *frame, uint32_t rows, struct frame_room *room)
{
	*room = (struct frame_room){frame, rows, frame->capacity - rows, frame->capacity * 15 - frame->text_bytes};
}

/* Sets `flag` in the newest frame and returns it, unless it is closed, ended, or not of this shape (NULL: any). NULL:
 * it could not be had. */
static struct frame *
frames_hold_newest(struct frames *frames, const struct frame_shape *shape, uint32_t flag)
{
	uint64_t begun = atomic_load_explicit(&frames->begun, memory_order_relaxed);
	struct frame *frame;
	uint32_t state;

	if (begun == frames_released(frames))
		return NULL;
	frame = frames_at(frames, begun - 1);
	state = atomic_load_explicit(&frame->state, memory_order_relaxed);
	if ((state & (CLOSED | ENDS)) || (shape && memcmp(shape, &frame->shape, sizeof(*shape)) != 0) ||
	    !atomic_compare_exchange_strong_explicit(&frame->state, &state, state | flag, memory_order_acquire,
	                                             memory_order_relaxed))
		return NULL;
	return frame;
}

/* The caller's own columns lie behind the column `correct`, which every frame has. (A loop, as __builtin_popcount would
 * link a table into the library.) */
float *
frame_own_column(struct frame *frame, unsigned column)
{
	uint8_t *begin = frame->data + frame->column[FRAME_CORRECT] + frame->capacity;

	for (unsigned c = FRAME_COLUMNS; c < column; c++)
		if (FRAME_HAS(frame->shape.columns, c))
			begin += (size_t)frame->capacity * sizeof(float);
	return (float *)(void *)begin;
}

/* Finds how many rows the frame has room for, and where its columns begin. The number of rows is a multiple of eight,
 * so that every array is aligned. If many rows fit, it is a multiple of 256: then no batch of 32, 64, 128 or 256 rows
 * is cut in two, which would make its log call a third slower. */
static void
frames_lay_out(const struct frames *frames, struct frame *frame)
{
	uint32_t begin[FRAME_MOST_COLUMNS], row = frame->shape.id_kind == WIRE_ID_STR ? 16 : 8, rows;

	for (unsigned c = 0; c < FRAME_MOST_COLUMNS; c++) {
		begin[c] = row;
		if (FRAME_HAS(frame->shape.columns, c))
			row += WIDTH(c);
	}
	rows = (uint32_t)((frames->frame_size - sizeof(struct frame)) / row);
	rows &= rows >= 2048 && frames->frame_size == FRAMES_MAX_BYTES ? ~255u : ~7u;
	frame->capacity = rows < FRAMES_MOST_ROWS ? rows : FRAMES_MOST_ROWS;
	for (unsigned c = 0; c < FRAME_COLUMNS; c++)
		frame->column[c] = begin[c] * frame->capacity;
}

unsigned
frames_own_column(struct frames *frames, const char *name)
{
	uint32_t i;

	for (i = 0; i < frames->own_count; i++)
		if (strcmp(frames->own_names[i], name) == 0)
			return FRAME_COLUMNS + i;
	if (i == PORTOLAN_OWN_COLUMNS)
		return FRAME_MOST_COLUMNS;
	snprintf(frames->own_names[i], sizeof(frames->own_names[i]), "%s", name); /* it fits, as the name is valid */
	frames->own_count++;
	return FRAME_COLUMNS + i;
}

/* Begins a frame. The consumer does not see it before frames_publish(). NULL: the pool is full. */
static struct frame *
frames_new(struct frames *frames, const struct frame_shape *shape, unsigned keep)
{
	uint64_t begun = atomic_load_explicit(&frames->begun, memory_order_relaxed);
	struct frame *frame = frames_at(frames, begun);

	if (begun - frames_released(frames) + keep >= frames->count)
		return NULL;
	frame->shape = *shape;
	frames_lay_out(frames, frame);
	frame->text_bytes = 0;
	frame->is_taken = false;
	atomic_store_explicit(&frame->state, 0, memory_order_relaxed);
	return frame;
}

static void
frames_publish(struct frames *frames, struct frame *frame, uint32_t state)
{
	uint64_t begun = atomic_load_explicit(&frames->begun, memory_order_relaxed);

	atomic_store_explicit(&frame->state, state, memory_order_release);
	atomic_store_explicit(&frames->begun, begun + 1, memory_order_release);
}

bool
frames_derives(const char *name)
{
	for (unsigned c = 0; c < FRAME_COLUMNS; c++)
		if (strcmp(column_names[c], name) == 0)
			return true;
	return false;
}

bool
frames_reserve(struct frames *frames, const struct frame_shape *shape, size_t text, unsigned keep,
               struct frame_room *room)
{
	struct frame *frame = frames_hold_newest(frames, shape, BUSY);

	if (frame) {
		uint32_t state = atomic_load_explicit(&frame->state, memory_order_relaxed);

		frames_set_room(frame, state & ROWS, room);
		if (room->rows > 0 && text <= room->text)
			return true;
		atomic_store_explicit(&frame->state, state & ~BUSY, memory_order_release);
	}
	frame = frames_new(frames, shape, keep);
	if (frame)
		frames_set_room(frame, 0, room);
	return frame != NULL;
}

void
frames_commit(struct frames *frames, const struct frame_room *room, uint32_t rows, uint32_t text)
{
	struct frame *frame = room->frame;
	uint32_t state = atomic_load_explicit(&frame->state, memory_order_relaxed);

	frame->text_bytes += text;
	if (state & BUSY)
		atomic_store_explicit(&frame->state, room->first + rows, memory_order_release);
	else if (rows > 0)
		frames_publish(frames, frame, rows);
}

bool
frames_end_epoch(struct frames *frames, uint32_t epoch)
{
	const struct frame_shape none = {.epoch = epoch};
	struct frame *frame;
	uint64_t begun = atomic_load_explicit(&frames->begun, memory_order_relaxed);

	/* Its shape may be read even if the consumer has taken the frame by now. */
	if (begun > 0 && frames_at(frames, begun - 1)->shape.epoch == epoch && frames_hold_newest(frames, NULL, ENDS))
		return true;
	frame = frames_new(frames, &none, 0);
	if (frame)
		frames_publish(frames, frame, ENDS);
	return frame != NULL;
}

/* No batch has this shape: so the producer never adds rows to the frame, nor the end of an epoch. */
static const struct frame_shape shape_of_texts = {.epoch = UINT32_MAX, .columns = FRAME_TEXTS};

struct frame *
frames_reserve_examples(struct frames *frames, unsigned keep)
{
	uint64_t begun = atomic_load_explicit(&frames->begun, memory_order_relaxed);
	struct frame *frame = frames_at(frames, begun);

	if (begun - frames_released(frames) + keep >= frames->count)
		return NULL;
	frame->shape = shape_of_texts;
	frame->capacity = frame->text_bytes = 0;
	frame->is_taken = false;
	atomic_store_explicit(&frame->state, 0, memory_order_relaxed);
	return frame;
}

void
frames_commit_examples(struct frames *frames, struct frame *frame, uint32_t rows)
{
	frames_publish(frames, frame, rows);
}

static void *
frame_values(struct frame *frame, unsigned column)
{
	return column < FRAME_COLUMNS ? frame_column(frame, column) : frame_own_column(frame, column);
}

uint32_t
frames_compact(const struct frame_room *room, uint32_t rows, const uint8_t *leave_out, uint32_t *text)
{
	struct frame *frame = room->frame;
	bool is_text = frame->shape.id_kind == WIRE_ID_STR;
	uint8_t *begin = frame_text(frame) + frame->text_bytes, *from = begin, *to = begin;
	uint32_t there = room->first;

	for (uint32_t here = there; here < room->first + rows; here++) {
		size_t length = is_text ? frame->data[here] : 0;

		from += length;
		if (leave_out[here - room->first])
			continue;
		if (is_text)
			frame->data[there] = (uint8_t)length;
		else
			frame_ids(frame)[there] = frame_ids(frame)[here];
		memmove(to, from - length, length);
		to += length;
		for (unsigned c = 0; c < FRAME_MOST_COLUMNS; c++) {
			if (FRAME_HAS(frame->shape.columns, c)) {
				char *column = frame_values(frame, c);

				memmove(column + there * WIDTH(c), column + here * WIDTH(c), WIDTH(c));
			}
		}
		there++;
	}
	*text = (uint32_t)(to - begin);
	return there - room->first;
}

/* Packs the ids for the wire, in place: the text of string ids moves right behind their lengths, and integers get four
 * bytes if that is enough for all of them. */
static void
frame_pack_ids(struct frame *frame, struct wire_batch *batch)
{
	uint64_t *ids = frame_ids(frame), bits = 0;

	if (frame->shape.id_kind == WIRE_ID_STR) {
		memmove(frame->data + frame->rows, frame_text(frame), frame->text_bytes);
		batch->id_type = WIRE_STR;
		batch->ids = (struct wire_bytes){frame->data, frame->rows + frame->text_bytes};
		return;
	}
	for (uint32_t r = 0; r < frame->rows; r++)
		bits |= ids[r];
	batch->id_type = bits <= UINT32_MAX ? WIRE_U4 : WIRE_U8;
	batch->ids = (struct wire_bytes){frame->data, (size_t)frame->rows * (bits <= UINT32_MAX ? 4 : 8)};
	for (uint32_t r = 0; r < frame->rows && bits <= UINT32_MAX; r++) {
		uint32_t id = (uint32_t)ids[r];

		memcpy(frame->data + (size_t)r * 4, &id, sizeof(id));
	}
}

/* Packs `correct` in place, eight rows into one byte. That byte never lies behind the eight bytes it is made of. */
static void
frame_pack_bits(uint8_t *bytes, uint32_t rows)
{
	for (uint32_t r = 0; r < rows; r += 8) {
		uint8_t bits = 0;

		for (uint32_t i = 0; i < 8 && r + i < rows; i++)
			bits |= (uint8_t)(bytes[r + i] << i);
		bytes[r / 8] = bits;
	}
}

static void
frame_make_batch(const struct frames *frames, struct frame *frame, struct wire_batch *batch)
{
	*batch = (struct wire_batch){.epoch = frame->shape.epoch, .rows = frame->rows};
	frame_pack_ids(frame, batch);
	for (unsigned c = 0; c < FRAME_MOST_COLUMNS; c++) {
		struct wire_column *column = &batch->columns[batch->column_count];
		const char *name = c < FRAME_COLUMNS ? column_names[c] : frames->own_names[c - FRAME_COLUMNS];

		if (!FRAME_HAS(frame->shape.columns, c))
			continue;
		column->name = (struct wire_bytes){(const uint8_t *)name, strlen(name)};
		column->type = wire_column_type(column->name);
		column->data = (struct wire_bytes){frame_values(frame, c), (size_t)frame->rows * 4};
		if (c == FRAME_CORRECT) {
			frame_pack_bits(frame_column(frame, c), frame->rows);
			column->data.size = ((size_t)frame->rows + 7) / 8;
		}
		batch->column_count++;
	}
}

static void
frame_make_examples(struct frame *frame, struct wire_examples *examples)
{
	const uint8_t *at = frame->data + frame->packed.ids;

	*examples = (struct wire_examples){.rows = frame->rows,
	                                   .id_type = frame->shape.id_kind == WIRE_ID_STR ? WIRE_STR : WIRE_U8,
	                                   .ids = {frame->data, frame->packed.ids},
	                                   .field_count = frame->packed.fields};
	for (size_t f = 0; f < examples->field_count; f++) {
		examples->fields[f] = (struct wire_bytes){at + 1, *at};
		at += 1 + *at;
	}
	examples->texts = (struct wire_bytes){at, frame->packed.texts};
}

struct frame *
frames_take(struct frames *frames, bool partial)
{
	uint64_t begun = frames_begun(frames);
	uint64_t released = atomic_load_explicit(&frames->released, memory_order_relaxed);
	struct frame *frame = frames_at(frames, released);
	uint32_t state;

	if (begun == released)
		return NULL;
	if (frame->is_taken)
		return frame;
	state = atomic_load_explicit(&frame->state, memory_order_acquire);
	/* Only the newest frame can be BUSY: the producer finishes a frame before it begins the next one. */
	if (begun == released + 1 &&
	    (!partial || (state & BUSY) ||
	     !atomic_compare_exchange_strong_explicit(&frame->state, &state, state | CLOSED, memory_order_acquire,
	                                              memory_order_relaxed)))
		return NULL;
	frame->is_taken = true;
	frame->rows = state & ROWS;
	frame->ends_epoch = (state & ENDS) != 0;
	frames->wire.kind = frame->shape.columns == FRAME_TEXTS ? WIRE_EXAMPLES : WIRE_BATCH;
	if (frames->wire.kind == WIRE_EXAMPLES)
		frame_make_examples(frame, &frames->wire.examples);
	else if (frame->rows > 0)
		frame_make_batch(frames, frame, &frames->wire.batch);
	return frame;
}

void
frames_populate(struct frames *frames)
{
	uint64_t wanted = frames_begun(frames) + FRAMES_AHEAD;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), end;

	if (frames->populated == frames->bytes)
		return;
	end = wanted < frames->count ? (wanted * frames->frame_size + page - 1) / page * page : frames->bytes;
	if (end <= frames->populated)
		return;
	/* Kernels before 5.14 do not know MADV_POPULATE_WRITE: then the page faults happen in log calls. */
	(void)madvise(frames->memory + frames->populated, end - frames->populated, MADV_POPULATE_WRITE);
	frames->populated = end;
}

void
frames_release(struct frames *frames)
{
	uint64_t released = atomic_load_explicit(&frames->released, memory_order_relaxed);

	atomic_store_explicit(&frames->released, released + 1, memory_order_release);
}
