// Sums of products of columns, of narrow tables: there BLAS spends its time on what is left over of its
// tiles, and wants rows that were gathered, widened and moved before. For wide tables it is faster.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "linear.hpp"

namespace CUTSCORE_ISA {

// Rows that are widened and multiplied at a time: those of some fifty columns stay in the first-level cache.
inline constexpr std::int64_t tile_rows = 64;
// As many sums as there are registers for: of `tall` columns with `broad` times eight.
#if defined(__AVX512F__)
inline constexpr int tall = 8, broad = 3;
#else
inline constexpr int tall = 4, broad = 1;
#endif

// sum[i][j] += the products of columns a[i] and b[j] of a tile, of which eight columns lie side by side.
template <int panels>
void add_tile(const double* a, const double* b, std::int64_t rows, double* sum, std::int64_t stride) noexcept {
    Eight s[tall][panels];
#pragma GCC unroll 8
    for (int i = 0; i < tall; ++i)
#pragma GCC unroll 3
        for (int j = 0; j < panels; ++j) s[i][j] = all_eight(0);
    for (std::int64_t r = 0; r < rows; ++r) {
        Eight v[panels];
#pragma GCC unroll 3
        for (int j = 0; j < panels; ++j) v[j] = eight(b + (j * tile_rows + r) * 8);
#pragma GCC unroll 8
        for (int i = 0; i < tall; ++i) {
            const Eight by = all_eight(a[r * 8 + i]);
#pragma GCC unroll 3
            for (int j = 0; j < panels; ++j) s[i][j] += by * v[j];
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < tall; ++i)
#pragma GCC unroll 3
        for (int j = 0; j < panels; ++j) put(sum + i * stride + j * 8, eight(sum + i * stride + j * 8) + s[i][j]);
}

template <int panels>
void add_tiles(std::int64_t some, const double* a, const double* b, std::int64_t rows, double* sum,
               std::int64_t stride) noexcept {
    if (some == panels) return add_tile<panels>(a, b, rows, sum, stride);
    if constexpr (panels > 1) add_tiles<panels - 1>(some, a, b, rows, sum, stride);
}

// The rows get one more column, √weight, and are multiplied by it: products with that are their sums.
template <class S>
void scattered(const Dense<S>& x, const std::int64_t* chosen, std::int64_t count, const double* weight,
               const double* start, bool products, double* out) {
    const std::int64_t d = x.d, whole = d / 8 * 8, panels = d / 8 + 1, stride = panels * 8;
    const Weights from(start, d);
    const cutscore::Buffer<double> tile(std::size_t(stride * tile_rows)), sum(std::size_t(stride * stride));
    double* const z = tile.data();
    std::fill_n(sum.data(), sum.size(), 0.0);
    for (std::int64_t first = 0; first < count; first += tile_rows) {
        const std::int64_t rows = std::min(tile_rows, count - first);
        for (std::int64_t r = 0; r < rows; ++r) {
            const std::int64_t i = chosen ? chosen[first + r] : first + r;
            const double side = weight ? std::sqrt(weight[first + r]) : 1;
            const auto place = [&](std::int64_t k) { return z + (k / 8 * tile_rows + r) * 8; };
            const S* const p = x.row(i);
            // Rows of one class lie in no pattern that the processor could guess.
            const std::int64_t later = std::min(first + r + 16, count - 1);
            for (std::int64_t k = 0; k < d; k += 64 / std::int64_t(sizeof(S)))
                __builtin_prefetch(x.row(chosen ? chosen[later] : later) + k);
            for (std::int64_t k = 0; k < whole; k += 8)
                put(place(k), (eight(p + k) - eight(from.data() + k)) * all_eight(side));
            const Eight rest = whole < d ? some_eight(p + whole, d - whole) - eight(from.data() + whole) : all_eight(0);
            put(place(whole), rest * all_eight(side));
            place(whole)[d % 8] = side;
        }
        for (std::int64_t i = 0; i < stride; i += tall)
            for (std::int64_t j = products ? i / 8 : d / 8; j < panels;) {
                // Shares of like size: a narrow one waits for its own sums.
                const std::int64_t left = panels - j, parts = (left + broad - 1) / broad;
                const std::int64_t some = (left + parts - 1) / parts;
                add_tiles<broad>(some, z + i / 8 * tile_rows * 8 + i % 8, z + j * tile_rows * 8, rows,
                                 sum.data() + i * stride + j * 8, stride);
                j += some;
            }
    }
    for (std::int64_t i = products ? 0 : d; i <= d; ++i)
        for (std::int64_t j = 0; j <= d; ++j)
            *out++ = sum[std::size_t(std::min(i, j) * stride + std::max(i, j))];
}
template <class S, class I>
void scattered(const Sparse<S, I>&, const std::int64_t*, std::int64_t, const double*, const double*, bool,
               double*) {
    throw std::invalid_argument("products of columns are added up of dense tables only");
}

}  // namespace CUTSCORE_ISA
