// DeLong's placements: how each row stands among those of the other class; and sums of their products.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <numeric>
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
template <class R, class Mass, class MassOfRow, class T>
void place(const R* a, std::size_t n, Mass below, Mass above, MassOfRow&& mass, std::vector<Mass>& upper,
           T* out) {
    // Sums of weights are never subtracted: what is above comes from a walk down. Counts are exact.
    constexpr bool exact = !std::is_floating_point_v<Mass>;
    if constexpr (exact) {
        std::size_t ties = 0;
        for (std::size_t i = 0; i < n; ++i) above += a[i].bits & 1;
        for (std::size_t i = 1; i < n; ++i) ties += key(a[i]) == key(a[i - 1]);
        if (ties == 0) {  // no branch that depends on the rows
            T twice_below = T(2 * below), twice_above = T(2 * above);
            for (std::size_t i = 0; i < n; ++i) {
                const T positive = a[i].bits & 1;
                twice_above -= 2 * positive;
                out[a[i].row] = twice_above + (twice_below - twice_above) * positive;  // "?:" becomes a branch
                twice_below += 2 - 2 * positive;
            }
            return;
        }
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
        const T of_pos = T(2 * below + neg), of_neg = T(2 * above + pos);
        for (; i < end; ++i) out[a[i].row] = a[i].bits & 1 ? of_pos : of_neg;
        below += neg;
    }
}

template <class S, class Mass, class T>
void placed(const Rows& rows, T* out) {
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
            const T placement = T(2 * (g.positives ? below[b] : above[b]));
            partition.pieces(b, [&](const R* r, std::size_t n) {
                for (std::size_t i = 0; i < n; ++i) out[r[i].row] = placement;
            });
            return;
        }
        const auto w = std::size_t(worker);
        place(sorted_bucket(partition, b, g, scratch[w]), g.n, below[b], above[b], mass, upper[w], out);
    });
}

// The placements of each score, a line for each. A score keeps one thread busy; all work on the scores that are
// left over, and on each of many rows, whose buckets take much memory.
template <class T>
void place_all(const Rows* rows, std::size_t k, T* v) {
    const auto place_one = [&](std::size_t j, int threads) {
        Rows own = rows[j];
        own.threads = threads;
        T* const out = v + j * std::size_t(own.n);
        own.score.kind == Kind::f32 ? placed<float, std::int64_t>(own, out) : placed<double, std::int64_t>(own, out);
    };
    const int threads = rows[0].threads;
    const std::size_t alone = rows[0].n > std::int64_t(1) << 22 ? 0 : k - k % std::size_t(threads);
    std::vector<std::exception_ptr> failed(alone);
    parallel(alone, threads, [&](std::size_t j, int) {
        try {
            place_one(j, 1);
        } catch (const RowFault&) {
            failed[j] = std::current_exception();
        }
    });
    for (const auto& fault : failed)  // of the first score, whichever was seen first
        if (fault) std::rethrow_exception(fault);
    for (std::size_t j = alone; j < k; ++j) place_one(j, threads);
}

// Adds, of k lines of m numbers each, the sum of each and of its products with each up to itself.
template <class Sum, class T>
void add_products(const T* line, std::size_t stride, std::size_t k, std::size_t m, Wide* total) {
    for (std::size_t i = 0; i < k; ++i) {
        const T* const a = line + i * stride;
        Sum sum = 0;
        for (std::size_t r = 0; r < m; ++r) sum += a[r];
        *total++ += sum;
        for (std::size_t j = 0; j <= i; ++j) {
            const T* const b = line + j * stride;
            Sum product = 0;
            for (std::size_t r = 0; r < m; ++r) product += Sum(a[r]) * b[r];
            *total++ += product;
        }
    }
}

// T holds a placement, Sum the products of a block of them.
template <class T, class Sum>
std::uint64_t multiplied(const Rows* rows, std::size_t k, Wide* out) {
    constexpr std::size_t block = 256;
    const auto n = std::size_t(rows[0].n);
    const Buffer<T> v(k * n);
    place_all(rows, k, v.data());
    const std::size_t each = k * (k + 1) / 2 + k;
    const Parts parts{rows[0].n};
    Buffer<Wide> sums(parts.count * 2 * each);
    Buffer<std::uint64_t> positives(parts.count);
    Faults faults;
    parallel(parts.count, rows[0].threads, [&](std::size_t part, int) {
        Wide* const of_pos = sums.data() + part * 2 * each;
        std::fill_n(of_pos, 2 * each, Wide(0));
        Buffer<T> some(k * block);
        Reader<double> reader(rows[0], faults);
        std::uint64_t count = 0;
        const auto end = std::size_t(parts.first(part + 1));
        for (auto first = std::size_t(parts.first(part)); first < end; first += block) {
            const std::size_t m = std::min(block, end - first);
            const std::uint8_t* const label = reader.labels(std::int64_t(first), int(m));
            for (std::size_t i = 0; i < m; ++i) count += label[i];
            for (std::size_t j = 0; j < k; ++j)
                for (std::size_t i = 0; i < m; ++i) some[j * block + i] = v[j * n + first + i] * label[i];
            add_products<Sum>(some.data(), block, k, m, of_pos);
            add_products<Sum>(v.data() + first, n, k, m, of_pos + each);
        }
        positives[part] = count;
    });
    std::fill_n(out, 2 * each, Wide(0));
    for (std::size_t part = 0; part < parts.count; ++part)
        for (std::size_t i = 0; i < 2 * each; ++i) out[i] += sums[part * 2 * each + i];
    for (std::size_t i = 0; i < each; ++i) out[each + i] -= out[i];  // of all, less those of the positives
    return std::accumulate(positives.data(), positives.data() + parts.count, std::uint64_t(0));
}

}  // namespace CUTSCORE_ISA
