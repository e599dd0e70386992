/*
 * log.c: a batch becomes records in the ring. Large batches are cut into pieces of at most RECORD_MAX_ROWS rows and
 * RECORD_MAX_TEXT bytes of ids, so that every piece fits into the ring and into a frame.
 *
 * Signals are computed straight into the ring, by the calling thread: the only other memory is the list of rows to
 * leave out. No system call is made unless the ring is full, a row is refused for the first time, or another thread of
 * the application is logging to the same run at that moment.
 */
#include "run.h"

#include "arrays.h"
#include "batch.h"
#include "signals.h"

#include <portolan/error.h>

#include <stdio.h>
#include <string.h>

#define PROB_TOLERANCE 1e-6

/* What one call did. */
struct outcome {
	uint64_t logged, refused, dropped;
	size_t first_refused; /* row; meaningful if refused > 0 */
};

static uint32_t
columns_of(const struct portolan_batch *batch)
{
	uint32_t columns = RECORD_BIT(RECORD_GOLD_PROB) | RECORD_BIT(RECORD_CORRECT);

	if (batch->gold.data)
		columns |= RECORD_BIT(RECORD_GOLD);
	if (batch->kind != PORTOLAN_GOLD_PROBS)
		columns |= RECORD_BIT(RECORD_OTHER_SQ) | RECORD_BIT(RECORD_ENTROPY) | RECORD_BIT(RECORD_MAX_PROB) |
		           RECORD_BIT(RECORD_PREDICTED);
	if (batch->kind == PORTOLAN_LOGITS || batch->kind == PORTOLAN_SIGNALS)
		columns |= RECORD_BIT(RECORD_MARGIN);
	return columns;
}

/* Rows of the piece that begins at row `first`, and the bytes of their string ids. */
static struct record
plan_piece(const struct portolan_batch *batch, size_t first)
{
	size_t rows = batch->n - first < RECORD_MAX_ROWS ? batch->n - first : RECORD_MAX_ROWS, text = 0;

	if (batch->string_ids) {
		size_t row;

		for (row = 0; row < rows; row++) {
			size_t length = batch_id_length(batch, first + row);

			if (text + length > RECORD_MAX_TEXT)
				break;
			text += length;
		}
		rows = row;
	}
	return (struct record){
	        .kind = RECORD_BATCH,
	        .id_kind = batch->string_ids ? WIRE_ID_STR : WIRE_ID_INT,
	        .columns = columns_of(batch),
	        .epoch = batch->epoch,
	        .capacity = (uint32_t)rows,
	        .rows = (uint32_t)rows,
	        .text_capacity = (uint32_t)text,
	        .text_bytes = (uint32_t)text,
	};
}

static void
fill_ids(const struct portolan_batch *batch, size_t first, struct record *record)
{
	uint8_t *lengths, *text;

	if (!batch->string_ids) {
		arrays_read_u64(&batch->ids, first, record->rows, record_ids(record));
		return;
	}
	lengths = record_id_lengths(record);
	text = record_id_text(record);
	for (uint32_t row = 0; row < record->rows; row++) {
		size_t length = batch_id_length(batch, first + row);

		lengths[row] = (uint8_t)length;
		memcpy(text, batch->string_ids[first + row], length);
		text += length;
	}
}

/* p(gold) as given; refused where it is no probability. */
static size_t
fill_gold_probs(const struct portolan_array *scores, size_t n, float *gold_prob, uint8_t *leave_out)
{
	size_t refused = 0;

	for (size_t row = 0; row < n; row++) {
		const char *at = (const char *)scores->data + (ptrdiff_t)row * scores->row_stride;
		double p;

		if (scores->type == PORTOLAN_F32) {
			float single;

			memcpy(&single, at, sizeof(single));
			p = single;
		} else {
			memcpy(&p, at, sizeof(p));
		}
		leave_out[row] = !(p >= -PROB_TOLERANCE && p <= 1 + PROB_TOLERANCE);
		refused += leave_out[row];
		gold_prob[row] = (float)(p < 0 ? 0 : p > 1 ? 1 : p);
	}
	return refused;
}

