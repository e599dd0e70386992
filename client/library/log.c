/*
 * log.c: portolan_log() and its variants, for training loops: writes a batch of observations into the columns of a
 * frame, from which the I/O thread sends it. Rows that do not fit go into the next frames.
 *
 * Signals are computed straight into the frame, by the calling thread: the only other memory is the list of rows to
 * leave out. No system call is made unless all frames are full, something is warned about for the first time, or
 * another thread of the application is logging to the same run at that moment.
 */
#include "run.h"

#include "batch.h"
#include "signals.h"

#include <portolan/error.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PROB_TOLERANCE 1e-6
#define FRAMES_KEPT 1        /* frames that batches leave free, so that the end of an epoch need not wait */
#define REFUSED_OWN_COLUMN 2 /* mark of a row to leave out: a value of one of the caller's own columns is not finite */
#define PROBS_ENOUGH 2       /* rows that it takes to judge: a single one may look like probabilities by chance */

/* What one log call has done so far. */
struct outcome {
	uint64_t logged, refused, dropped;
	size_t first_refused; /* row; meaningful if refused > 0 */
	uint8_t why_refused;  /* its mark in the list of rows to leave out */
	bool are_probs;       /* the first logits of the run look like probabilities */
	size_t other_classes; /* a number of classes before, or of labels, that differs from this call's; 0: none */
};

static uint32_t
log_columns_of(const struct portolan_batch *batch)
{
	uint32_t columns = FRAME_BIT(FRAME_GOLD_PROB) | FRAME_BIT(FRAME_CORRECT);

	if (batch->kind == PORTOLAN_LOSSES)
		return FRAME_BIT(FRAME_TASK_LOSS);
	if (batch->gold.data)
		columns |= FRAME_BIT(FRAME_GOLD);
	if (batch->kind != PORTOLAN_GOLD_PROBS)
		columns |= FRAME_BIT(FRAME_OTHER_SQ) | FRAME_BIT(FRAME_ENTROPY) | FRAME_BIT(FRAME_MAX_PROB) |
		           FRAME_BIT(FRAME_PREDICTED);
	if (batch->kind == PORTOLAN_LOGITS || batch->kind == PORTOLAN_SIGNALS)
		columns |= FRAME_BIT(FRAME_MARGIN);
	return columns;
}

/* Writes ids into the frame, for as many rows from `first` on as there is room. Returns the number of rows; *text: the
 * bytes of their string ids. */
static uint32_t
log_fill_ids(const struct portolan_batch *batch, size_t first, const struct frame_room *room, uint32_t *text)
{
	uint32_t most = batch->n - first < room->rows ? (uint32_t)(batch->n - first) : room->rows, rows;
	uint8_t *lengths = room->frame->data + room->first, *end = frame_text(room->frame) + room->frame->text_bytes;

	*text = 0;
	if (!batch->string_ids) {
		arrays_read_u64(&batch->ids, first, most, frame_ids(room->frame) + room->first);
		return most;
	}
	for (rows = 0; rows < most; rows++) {
		size_t length = batch_id_length(batch, first + rows);

		if (length > room->text - *text)
			break;
		lengths[rows] = (uint8_t)length;
		memcpy(end + *text, batch->string_ids[first + rows], length);
		*text += (uint32_t)length;
	}
	return rows;
}

/* Copies p(gold) as given. Marks rows in which it is no probability, and returns how many. */
static size_t
log_fill_gold_probs(const struct portolan_array *scores, size_t n, float *gold_prob, uint8_t *leave_out)
{
	size_t refused = 0;

	for (size_t row = 0; row < n; row++) {
		double p = signals_score(scores, row);

		leave_out[row] = !(p >= -PROB_TOLERANCE && p <= 1 + PROB_TOLERANCE);
		refused += leave_out[row];
		gold_prob[row] = (float)(p < 0 ? 0 : p > 1 ? 1 : p);
	}
	return refused;
}

