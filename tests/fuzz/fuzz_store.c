/*
 * fuzz_store: a small store with some of its records changed under a right checksum, or damaged, exchanged, or gone;
 * then all that a reader, the analyzer and a collector do with a store. The same on LMDB's stand-in in memory (store)
 * and on LMDB itself (lmdb).
 *
 * The input is a list of changes of four bytes and more: what, which record, where, and values. If all of them are
 * flips of bits, which the checksum tells, a reader must see nothing but what was stored.
 */
#include "fuzz.h"

#include "store_walk.h"

#include "fold.h"
#include "store_fixture.h"

#define N 90 /* examples: more than a word of a bitmap */
#define MOST_RECORDS 512
#define MOST_BODY 4096

static struct base_record {
	enum store_db db;
	size_t key_size, size;
	uint8_t key[256], *value;
} base[MOST_RECORDS];
static size_t base_count;
static uint64_t base_digest;
static struct fixture *fixture;
static const char *directory;

static void
log_epoch(uint32_t run, uint32_t epoch, uint32_t n, bool strings)
{
	static char text[N][16];
	const char *names[N];
	uint64_t ids[N];
	float gold_prob[N], loss[N], margin[N];
	int32_t gold[N];

	for (uint32_t i = 0; i < n; i++) {
		snprintf(text[i], sizeof(text[i]), "id-%u", i * 3);
		names[i] = text[i];
		ids[i] = i;
		gold_prob[i] = (float)((i + epoch) % 10) / 10;
		loss[i] = (float)i;
		margin[i] = 1;
		gold[i] = (int32_t)(i % 3);
	}
	fixture_log(fixture, run,
	            &(struct fixture_batch){.epoch = epoch,
	                                    .n = n,
	                                    .ids = ids,
	                                    .strings = strings ? names : NULL,
	                                    .gold_prob = gold_prob,
	                                    .gold = gold,
	                                    .floats = {{"margin", margin}, {"loss", loss}}});
}

/* Something of every kind of record. */
static void
make_store(void)
{
	static const char *const labels[] = {"x", "y", "z"};
	uint32_t run = fixture_run(fixture, "run", 0, labels, 3), other = fixture_run(fixture, "other", N, NULL, 0);
	const struct store_counters counters = {
	        .frames = 3, .received = 3 * N, .commits = {.count = 1, .sum = 9, .max = 9}};
	const struct store_client client = {.told = 1, .logged = 3 * N, .closed = 1700000000};
	struct store_fold *fold;
	bool done, more = true;

	log_epoch(run, 0, N, true);
	fixture_fold(fixture, run, 0);
	log_epoch(run, 1, 7, true); /* thin: packed lists */
	fixture_fold(fixture, run, 1);
	log_epoch(run, 2, 40, true);
	fixture_fold(fixture, run, 2);
	log_epoch(run, 0, 12, true);
	fixture_session(fixture, other, 2000, 1);
	log_epoch(other, 0, N, false);
	while (more)
		require(store_writer_collect(fixture_writer(fixture), &more, NULL) == 0);
	fixture_fold(fixture, other, 0);
	require(store_writer_count(fixture_writer(fixture), run, &counters, NULL) == 0);
	require(store_writer_count(fixture_writer(fixture), 0, &counters, NULL) == 0);
	require(store_writer_client(fixture_writer(fixture), run, 0, &client, NULL) == 0);
	log_epoch(other, 0, 10, false);
	log_epoch(other, 1, 10, false);
	require(store_fold_begin(fixture_writer(fixture), other, 0, 1 << 20, &fold, NULL) == 0);
	require(store_fold_step(fold, &done, NULL) == 0); /* one of its chunks, perhaps */
	store_fold_free(fold);
	fixture_close(fixture);
}

