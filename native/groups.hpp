// The area inside of each group of rows: keys dealt by group and class, each group sorted alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "exact.hpp"

namespace CUTSCORE_ISA {

// A key and nothing else.
template <class U>
struct Lone {
    using Key = U;
    U bits;
};
template <class U>
inline U key(const Lone<U>& r) noexcept {
    return r.bits;
}

// Twice the pairs in order, of the sorted keys of both classes.
template <class U>
cutscore::Wide ordered_pairs(const Lone<U>* pos, std::size_t P, const Lone<U>* neg, std::size_t N) noexcept {
    cutscore::Wide twice = 0;
    for (std::size_t i = 0, below = 0, upto = 0; i < P; ++i) {
        while (below < N && key(neg[below]) < key(pos[i])) ++below;
        upto = std::max(upto, below);
        while (upto < N && key(neg[upto]) == key(pos[i])) ++upto;
        twice += below + upto;
    }
    return twice;
}

// `group[i]` in [0, groups) is that of row i.
template <class S>
void areas_of_groups(const Rows& rows, const std::int64_t* group, std::size_t groups, std::int64_t* pos,
                     std::int64_t* neg, double* area) {
    using R = Lone<typename Keys<S>::Key>;
    // Each thread deals rows of its own, and knows where they go: counts are as many as cells and threads.
    const std::size_t cells = 2 * groups, parts = std::size_t(std::max(rows.threads, 1));
    Buffer<std::size_t> at(parts * cells + 1);
    std::fill_n(at.data(), parts * cells + 1, std::size_t(0));
    Faults faults;
    const auto each = [&](std::size_t part, auto&& visit) {
        Reader<S> reader(rows, faults);
        const auto end = std::int64_t(cutscore::Wide(rows.n) * (part + 1) / parts);
        for (auto row = std::int64_t(cutscore::Wide(rows.n) * part / parts); row < end; row += block_rows) {
            const int n = int(std::min<std::int64_t>(block_rows, end - row));
            const Block<S> block = reader.read(row, n);
            for (int i = 0; i < n; ++i) visit(2 * std::size_t(group[row + i]) + block.label[i], block.score[i]);
        }
    };
    parallel(parts, rows.threads, [&](std::size_t part, int) {
        each(part, [&](std::size_t cell, S) { ++at[cell * parts + part]; });
    });
    faults.raise();
    starts(at.data(), parts * cells + 1);
    Buffer<std::size_t> first(cells + 1);
    for (std::size_t cell = 0; cell <= cells; ++cell) first[cell] = at[cell * parts];
    Buffer<R> keys{std::size_t(rows.n)};
    parallel(parts, rows.threads, [&](std::size_t part, int) {
        each(part, [&](std::size_t cell, S score) { keys[at[cell * parts + part]++] = {Keys<S>::of(score)}; });
    });
    const auto scratch = std::make_unique<Scratch<R>[]>(2 * parts);
    constexpr std::size_t some = 64;
    parallel((groups + some - 1) / some, rows.threads, [&](std::size_t part, int worker) {
        for (std::size_t g = part * some; g < std::min(groups, (part + 1) * some); ++g) {
            const R* sorted[2];
            std::size_t size[2];
            for (std::size_t c : {0, 1}) {
                const R *begin = keys.data() + first[2 * g + c], *end = keys.data() + first[2 * g + c + 1];
                size[c] = std::size_t(end - begin);
                sorted[c] = begin;
            }
            neg[g] = std::int64_t(size[0]);
            pos[g] = std::int64_t(size[1]);
            area[g] = std::numeric_limits<double>::quiet_NaN();
            if (size[0] == 0 || size[1] == 0) continue;
            for (std::size_t c : {0, 1}) {
                const R *begin = sorted[c], *end = begin + size[c];
                auto low = key(*begin), high = low;
                for (const R* k = begin; k != end; ++k) low = std::min(low, key(*k)), high = std::max(high, key(*k));
                sorted[c] = sort_records<R>(
                    size[c], low, high,
                    [&](auto&& visit) {
                        for (const R* k = begin; k != end; ++k) visit(*k);
                    },
                    scratch[2 * std::size_t(worker) + c]);
            }
            const auto twice = ordered_pairs(sorted[1], size[1], sorted[0], size[0]);
            area[g] = double(twice) / (2 * double(cutscore::Wide(size[0]) * size[1]));
        }
    });
}

}  // namespace CUTSCORE_ISA
