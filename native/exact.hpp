// Exact area and exact sweep of any rows: deal them into buckets, sort each bucket alone, add up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

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

template <class R>
inline MassOf<R> mass(const R& r) noexcept {
    if constexpr (R::weighted)
        return r.weight;
    else
        return 1;
}

// `low` and then, above it, `high`: every positive of `high` beats every negative of `low`.
template <class A>
inline A stacked(const A& low, const A& high) noexcept {
    using T = decltype(A::twice);
    return {low.pos + high.pos, low.neg + high.neg,
            low.twice + high.twice + 2 * T(high.pos) * T(low.neg)};
}

// Calls visit(key, pos, neg) for each distinct key of n sorted records, upwards.
template <class R, class Visit>
inline void each_distinct(const R* a, std::size_t n, Visit&& visit) noexcept {
    using Mass = MassOf<R>;
    for (std::size_t i = 0; i < n;) {
        const auto k = key(a[i]);
        Mass of_class[2] = {0, 0};
        do {
            of_class[a[i].bits & 1] += mass(a[i]);
            ++i;
        } while (i < n && key(a[i]) == k);
        visit(k, of_class[1], of_class[0]);
    }
}

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
    using Mass = decltype(A::pos);
    const Glance<R> g = glance(partition, bucket);
    A area{};
    if (g.positives == 0 || g.positives == g.n || g.low == g.high) {
        Mass of_class[2] = {0, 0};
        partition.pieces(bucket, [&](const R* r, std::size_t n) {
            for (std::size_t i = 0; i < n; ++i) of_class[r[i].bits & 1] += Mass(mass(r[i]));
        });
        area.pos = of_class[1];
        area.neg = of_class[0];
        area.twice = decltype(A::twice)(area.pos) * area.neg;
        return area;
    }
    const R* a = sorted_bucket(partition, bucket, g, scratch);
    std::conditional_t<R::weighted, double, std::uint64_t> twice = 0;  // 64 bits do for one bucket
    each_distinct(a, g.n, [&](auto, auto pos, auto neg) {
        twice += Mass(pos) * (2 * area.neg + Mass(neg));
        area.pos += Mass(pos);
        area.neg += Mass(neg);
    });
    area.twice = twice;
    return area;
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
        Mass of_class[2] = {0, 0};
        const auto close = [&] {
            --at;
            out.threshold[at] = double(Keys<S>::score(current + partition.low(b)));
            out.pos[at] = of_class[1];
            out.neg[at] = of_class[0];
        };
        partition.pieces(b, [&](const R* r, std::size_t n) {
            for (std::size_t i = 0; i < n; ++i) {
                if (!open || key(r[i]) != current) {
                    if (open) close();
                    open = true;
                    current = key(r[i]);
                    of_class[0] = of_class[1] = 0;
                }
                of_class[r[i].bits & 1] += mass(r[i]);
            }
        });
        if (open) close();
    });
    return out;
}

}  // namespace CUTPOINT_ISA
