/*
 * record.c: seals every record that the store writes with a checksum, and checks it when the record is read; makes the
 * keys of records.
 *
 * Every record is checked before its values are used: LMDB detects neither a failing disk nor a stray write. The
 * checksum's seed covers the header too.
 */
#include "record.h"

#ifdef WITH_XXHASH_DISPATCH /* the library chooses the code for the processor, which is several times as fast */
#include <xxh_x86dispatch.h>
#else
#define XXH_INLINE_ALL
#include <xxhash.h>
#endif

#include <endian.h>

void
store_key_add_bytes(struct store_key *key, const void *data, size_t size)
{
	memcpy(key->data + key->size, data, size);
	key->size += size;
}

static void
record_key_add_u8(struct store_key *key, uint8_t value)
{
	key->data[key->size++] = value;
}

static void
record_key_add_u32(struct store_key *key, uint32_t value)
{
	value = htobe32(value);
	store_key_add_bytes(key, &value, sizeof(value));
}

static void
record_key_add_u64(struct store_key *key, uint64_t value)
{
	value = htobe64(value);
	store_key_add_bytes(key, &value, sizeof(value));
}

struct store_key
store_key_bytes(const void *data, size_t size)
{
	struct store_key key = {.size = 0};

	store_key_add_bytes(&key, data, size);
	return key;
}

struct store_key
store_key_u32(uint32_t run)
{
	struct store_key key = {.size = 0};

	record_key_add_u32(&key, run);
	return key;
}

struct store_key
store_key_u32_u32(uint32_t run, uint32_t second)
{
	struct store_key key = store_key_u32(run);

	record_key_add_u32(&key, second);
	return key;
}

struct store_key
store_key_run(uint32_t run, uint8_t part)
{
	struct store_key key = store_key_u32(run);

	record_key_add_u8(&key, part);
	return key;
}

struct store_key
store_key_session(uint32_t run, uint8_t part, uint32_t session)
{
	struct store_key key = store_key_run(run, part);

	record_key_add_u32(&key, session);
	return key;
}

struct store_key
store_key_log(uint32_t run, uint32_t epoch, uint64_t position)
{
	struct store_key key = store_key_u32_u32(run, epoch);

	record_key_add_u64(&key, position);
	return key;
}

struct store_key
store_key_session_id(const uint8_t id[16], uint32_t run)
{
	struct store_key key = store_key_bytes(id, 16);

	record_key_add_u32(&key, run);
	return key;
}

struct store_key
store_key_chunk(uint32_t run, uint32_t epoch, uint32_t chunk)
{
	struct store_key key = store_key_u32_u32(run, epoch);

	record_key_add_u32(&key, chunk);
	return key;
}

struct store_key
store_key_column(uint32_t run, uint32_t epoch, uint32_t chunk, uint8_t column)
{
	struct store_key key = store_key_chunk(run, epoch, chunk);

	record_key_add_u8(&key, column);
	return key;
}

uint32_t
store_key_read_u32(const void *key)
{
	return be32toh(load_u32(key));
}

uint64_t
store_key_read_u64(const void *key)
{
	return be64toh(load_u64(key));
}

/* libxxhash's dispatching functions return with the upper halves of the vector registers in use. On an Intel Xeon every
 * change between SSE and AVX instructions then took 250 ns, and so did every log() after a read of the store. */
static uint64_t
record_checksum(const uint8_t *bytes, size_t length, uint64_t seed)
{
	uint64_t checksum = XXH3_64bits_withSeed(bytes, length, seed);

#if defined(WITH_XXHASH_DISPATCH) && defined(__x86_64__)
	if (__builtin_cpu_supports("avx"))
		__asm__ volatile("vzeroupper");
#endif
	return checksum;
}

/* The hash of a key that stands in the record's header. Never 0: a 0 there means that the key was not known. */
static uint16_t
record_hash_key(const void *key, size_t size)
{
	const uint16_t hash = (uint16_t)record_checksum(key, size, 0);

	return hash ? hash : 1;
}

void
store_record_seal(void *record, const struct store_key *key, enum record_kind kind, size_t length)
{
	uint8_t *bytes = record;
	uint8_t header[8] = {(uint8_t)kind, RECORD_VERSION};
	uint16_t hash = key ? record_hash_key(key->data, key->size) : 0;
	uint32_t length32 = (uint32_t)length;
	uint64_t checksum;

	memcpy(header + 2, &hash, sizeof(hash));
	memcpy(header + 4, &length32, sizeof(length32));
	memcpy(bytes, header, sizeof(header));
	checksum = record_checksum(bytes + RECORD_HEADER, length - RECORD_HEADER, load_u64(header));
	memcpy(bytes + 8, &checksum, sizeof(checksum));
}

bool
store_record_open(const void *record, size_t length, enum record_kind kind, const uint8_t **body, size_t *size)
{
	const uint8_t *bytes = record;

	if (length < RECORD_HEADER || bytes[0] != (uint8_t)kind || bytes[1] != RECORD_VERSION ||
	    load_u32(bytes + 4) != length)
		return false;
	if (record_checksum(bytes + RECORD_HEADER, length - RECORD_HEADER, load_u64(bytes)) != load_u64(bytes + 8))
		return false;
	*body = bytes + RECORD_HEADER;
	*size = length - RECORD_HEADER;
	return true;
}

unsigned
store_record_kind(enum store_db db, const void *key, size_t key_size)
{
	static const uint8_t kinds[DB_COUNT] = {
	        [DB_RUNS] = RECORD_RUN_NUMBER, [DB_SESSIONS] = RECORD_SESSION, [DB_IDS] = RECORD_IDS,
	        [DB_LOG] = RECORD_BATCH,       [DB_EPOCHS] = RECORD_EPOCH,     [DB_COLUMNS] = RECORD_COLUMN,
	        [DB_REMOVALS] = RECORD_REMOVAL};
	static const uint8_t parts[] = {[RUN_STATE] = RECORD_RUN_STATE,   [RUN_IDENTITY] = RECORD_RUN_IDENTITY,
	                                [RUN_LABELS] = RECORD_LABELS,     [RUN_USER_COLUMNS] = RECORD_USER_COLUMNS,
	                                [RUN_COUNTERS] = RECORD_COUNTERS, [RUN_CLIENT] = RECORD_CLIENT,
	                                [RUN_PROCESS] = RECORD_PROCESS,   [RUN_TEXTS] = RECORD_TEXTS,
	                                [RUN_TEXT] = RECORD_TEXT};
	const uint8_t *bytes = key;

	if (db == DB_RUN)
		return key_size > 4 && bytes[4] < sizeof(parts) ? parts[bytes[4]] : 0;
	if (db == DB_COLUMNS && key_size > 12 && bytes[12] & STORE_PRESENCE)
		return RECORD_PRESENCE;
	return kinds[db];
}

bool
store_record_belongs(const void *record, size_t length, const void *key, size_t key_size)
{
	uint16_t hash = 0;

	if (length >= RECORD_HEADER)
		memcpy(&hash, (const uint8_t *)record + 2, sizeof(hash));
	return hash == 0 || hash == record_hash_key(key, key_size);
}
