/*
 * record.h: seals and checks every record of the store, so that damage on disk is noticed, and makes the keys under
 * which records stand. Private to the store.
 *
 * A record is a header of RECORD_HEADER bytes (kind, version, hash of the key, length of the whole, checksum) and a
 * body. The checksum is XXH3 (64 bits) of the body, seeded with the first eight bytes of the header.
 */
#ifndef STORE_RECORD_H
#define STORE_RECORD_H

#include "layout.h"

#define KEY_MAX 264 /* the longest key is that of an example's texts: run, part, and an id of 255 bytes */

struct store_key {
	uint8_t data[KEY_MAX];
	size_t size;
};

/* Keys of bytes, and of big-endian numbers; store_key_add_bytes() appends to a key. */
struct store_key store_key_bytes(const void *data, size_t size);
struct store_key store_key_u32(uint32_t run);
struct store_key store_key_u32_u32(uint32_t run, uint32_t second);
void store_key_add_bytes(struct store_key *key, const void *data, size_t size);

/* Keys of records, as the databases in layout.h have them. */
struct store_key store_key_run(uint32_t run, uint8_t part);
struct store_key store_key_session(uint32_t run, uint8_t part, uint32_t session); /* RUN_CLIENT or RUN_PROCESS */
struct store_key store_key_session_id(const uint8_t id[16], uint32_t run);
struct store_key store_key_log(uint32_t run, uint32_t epoch, uint64_t position);
struct store_key store_key_chunk(uint32_t run, uint32_t epoch, uint32_t chunk);
struct store_key store_key_column(uint32_t run, uint32_t epoch, uint32_t chunk, uint8_t column);

uint32_t store_key_read_u32(const void *key);
uint64_t store_key_read_u64(const void *key);

/* Writes the header before a complete body; `length` counts header and body. NULL as the key: it is not known. */
void store_record_seal(void *record, const struct store_key *key, enum record_kind kind, size_t length);

/* Is the record whole? Then *body and *size are the part after the header. The record need not be aligned. */
bool store_record_open(const void *record, size_t length, enum record_kind kind, const uint8_t **body, size_t *size);

/* The kind of record that belongs under a key; 0: this version does not know. */
unsigned store_record_kind(enum store_db db, const void *key, size_t key_size);

/* False: the record was stored under another key; a damaged page of LMDB's tree led to it. Records of earlier versions
 * do not say under which. */
bool store_record_belongs(const void *record, size_t length, const void *key, size_t key_size);

#endif
