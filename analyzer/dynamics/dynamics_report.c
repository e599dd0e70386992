/* dynamics_report.c: what a command says of a run that has no data for it, or more than --max-memory has room for. */
#include "dynamics.h"

#include "scan.h"

#include "program/number.h"
#include "statistics/sort.h"

#include <portolan/error.h>

#include <stdlib.h>

#define TEXT_GUESS 24 /* bytes of a string id, where not even the first can be read */

/* "epochs 0 to 4", "epoch 3", or "epochs 0 to 100, with gaps"; of the whole run. */
static void
describe_epochs(const struct dynamics *dynamics, char text[64])
{
	struct store_epoch *epochs;
	size_t count;

	snprintf(text, 64, "others");
	if (store_epochs(dynamics->store, dynamics->info->number, &epochs, &count, NULL) < 0)
		return;
	if (count == 1)
		snprintf(text, 64, "epoch %u", epochs[0].epoch);
	else if (count > 1)
		snprintf(text, 64, "epochs %u to %u%s", epochs[0].epoch, epochs[count - 1].epoch,
		         epochs[count - 1].epoch - epochs[0].epoch + 1 == count ? "" : ", with gaps");
	free(epochs);
}

int
dynamics_no_observations(const struct dynamics *dynamics, struct portolan_error *error)
{
	const struct store_run_info *info = dynamics->info;
	char has[64], asked[64];

	if (info->epochs == 0 && info->state == STORE_RECORDING)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "run '%s' is being recorded, but nothing is stored yet: try again later", info->name);
	if (info->epochs == 0)
		return error_set(error, PORTOLAN_E_INVALID, "run '%s' has no observations", info->name);
	describe_epochs(dynamics, has);
	if (dynamics->epoch_to == UINT32_MAX)
		snprintf(asked, sizeof(asked), "from epoch %u on", dynamics->epoch_from);
	else if (dynamics->epoch_to - dynamics->epoch_from == 1)
		snprintf(asked, sizeof(asked), "in epoch %u", dynamics->epoch_from);
	else
		snprintf(asked, sizeof(asked), "in epochs %u to %u", dynamics->epoch_from, dynamics->epoch_to - 1);
	return error_set(error, PORTOLAN_E_INVALID, "run '%s' has no observations %s; it has %s", info->name, asked,
	                 has);
}

uint64_t
dynamics_held(const struct dynamics *dynamics, uint64_t text)
{
	uint64_t rows = store_snapshot_blocks(dynamics->snapshot) * STORE_CHUNK;
	uint64_t row = dynamics->column_count * sizeof(double) + sizeof(*dynamics->order) + sizeof(uint64_t);

	row += dynamics->info->id_kind == STORE_ID_STR ? 2 * text : 0; /* it grows by doubling */
	return rows * (row + (dynamics->with_gold ? sizeof(*dynamics->gold) : 0));
}

uint64_t
dynamics_memory(const struct dynamics *dynamics, uint64_t text)
{
	const struct store_run_info *info = dynamics->info;
	uint64_t rows = store_snapshot_blocks(dynamics->snapshot) * STORE_CHUNK, after = dynamics->row_bytes;

	/* Declared ids are in order; others are sorted, before the command takes its share. */
	if (info->declared == 0 && info->id_kind == STORE_ID_INT && after < 2 * sizeof(struct sort_item))
		after = 2 * sizeof(struct sort_item);
	return dynamics->beside + DYNAMICS_PROGRAM_BYTES + scan_worker_memory(dynamics) +
	       dynamics_held(dynamics, text) + rows * after;
}

/* Bytes of a string id, about: as those of the first block. */
static uint64_t
guess_text(const struct dynamics *dynamics)
{
	struct store_cursor *cursor;
	struct store_ids ids;
	uint64_t text = TEXT_GUESS;

	if (dynamics->info->id_kind != STORE_ID_STR || store_cursor_open(dynamics->snapshot, &cursor, NULL) < 0)
		return text;
	if (store_cursor_ids(cursor, 0, &ids, NULL) >= 0 && ids.rows > 0)
		text = (ids.offsets[ids.rows] - ids.offsets[0]) / ids.rows + 1;
	store_cursor_close(cursor);
	return text;
}

bool
dynamics_fits(const struct dynamics *dynamics)
{
	return dynamics->max_memory == 0 || dynamics_memory(dynamics, guess_text(dynamics)) <= dynamics->max_memory;
}

int
dynamics_refuse_memory(const struct dynamics *dynamics, uint64_t bytes, struct portolan_error *error)
{
	char examples[NUMBER_ROOM];

	number_print_grouped(dynamics->info->rows, examples);
	return error_set(
	        error, PORTOLAN_E_INVALID,
	        "run '%s' (%s examples) needs more memory for this than --max-memory allows: say --max-memory %lluM",
	        dynamics->info->name, examples, (unsigned long long)((bytes + (1 << 20) - 1) >> 20));
}
