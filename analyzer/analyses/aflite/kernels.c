/*
 * kernels.c: the inner loops of `portolan aflite` (kernels.h), compiled from one source (kernels_body.h) for three
 * kinds of processor. The program chooses among them when it runs.
 *
 * OpenBLAS for all products took 1.4 times as long with AVX-512 and 3.1 times with AVX2; ARCHITECTURE.md has the
 * figures.
 */
#include "kernels.h"

#include "die/memory.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define WITH_WIDE
#include <immintrin.h>
#endif

float *
kernels_floats(size_t count)
{
	size_t bytes = kernels_round(count) * sizeof(float);

	return memset(memory_need(aligned_alloc(64, bytes)), 0, bytes);
}

typedef float four __attribute__((vector_size(16), may_alias));

/* Transposes a square of four rows and columns: first pairs of rows, then pairs of pairs. */
static void
kernels_transpose_square(const float *rows, size_t stride, float *across, size_t width)
{
	four a = *(const four *)rows, b = *(const four *)(rows + stride);
	four c = *(const four *)(rows + 2 * stride), d = *(const four *)(rows + 3 * stride);
	four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);

	*(four *)across = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
	*(four *)(across + width) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
	ab = __builtin_shufflevector(a, b, 2, 6, 3, 7);
	cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
	*(four *)(across + 2 * width) = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
	*(four *)(across + 3 * width) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

void
kernels_transpose(const float *rows, size_t stride, size_t count, float *across, size_t width)
{
	for (size_t i = 0; i < count; i += KERNELS_STRIDE)
		for (size_t f = 0; f < stride; f += 4)
			for (size_t j = i; j < i + KERNELS_STRIDE; j += 4)
				kernels_transpose_square(rows + j * stride + f, stride, across + f * width + j, width);
}

/* Converts half to single precision by integer arithmetic: shifts the bits into place, and corrects the exponent by a
 * multiplication, which also makes subnormal numbers normal. */
static float
kernels_widen_half(const uint8_t *bytes)
{
	uint32_t half = bytes[0] | (uint32_t)bytes[1] << 8, bits = (half & 0x7fff) << 13;
	float value;

	if ((half & 0x7c00) == 0x7c00) {
		bits |= 0x7f800000;
		memcpy(&value, &bits, sizeof(value));
	} else {
		memcpy(&value, &bits, sizeof(value));
		value *= 0x1p112f;
	}
	return half & 0x8000 ? -value : value;
}

#define TILE_FLOATS 8192 /* 32 KiB: rows that stay in the first-level cache */
#define PRODUCT_ROWS 96  /* rows of a large product that are worked on at once: a multiple of every TALL */

/* Two registers of LANES values are cut into groups of 2 h. These are the places of the first half of each group; the second
 * half is h further. */
#define PLACE(i, h) ((i) / (h)*2 * (h) + (i) % (h))
#define PLACES_4(i, h, o) PLACE(i, h) + (o), PLACE((i) + 1, h) + (o), PLACE((i) + 2, h) + (o), PLACE((i) + 3, h) + (o)

#define KERNEL(name) plain_##name
#define KERNEL_NAME "plain"
#define LANES 4
#define ROWS 4
#define TALL 4
#define PLACES(h, o) PLACES_4(0, h, o)
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#define KEEP(x) (void)(x)
#include "kernels_body.h"
#undef KERNEL
#undef KERNEL_NAME
#undef LANES
#undef TALL
#undef PLACES
#undef MULTIPLY_ADD
#undef KEEP

#ifdef WITH_WIDE
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,popcnt")
#define KERNEL(name) avx2_##name
#define KERNEL_NAME "avx2"
#define LANES 8
#define TALL 6
#define PLACES(h, o) PLACES_4(0, h, o), PLACES_4(4, h, o)
#define MULTIPLY_ADD(a, b, c) ((KERNEL(floats))_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define KEEP(x) __asm__("" : "+x"(x))
#include "kernels_body.h"
#undef KERNEL
#undef KERNEL_NAME
#undef LANES
#undef ROWS
#undef TALL
#undef PLACES
#undef MULTIPLY_ADD
#undef KEEP
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,fma,f16c,popcnt")
#define KERNEL(name) avx512_##name
#define KERNEL_NAME "avx512"
#define LANES 16
#define ROWS 8
#define TALL 12
#define PLACES(h, o) PLACES_4(0, h, o), PLACES_4(4, h, o), PLACES_4(8, h, o), PLACES_4(12, h, o)
#define MULTIPLY_ADD(a, b, c) ((KERNEL(floats))_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define KEEP(x) __asm__("" : "+v"(x))
#include "kernels_body.h"
#undef KERNEL
#undef KERNEL_NAME
#pragma GCC pop_options
#endif

const struct kernels *
kernels_named(const char *name)
{
	if (strcmp(name, "plain") == 0)
		return &plain_all_kernels;
#ifdef WITH_WIDE
	if (strcmp(name, "avx2") == 0 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	    __builtin_cpu_supports("f16c"))
		return &avx2_all_kernels;
	if (strcmp(name, "avx512") == 0 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
		return &avx512_all_kernels;
#endif
	return NULL;
}

const struct kernels *
kernels_best(void)
{
	const struct kernels *kernels = kernels_named("avx512");

	if (!kernels)
		kernels = kernels_named("avx2");
	return kernels ? kernels : kernels_named("plain");
}