/* Copies losses as given. Marks rows in which one is not finite as a float, and returns how many. */
static size_t
log_fill_losses(const struct portolan_array *scores, size_t n, float *losses, uint8_t *leave_out)
{
	size_t refused = 0;

	for (size_t row = 0; row < n; row++) {
		losses[row] = (float)signals_score(scores, row);
		leave_out[row] = !isfinite(losses[row]);
		refused += leave_out[row];
	}
	return refused;
}

/* Do the run's first logits look like probabilities: would portolan_log_probs() take them? What is derived here is
 * overwritten later. */
__attribute__((cold)) static void
log_judge_logits(struct portolan_run *run, const struct portolan_batch *batch, const struct portolan_array *scores,
                 uint32_t rows, const int32_t *gold, const struct signals_columns *columns, struct outcome *outcome)
{
	const bool like = signals_from_probs(scores, rows, batch->classes, gold, columns, run->leave_out) == 0;

	run->like_probs += rows;
	outcome->are_probs = like && run->like_probs >= PROBS_ENOUGH;
	if (!like || outcome->are_probs)
		run->like_probs = UINT64_MAX;
}

static size_t
log_classes_of(const struct portolan_batch *batch)
{
	return batch->classes == 1 ? 2 : batch->classes; /* a sigmoid decides between two */
}

/* Notes, for a warning, scores whose number of classes differs from that of the first scores, or exceeds that of the
 * labels. They are not refused: examples may differ in their number of choices, and a model may have more outputs than
 * labels. */
static void
log_judge_classes(struct portolan_run *run, const struct portolan_batch *batch, struct outcome *outcome)
{
	size_t classes = log_classes_of(batch);

	if ((batch->kind != PORTOLAN_LOGITS && batch->kind != PORTOLAN_PROBS) || run->classes == SIZE_MAX)
		return;
	if (run->classes > 0 && run->classes != classes)
		outcome->other_classes = run->classes;
	else if (run->label_count > 0 && classes > run->label_count)
		outcome->other_classes = run->label_count;
	run->classes = outcome->other_classes > 0 ? SIZE_MAX : classes;
}

static size_t
log_fill_signals(struct portolan_run *run, const struct portolan_batch *batch, size_t first,
                 const struct frame_room *room, uint32_t rows, struct outcome *outcome)
{
	struct portolan_array scores = batch->scores;
	uint8_t *leave_out = run->leave_out;
	struct frame *frame = room->frame;
	const struct signals_columns columns = {
	        .gold_prob = (float *)frame_column(frame, FRAME_GOLD_PROB) + room->first,
	        .margin = (float *)frame_column(frame, FRAME_MARGIN) + room->first,
	        .other_sq = (float *)frame_column(frame, FRAME_OTHER_SQ) + room->first,
	        .entropy = (float *)frame_column(frame, FRAME_ENTROPY) + room->first,
	        .max_prob = (float *)frame_column(frame, FRAME_MAX_PROB) + room->first,
	        .predicted = (int32_t *)frame_column(frame, FRAME_PREDICTED) + room->first,
	        .correct = (uint8_t *)frame_column(frame, FRAME_CORRECT) + room->first,
	};
	int32_t *gold = (int32_t *)frame_column(frame, FRAME_GOLD) + room->first;

	scores.data = (const char *)scores.data + (ptrdiff_t)first * scores.row_stride;
	if (batch->gold.data)
		arrays_read_i32(&batch->gold, first, rows, gold);
	switch (batch->kind) {
	case PORTOLAN_LOGITS:
		if (run->like_probs != UINT64_MAX && batch->classes != 1)
			log_judge_logits(run, batch, &scores, rows, gold, &columns, outcome);
		return signals_from_logits(&scores, rows, batch->classes, gold, &columns, leave_out);
	case PORTOLAN_PROBS:
		return signals_from_probs(&scores, rows, batch->classes, gold, &columns, leave_out);
	case PORTOLAN_SIGNALS:
		return signals_given(&scores, rows, gold, &columns, leave_out);
	case PORTOLAN_LOSSES:
		return log_fill_losses(&scores, rows, (float *)frame_column(frame, FRAME_TASK_LOSS) + room->first,
		                       leave_out);
	default:
		for (size_t row = 0; row < rows; row++) /* U8, as batch_check() has made sure */
			columns.correct[row] = *((const uint8_t *)batch->correct.data +
			                         (ptrdiff_t)(first + row) * batch->correct.row_stride);
		return log_fill_gold_probs(&scores, rows, columns.gold_prob, leave_out);
	}
}

