/* number.h: prints numbers, for programs (exactly) and for people ("25,000"), and reads the numbers of command lines
 * and of users' files. Pure; independent of the locale. */
#ifndef NUMBER_H
#define NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBER_ROOM 32 /* bytes that `text` must have below; the NUL is among them */

/* The shortest decimal that strtod() reads back as exactly `value`, which must be finite; returns its length. */
size_t number_print(double value, char *text);
size_t number_print_u64(uint64_t value, char *text);

/* Prints "25,000", for people. NUMBER_GROUPED() does so within an expression; its text lasts as long as the block
 * around it. */
size_t number_print_grouped(uint64_t value, char *text);
#define NUMBER_GROUPED(value) number_grouped(value, (char[NUMBER_ROOM]){0})
const char *number_grouped(uint64_t value, char *text);

/* Reads a number from all `length` bytes of `text`, which must be digits. */
bool number_parse_u64(const char *text, size_t length, uint64_t *value);
/* Reads a whole number also in forms that other programs write: " 3", "4.0", "2e3", "1.50e1". Exact, without a double
 * in between. */
bool number_parse_whole(const char *text, size_t length, uint64_t *value);
/* Reads a number of bytes: digits, with or without K, M, G or T (powers of 1024) after them. */
bool number_parse_size(const char *text, uint64_t *bytes);
/* Reads a finite decimal number from the whole of `text`. */
bool number_parse(const char *text, double *value);

#endif
