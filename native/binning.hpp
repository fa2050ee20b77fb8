// Fixed bins: the leading bits of a score's key, whatever the scores are.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "keys.hpp"
#include "memory.hpp"
#include "parallel.hpp"
#include "rows.hpp"

namespace CUTSCORE_ISA {

// A score as the largest float32 that is not above it: score >= edge stays true or false for every
// float32 edge, so that bins of float64 and float32 scores have the same, exact edges.
inline float rounded_down(float score) noexcept { return score; }
inline float rounded_down(double score) noexcept {
    const float f = static_cast<float>(score);
    return double(f) > score ? std::nextafterf(f, -std::numeric_limits<float>::infinity()) : f;
}

template <class S, class Mass>
void add_to_bins(const Rows& rows, int bits, Mass* pos, Mass* neg) {
    const std::size_t bins = std::size_t(1) << bits;
    // Few parts: each has bins of its own. A fault leaves pos and neg as they were.
    const Parts parts(rows.n, std::max<std::int64_t>(16384, std::int64_t(4 * bins)), 8);
    Buffer<Mass> own(parts.count * 2 * bins);
    Faults faults;
    parallel(parts.count, rows.threads, [&](std::size_t part, int) {
        Mass* mine = own.data() + part * 2 * bins;
        std::fill(mine, mine + 2 * bins, Mass(0));
        Reader<S> reader(rows, faults);
        parts.blocks(part, faults, [&](std::int64_t first, int n) {
            const Block<S> block = reader.read(first, n);
            for (int i = 0; i < n; ++i) {
                const std::size_t b = Keys<float>::of(rounded_down(block.score[i])) >> (32 - bits);
                Mass w = 1;
                if constexpr (std::is_same_v<Mass, double>) w = block.weight[i];
                mine[2 * b + (block.label[i] & 1)] += w;
            }
        });
    });
    faults.raise();
    for (std::size_t part = 0; part < parts.count; ++part) {
        const Mass* mine = own.data() + part * 2 * bins;
        for (std::size_t b = 0; b < bins; ++b) {
            neg[b] += mine[2 * b];
            pos[b] += mine[2 * b + 1];
        }
    }
}

}  // namespace CUTSCORE_ISA