/* Copies the caller's own columns of rows first … first+rows−1. Marks each row with a value that is not finite, unless it
 * is marked already, and returns how many it marked. */
static size_t
log_fill_own_columns(struct frames *frames, const struct portolan_batch *batch, size_t first,
                     const struct frame_room *room, uint32_t rows, uint8_t *leave_out)
{
	size_t refused = 0;

	for (size_t i = 0; i < batch->column_count; i++) {
		const struct portolan_array *given = &batch->columns[i].values;
		float *values =
		        frame_own_column(room->frame, frames_own_column(frames, batch->columns[i].name)) + room->first;
		const char *at = (const char *)given->data + (ptrdiff_t)first * given->row_stride;

		for (uint32_t r = 0; r < rows; r++, at += given->row_stride) {
			double wide;

			memcpy(&values[r], at, sizeof(*values));
			if (given->type == PORTOLAN_F64) {
				memcpy(&wide, at, sizeof(wide));
				values[r] = (float)wide;
			}
			if (!isfinite(values[r]) && !leave_out[r]) {
				leave_out[r] = REFUSED_OWN_COLUMN;
				refused++;
			}
		}
	}
	return refused;
}

__attribute__((cold)) static void
log_find_first_refused(const uint8_t *leave_out, size_t first, struct outcome *outcome)
{
	size_t row = 0;

	while (!leave_out[row])
		row++;
	outcome->first_refused = first + row;
	outcome->why_refused = leave_out[row];
}

/* Logs rows from `first` on, as many as go into one frame. Returns how many it has dealt with, or a negative code. */
static int
log_piece(struct portolan_run *run, const struct portolan_batch *batch, uint32_t columns, size_t first,
          struct outcome *outcome, struct portolan_error *error)
{
	const struct frame_shape shape = {batch->epoch, columns, batch->string_ids ? WIRE_ID_STR : WIRE_ID_INT};
	size_t length = batch->string_ids ? batch_id_length(batch, first) : 0, refused;
	struct frame_room room;
	uint32_t rows, text, kept;

	while (!frames_reserve(&run->frames, &shape, length, FRAMES_KEPT, &room)) {
		int status = run_wait_for_room(run, error);

		if (status < 0)
			return status;
		if (status == 0) {
			outcome->dropped += batch->n - first;
			return (int)(batch->n - first);
		}
	}
	rows = kept = log_fill_ids(batch, first, &room, &text);
	refused = log_fill_signals(run, batch, first, &room, rows, outcome);
	if (batch->column_count > 0)
		refused += log_fill_own_columns(&run->frames, batch, first, &room, rows, run->leave_out);
	if (refused > 0) {
		if (outcome->refused == 0)
			log_find_first_refused(run->leave_out, first, outcome);
		outcome->refused += refused;
		kept = frames_compact(&room, rows, run->leave_out, &text);
	}
	if (kept > 0) {
		run->kind_fixed = true;
		run->of_losses = batch->kind == PORTOLAN_LOSSES;
		outcome->logged += kept;
		atomic_fetch_add_explicit(&run->logged, kept, memory_order_relaxed);
		atomic_store_explicit(&run->id_kind, shape.id_kind, memory_order_relaxed);
	}
	frames_commit(&run->frames, &room, kept, text);
	return (int)rows;
}

/* Adds the caller's own columns to the set of the batch's columns. In a frame they lie behind the library's columns, in
 * the order in which their names first came in the run. They are sent under these names. */