static size_t
fill_signals(const struct portolan_batch *batch, size_t first, struct record *record, uint8_t *leave_out)
{
	struct portolan_array scores = batch->scores;
	const struct signals_columns columns = {
	        .gold_prob = record_column(record, RECORD_GOLD_PROB),
	        .margin = record_column(record, RECORD_MARGIN),
	        .other_sq = record_column(record, RECORD_OTHER_SQ),
	        .entropy = record_column(record, RECORD_ENTROPY),
	        .max_prob = record_column(record, RECORD_MAX_PROB),
	        .predicted = record_column(record, RECORD_PREDICTED),
	        .correct = record_column(record, RECORD_CORRECT),
	};
	int32_t *gold = record_column(record, RECORD_GOLD);

	scores.data = (const char *)scores.data + (ptrdiff_t)first * scores.row_stride;
	if (batch->gold.data)
		arrays_read_i32(&batch->gold, first, record->rows, gold);
	switch (batch->kind) {
	case PORTOLAN_LOGITS:
		return signals_from_logits(&scores, record->rows, batch->classes, gold, &columns, leave_out);
	case PORTOLAN_PROBS:
		return signals_from_probs(&scores, record->rows, batch->classes, gold, &columns, leave_out);
	case PORTOLAN_SIGNALS:
		return signals_given(&scores, record->rows, gold, &columns, leave_out);
	default:
		for (size_t row = 0; row < record->rows; row++) /* U8: batch_check() */
			columns.correct[row] = *((const uint8_t *)batch->correct.data +
			                         (ptrdiff_t)(first + row) * batch->correct.row_stride);
		return fill_gold_probs(&scores, record->rows, columns.gold_prob, leave_out);
	}
}

static void
note_refused(struct outcome *outcome, const struct record *record, const uint8_t *leave_out, size_t first,
             size_t refused)
{
	uint32_t row = 0;

	if (outcome->refused == 0) {
		while (row < record->rows && !leave_out[row])
			row++;
		outcome->first_refused = first + row;
	}
	outcome->refused += refused;
}

/* Rows from `first` on, as many as one record holds; returns how many, or a negative code. */
static int
log_piece(struct portolan_run *run, const struct portolan_batch *batch, size_t first, struct outcome *outcome,
          struct portolan_error *error)
{
	struct record plan = plan_piece(batch, first), *record;
	size_t bytes = record_size(&plan), refused;
	int status;

	record = run_reserve(run, bytes, run->when_full != PORTOLAN_DROP, &status, error);
	if (status < 0)
		return status;
	if (!record) {
		outcome->dropped += plan.rows;
		return (int)plan.rows;
	}
	*record = plan;
	refused = fill_signals(batch, first, record, run->leave_out);
	fill_ids(batch, first, record);
	if (refused > 0) {
		note_refused(outcome, record, run->leave_out, first, refused);
		record_compact(record, run->leave_out);
	}
	if (record->rows > 0) {
		outcome->logged += record->rows;
		atomic_fetch_add_explicit(&run->logged, record->rows, memory_order_relaxed);
		atomic_store_explicit(&run->id_kind, plan.id_kind, memory_order_relaxed);
		ring_commit(&run->ring, bytes);
	}
	return (int)plan.rows;
}

/* A run's ids are of one kind, fixed by the rows that came first. */
static int
check_id_kind(struct portolan_run *run, const struct portolan_batch *batch, struct portolan_error *error)
{
	enum wire_id_kind kind = batch->string_ids ? WIRE_ID_STR : WIRE_ID_INT;
	enum wire_id_kind fixed = (enum wire_id_kind)atomic_load(&run->id_kind);

	if (fixed != WIRE_ID_NONE && fixed != kind)
		return error_set(error, PORTOLAN_E_INVALID, "ids: run %s has %s ids, and these are %s", run->name,
		                 fixed == WIRE_ID_INT ? "integer" : "string",
		                 kind == WIRE_ID_INT ? "integers" : "strings");
	return 0;
}

static int
log_pieces(struct portolan_run *run, const struct portolan_batch *batch, struct outcome *outcome,
           struct portolan_error *error)
{
	int status = check_id_kind(run, batch, error);

	for (size_t row = 0; status >= 0 && row < batch->n; row += (size_t)status)
		status = log_piece(run, batch, row, outcome, error);
	if (status == PORTOLAN_E_CLOSED || status == PORTOLAN_E_CANCELLED || status == PORTOLAN_E_ENDED)
		outcome->dropped = batch->n - outcome->logged - outcome->refused;
	return status < 0 ? status : 0;
}

