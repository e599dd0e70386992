/*
 * fuzz_record: one record of a store, of any kind, with any body under a right checksum, as a program with a fault
 * might leave it. Whatever is taken must lie inside the record and keep what its readers rely on.
 *
 * Byte 0: the kind; the rest is the body (of a column: first its own presence, then its values). The store is in
 * memory.
 */
#include "fuzz.h"

#include "batch.h"
#include "catalog.h"
#include "chunk.h"
#include "directory.h"
#include "ids.h"

enum { EXAMPLES = 300, SESSIONS = 3, RUN = 1, EPOCH = 2 };

enum target {
	BATCH,
	IDS,
	STATE,
	IDENTITY,
	LABELS,
	USER_COLUMNS,
	SESSIONS_ORDER,
	EPOCHS,
	MERGED,
	OBSERVED,
	COLUMN,
	NAME,
	TARGETS
};

static struct environment environment;

static void
open_store(void)
{
	const char *folder = fuzz_folder();
	struct portolan_error error;
	char file[80];

	require(store_environment_create(folder, &error) == 0);
	require(store_environment_open(&environment, folder, STORE_WRITE, 0, &error) == 0);
	snprintf(file, sizeof(file), "%s/data.mdb", folder);
	require(unlink(file) == 0);
}

/* A record in a block of its own, the caller's to free(). */
static uint8_t *
seal(enum record_kind kind, const void *body, size_t size)
{
	uint8_t *record = calloc(1, RECORD_HEADER + size);

	require(record);
	if (size)
		memcpy(record + RECORD_HEADER, body, size);
	store_record_seal(record, NULL, kind, RECORD_HEADER + size);
	return record;
}

static void
put(const struct view *view, enum store_db db, const struct store_key *key, enum record_kind kind, const void *body,
    size_t size)
{
	uint8_t *record = seal(kind, body, size);
	MDB_val k = {key->size, (void *)(uintptr_t)key->data}, v = {RECORD_HEADER + size, record};

	require(mdb_put(view->txn, environment.dbi[db], &k, &v, 0) == 0);
	free(record);
}

static void
check_batch(const uint8_t *record, size_t size)
{
	struct batch batch;

	if (!store_batch_open(record, size, EXAMPLES, SESSIONS, &batch))
		return;
	require(batch.session < SESSIONS);
	for (uint32_t row = 0; row < batch.rows; row++)
		require(store_batch_index(&batch, row) < EXAMPLES);
	for (unsigned column = 0; column < STORE_COLUMN_MAX; column++) {
		require((batch.data[column] != NULL) == (batch.columns >> column & 1));
		if (batch.data[column])
			touch(batch.data[column], column_bytes(column, batch.rows));
	}
	require(store_batch_size(batch.rows, batch.columns, batch.index != NULL) == size);
}

static void
check_ids(const uint8_t *body, size_t size)
{
	struct ids_segment segment;
	size_t total = 0;

	if (!store_ids_open(body, size, &segment))
		return;
	require(segment.count > 0 && segment.count <= STORE_CHUNK);
	for (uint32_t i = 0; i < segment.count; i++) {
		size_t length = 0;

		if (segment.kind == STORE_ID_INT) {
			store_ids_integer(&segment, i);
		} else {
			const uint8_t *text = store_ids_string(&segment, i, &length);

			touch(text, length);
		}
		total += length;
	}
	require(segment.kind == STORE_ID_INT || total == segment.text_size);
}

static void
check_answer(int code, const struct portolan_error *error)
{
	if (code < 0)
		require_line(error, code);
}

static void
check_run(const struct view *view)
{
	struct portolan_error error = {0};
	struct run_state_record state;
	struct store_run_info info;
	struct run_identity_record identity;
	char **labels, (*columns)[USER_COLUMN_NAME];
	const uint8_t *texts;
	uint64_t label_count;
	uint32_t column_count;
	int code = store_catalog_state(view, RUN, &state, &error);

	check_answer(code, &error);
	code = store_catalog_info(view, RUN, &info, &error);
	check_answer(code, &error);
	if (code == 0) {
		require(memchr(info.name, '\0', sizeof(info.name)) && memchr(info.group, '\0', sizeof(info.group)));
		require(info.rows <= STORE_MAX_EXAMPLES && info.id_kind <= STORE_ID_STR);
		require(info.mode == PORTOLAN_EPOCH_END || info.mode == PORTOLAN_TRAIN_FORWARD);
		require(info.state == STORE_RECORDING || info.state == STORE_CLOSED ||
		        (unsigned)info.state == STORE_RUN_UNNAMED); /* no name leads to it */
	}
	code = store_catalog_identity(view, RUN, &identity, &texts, &error);
	check_answer(code, &error);
	if (code == 0)
		touch((const char *)texts,
		      (size_t)identity.name_size + identity.group_size + (size_t)identity.config_size);
	code = store_catalog_labels(view, RUN, &labels, &label_count, &error);
	check_answer(code, &error);
	for (uint64_t i = 0; code == 0 && i < label_count; i++)
		touch(labels[i], strlen(labels[i]));
	if (code == 0)
		free(labels);
	code = store_catalog_user_columns(view, RUN, &column_count, &columns, &error);
	check_answer(code, &error);
	if (code)
		return;
	require(column_count <= STORE_COLUMN_MAX - STORE_COLUMN_USER);
	for (uint32_t i = 0; i < column_count; i++)
		require(memchr(columns[i], '\0', USER_COLUMN_NAME));
	free(columns);
}

