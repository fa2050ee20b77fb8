// Four or eight doubles side by side, with the same results to the bit in every build: no product is fused into a
// sum, and what is added across is added in one order.
// `at_most` lets a NaN through; to `if_above` it is not above anything. `power_of_two` wants a whole
// number k plus 1.5 * 2^52, where the last bits of a double are those of k, and makes 2^k.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace CUTSCORE_ISA {

#define CUTSCORE_INLINE [[gnu::always_inline]] inline

#if defined(__AVX2__)
// A vector type of the compiler would do, but gcc 12 takes its conversions from float apart.
struct Four {
    __m256d v;
};
CUTSCORE_INLINE Four all(double x) noexcept { return {_mm256_set1_pd(x)}; }
CUTSCORE_INLINE Four four(const double* p) noexcept { return {_mm256_loadu_pd(p)}; }
CUTSCORE_INLINE Four four(const float* p) noexcept { return {_mm256_cvtps_pd(_mm_loadu_ps(p))}; }
// The first `count` of four, from 1 to 3, and 0 after them; nothing after them is read.
CUTSCORE_INLINE Four some(const double* p, std::int64_t count) noexcept {
    static constexpr std::int64_t mask[] = {-1, -1, -1, 0, 0, 0, 0};
    return {_mm256_maskload_pd(p, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(mask + 3 - count)))};
}
CUTSCORE_INLINE Four some(const float* p, std::int64_t count) noexcept {
    static constexpr std::int32_t mask[] = {-1, -1, -1, 0, 0, 0, 0};
    const auto chosen = _mm_loadu_si128(reinterpret_cast<const __m128i*>(mask + 3 - count));
    return {_mm256_cvtps_pd(_mm_maskload_ps(p, chosen))};
}
CUTSCORE_INLINE void put(double* p, Four a) noexcept { _mm256_storeu_pd(p, a.v); }
CUTSCORE_INLINE Four operator+(Four a, Four b) noexcept { return {_mm256_add_pd(a.v, b.v)}; }
CUTSCORE_INLINE Four operator*(Four a, Four b) noexcept { return {_mm256_mul_pd(a.v, b.v)}; }
CUTSCORE_INLINE Four operator-(Four a, Four b) noexcept { return {_mm256_sub_pd(a.v, b.v)}; }
CUTSCORE_INLINE Four operator/(Four a, Four b) noexcept { return {_mm256_div_pd(a.v, b.v)}; }
CUTSCORE_INLINE Four magnitude(Four a) noexcept { return {_mm256_andnot_pd(_mm256_set1_pd(-0.0), a.v)}; }
CUTSCORE_INLINE Four at_most(Four a, double top) noexcept { return {_mm256_min_pd(_mm256_set1_pd(top), a.v)}; }
CUTSCORE_INLINE Four if_above(Four a, double cut, Four yes, Four no) noexcept {
    return {_mm256_blendv_pd(no.v, yes.v, _mm256_cmp_pd(a.v, _mm256_set1_pd(cut), _CMP_GT_OQ))};
}
CUTSCORE_INLINE Four power_of_two(Four shifted) noexcept {
    const __m256i exponent = _mm256_slli_epi64(_mm256_castpd_si256(shifted.v), 52);
    return {_mm256_castsi256_pd(_mm256_add_epi64(exponent, _mm256_castpd_si256(_mm256_set1_pd(1))))};
}
CUTSCORE_INLINE double across(Four a) noexcept {
    const __m128d pair = _mm_add_pd(_mm256_castpd256_pd128(a.v), _mm256_extractf128_pd(a.v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)));
}
#else
struct Four {
    using Pair = double __attribute__((vector_size(16)));
    Pair low, high;
};
CUTSCORE_INLINE Four all(double x) noexcept { return {Four::Pair{x, x}, Four::Pair{x, x}}; }
template <class S>
CUTSCORE_INLINE Four four(const S* p) noexcept {
    return {Four::Pair{double(p[0]), double(p[1])}, Four::Pair{double(p[2]), double(p[3])}};
}
template <class S>
CUTSCORE_INLINE Four some(const S* p, std::int64_t count) noexcept {
    return {Four::Pair{double(p[0]), count > 1 ? double(p[1]) : 0.0},
            Four::Pair{count > 2 ? double(p[2]) : 0.0, 0.0}};
}
CUTSCORE_INLINE void put(double* p, Four a) noexcept {
    std::memcpy(p, &a.low, sizeof a.low);
    std::memcpy(p + 2, &a.high, sizeof a.high);
}
CUTSCORE_INLINE Four operator+(Four a, Four b) noexcept { return {a.low + b.low, a.high + b.high}; }
CUTSCORE_INLINE Four operator*(Four a, Four b) noexcept { return {a.low * b.low, a.high * b.high}; }
CUTSCORE_INLINE Four operator-(Four a, Four b) noexcept { return {a.low - b.low, a.high - b.high}; }
CUTSCORE_INLINE Four operator/(Four a, Four b) noexcept { return {a.low / b.low, a.high / b.high}; }
using Bits = std::uint64_t __attribute__((vector_size(16)));
CUTSCORE_INLINE Four magnitude(Four a) noexcept {
    constexpr Bits rest = {~0ull >> 1, ~0ull >> 1};
    return {Four::Pair(Bits(a.low) & rest), Four::Pair(Bits(a.high) & rest)};
}
CUTSCORE_INLINE Four at_most(Four a, double top) noexcept {
    const auto of = [top](Four::Pair p) {
        return Four::Pair{top < p[0] ? top : p[0], top < p[1] ? top : p[1]};
    };
    return {of(a.low), of(a.high)};
}
CUTSCORE_INLINE Four if_above(Four a, double cut, Four yes, Four no) noexcept {
    const auto of = [cut](Four::Pair p, Four::Pair y, Four::Pair n) {
        const Bits above = Bits(p > Four::Pair{cut, cut});
        return Four::Pair((above & Bits(y)) | (~above & Bits(n)));
    };
    return {of(a.low, yes.low, no.low), of(a.high, yes.high, no.high)};
}
CUTSCORE_INLINE Four power_of_two(Four shifted) noexcept {
    const auto of = [](Four::Pair p) {
        return Four::Pair((Bits(p) << 52) + Bits(Four::Pair{1, 1}));
    };
    return {of(shifted.low), of(shifted.high)};
}
CUTSCORE_INLINE double across(Four a) noexcept {
    const Four::Pair pair = a.low + a.high;
    return pair[0] + pair[1];
}
#endif
CUTSCORE_INLINE Four& operator+=(Four& a, Four b) noexcept { return a = a + b; }
CUTSCORE_INLINE Four operator*(Four a, double b) noexcept { return a * all(b); }

