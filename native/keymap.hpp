// A monotone map from keys to small cell numbers, fine where keys are dense and coarse where they are
// rare: two table look-ups, no comparison.
//
// The range of the keys is cut into at most `segments` equal segments; each segment into a power of
// two of cells, in proportion to the keys that a sorted sample has there. Inside a segment floats are
// as good as evenly spaced, so that equal cells hold about equally many of them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "memory.hpp"

namespace CUTSCORE_ISA {

using cutscore::Buffer;

template <class U>
class KeyMap {
   public:
    static constexpr std::size_t segments = 4096;

    // No keys at all: every key lies outside, since no score has the key 0.
    KeyMap() : table_(1), cells_(1) { table_[0] = 0; }

    // From m sorted keys, with at least `fineness` cells a key where there are any.
    KeyMap(const U* sorted, std::size_t m, double fineness) : table_(segments + 1) {
        const U low = sorted[0], high = sorted[m - 1];
        width_ = 0;
        while (((high >> width_) - (low >> width_)) >= segments) ++width_;
        low_ = (low >> width_) << width_;  // aligned, so that no cell has keys of both signs
        high_ = high;
        const std::size_t used = std::size_t((high - low_) >> width_) + 1;
        std::size_t i = 0;
        std::uint32_t cells = 0;
        for (std::size_t s = 0; s < used; ++s) {
            std::size_t j = i;
            while (j < m && ((sorted[j] - low_) >> width_) == s) ++j;
            const auto wanted = std::size_t(double(j - i) * fineness);
            const int bits = std::min(width_, wanted <= 1 ? 0 : int(std::bit_width(wanted - 1)));
            table_[s] = cells << 6 | std::uint32_t(width_ - bits);
            cells += std::uint32_t(1) << bits;
            i = j;
        }
        table_[used] = cells << 6;
        segments_ = used;
        cells_ = cells;
    }

    std::size_t size() const noexcept { return cells_; }

    // The look-up alone, in values that stay in registers whatever the caller stores meanwhile.
    struct Cells {
        U low, high;
        int width;
        const std::uint32_t* table;

        // The cell of a key in [low, high].
        std::uint32_t of(U key) const noexcept {
            const U d = key - low;
            const std::uint32_t entry = table[std::size_t(d >> width)];
            return (entry >> 6) + std::uint32_t((d & ((U(1) << width) - 1)) >> (entry & 63));
        }
        // The same for any key: those outside go where the nearest end goes.
        std::uint32_t nearest(U key) const noexcept { return of(std::min(std::max(key, low), high)); }
    };
    Cells cells() const noexcept { return {low_, high_, width_, table_.data()}; }
    // Calls visit(cell, lowest key) for every cell, upwards.
    template <class Visit>
    void each_cell(Visit&& visit) const {
        for (std::size_t s = 0; s < segments_; ++s) {
            const std::uint32_t base = table_[s] >> 6, end = table_[s + 1] >> 6;
            const int shift = int(table_[s] & 63);
            for (std::uint32_t c = base; c < end; ++c)
                visit(c, low_ + (U(s) << width_) + (U(c - base) << shift));
        }
    }

   private:
    Buffer<std::uint32_t> table_;  // cell number << 6 | width of a cell in bits
    U low_ = 0, high_ = 0;
    int width_ = 0;
    std::size_t segments_ = 0, cells_ = 0;
};

}  // namespace CUTSCORE_ISA