static void
keep_records(void)
{
	struct environment environment;
	struct store_key all = {.size = 0};
	struct view view = {.environment = &environment};

	require(store_environment_open(&environment, directory, STORE_WRITE, 0, NULL) == 0);
	require(mdb_txn_begin(environment.env, NULL, MDB_RDONLY, &view.txn) == 0);
	for (int db = 0; db < DB_COUNT; db++) {
		struct view_walk walk;

		require(store_walk_open(&walk, &view, (enum store_db)db, &all, 0, NULL) == 0);
		while (store_walk_next(&walk, NULL) == 0) {
			struct base_record *record = &base[base_count++];

			require(base_count <= MOST_RECORDS && walk.key.mv_size <= sizeof(record->key));
			*record = (struct base_record){
			        .db = (enum store_db)db, .key_size = walk.key.mv_size, .size = walk.value.mv_size};
			memcpy(record->key, walk.key.mv_data, record->key_size);
			record->value = malloc(record->size + 1);
			require(record->value);
			memcpy(record->value, walk.value.mv_data, record->size);
		}
		store_walk_close(&walk);
	}
	mdb_txn_abort(view.txn);
	store_environment_close(&environment);
}

/* One change; the record is a copy, with room for MOST_BODY bytes. Answers whether the checksum tells. */
static bool
change(struct base_record *record, struct input *input)
{
	uint8_t what = input_u8(input) % 8;
	size_t body = record->size - RECORD_HEADER, at = body ? input_u16(input) % body : 0, size;
	uint32_t word;

	switch (what) {
	case 0: /* damage */
		record->value[(at + input_u8(input)) % record->size] ^= (uint8_t)(1u << input_u8(input) % 8);
		return true;
	case 1: /* gone */
		record->size = 0;
		return false;
	case 2: /* longer or shorter */
		size = input_u16(input) % MOST_BODY;
		if (size > body)
			memset(record->value + record->size, input_u8(input), size - body);
		record->size = RECORD_HEADER + size;
		break;
	case 3: /* another body */
		size = input_u8(input);
		input_copy(input, record->value + RECORD_HEADER, size);
		record->size = RECORD_HEADER + size;
		break;
	case 4: /* filed elsewhere */
		record->key[input_u8(input) % record->key_size] = input_u8(input);
		return false;
	case 5:
		word = input_u32(input);
		if (body >= 4)
			memcpy(record->value + RECORD_HEADER + at / 4 * 4 % (body - 3), &word, 4);
		break;
	default:
		if (body)
			record->value[RECORD_HEADER + at] = input_u8(input);
	}
	store_record_seal(record->value, NULL, record->value[0], record->size);
	return false;
}

static struct base_record
copy_of(const struct base_record *record)
{
	struct base_record copy = *record;

	copy.value = malloc(copy.size + RECORD_HEADER + MOST_BODY);
	require(copy.value);
	memcpy(copy.value, record->value, copy.size);
	return copy;
}

/* The record that says what the rest is: without it a store is not opened. */
static void
put_schema(void)
{
	const struct base_record *schema = base;
	MDB_val key, value;
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;

	while (schema->db != DB_META || schema->value[0] != RECORD_SCHEMA)
		schema++;
	key = (MDB_val){schema->key_size, (void *)(uintptr_t)schema->key};
	value = (MDB_val){schema->size, schema->value};
	require(mdb_env_create(&env) == 0 && mdb_env_set_maxdbs(env, DB_COUNT) == 0);
	require(mdb_env_open(env, directory, 0, 0666) == 0 && mdb_txn_begin(env, NULL, 0, &txn) == 0);
	require(mdb_dbi_open(txn, "meta", 0, &dbi) == 0 && mdb_put(txn, dbi, &key, &value, 0) == 0);
	require(mdb_txn_commit(txn) == 0);
	mdb_env_close(env);
}

