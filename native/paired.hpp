// DeLong's placements: how each row stands among those of the other class; and sums of their products.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "exact.hpp"

namespace CUTSCORE_ISA {

using cutscore::Wide;

// A row inside a bucket that knows its number.
template <class U>
struct Numbered {
    using Key = U;
    static constexpr bool weighted = false;
    U bits, row;
};
template <class U>
inline U key(const Numbered<U>& r) noexcept {
    return r.bits >> 1;
}

// Writes the placements of n sorted rows. Below them is the mass `below` of negatives, above them `above` of
// positives; `mass(row)` is that of one row.
template <class R, class Mass, class MassOfRow>
void place(const R* a, std::size_t n, Mass below, Mass above, MassOfRow&& mass, std::vector<Mass>& upper,
           Mass* out) {
    // Sums of weights are never subtracted: what is above comes from a walk down. Counts are exact.
    constexpr bool exact = !std::is_floating_point_v<Mass>;
    if constexpr (exact) {
        for (std::size_t i = 0; i < n; ++i) above += a[i].bits & 1;
    } else {
        upper.resize(n);
        for (std::size_t i = n; i-- > 0;) {
            upper[i] = above;
            above += a[i].bits & 1 ? mass(a[i]) : Mass(0);
        }
    }
    for (std::size_t i = 0; i < n;) {
        const auto k = key(a[i]);
        std::size_t end = i;
        Mass pos = 0, neg = 0;  // not an array by label: each row would wait for the memory of the last one
        do {
            const Mass own = mass(a[end]);
            pos += a[end].bits & 1 ? own : Mass(0);
            neg += a[end].bits & 1 ? Mass(0) : own;
        } while (++end < n && key(a[end]) == k);
        if constexpr (exact)
            above -= pos;
        else
            above = upper[end - 1];
        const Mass of_pos = 2 * below + neg, of_neg = 2 * above + pos;
        for (; i < end; ++i) out[a[i].row] = a[i].bits & 1 ? of_pos : of_neg;
        below += neg;
    }
}

template <class S, class Mass>
void placed(const Rows& rows, Mass* out) {
    using R = Numbered<typename Keys<S>::Key>;
    if (sizeof(S) < 8 && rows.n > std::numeric_limits<std::uint32_t>::max())
        throw std::length_error("float32 scores are compared up to 2**32 rows; pass float64");
    const Partition<S, R> partition(rows);
    const std::size_t buckets = partition.buckets();
    const auto* weight = static_cast<const double*>(rows.weight.data);
    const auto mass = [&](const R& r) {
        if constexpr (std::is_floating_point_v<Mass>)
            return weight[std::size_t(r.row)];
        else
            return Mass(1);
    };
    Buffer<Glance<R>> seen(buckets);
    Buffer<Mass> below(buckets), above(buckets);
    parallel(buckets, rows.threads, [&](std::size_t b, int) {
        seen[b] = glance(partition, b);
        Mass total[2] = {0, 0};
        if constexpr (std::is_floating_point_v<Mass>)
            partition.pieces(b, [&](const R* r, std::size_t n) {
                for (std::size_t i = 0; i < n; ++i) total[r[i].bits & 1] += mass(r[i]);
            });
        else
            total[1] = Mass(seen[b].positives), total[0] = Mass(seen[b].n) - total[1];
        below[b] = total[0];
        above[b] = total[1];
    });
    starts(below.data(), buckets);
    std::reverse(above.data(), above.data() + buckets);
    starts(above.data(), buckets);
    std::reverse(above.data(), above.data() + buckets);
    std::vector<std::vector<Mass>> upper(std::size_t(rows.threads));
    auto scratch = std::make_unique<Scratch<R>[]>(std::size_t(rows.threads));
    parallel(buckets, rows.threads, [&](std::size_t b, int worker) {
        const Glance<R>& g = seen[b];
        if (g.positives == 0 || g.positives == g.n) {  // of one class: all stand alike
            const Mass placement = 2 * (g.positives ? below[b] : above[b]);
            partition.pieces(b, [&](const R* r, std::size_t n) {
                for (std::size_t i = 0; i < n; ++i) out[r[i].row] = placement;
            });
            return;
        }
        const auto w = std::size_t(worker);
        place(sorted_bucket(partition, b, g, scratch[w]), g.n, below[b], above[b], mass, upper[w], out);
    });
}

// T holds a placement, Sum the products of a block of them.
template <class T, class Sum>
void multiplied(const bool* positive, const std::int64_t* v, std::size_t k, std::size_t n, int threads,
                Wide* out) {
    constexpr std::size_t block = 256;
    const std::size_t each = k * (k + 1) / 2 + k;
    const Parts parts{std::int64_t(n)};
    Buffer<Wide> sums(parts.count * 2 * each);
    parallel(parts.count, threads, [&](std::size_t part, int) {
        Wide* const total = sums.data() + part * 2 * each;
        std::fill_n(total, 2 * each, Wide(0));
        Buffer<T> some(k * block);
        const auto end = std::size_t(parts.first(part + 1));
        for (auto first = std::size_t(parts.first(part)); first < end; first += block) {
            // The positives of a block, then its negatives.
            const std::size_t m = std::min(block, end - first);
            std::uint16_t order[block];
            std::size_t p = 0;
            for (std::size_t i = 0; i < m; ++i) p += positive[first + i];
            for (std::size_t i = 0, at = 0; i < m; ++i) {
                const bool yes = positive[first + i];
                order[yes ? at : p + i - at] = std::uint16_t(i);
                at += yes;
            }
            for (std::size_t j = 0; j < k; ++j)
                for (std::size_t i = 0; i < m; ++i) some[j * block + i] = T(v[j * n + first + order[i]]);
            for (std::size_t c = 0, from = 0; c < 2; ++c, from = p) {
                const std::size_t to = c == 0 ? p : m;
                Wide* at = total + c * each;
                for (std::size_t i = 0; i < k; ++i) {
                    const T* a = some.data() + i * block;
                    Sum sum = 0;
                    for (std::size_t r = from; r < to; ++r) sum += a[r];
                    *at++ += sum;
                    for (std::size_t j = 0; j <= i; ++j) {
                        const T* b = some.data() + j * block;
                        Sum product = 0;
                        for (std::size_t r = from; r < to; ++r) product += Sum(a[r]) * b[r];
                        *at++ += product;
                    }
                }
            }
        }
    });
    std::fill_n(out, 2 * each, Wide(0));
    for (std::size_t part = 0; part < parts.count; ++part)
        for (std::size_t i = 0; i < 2 * each; ++i) out[i] += sums[part * 2 * each + i];
}

}  // namespace CUTSCORE_ISA
