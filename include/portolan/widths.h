/* widths.h: FOR_EACH_WIDTH, for functions with long loops over numbers: marks them to be compiled once for each
 * generation of processors, with its width of vector registers and its other instructions. When the program starts, the
 * version for the processor at hand is chosen. */
#ifndef PORTOLAN_WIDTHS_H
#define PORTOLAN_WIDTHS_H

/* Not with ThreadSanitizer: the choice is made by an instrumented function before the sanitizer has started, which ends
 * the program. Not in a program that is for the widest registers alone: GCC 12 fails on versions for less there. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) &&                \
        !defined(__AVX512F__)
#define FOR_EACH_WIDTH __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FOR_EACH_WIDTH
#endif
#define INLINE static inline __attribute__((always_inline)) /* into the function that is compiled for each width */

#endif