/* Puts the store back, with the changes. Answers whether checksums tell all of them. */
static bool
fill_store(struct input *input)
{
	struct environment environment;
	struct store_key all = {.size = 0};
	struct view view = {.environment = &environment};
	bool told = true;

	put_schema();
	require(store_environment_open(&environment, directory, STORE_WRITE, 0, NULL) == 0);
	require(mdb_txn_begin(environment.env, NULL, 0, &view.txn) == 0);
	for (int db = 0; db < DB_COUNT; db++) {
		struct view_walk walk;

		require(store_walk_open(&walk, &view, (enum store_db)db, &all, 0, NULL) == 0);
		while (store_walk_next(&walk, NULL) == 0)
			require(store_walk_delete(&walk, NULL) == 0);
		store_walk_close(&walk);
	}
	for (size_t i = 0; i < base_count; i++) {
		MDB_val key = {base[i].key_size, base[i].key}, value = {base[i].size, base[i].value};

		require(mdb_put(view.txn, environment.dbi[base[i].db], &key, &value, 0) == 0);
	}
	while (input->size > 0) {
		const struct base_record *original = &base[input_u8(input) % base_count];
		struct base_record record = copy_of(original);
		MDB_val key = {original->key_size, (void *)(uintptr_t)original->key}, value;

		told &= change(&record, input);
		mdb_del(view.txn, environment.dbi[original->db], &key, NULL);
		key = (MDB_val){record.key_size, record.key};
		value = (MDB_val){record.size, record.value};
		if (record.size)
			require(mdb_put(view.txn, environment.dbi[record.db], &key, &value, 0) == 0);
		free(record.value);
	}
	require(mdb_txn_commit(view.txn) == 0);
	store_environment_close(&environment);
	return told;
}

/* All a collector does; whatever it answers. */
static void
write_all(void)
{
	struct store_append_column columns[] = {
	        {.name = {"gold_prob", 9}, .type = STORE_TYPE_F4, .data = "\0\0\0\0\0\0\0"},
	        {.name = {"correct", 7}, .type = STORE_TYPE_BIT, .data = "\1"},
	        {.name = {"loss", 4}, .type = STORE_TYPE_F4, .data = "\0\0\0\0\0\0\0"},
	};
	struct store_append append = {.rows = 2, .columns = columns, .column_count = 3};
	struct portolan_error error = {0};
	struct store_session_info info;
	struct store_writer *writer;
	uint32_t refused;
	bool more = true;
	int code = store_writer_open(directory, &writer, &error);

	if (code) {
		require_message(&error, code);
		return;
	}
	for (uint32_t run = 1; run <= 2; run++) {
		append.id_kind = run == 1 ? STORE_ID_STR : STORE_ID_INT;
		append.id_size = run == 1 ? 1 : 4;
		append.ids = run == 1 ? "\4\5id-0fresh" : "\1\0\0\0\2\0\0";
		append.ids_bytes = run == 1 ? 11 : 8;
		for (append.epoch = 0; append.epoch < 3; append.epoch++) {
			struct store_fold *fold;
			bool done = false;

			if (store_writer_session_info(writer, run, 0, &info, NULL) == 0 &&
			    info.acknowledged < UINT64_MAX) {
				append.sequence = info.acknowledged + 1;
				code = store_writer_append(writer, run, 0, &append, &refused, &error);
				require(code || refused <= 2);
				if (code) {
					require_message(&error, code);
					store_writer_abort(writer);
				}
			}
			code = store_fold_begin(writer, run, append.epoch, 1 << 20, &fold, &error);
			if (code == 0) {
				while ((code = store_fold_step(fold, &done, &error)) == 0 && !done)
					;
				store_fold_free(fold);
			}
			if (code) {
				require_message(&error, code);
				store_writer_abort(writer);
			}
		}
	}
	for (int turns = 0; more && store_writer_collect(writer, &more, NULL) == 0; turns++)
		require(turns < 1000);
	store_writer_abort(writer);
	store_writer_close(writer);
}

static void
end(void)
{
	for (size_t i = 0; i < base_count; i++)
		free(base[i].value);
	fixture_free(fixture);
}

static void
begin(void)
{
	struct input nothing = {NULL, 0};

	fixture = fixture_new();
	atexit(end);
	directory = fixture_directory(fixture);
	make_store();
	keep_records();
	fill_store(&nothing);
	require(store_walk(directory, &base_digest) && base_digest);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	uint64_t digest;
	bool told;

	if (!fixture)
		begin();
	if (size > 256)
		return 0;
	told = fill_store(&input);
	if (store_walk(directory, &digest) && told)
		require(digest == base_digest);
	store_analyze(directory);
	write_all();
	store_walk(directory, &digest);
	return 0;
}
