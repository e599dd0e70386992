/* raw_append.c: LMDB and the disk alone: values that fill their pages, keys in order, default sync. */
#include "raw_append.h"

#include <err.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const size_t commits[] = {(size_t)64 << 10, (size_t)256 << 10,
                                 (size_t)1 << 20}; /* bytes; the limit is the best */

#define VALUE ((size_t)4096 * 16 - 16)

double
bench_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void
bench_warm_memory(void)
{
	const size_t bytes = (size_t)1 << 30;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		err(1, "warming memory");
	memset(memory, 1, bytes);
	munmap(memory, bytes);
}

void
bench_remove_store(const char *path)
{
	static const char *const files[] = {"data.mdb", "lock.mdb", "portoland.lock", "portoland.log",
	                                    "collector.sock"};
	char inner[4200];

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(inner, sizeof(inner), "%s/%s", path, files[i]);
		unlink(inner);
	}
	snprintf(inner, sizeof(inner), "%s/readers", path); /* of a collector of an older version */
	rmdir(inner);
	rmdir(path);
}

static void
check(int result, const char *what)
{
	if (result)
		errx(1, "%s: %s", what, mdb_strerror(result));
}

static double
append_in_commits(const char *path, uint64_t bytes, size_t commit)
{
	uint8_t *value = malloc(VALUE), key_bytes[8];
	uint64_t done = 0, number = 0;
	MDB_env *env;
	MDB_txn *txn = NULL;
	MDB_dbi dbi;
	double begin;

	memset(value, 7, VALUE);
	check(mdb_env_create(&env), "mdb_env_create");
	check(mdb_env_set_mapsize(env, (size_t)1 << 36), "mdb_env_set_mapsize");
	if (mkdir(path, 0700) < 0)
		err(1, "%s", path);
	check(mdb_env_open(env, path, 0, 0600), "mdb_env_open");
	bench_warm_memory();
	begin = bench_seconds();
	while (done < bytes) {
		check(mdb_txn_begin(env, NULL, 0, &txn), "mdb_txn_begin");
		check(mdb_dbi_open(txn, NULL, 0, &dbi), "mdb_dbi_open");
		for (size_t pending = 0; pending < commit && done < bytes; pending += VALUE, done += VALUE) {
			MDB_val key = {8, key_bytes}, data = {VALUE, value};

			for (int i = 0; i < 8; i++)
				key_bytes[i] = (uint8_t)(number >> (56 - 8 * i));
			number++;
			check(mdb_put(txn, dbi, &key, &data, MDB_APPEND), "mdb_put");
		}
		check(mdb_txn_commit(txn), "mdb_txn_commit");
	}
	begin = bench_seconds() - begin;
	mdb_env_close(env);
	free(value);
	bench_remove_store(path);
	return begin;
}

double
raw_append(const char *path, uint64_t bytes)
{
	double best = 0;

	for (size_t i = 0; i < sizeof(commits) / sizeof(*commits); i++) {
		double seconds = append_in_commits(path, bytes, commits[i]);

		best = i == 0 || seconds < best ? seconds : best;
	}
	return best;
}
