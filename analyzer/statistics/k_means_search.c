/*
 * k_means_search.c: finds the nearest centres of some points in float32, and whether that is certain (k_means_search.h).
 *
 * Arithmetic in float32 gives |c|² − 2 x·c for each centre c, which is the squared distance of point x less |x|².
 * Products of some points with some centres are summed side by side, in registers; so the centres are transposed
 * first. With D dimensions and the unit u = 2^-24 of float32, the rounding of the centre, of D products and of D sums
 * moves the result by no more than (D + 4) u (|c|² + 2 |x| |c|), to first order, and 2 |x| |c| ≤ |x|² + |c|². Twice that
 * is allowed for here: γ (2 |c|² + |x|²).
 *
 * As the bound holds in any case, this file alone is compiled so that a product and a sum may be rounded together, once.
 *
 * The search is compiled for three widths of registers (k_means_lanes.h). Vectors that are longer than the registers
 * would do, but GCC cuts them into single numbers: a search by 8 took ten times as long without AVX.
 */
#include "k_means_search.h"

#include <portolan/widths.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define WITH_WIDE
#include <immintrin.h>
#endif

#define TINY 1e-30 /* more than what is lost where products are too small for float32 */
#define PLACES_4(from, away) (from) ^ (away), ((from) + 1) ^ (away), ((from) + 2) ^ (away), ((from) + 3) ^ (away)
#define PLACES_8(from, away) PLACES_4(from, away), PLACES_4((from) + 4, away)

typedef float floats __attribute__((vector_size(16), aligned(4), may_alias)); /* four of them */
typedef int32_t ints __attribute__((vector_size(16)));

#define WIDE(name) narrow_##name
#define LANES 4u
#define PLACES(away) PLACES_4(0, away)
#define WHERE_LESS(a, b, yes, no) ((floats)(((ints)(yes) & ((a) < (b))) | ((ints)(no) & ~((a) < (b)))))
#define LESSER(a, b) WHERE_LESS(a, b, a, b)
#define GREATER(a, b) WHERE_LESS(a, b, b, a)
#include "k_means_lanes.h"

#ifdef WITH_WIDE
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define WIDE(name) avx2_##name
#define LANES 8u
#define PLACES(away) PLACES_8(0, away)
#define WHERE_LESS(a, b, yes, no) ((FLOATS)_mm256_blendv_ps(no, yes, _mm256_cmp_ps(a, b, _CMP_LT_OQ)))
#define LESSER(a, b) ((FLOATS)_mm256_min_ps(a, b))
#define GREATER(a, b) ((FLOATS)_mm256_max_ps(a, b))
#include "k_means_lanes.h"
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl")
#define WIDE(name) avx512_##name
#define LANES 16u
#define PLACES(away) PLACES_8(0, away), PLACES_8(8, away)
#define WHERE_LESS(a, b, yes, no) ((FLOATS)_mm512_mask_mov_ps(no, _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), yes))
#define LESSER(a, b) ((FLOATS)_mm512_min_ps(a, b))
#define GREATER(a, b) ((FLOATS)_mm512_max_ps(a, b))
#include "k_means_lanes.h"
#pragma GCC pop_options
#endif

k_means_search *
k_means_search_by(unsigned lanes)
{
#ifdef WITH_WIDE
	if ((lanes == 0 || lanes == 16) && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
		return avx512_search;
	if ((lanes == 0 || lanes == 8) && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return avx2_search;
#endif
	return lanes == 0 || lanes == 4 ? narrow_search : NULL;
}