static int
report_refused(struct portolan_run *run, const struct portolan_batch *batch, const struct outcome *outcome,
               struct portolan_error *error)
{
	static const char *const reasons[] = {
	        [PORTOLAN_LOGITS] = "NaN or +inf in its logits, or −inf at its gold label",
	        [PORTOLAN_PROBS] = "scores that are no probabilities, or do not sum to 1",
	        [PORTOLAN_GOLD_PROBS] = "a gold probability that is not within 0 and 1",
	        [PORTOLAN_SIGNALS] = "NaN or +inf in its logits, or −inf at its gold label",
	};

	if (run->strict)
		return error_set(error, PORTOLAN_E_ROWS, "%llu of %zu rows refused; the first, row %zu, has %s",
		                 (unsigned long long)outcome->refused, batch->n, outcome->first_refused,
		                 reasons[batch->kind]);
	if (!atomic_exchange(&run->warned_refused, true))
		fprintf(stderr,
		        "portolan: run %s, epoch %u: %llu of %zu rows refused; the first, row %zu, has %s "
		        "(further ones are only counted)\n",
		        run->name, batch->epoch, (unsigned long long)outcome->refused, batch->n, outcome->first_refused,
		        reasons[batch->kind]);
	return 0;
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
	if (io_has_failed(run->io)) {
		atomic_fetch_add(&run->dropped, batch->n);
		return run_report_end(run, error);
	}
	status = run_lock(run, error);
	if (status < 0)
		return status;
	run->waiting = false;
	status = log_pieces(run, batch, &outcome, error);
	run_unlock(run);
	if (outcome.dropped > 0)
		atomic_fetch_add(&run->dropped, outcome.dropped);
	if (outcome.refused > 0)
		atomic_fetch_add(&run->refused, outcome.refused);
	if (status == PORTOLAN_E_ENDED)
		status = run_report_end(run, error);
	if (status == 0 && outcome.refused > 0)
		status = report_refused(run, batch, &outcome, error);
	return status;
}

static int
log_scores(portolan_run *run, uint32_t epoch, size_t n, size_t classes, enum portolan_scores kind, const uint64_t *ids,
           const float *scores, const int32_t *gold, struct portolan_error *error)
{
	const struct portolan_batch batch = {
	        .epoch = epoch,
	        .n = n,
	        .classes = classes,
	        .kind = kind,
	        .scores = {scores, PORTOLAN_F32, (ptrdiff_t)(classes * sizeof(*scores)), sizeof(*scores)},
	        .ids = {ids, PORTOLAN_U64, sizeof(*ids), 0},
	        .gold = {gold, PORTOLAN_I32, sizeof(*gold), 0},
	};

	return portolan_log(run, &batch, error);
}

int
portolan_log_logits(portolan_run *run, uint32_t epoch, size_t n, size_t classes, const uint64_t *ids,
                    const float *logits, const int32_t *gold, struct portolan_error *error)
{
	return log_scores(run, epoch, n, classes, PORTOLAN_LOGITS, ids, logits, gold, error);
}

int
portolan_log_probs(portolan_run *run, uint32_t epoch, size_t n, size_t classes, const uint64_t *ids, const float *probs,
                   const int32_t *gold, struct portolan_error *error)
{
	return log_scores(run, epoch, n, classes, PORTOLAN_PROBS, ids, probs, gold, error);
}

int
portolan_log_gold(portolan_run *run, uint32_t epoch, size_t n, const uint64_t *ids, const float *gold_probs,
                  const uint8_t *correct, struct portolan_error *error)
{
	const struct portolan_batch batch = {
	        .epoch = epoch,
	        .n = n,
	        .classes = 1,
	        .kind = PORTOLAN_GOLD_PROBS,
	        .scores = {gold_probs, PORTOLAN_F32, sizeof(*gold_probs), sizeof(*gold_probs)},
	        .ids = {ids, PORTOLAN_U64, sizeof(*ids), 0},
	        .correct = {correct, PORTOLAN_U8, sizeof(*correct), 0},
	};

	return portolan_log(run, &batch, error);
}