static int
log_add_own_columns(struct frames *frames, const struct portolan_batch *batch, uint32_t *columns,
                    struct portolan_error *error)
{
	for (size_t i = 0; i < batch->column_count; i++) {
		unsigned column = frames_own_column(frames, batch->columns[i].name);

		if (column == FRAME_MOST_COLUMNS)
			return error_set(error, PORTOLAN_E_INVALID, "column '%s' is too many: the run has %d",
			                 batch->columns[i].name, PORTOLAN_OWN_COLUMNS);
		*columns |= FRAME_BIT(column);
	}
	return 0;
}

static int
log_pieces(struct portolan_run *run, const struct portolan_batch *batch, struct outcome *outcome,
           struct portolan_error *error)
{
	int kind = batch->string_ids ? WIRE_ID_STR : WIRE_ID_INT, fixed = atomic_load(&run->id_kind), status;
	uint32_t columns = log_columns_of(batch);

	/* A run's ids are of one kind; its first rows fix which. */
	if (fixed != WIRE_ID_NONE && fixed != kind)
		return error_set(error, PORTOLAN_E_INVALID, "ids: run %s has %s ids, and these are %s", run->name,
		                 fixed == WIRE_ID_INT ? "integer" : "string",
		                 kind == WIRE_ID_INT ? "integers" : "strings");
	if (run->kind_fixed && run->of_losses != (batch->kind == PORTOLAN_LOSSES))
		return error_set(error, PORTOLAN_E_INVALID,
		                 "run %s records %s, and these are %s: give them a run of their own", run->name,
		                 run->of_losses ? "losses" : "probabilities of labels",
		                 run->of_losses ? "probabilities of labels" : "losses");
	log_judge_classes(run, batch, outcome);
	status = log_add_own_columns(&run->frames, batch, &columns, error);
	for (size_t row = 0; status >= 0 && row < batch->n; row += (size_t)status)
		status = log_piece(run, batch, columns, row, outcome, error);
	if (status == PORTOLAN_E_CLOSED || status == PORTOLAN_E_CANCELLED || status == PORTOLAN_E_ENDED)
		outcome->dropped = batch->n - outcome->logged - outcome->refused;
	return status < 0 ? status : 0;
}

__attribute__((cold)) static int
log_report_refused(struct portolan_run *run, const struct portolan_batch *batch, const struct outcome *outcome,
                   struct portolan_error *error)
{
	static const char *const reasons[] = {
	        [PORTOLAN_LOGITS] = "NaN or +inf in its logits, or −inf at its gold label",
	        [PORTOLAN_PROBS] =
	                "scores that are NaN, outside [0, 1], or do not sum to 1: are they logits, for log_logits?",
	        [PORTOLAN_GOLD_PROBS] = "a gold probability that is not within 0 and 1",
	        [PORTOLAN_LOSSES] = "a loss that is not finite",
	        [PORTOLAN_SIGNALS] = "NaN or +inf in its logits, or −inf at its gold label",
	};

	struct portolan_error why;

	error_set(&why, PORTOLAN_E_ROWS, "%llu of %zu rows refused; the first, row %zu, has %s",
	          (unsigned long long)outcome->refused, batch->n, outcome->first_refused,
	          outcome->why_refused == REFUSED_OWN_COLUMN ? "a column that is not finite" : reasons[batch->kind]);
	if (run->strict)
		return error_set(error, PORTOLAN_E_ROWS, "%s", why.message);
	if (!atomic_exchange(&run->warned_refused, true))
		fprintf(stderr, "portolan: run %s, epoch %u: %s (further ones are only counted)\n", run->name,
		        batch->epoch, why.message);
	return 0;
}

