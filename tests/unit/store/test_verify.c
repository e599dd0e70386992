/* test_verify.c: one bit of one record is changed, each record in turn: the verification names that record, and no
 * other. */
#include "store_test.h"

#include "texts.h"
#include "writer.h"

#include <stdlib.h>

enum { N = 500, RUN = 1, OTHER = 2 };

static void
log_epoch(struct fixture *fixture, uint32_t run, uint32_t epoch, uint32_t n)
{
	uint64_t ids[N];
	float gold_prob[N], loss[N];
	int32_t gold[N];

	for (uint32_t i = 0; i < n; i++) {
		ids[i] = i * 3;
		gold_prob[i] = (float)((i + epoch) % 10) / 10;
		loss[i] = (float)i;
		gold[i] = (int32_t)(i % 3);
	}
	fixture_log(fixture, run,
	            &(struct fixture_batch){.epoch = epoch,
	                                    .n = n,
	                                    .ids = ids,
	                                    .gold_prob = gold_prob,
	                                    .gold = gold,
	                                    .floats = {{"loss", loss}}});
}

/* Two runs with a record of every kind. */
static void
make_store(struct fixture *fixture)
{
	static const char *const labels[] = {"x", "y", "z"};
	const struct store_counters counters = {.frames = 1};

	for (uint32_t run = RUN; run <= OTHER; run++) {
		struct store_fold *fold;
		bool done;

		assert_int_equal(fixture_run(fixture, run == RUN ? "run" : "other", 0, labels, 3), run);
		log_epoch(fixture, run, 0, N);
		fixture_end(fixture, run);
		log_epoch(fixture, run, 1, 20);
		fixture_fold(fixture, run, 1);
		log_epoch(fixture, run, 1, 30);
		ok(store_writer_count(fixture_writer(fixture), run, &counters, &error));
		ok(store_fold_begin(fixture_writer(fixture), run, 1, 1 << 20, &fold, &error));
		ok(store_fold_step(fold, &done, &error)); /* one of its chunks, perhaps */
		store_fold_free(fold);
		log_epoch(fixture, run, 2, N);
		ok(store_writer_list_removal(fixture_writer(fixture), run, 2, 0, &error));
	}
	ok(store_writer_count(fixture_writer(fixture), 0, &counters, &error));
	fixture_close(fixture);
}

struct findings {
	unsigned count;
	char last[504];
};

static void
take(void *context, const char *what)
{
	struct findings *findings = context;

	findings->count++;
	snprintf(findings->last, sizeof(findings->last), "%s", what);
}

static struct findings
verify(struct fixture *fixture, uint64_t *records)
{
	struct findings findings = {0};
	struct store_verify options = {.damaged = take, .context = &findings};

	ok(store_verify(fixture_store(fixture), RUN, &options, records, &error));
	return findings;
}

/* As the store names them; LMDB is used directly, because opening a writer would tidy up. */
static const char *const names[DB_COUNT] = {"meta", "runs", "run",    "sessions", "session-ids",
                                            "ids",  "log",  "epochs", "columns",  "removals"};

/* Changes a bit of the `number`-th record, or, called again, changes it back; false: there is none. *owner is its run,
 * 0: the store's. */
static bool
flip(struct fixture *fixture, enum store_db db, unsigned number, uint32_t *owner)
{
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	MDB_cursor *cursor;
	MDB_val key, value;
	uint8_t copy[1 << 16], id[KEY_MAX];
	int rc = 0;

	fixture_close(fixture);
	assert_int_equal(mdb_env_create(&env), 0);
	assert_int_equal(mdb_env_set_maxdbs(env, DB_COUNT), 0);
	assert_int_equal(mdb_env_set_mapsize(env, 1 << 30), 0);
	assert_int_equal(mdb_env_open(env, fixture_directory(fixture), 0, 0666), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_dbi_open(txn, names[db], 0, &dbi), 0);
	assert_int_equal(mdb_cursor_open(txn, dbi, &cursor), 0);
	for (unsigned i = 0; i <= number && !rc; i++)
		rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
	if (!rc) {
		assert_true(value.mv_size <= sizeof(copy));
		memcpy(copy, value.mv_data, value.mv_size);
		memcpy(id, key.mv_data, key.mv_size);
		copy[(number * 7919 + 13) % value.mv_size] ^= 0x10;
		key.mv_data = id;
		value.mv_data = copy;
		*owner = db == DB_META || db == DB_RUNS || db == DB_REMOVALS
		                 ? 0
		                 : store_key_read_u32(id + (db == DB_SESSION_IDS ? 16 : 0));
		assert_int_equal(mdb_put(txn, dbi, &key, &value, 0), 0);
	}
	mdb_cursor_close(cursor);
	assert_int_equal(mdb_txn_commit(txn), 0);
	mdb_env_close(env);
	return rc == 0;
}

