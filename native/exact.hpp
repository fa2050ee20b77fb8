// Exact area and exact sweep of any rows: deal them into buckets, sort each bucket alone, add up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <type_traits>
#include <vector>

#include "kernels.hpp"
#include "partition.hpp"

namespace CUTSCORE_ISA {

using cutscore::Area;
using cutscore::Masses;
using cutscore::WeightedArea;

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
    void add(const R* r, std::size_t n) noexcept {
        for (std::size_t i = 0; i < n; ++i) add(r[i]);
    }
};

// What a look at a bucket tells before anything is sorted.
template <class R>
struct Glance {
    std::size_t n = 0, positives = 0;
    typename R::Key low = ~typename R::Key(0), high = 0;
    void add(const R* r, std::size_t m) noexcept {
        for (std::size_t i = 0; i < m; ++i) {
            low = std::min(low, key(r[i]));
            high = std::max(high, key(r[i]));
            positives += r[i].bits & 1;
        }
        n += m;
    }
};

// pieces(visit) calls visit(records, n) for all records of the bucket.
template <class R, class Pieces>
Glance<R> glance(Pieces&& pieces) noexcept {
    Glance<R> g;
    pieces([&](const R* r, std::size_t n) { g.add(r, n); });
    return g;
}

template <class S, class R>
Glance<R> glance(const Partition<S, R>& partition, std::size_t bucket) noexcept {
    return glance<R>([&](auto&& visit) { partition.pieces(bucket, visit); });
}

