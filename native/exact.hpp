// Exact area and exact sweep of any rows: deal them into buckets, sort each bucket alone, add up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "kernels.hpp"
#include "partition.hpp"

namespace CUTPOINT_ISA {

using cutpoint::Area;
using cutpoint::Masses;
using cutpoint::WeightedArea;

template <class R>
using AreaOf = std::conditional_t<R::weighted, WeightedArea, Area>;
template <class R>
using MassOf = std::conditional_t<R::weighted, double, std::int64_t>;

// `low` and then, above it, `high`: every positive of `high` beats every negative of `low`.
template <class A>
inline A stacked(const A& low, const A& high) noexcept {
    using T = decltype(A::twice);
    return {low.pos + high.pos, low.neg + high.neg,
            low.twice + high.twice + 2 * T(high.pos) * T(low.neg)};
}

// The mass of each class in records of one key.
template <class R>
struct Tied {
    MassOf<R> pos = 0, neg = 0;
    void add(const R& r) noexcept {
        if constexpr (R::weighted) {
            pos += r.bits & 1 ? r.weight : 0.0;
            neg += r.bits & 1 ? 0.0 : r.weight;
        } else {
            pos += r.bits & 1;
            neg += ~r.bits & 1;
        }
    }
};

// What a look at a bucket tells before anything is sorted.
template <class R>
struct Glance {
    std::size_t n = 0, positives = 0;
    typename R::Key low = ~typename R::Key(0), high = 0;
};

template <class S, class R>
Glance<R> glance(const Partition<S, R>& partition, std::size_t bucket) noexcept {
    Glance<R> g;
    partition.pieces(bucket, [&](const R* r, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            g.low = std::min(g.low, key(r[i]));
            g.high = std::max(g.high, key(r[i]));
            g.positives += r[i].bits & 1;
        }
        g.n += n;
    });
    return g;
}

template <class S, class R>
R* sorted_bucket(const Partition<S, R>& partition, std::size_t bucket, const Glance<R>& g,
                 Scratch<R>& scratch) {
    return sort_records<R>(
        g.n, g.low, g.high,
        [&](auto&& visit) {
            partition.pieces(bucket, [&](const R* r, std::size_t n) {
                for (std::size_t i = 0; i < n; ++i) visit(r[i]);
            });
        },
        scratch);
}

// Calls visit(first, end) for every run of two or more equal keys.
template <class R, class Visit>
inline void each_run(const R* a, std::size_t n, Visit&& visit) noexcept {
    constexpr std::size_t stride = block_rows;
    std::uint8_t same[stride];
    std::size_t done = 0;  // runs before here have been visited
    for (std::size_t from = 1; from < n; from += stride) {
        const int m = int(std::min(stride, n - from));
        for (int i = 0; i < m; ++i) same[i] = key(a[from + std::size_t(i)]) == key(a[from + std::size_t(i) - 1]);
        each_equal(same, m, 1, [&](int i) {
            const std::size_t first = from + std::size_t(i) - 1;
            if (first < done) return;
            done = first + 2;
            while (done < n && key(a[done]) == key(a[first])) ++done;
            visit(first, done);
        });
    }
}

// Twice the pairs in order. First as if no two keys were equal, which takes no branch; then each run of
// equal keys is put right: half of its pairs count, however its rows happen to stand.
template <class Count, class U>
Area count_pairs(const Bare<U>* a, std::size_t n) noexcept {
    Count ordered = 0, neg = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const Count positive = a[i].bits & 1;
        neg += 1 - positive;
        ordered += positive * neg;
    }
    Count twice = 2 * ordered;
    each_run(a, n, [&](std::size_t first, std::size_t end) {
        Count p = 0, q = 0, counted = 0;
        for (std::size_t i = first; i < end; ++i) {
            const Count positive = a[i].bits & 1;
            p += positive;
            q += 1 - positive;
            counted += positive * q;
        }
        twice += p * q;
        twice -= 2 * counted;
    });
    return {n - std::uint64_t(neg), std::uint64_t(neg), twice};
}
template <class U>
Area area_of_sorted(const Bare<U>* a, std::size_t n) noexcept {
    // n * n / 2 pairs at the most: 64 bits do for fewer than 2^32 rows.
    return n >> 32 ? count_pairs<cutpoint::Wide>(a, n) : count_pairs<std::uint64_t>(a, n);
}
template <class U>
WeightedArea area_of_sorted(const Heavy<U>* a, std::size_t n) noexcept {
    WeightedArea area;
    for (std::size_t i = 0; i < n;) {
        const U k = key(a[i]);
        Tied<Heavy<U>> tied;
        do {
            tied.add(a[i]);
        } while (++i < n && key(a[i]) == k);
        area.twice += tied.pos * (2 * area.neg + tied.neg);
        area.pos += tied.pos;
        area.neg += tied.neg;
    }
    return area;
}