__attribute__((cold)) static void
log_warn_of_scores(const struct portolan_run *run, const struct portolan_batch *batch, const struct outcome *outcome)
{
	if (outcome->are_probs)
		fprintf(stderr,
		        "portolan: run %s, epoch %u: the logits are probabilities, within 0 and 1, each row with the sum 1: log "
		        "them with log_probs, or take the model's scores before its softmax (said once)\n",
		        run->name, batch->epoch);
	if (outcome->other_classes > 0)
		fprintf(stderr,
		        "portolan: run %s, epoch %u: the scores have %zu classes, and %s%zu%s. Another model, or another task, "
		        "is a run of its own; choices may vary from example to example (said once)\n",
		        run->name, batch->epoch, log_classes_of(batch),
		        outcome->other_classes == run->label_count ? "the run has " : "had ", outcome->other_classes,
		        outcome->other_classes == run->label_count ? " labels" : " before");
}

int
portolan_log(portolan_run *run, const struct portolan_batch *batch, struct portolan_error *error)
{
	struct outcome outcome = {0};
	int status = run_check(run, error);

	if (status == 0)
		status = batch_check(batch, run->examples, error);
	if (status < 0 || batch->n == 0)
		return status;
	if (run_has_failed(run)) {
		atomic_fetch_add(&run->dropped, batch->n);
		return run_report_end(run, error);
	}
	status = run_lock(run, error);
	if (status < 0)
		return status;
	run->waiting_since = 0;
	status = log_pieces(run, batch, &outcome, error);
	pthread_mutex_unlock(&run->log_mutex);
	if (outcome.dropped > 0)
		atomic_fetch_add(&run->dropped, outcome.dropped);
	if (outcome.refused > 0)
		atomic_fetch_add(&run->refused, outcome.refused);
	if (outcome.are_probs || outcome.other_classes > 0)
		log_warn_of_scores(run, batch, &outcome);
	if (status == PORTOLAN_E_ENDED)
		status = run_report_end(run, error);
	if (status == 0 && outcome.refused > 0)
		status = log_report_refused(run, batch, &outcome, error);
	return status;
}

__attribute__((noinline)) static int /* compiled once, not into each of the calls below */
log_scores(portolan_run *run, uint32_t epoch, size_t n, size_t classes, enum portolan_scores kind, const uint64_t *ids,
           const float *scores, const int32_t *gold, const uint8_t *correct, struct portolan_error *error)
{
	const struct portolan_batch batch = {
	        .epoch = epoch,
	        .n = n,
	        .classes = classes,
	        .kind = kind,
	        .scores = {scores, PORTOLAN_F32, (ptrdiff_t)(classes * sizeof(*scores)), sizeof(*scores)},
	        .ids = {ids, PORTOLAN_U64, sizeof(*ids), 0},
	        .gold = {gold, PORTOLAN_I32, sizeof(*gold), 0},
	        .correct = {correct, PORTOLAN_U8, sizeof(*correct), 0},
	};

	return portolan_log(run, &batch, error);
}

int
portolan_log_logits(portolan_run *run, uint32_t epoch, size_t n, size_t classes, const uint64_t *ids,
                    const float *logits, const int32_t *gold, struct portolan_error *error)
{
	return log_scores(run, epoch, n, classes, PORTOLAN_LOGITS, ids, logits, gold, NULL, error);
}

int
portolan_log_probs(portolan_run *run, uint32_t epoch, size_t n, size_t classes, const uint64_t *ids, const float *probs,
                   const int32_t *gold, struct portolan_error *error)
{
	return log_scores(run, epoch, n, classes, PORTOLAN_PROBS, ids, probs, gold, NULL, error);
}

int
portolan_log_loss(portolan_run *run, uint32_t epoch, size_t n, const uint64_t *ids, const float *losses,
                  struct portolan_error *error)
{
	return log_scores(run, epoch, n, 1, PORTOLAN_LOSSES, ids, losses, NULL, NULL, error);
}

int
portolan_log_gold(portolan_run *run, uint32_t epoch, size_t n, const uint64_t *ids, const float *gold_probs,
                  const uint8_t *correct, struct portolan_error *error)
{
	return log_scores(run, epoch, n, 1, PORTOLAN_GOLD_PROBS, ids, gold_probs, NULL, correct, error);
}