static void
every_record_is_looked_at(void **state)
{
	static const char *const words[DB_COUNT] = {
	        [DB_META] = "'meta'",
	        [DB_RUNS] = "'runs'",
	        [DB_RUN] = "",
	        [DB_SESSIONS] = "session 0",
	        [DB_SESSION_IDS] = "session 0, which is not found by its id",
	        [DB_IDS] = "ids from example 0",
	        [DB_LOG] = "log of epoch",
	        [DB_EPOCHS] = "record of",
	        [DB_COLUMNS] = "chunk 0",
	        [DB_REMOVALS] = "'removals'",
	};
	struct fixture *fixture = fixture_new();
	unsigned flipped = 0, of_run = 0;
	uint64_t records, all;

	(void)state;
	make_store(fixture);
	fixture_close(fixture);
	assert_int_equal(verify(fixture, &all).count, 0);
	assert_true(all > 30);
	for (int db = 0; db < DB_COUNT; db++) {
		uint32_t owner;

		for (unsigned number = 0; flip(fixture, (enum store_db)db, number, &owner); number++) {
			struct findings findings;
			struct store *store;

			if (db == DB_META && number == 1) { /* the schema: nothing opens without it */
				assert_int_equal(store_open(fixture_directory(fixture), &store, NULL), STORE_E_CORRUPT);
				assert_true(flip(fixture, (enum store_db)db, number, &owner));
				continue;
			}
			findings = verify(fixture, &records);
			flipped++;
			of_run += owner != OTHER;
			if (findings.count != (owner == OTHER ? 0 : 1) ||
			    (owner != OTHER && !strstr(findings.last, words[db])))
				fail_msg("%s, record %u: %u found: %s", names[db], number, findings.count,
				         findings.last);
			assert_true(flip(fixture, (enum store_db)db, number, &owner));
		}
	}
	assert_int_equal(verify(fixture, &records).count, 0);
	assert_true(of_run > 30 && flipped > of_run);
	fixture_free(fixture);
}

/* A presence that is gone leaves no record to be checked. */
static void
a_missing_chunk_is_noticed(void **state)
{
	const struct store_key gone = store_key_column(RUN, 0, 0, STORE_PRESENCE | STORE_GOLD_PROB);
	struct fixture *fixture = fixture_new();
	struct findings findings;
	uint64_t records;

	(void)state;
	make_store(fixture);
	ok(store_writer_begin(fixture_writer(fixture), &error));
	ok(store_writer_delete(fixture_writer(fixture), DB_COLUMNS, &gone, &error));
	ok(store_writer_commit(fixture_writer(fixture), &error));
	findings = verify(fixture, &records);
	assert_int_equal(findings.count, 1);
	assert_non_null(strstr(findings.last, "epoch 0, which has 0 of its 500 observations"));
	fixture_free(fixture);
}

static int
count_text(void *context, const struct store_example *example, struct portolan_error *problem)
{
	unsigned *count = context;

	(void)example;
	(void)problem;
	++*count;
	return 0;
}

/* A key that is changed belongs to another run, or to none: nothing of this run has a wrong checksum, and LMDB's walk ends
 * at it. */
static void
texts_under_changed_keys_are_noticed(void **state)
{
	(void)state;
	for (uint64_t id = 0; id < 6; id++)
		for (size_t byte = 0; byte < 5; byte++) {
			struct fixture *fixture = fixture_new();
			struct store_texts texts;
			struct findings findings;
			uint64_t records;
			unsigned count = 0;

			fixture_run(fixture, "run", 0, NULL, 0);
			fixture_texts(fixture, RUN, 0, 3, "some words");
			fixture_texts(fixture, RUN, 3, 3, "others");
			fixture_texts(fixture, RUN, 2, 1, "these in place of the first ones");
			assert_int_equal(verify(fixture, &records).count, 0);
			fixture_flip_text_key(fixture, RUN, id, byte);
			findings = verify(fixture, &records);
			if (findings.count == 0)
				fail_msg("example %d, byte %zu of the key: nothing found", (int)id, byte);
			if (byte < 4)
				assert_non_null(strstr(findings.last, "number of texts, which says 6 examples and "));
			assert_int_equal(store_each_text(fixture_store(fixture), RUN, &texts, count_text, &count, NULL),
			                 STORE_E_CORRUPT);
			fixture_free(fixture);
		}
}

/* Texts that come again take the place of a damaged record, of which the number of texts says nothing more then. */
static void
texts_logged_again_mend_a_damaged_record(void **state)
{
	struct fixture *fixture = fixture_new();
	unsigned number = 0;
	uint64_t records;
	uint32_t owner;

	(void)state;
	fixture_run(fixture, "run", 0, NULL, 0);
	fixture_texts(fixture, RUN, 0, 3, "some words");
	while (verify(fixture, &records).count == 0 || !strstr(verify(fixture, &records).last, "texts of an example")) {
		if (number > 0)
			assert_true(flip(fixture, DB_RUN, number - 1, &owner));
		assert_true(flip(fixture, DB_RUN, number++, &owner));
	}
	assert_int_equal(verify(fixture, &records).count, 1);
	fixture_texts(fixture, RUN, 0, 3, "more words than before");
	assert_int_equal(verify(fixture, &records).count, 0);
	fixture_free(fixture);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_record_is_looked_at),
	        cmocka_unit_test(a_missing_chunk_is_noticed),
	        cmocka_unit_test(texts_under_changed_keys_are_noticed),
	        cmocka_unit_test(texts_logged_again_mend_a_damaged_record),
	};

	return cmocka_run_group_tests_name("store verify", tests, NULL, NULL);
}
