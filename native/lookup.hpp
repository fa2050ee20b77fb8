// Where values fall in a sorted table: np.searchsorted without its mispredicted branches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "parallel.hpp"

namespace CUTSCORE_ISA {

// For each of n values, how many of the table's entries, ascending, are less; or, if `level`, not more.
template <bool level>
void looked_up(const double* table, std::size_t m, const double* x, std::size_t n, int threads,
               std::int64_t* out) {
    constexpr std::size_t together = 16, part = std::size_t(1) << 16;
    parallel((n + part - 1) / part, threads, [&](std::size_t p, int) {
        const std::size_t end = std::min(n, (p + 1) * part);
        for (std::size_t i = p * part; i < end; i += together) {
            const std::size_t some = std::min(together, end - i);
            // In step: many look-ups wait for memory at the same time.
            std::int64_t at[together] = {};
            double value[together] = {};
            std::copy_n(x + i, some, value);
            for (std::size_t size = m; size > 0;) {
                const std::size_t half = (size + 1) / 2;
                for (std::size_t j = 0; j < together; ++j) {
                    const double entry = table[std::size_t(at[j]) + half - 1];
                    at[j] += (level ? entry <= value[j] : entry < value[j]) ? std::int64_t(half) : 0;
                }
                size -= half;
            }
            std::copy_n(at, some, out + i);
        }
    });
}

}  // namespace CUTSCORE_ISA
