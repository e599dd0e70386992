/*
 * model.h: what the sessions of the crash tests log. Row i of a session follows from its number, its first epoch and i
 * alone, so whoever knows how many rows of each session are stored knows every value that must be read back.
 */
#ifndef CRASH_MODEL_H
#define CRASH_MODEL_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A file both mapped and shared: what is stored in it survives the death of whoever stored it. */
struct crash_side {
	uint64_t logged; /* rows given, or about to be given, to the log call */
	uint64_t acked;  /* rows known to be acknowledged */
	uint64_t opened; /* the run was opened */
	uint64_t done;   /* closed with everything acknowledged */
};

struct crash_row {
	uint32_t epoch, example; /* example: 0 … examples − 1 */
	float gold_prob;
	bool correct;
};

static inline uint64_t
crash_mix(uint64_t x)
{
	x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
	x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
	return x ^ (x >> 32);
}

/* `examples` is a power of two: each epoch is a permutation of its own. */
static inline struct crash_row
crash_row(uint32_t session, uint32_t first_epoch, uint32_t examples, uint64_t i)
{
	uint32_t epoch = first_epoch + (uint32_t)(i / examples), at = (uint32_t)(i % examples);
	uint64_t order = crash_mix((uint64_t)session << 32 | epoch);
	uint32_t example = (at * ((uint32_t)order | 1) + (uint32_t)(order >> 32)) & (examples - 1);
	uint64_t value = crash_mix(order ^ crash_mix(example + 1));

	return (struct crash_row){.epoch = epoch,
	                          .example = example,
	                          .gold_prob = (float)(value & 0xffffff) / 16777216.0f,
	                          .correct = value >> 24 & 1};
}

/* Ids that need a dictionary: spread integers, or strings of several lengths. The way back for each. */
static inline uint64_t
crash_integer(uint32_t example)
{
	return (uint64_t)example * UINT64_C(0x9e3779b97f4a7c15);
}

static inline uint32_t
crash_example_of_integer(uint64_t id)
{
	return (uint32_t)(id * UINT64_C(0xf1de83e19937733d)); /* the inverse modulo 2⁶⁴ */
}

#define CRASH_STRING 40
static inline size_t
crash_string(uint32_t example, char text[CRASH_STRING])
{
	return (size_t)snprintf(text, CRASH_STRING, "example-%" PRIu32 "-%.*s", example, (int)(example % 16),
	                        "abcdefghijklmnop");
}

#endif