static void
check_order(const struct view *view)
{
	struct portolan_error error = {0};
	bool seen[SESSIONS] = {0};
	uint32_t *order;
	int code = store_catalog_order(view, RUN, SESSIONS, &order, &error);

	check_answer(code, &error);
	if (code)
		return;
	for (int session = 0; session < SESSIONS; session++) {
		require(order[session] < SESSIONS && !seen[order[session]]);
		seen[order[session]] = true;
	}
	free(order);
}

static void
check_epochs(const struct view *view)
{
	struct portolan_error error = {0};
	struct catalog_epoch *epochs;
	struct epoch_record one;
	size_t count;
	int code = store_catalog_epoch(view, RUN, EPOCH, &one, &error);

	check_answer(code, &error);
	if (code == 0)
		require(one.log_begin <= one.log_end);
	code = store_catalog_epochs(view, RUN, &epochs, &count, &error);
	check_answer(code, &error);
	if (code)
		return;
	require(count <= 1);
	for (size_t i = 0; i < count; i++)
		require(epochs[i].epoch == EPOCH && (epochs[i].record.observations || epochs[i].record.log_rows));
	free(epochs);
}

static void
check_merged(const struct view *view)
{
	const struct chunk_place place = {.run = RUN, .epoch = EPOCH};
	struct portolan_error error = {0};
	uint64_t merged;

	check_answer(store_chunk_merged(view, &place, &merged, &error), &error);
}

static void
check_bits(const uint64_t *present, uint32_t rows)
{
	for (uint32_t row = rows; row < STORE_CHUNK; row++)
		require(!bit_get(present, row));
}

/* What is not unpacked is the same. */
static void
check_lent(const struct view *view, const struct chunk_place *place, uint64_t all, const struct merge_chunk *image)
{
	static struct merge_chunk other;
	struct chunk_lent lent = {0};

	require(store_merge_reset(&other) == 0);
	require(store_chunk_load(view, place, all, &other, &lent, NULL) == 0);
	require(other.columns == image->columns && other.rows == image->rows);
	for (unsigned column = 0; column < STORE_COLUMN_MAX; column++)
		if (lent.values[column])
			require((uintptr_t)lent.values[column] % 8 == 0 &&
			        memcmp(lent.values[column], image->values[column], 4 * (size_t)image->rows) == 0);
}

static void
check_chunk(const struct view *view)
{
	static struct merge_chunk image; /* keeps its memory, as a cursor's does */
	const struct chunk_place place = {.run = RUN, .epoch = EPOCH, .rows = EXAMPLES, .sessions = SESSIONS};
	const uint64_t all = UINT64_MAX & ~STORE_COLUMN_BIT(STORE_GOLD);
	struct portolan_error error = {0};
	int code;

	require(store_merge_reset(&image) == 0);
	code = store_chunk_load(view, &place, all, &image, NULL, &error);
	check_answer(code, &error);
	if (code)
		return;
	require(image.rows <= EXAMPLES);
	check_bits(image.present[STORE_GOLD_PROB], image.rows);
	for (uint64_t columns = image.columns; columns; columns &= columns - 1) {
		unsigned column = mask_first(columns);

		if (!column_is_implied(column))
			check_bits(image.present[column], EXAMPLES);
	}
	for (uint32_t row = 0; row < image.rows; row++)
		if (bit_get(image.present[STORE_GOLD_PROB], row))
			require(((const uint32_t *)image.values[STORE_SESSION])[row] < SESSIONS);
	check_lent(view, &place, all, &image);
}