template <class R, class Pieces>
R* sorted_records(Pieces&& pieces, const Glance<R>& g, Scratch<R>& scratch) {
    return sort_records<R>(
        g.n, g.low, g.high,
        [&](auto&& visit) {
            pieces([&](const R* r, std::size_t n) {
                for (std::size_t i = 0; i < n; ++i) visit(r[i]);
            });
        },
        scratch);
}
template <class S, class R>
R* sorted_bucket(const Partition<S, R>& partition, std::size_t bucket, const Glance<R>& g,
                 Scratch<R>& scratch) {
    return sorted_records([&](auto&& visit) { partition.pieces(bucket, visit); }, g, scratch);
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
    return n >> 32 ? count_pairs<cutscore::Wide>(a, n) : count_pairs<std::uint64_t>(a, n);
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
        partition.pieces(bucket, [&](const R* r, std::size_t n) { tied.add(r, n); });
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

// All rows in buckets, each sorted where it lies.
template <class S, class R>
class SortedRows {
   public:
    using Mass = MassOf<R>;

    explicit SortedRows(const Rows& rows)
        : partition_(rows), distinct_(buckets()), start_(buckets()), highest_(buckets()), all_(buckets()) {
        each_bucket<R>(buckets(), rows.threads, [&](std::size_t b, Scratch<R>& scratch) {
            const Glance<R> g = glance(partition_, b);
            distinct_[b] = g.n > 0;
            highest_[b] = all_[b] = {};
            if constexpr (!R::weighted)
                all_[b] = {MassOf<R>(g.positives), MassOf<R>(g.n - g.positives)};
            if (g.n == 0) return;
            if (g.low == g.high)
                return partition_.pieces(b, [&](const R* r, std::size_t n) { highest_[b].add(r, n); });
            const R* a = sorted_bucket(partition_, b, g, scratch);
            std::size_t changes = 0, top = g.n;
            for (std::size_t i = 1; i < g.n; ++i) changes += key(a[i]) != key(a[i - 1]);
            while (top > 0 && key(a[top - 1]) == g.high) --top;
            distinct_[b] += changes;
            highest_[b].add(a + top, g.n - top);
            partition_.pieces(b, [&](R* r, std::size_t n) {
                std::memcpy(r, a, n * sizeof(R));
                a += n;
            });
        });
        // So that each knows its place among all, the highest bucket first.
        for (std::size_t b = buckets(); b-- > 0;) {
            start_[b] = size_;
            size_ += distinct_[b];
        }
    }

    std::size_t buckets() const noexcept { return partition_.buckets(); }
    // Distinct scores: of all rows, and of a bucket, before which there are `start`.
    std::size_t size() const noexcept { return size_; }
    std::size_t size(std::size_t b) const noexcept { return distinct_[b]; }
    std::size_t start(std::size_t b) const noexcept { return start_[b]; }
    // The mass at the highest score of a bucket, and of counts that of the whole bucket.
    const Tied<R>& highest(std::size_t b) const noexcept { return highest_[b]; }
    const Tied<R>& all(std::size_t b) const noexcept { return all_[b]; }

    // Writes those of a bucket, descending, and the masses there.
    void entries(std::size_t b, double* threshold, Mass* pos, Mass* neg) const {
        std::size_t at = distinct_[b];
        if constexpr (!R::weighted)
            if (at == std::size_t(all_[b].pos + all_[b].neg)) {  // no ties: no branch that depends on the rows
                const auto low = partition_.low(b);
                partition_.pieces(b, [&](const R* r, std::size_t n) {
                    at -= n;
                    for (std::size_t i = 0; i < n; ++i)
                        threshold[at + i] = double(Keys<S>::score(key(r[n - 1 - i]) + low));
                    for (std::size_t i = 0; i < n; ++i) pos[at + i] = r[n - 1 - i].bits & 1;
                    for (std::size_t i = 0; i < n; ++i) neg[at + i] = ~r[n - 1 - i].bits & 1;
                });
                return;
            }
        bool open = false;
        typename R::Key current = 0;
        Tied<R> tied;
        const auto close = [&] {
            --at;
            threshold[at] = double(Keys<S>::score(current + partition_.low(b)));
            pos[at] = tied.pos;
            neg[at] = tied.neg;
        };
        partition_.pieces(b, [&](const R* r, std::size_t n) {
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
    }

   private:
    Partition<S, R> partition_;
    Buffer<std::size_t> distinct_, start_;
    Buffer<Tied<R>> highest_, all_;
    std::size_t size_ = 0;
};

// Blocks of counts are added up, if asked for, while the entries of a bucket are in the cache.
template <class S, class R>
Masses<MassOf<R>> exact_sweep(const Rows& rows, std::size_t block = 0) {
    using Mass = MassOf<R>;
    const SortedRows<S, R> sorted(rows);
    const std::size_t m = sorted.size(), buckets = sorted.buckets();
    Masses<Mass> out{Buffer<double>(m), Buffer<Mass>(m), Buffer<Mass>(m), Buffer<double>(0)};
    Buffer<Tied<R>> above(buckets);
    if (block > 0) {
        Tied<R> sum;
        for (std::size_t b = buckets; b-- > 0;) {
            above[b] = sum;
            sum.pos += sorted.all(b).pos;
            sum.neg += sorted.all(b).neg;
        }
        out.blocks = cutscore::Blocks<Mass>(m, block);
        out.blocks.tp[out.blocks.count] = sum.pos;
        out.blocks.fp[out.blocks.count] = sum.neg;
    }
    parallel(buckets, rows.threads, [&](std::size_t b, int) {
        const std::size_t at = sorted.start(b), end = at + sorted.size(b);
        sorted.entries(b, out.threshold.data() + at, out.pos.data() + at, out.neg.data() + at);
        if (block == 0) return;
        Tied<R> sum = above[b];
        std::size_t from = at;
        for (std::size_t k = (at + block - 1) / block; k * block < end; ++k) {  // blocks that start here
            sum.pos = std::accumulate(out.pos.data() + from, out.pos.data() + k * block, sum.pos);
            sum.neg = std::accumulate(out.neg.data() + from, out.neg.data() + k * block, sum.neg);
            from = k * block;
            out.blocks.first[k] = out.threshold[from];
            out.blocks.tp[k] = sum.pos;
            out.blocks.fp[k] = sum.neg;
        }
    });
    return out;
}

// An entry of a compact sweep: a run of neighbouring scores of one class, or one score of both.
template <class U, class Mass>
struct Step {
    U low, high;
    Mass pos, neg;
};

// The steps of sorted records, upwards. If not `compact`, each score is one.
template <bool compact, class R>
void each_step(const R* a, std::size_t n, std::vector<Step<typename R::Key, MassOf<R>>>& out) {
    using U = typename R::Key;
    using Mass = MassOf<R>;
    std::size_t changes = 0;
    for (std::size_t i = 1; i < n; ++i) changes += key(a[i]) != key(a[i - 1]);
    if (!compact) out.reserve(changes + 1);
    if constexpr (compact && !R::weighted)
        if (changes + 1 == n) {  // no ties: steps begin where the label turns
            std::size_t first = 0;
            const auto step = [&](std::size_t end) {
                const auto mass = Mass(end - first);
                const bool positive = a[first].bits & 1;
                out.push_back({key(a[first]), key(a[end - 1]), positive ? mass : 0, positive ? 0 : mass});
                first = end;
            };
            std::uint8_t turn[block_rows];
            for (std::size_t from = 1; from < n; from += block_rows) {
                const int m = int(std::min<std::size_t>(block_rows, n - from));
                for (int i = 0; i < m; ++i)
                    turn[i] = (a[from + std::size_t(i)].bits ^ a[from + std::size_t(i) - 1].bits) & 1;
                each_equal(turn, m, 1, [&](int i) { step(from + std::size_t(i)); });
            }
            step(n);
            return;
        }
    bool joins = false;  // whether the last step is of one class
    for (std::size_t i = 0; i < n;) {
        const U k = key(a[i]);
        Tied<R> tied;
        do {
            tied.add(a[i]);
        } while (++i < n && key(a[i]) == k);
        const bool pure = tied.pos == 0 || tied.neg == 0;
        if (compact && joins && pure && (out.back().pos == 0) == (tied.pos == 0)) {
            out.back().high = k;
            out.back().pos += tied.pos;
            out.back().neg += tied.neg;
        } else {
            out.push_back({k, k, tied.pos, tied.neg});
        }
        joins = pure;
    }
}

// The same, where scores of +inf are a step of their own: no threshold flags less than these, so what
// they do must be known.
template <bool compact, class R>
void each_step(const R* a, std::size_t n, typename R::Key infinity,
               std::vector<Step<typename R::Key, MassOf<R>>>& out) {
    std::size_t finite = n;
    while (finite > 0 && key(a[finite - 1]) == infinity) --finite;
    if (finite > 0) each_step<compact>(a, finite, out);
    if (finite == n) return;
    Tied<R> tied;
    tied.add(a + finite, n - finite);
    out.push_back({infinity, infinity, tied.pos, tied.neg});
}

// The key of +inf in a bucket, or one that no record has.
template <class S, class U>
inline U infinity_in(U low) noexcept {
    const U k = Keys<S>::of(std::numeric_limits<S>::infinity());
    return k >= low && k - low <= (U(~U(0)) >> 1) ? U(k - low) : U(~U(0));
}

// A sweep in which neighbours of one class are one entry, at the lowest of their scores; `top` has the
// highest. Buckets know nothing of each other: two such entries may still meet where they do.
template <class S, class R>
Masses<MassOf<R>> compact_sweep(const Rows& rows) {
    using Mass = MassOf<R>;
    using Steps = std::vector<Step<typename R::Key, Mass>>;
    struct Found {
        std::size_t worker, first, count, start;
    };
    auto partition = std::make_unique<Partition<S, R>>(rows);
    const std::size_t buckets = partition->buckets();
    auto steps = std::make_unique<Steps[]>(std::size_t(rows.threads));
    auto scratch = std::make_unique<Scratch<R>[]>(std::size_t(rows.threads));
    Buffer<Found> found(buckets);
    Buffer<typename R::Key> low(buckets);
    parallel(buckets, rows.threads, [&](std::size_t b, int worker) {
        Steps& own = steps[std::size_t(worker)];
        const Glance<R> g = glance(*partition, b);
        low[b] = partition->low(b);
        found[b] = {std::size_t(worker), own.size(), 0, 0};
        if (g.n == 0) return;
        const auto infinity = infinity_in<S>(low[b]);
        const bool pure = (g.positives == 0 || g.positives == g.n) && g.high != infinity;
        if (g.low == g.high || pure) {
            Tied<R> tied;
            partition->pieces(b, [&](const R* r, std::size_t n) { tied.add(r, n); });
            own.push_back({g.low, g.high, tied.pos, tied.neg});
        } else {
            each_step<true>(sorted_bucket(*partition, b, g, scratch[std::size_t(worker)]), g.n, infinity, own);
        }
        found[b].count = own.size() - found[b].first;
    });
    partition.reset();
    scratch.reset();

    std::size_t m = 0;
    for (std::size_t b = buckets; b-- > 0;) {
        found[b].start = m;
        m += found[b].count;
    }
    Masses<Mass> out{Buffer<double>(m), Buffer<Mass>(m), Buffer<Mass>(m), Buffer<double>(m)};
    parallel(buckets, rows.threads, [&](std::size_t b, int) {
        const auto* step = steps[found[b].worker].data() + found[b].first;
        std::size_t at = found[b].start + found[b].count;
        for (std::size_t i = 0; i < found[b].count; ++i) {
            --at;
            out.threshold[at] = double(Keys<S>::score(step[i].low + low[b]));
            out.top[at] = double(Keys<S>::score(step[i].high + low[b]));
            out.pos[at] = step[i].pos;
            out.neg[at] = step[i].neg;
        }
    });
    return out;
}

}  // namespace CUTSCORE_ISA