// Calls work(bucket, scratch of the worker) for every bucket.
template <class R, class Work>
void each_bucket(std::size_t buckets, int threads, Work&& work) {
    auto scratch = std::make_unique<Scratch<R>[]>(std::size_t(threads));
    parallel(buckets, threads,
             [&](std::size_t b, int worker) { work(b, scratch[std::size_t(worker)]); });
}

template <class S, class R>
AreaOf<R> area_of_bucket(const Partition<S, R>& partition, std::size_t bucket, Scratch<R>& scratch) {
    using A = AreaOf<R>;
    const Glance<R> g = glance(partition, bucket);
    A area{};
    if (g.positives == 0 || g.positives == g.n || g.low == g.high) {
        Tied<R> tied;
        partition.pieces(bucket, [&](const R* r, std::size_t n) {
            for (std::size_t i = 0; i < n; ++i) tied.add(r[i]);
        });
        area.pos = decltype(A::pos)(tied.pos);
        area.neg = decltype(A::neg)(tied.neg);
        area.twice = decltype(A::twice)(area.pos) * area.neg;
        return area;
    }
    return area_of_sorted(sorted_bucket(partition, bucket, g, scratch), g.n);
}

template <class S, class R>
AreaOf<R> exact_area(const Rows& rows) {
    const Partition<S, R> partition(rows);
    Buffer<AreaOf<R>> areas(partition.buckets());
    each_bucket<R>(partition.buckets(), rows.threads, [&](std::size_t b, Scratch<R>& scratch) {
        areas[b] = area_of_bucket(partition, b, scratch);
    });
    AreaOf<R> total{};
    for (std::size_t b = 0; b < partition.buckets(); ++b) total = stacked(total, areas[b]);
    return total;
}

template <class S, class R>
Masses<MassOf<R>> exact_sweep(const Rows& rows) {
    using Mass = MassOf<R>;
    const Partition<S, R> partition(rows);
    const std::size_t buckets = partition.buckets();
    Buffer<std::size_t> distinct(buckets), start(buckets);

    // Sort every bucket where it lies and count its distinct scores ...
    each_bucket<R>(buckets, rows.threads, [&](std::size_t b, Scratch<R>& scratch) {
        const Glance<R> g = glance(partition, b);
        distinct[b] = g.n > 0;
        if (g.n == 0 || g.low == g.high) return;
        const R* a = sorted_bucket(partition, b, g, scratch);
        std::size_t changes = 0;
        for (std::size_t i = 1; i < g.n; ++i) changes += key(a[i]) != key(a[i - 1]);
        distinct[b] += changes;
        partition.pieces(b, [&](R* r, std::size_t n) {
            std::memcpy(r, a, n * sizeof(R));
            a += n;
        });
    });

    // ... so that each knows its place in the arrays, the highest bucket first.
    std::size_t m = 0;
    for (std::size_t b = buckets; b-- > 0;) {
        start[b] = m;
        m += distinct[b];
    }
    Masses<Mass> out{Buffer<double>(m), Buffer<Mass>(m), Buffer<Mass>(m)};
    parallel(buckets, rows.threads, [&](std::size_t b, int) {
        std::size_t at = start[b] + distinct[b];
        bool open = false;
        typename R::Key current = 0;
        Tied<R> tied;
        const auto close = [&] {
            --at;
            out.threshold[at] = double(Keys<S>::score(current + partition.low(b)));
            out.pos[at] = tied.pos;
            out.neg[at] = tied.neg;
        };
        partition.pieces(b, [&](const R* r, std::size_t n) {
            for (std::size_t i = 0; i < n; ++i) {
                if (!open || key(r[i]) != current) {
                    if (open) close();
                    open = true;
                    current = key(r[i]);
                    tied = {};
                }
                tied.add(r[i]);
            }
        });
        if (open) close();
    });
    return out;
}

}  // namespace CUTPOINT_ISA