/* What the record under test stands beside. */
static void
put_surroundings(const struct view *view, enum target target)
{
	const struct run_state_record state = {
	        .state = STORE_CLOSED, .id_kind = STORE_ID_STR, .rows = EXAMPLES, .sessions = SESSIONS};
	const struct presence_record observed = {.rows = EXAMPLES, .present = EXAMPLES, .form = PRESENCE_COMPLETE};
	struct store_key key = store_key_run(RUN, RUN_STATE);
	uint8_t identity[sizeof(struct run_identity_record) + 3] = {0};

	if (target == COLUMN) {
		key = store_key_column(RUN, EPOCH, 0, STORE_PRESENCE | STORE_GOLD_PROB);
		put(view, DB_COLUMNS, &key, RECORD_PRESENCE, &observed, sizeof(observed));
		return;
	}
	if (target != STATE)
		put(view, DB_RUN, &key, RECORD_RUN_STATE, &state, sizeof(state));
	key = store_key_run(RUN, RUN_IDENTITY);
	identity[4] = 3; /* the name's size */
	memcpy(identity + sizeof(struct run_identity_record), "run", 3);
	if (target != IDENTITY)
		put(view, DB_RUN, &key, RECORD_RUN_IDENTITY, identity, sizeof(identity));
}

static void
put_sessions(const struct view *view, struct input *input)
{
	for (uint32_t session = 0; session < SESSIONS; session++) {
		struct store_key key = store_key_u32_u32(RUN, session);
		size_t size = input_u8(input) % 8 ? sizeof(struct session_record) : input_u8(input);
		const uint8_t *body = input_bytes(input, &size);

		put(view, DB_SESSIONS, &key, RECORD_SESSION, body, size);
	}
}

/* Byte 1: which column and the size of its own presence. */
static void
put_column(const struct view *view, struct input *input)
{
	uint8_t column = input_u8(input) % STORE_COLUMN_MAX;
	size_t size = input_u8(input);
	const uint8_t *presence = input_bytes(input, &size);
	struct store_key key = store_key_column(RUN, EPOCH, 0, column | STORE_PRESENCE);

	if (column != STORE_GOLD_PROB)
		put(view, DB_COLUMNS, &key, RECORD_PRESENCE, presence, size);
	key = store_key_column(RUN, EPOCH, 0, column);
	put(view, DB_COLUMNS, &key, RECORD_COLUMN, input->data, input->size);
}

static void
run(const struct view *view, enum target target, struct input *input)
{
	static const struct {
		enum store_db db;
		uint8_t part;
		enum record_kind kind;
	} of_run[] = {[STATE] = {DB_RUN, RUN_STATE, RECORD_RUN_STATE},
	              [IDENTITY] = {DB_RUN, RUN_IDENTITY, RECORD_RUN_IDENTITY},
	              [LABELS] = {DB_RUN, RUN_LABELS, RECORD_LABELS},
	              [USER_COLUMNS] = {DB_RUN, RUN_USER_COLUMNS, RECORD_USER_COLUMNS}};
	struct portolan_error error = {0};
	struct store_key key = store_key_u32_u32(RUN, EPOCH);
	uint32_t number;

	put_surroundings(view, target);
	switch (target) {
	case SESSIONS_ORDER:
		put_sessions(view, input);
		check_order(view);
		break;
	case EPOCHS:
		put(view, DB_EPOCHS, &key, RECORD_EPOCH, input->data, input->size);
		check_epochs(view);
		break;
	case MERGED:
		key = store_key_column(RUN, EPOCH, 0, STORE_PRESENCE | STORE_GOLD_PROB);
		put(view, DB_COLUMNS, &key, RECORD_PRESENCE, input->data, input->size);
		check_merged(view);
		break;
	case OBSERVED:
		key = store_key_column(RUN, EPOCH, 0, STORE_PRESENCE | STORE_GOLD_PROB);
		put(view, DB_COLUMNS, &key, RECORD_PRESENCE, input->data, input->size);
		check_chunk(view);
		break;
	case COLUMN:
		put_column(view, input);
		check_chunk(view);
		break;
	case NAME:
		key.size = 0;
		store_key_add_bytes(&key, "run", 3);
		put(view, DB_RUNS, &key, RECORD_RUN_NUMBER, input->data, input->size);
		check_answer(store_catalog_find(view, "run", 3, &number, &error), &error);
		break;
	default:
		key = store_key_run(RUN, of_run[target].part);
		put(view, of_run[target].db, &key, of_run[target].kind, input->data, input->size);
		check_run(view);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	enum target target = (enum target)(input_u8(&input) % TARGETS);
	struct view view = {.environment = &environment};

	if (!environment.env)
		open_store();
	if (target == BATCH) {
		uint8_t *record = seal(RECORD_BATCH, input.data, input.size);

		check_batch(record, RECORD_HEADER + input.size);
		free(record);
	} else if (target == IDS) {
		check_ids(input.data, input.size);
	} else {
		require(mdb_txn_begin(environment.env, NULL, 0, &view.txn) == 0);
		run(&view, target, &input);
		mdb_txn_abort(view.txn);
	}
	return 0;
}