// Eight doubles: one register where there are such, else two fours.
#if defined(__AVX512F__)
struct Eight {
    __m512d v;
};
CUTSCORE_INLINE Eight all_eight(double x) noexcept { return {_mm512_set1_pd(x)}; }
CUTSCORE_INLINE Eight eight(const double* p) noexcept { return {_mm512_loadu_pd(p)}; }
CUTSCORE_INLINE Eight eight(const float* p) noexcept { return {_mm512_cvtps_pd(_mm256_loadu_ps(p))}; }
// The first `count` of eight, from 1 to 7, and 0 after them; nothing after them is read.
CUTSCORE_INLINE Eight some_eight(const double* p, std::int64_t count) noexcept {
    return {_mm512_maskz_loadu_pd(__mmask8((1 << count) - 1), p)};
}
CUTSCORE_INLINE Eight some_eight(const float* p, std::int64_t count) noexcept {
    return {_mm512_cvtps_pd(_mm256_maskz_loadu_ps(__mmask8((1 << count) - 1), p))};
}
CUTSCORE_INLINE void put(double* p, Eight a) noexcept { _mm512_storeu_pd(p, a.v); }
CUTSCORE_INLINE Eight operator+(Eight a, Eight b) noexcept { return {_mm512_add_pd(a.v, b.v)}; }
CUTSCORE_INLINE Eight operator-(Eight a, Eight b) noexcept { return {_mm512_sub_pd(a.v, b.v)}; }
CUTSCORE_INLINE Eight operator*(Eight a, Eight b) noexcept { return {_mm512_mul_pd(a.v, b.v)}; }
CUTSCORE_INLINE Eight operator/(Eight a, Eight b) noexcept { return {_mm512_div_pd(a.v, b.v)}; }
CUTSCORE_INLINE Eight magnitude(Eight a) noexcept { return {_mm512_abs_pd(a.v)}; }
CUTSCORE_INLINE Eight at_most(Eight a, double top) noexcept { return {_mm512_min_pd(_mm512_set1_pd(top), a.v)}; }
CUTSCORE_INLINE Eight if_above(Eight a, double cut, Eight yes, Eight no) noexcept {
    return {_mm512_mask_blend_pd(_mm512_cmp_pd_mask(a.v, _mm512_set1_pd(cut), _CMP_GT_OQ), no.v, yes.v)};
}
CUTSCORE_INLINE Eight power_of_two(Eight shifted) noexcept {
    const __m512i exponent = _mm512_slli_epi64(_mm512_castpd_si512(shifted.v), 52);
    return {_mm512_castsi512_pd(_mm512_add_epi64(exponent, _mm512_castpd_si512(_mm512_set1_pd(1))))};
}
CUTSCORE_INLINE double across(Eight a) noexcept {
    return across(Four{_mm512_castpd512_pd256(a.v)} + Four{_mm512_extractf64x4_pd(a.v, 1)});
}
#else
struct Eight {
    Four low, high;
};
CUTSCORE_INLINE Eight all_eight(double x) noexcept { return {all(x), all(x)}; }
template <class S>
CUTSCORE_INLINE Eight eight(const S* p) noexcept {
    return {four(p), four(p + 4)};
}
template <class S>
CUTSCORE_INLINE Eight some_eight(const S* p, std::int64_t count) noexcept {
    if (count < 4) return {some(p, count), all(0)};
    return {four(p), count > 4 ? some(p + 4, count - 4) : all(0)};
}
CUTSCORE_INLINE void put(double* p, Eight a) noexcept {
    put(p, a.low);
    put(p + 4, a.high);
}
CUTSCORE_INLINE Eight operator+(Eight a, Eight b) noexcept { return {a.low + b.low, a.high + b.high}; }
CUTSCORE_INLINE Eight operator-(Eight a, Eight b) noexcept { return {a.low - b.low, a.high - b.high}; }
CUTSCORE_INLINE Eight operator*(Eight a, Eight b) noexcept { return {a.low * b.low, a.high * b.high}; }
CUTSCORE_INLINE Eight operator/(Eight a, Eight b) noexcept { return {a.low / b.low, a.high / b.high}; }
CUTSCORE_INLINE Eight magnitude(Eight a) noexcept { return {magnitude(a.low), magnitude(a.high)}; }
CUTSCORE_INLINE Eight at_most(Eight a, double top) noexcept { return {at_most(a.low, top), at_most(a.high, top)}; }
CUTSCORE_INLINE Eight if_above(Eight a, double cut, Eight yes, Eight no) noexcept {
    return {if_above(a.low, cut, yes.low, no.low), if_above(a.high, cut, yes.high, no.high)};
}
CUTSCORE_INLINE Eight power_of_two(Eight shifted) noexcept {
    return {power_of_two(shifted.low), power_of_two(shifted.high)};
}
CUTSCORE_INLINE double across(Eight a) noexcept { return across(a.low + a.high); }
#endif
CUTSCORE_INLINE Eight& operator+=(Eight& a, Eight b) noexcept { return a = a + b; }
CUTSCORE_INLINE Eight operator*(Eight a, double b) noexcept { return a * all_eight(b); }

}  // namespace CUTSCORE_ISA
