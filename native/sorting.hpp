// Sorting by key alone, stable: of plain keys, and of the records that buckets hold.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "memory.hpp"

namespace CUTSCORE_ISA {

using cutscore::Buffer;

// A row inside a bucket: its key above the bucket's lowest one, with the label as the last bit.
template <class U>
struct Bare {
    using Key = U;
    static constexpr bool weighted = false;
    U bits;
};
template <class U>
struct Heavy {
    using Key = U;
    static constexpr bool weighted = true;
    U bits;
    double weight;
};

// A key with the weight of its row.
template <class U>
struct Weighed {
    U key;
    double weight;
};

inline std::uint32_t key(std::uint32_t k) noexcept { return k; }
inline std::uint64_t key(std::uint64_t k) noexcept { return k; }
template <class U>
inline U key(const Bare<U>& r) noexcept {
    return r.bits >> 1;
}
template <class U>
inline U key(const Heavy<U>& r) noexcept {
    return r.bits >> 1;
}
template <class U>
inline U key(const Weighed<U>& r) noexcept {
    return r.key;
}

// Turns counts into the places where each of them starts.
template <class Count>
inline void starts(Count* count, std::size_t cells) noexcept {
    Count sum = 0;
    for (std::size_t c = 0; c < cells; ++c) {
        const Count here = count[c];
        count[c] = sum;
        sum += here;
    }
}

// Least significant digit first over the key bits [0, width); the result lands in `a` or `b` and its
// place is returned. Digits that all records share cost one counting pass and no move.
template <class R>
R* radix_sort(R* a, R* b, std::size_t n, int width) noexcept {
    constexpr int digit = 8;
    constexpr std::size_t cells = std::size_t(1) << digit;
    for (int shift = 0; shift < width; shift += digit) {
        const auto cell = [&](const R& r) { return std::size_t(key(r) >> shift) & (cells - 1); };
        std::size_t count[cells] = {};
        for (std::size_t i = 0; i < n; ++i) ++count[cell(a[i])];
        if (n == 0 || count[cell(a[0])] == n) continue;
        starts(count, cells);
        for (std::size_t i = 0; i < n; ++i) b[count[cell(a[i])]++] = a[i];
        std::swap(a, b);
    }
    return a;
}

// Straight insertion. Gives up, with the records still complete, after `budget` moves.
template <class R>
bool insertion_sort(R* a, std::size_t n, std::size_t budget) noexcept {
    for (std::size_t i = 1; i < n; ++i) {
        const R r = a[i];
        if (key(a[i - 1]) <= key(r)) continue;
        std::size_t j = i;
        do {
            a[j] = a[j - 1];
            --j;
        } while (j > 0 && key(a[j - 1]) > key(r));
        a[j] = r;
        if (i - j > budget) return false;
        budget -= i - j;
    }
    return true;
}

// Room for sorting one bucket at a time.
template <class R>
struct Scratch {
    Buffer<R> a, b;
    Buffer<std::uint32_t> count;
};

// Sorts n records that `each(visit)` produces in order, all with keys in [low, high]: one pass that
// spreads them over about n cells, then insertion; radix sort where the cells turn out uneven.
// Returns the sorted records, which live in the scratch until its next use.
template <class R, class Each>
R* sort_records(std::size_t n, typename R::Key low, typename R::Key high, Each&& each,
                Scratch<R>& scratch) {
    using U = typename R::Key;
    scratch.a.reserve(n);
    R* a = scratch.a.data();
    if (n > std::numeric_limits<std::uint32_t>::max()) {  // more than the cells below can count
        R* end = a;
        each([&](const R& r) { *end++ = r; });
        scratch.b.reserve(n);
        return radix_sort(a, scratch.b.data(), n, int(std::bit_width(high)));
    }
    const U span = high - low;
    const int width = int(std::bit_width(span));
    const int cell_bits = std::min(width, std::min(16, 1 + int(std::bit_width(n))));
    const int shift = width - cell_bits;
    const std::size_t cells = std::size_t(span >> shift) + 1;
    scratch.count.reserve(cells);
    std::uint32_t* count = scratch.count.data();
    std::memset(count, 0, cells * sizeof *count);
    each([&](const R& r) { ++count[std::size_t((key(r) - low) >> shift)]; });
    starts(count, cells);
    each([&](const R& r) { a[count[std::size_t((key(r) - low) >> shift)]++] = r; });
    if (shift == 0 || insertion_sort(a, n, 4 * n)) return a;
    scratch.b.reserve(n);
    return radix_sort(a, scratch.b.data(), n, int(std::bit_width(high)));
}

}  // namespace CUTSCORE_ISA
