// Curves as scikit-learn returns them, and the average precision: from the masses of a sweep, or straight from
// sorted rows, in parts on a few threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "counting.hpp"
#include "exact.hpp"
#include "kernels.hpp"
#include "parallel.hpp"
#include "sums.hpp"

namespace CUTSCORE_ISA {

using cutscore::Buffer;
using cutscore::CarefulSum;
using cutscore::Points;
using cutscore::View;

// Some entries, what is flagged before them, and how many points before them are kept.
struct Stretch {
    std::size_t first, end;
    std::int64_t tp = 0, fp = 0;
    std::size_t kept = 0;
};

// The entries of a sweep, in stretches.
class EntriesOfSweep {
   public:
    explicit EntriesOfSweep(View<std::int64_t> s) : s_(s) {}
    std::size_t size() const noexcept { return s_.m; }
    std::size_t stretches() const noexcept { return (s_.m + most - 1) / most; }
    std::size_t first(std::size_t i) const noexcept { return std::min(i * most, s_.m); }
    std::pair<std::int64_t, std::int64_t> sums(std::size_t i) const noexcept {
        const std::size_t from = first(i), to = first(i + 1);
        return {std::accumulate(s_.pos + from, s_.pos + to, std::int64_t(0)),
                std::accumulate(s_.neg + from, s_.neg + to, std::int64_t(0))};
    }
    // Calls work(entries) with those of a stretch; after them there is the next one, unless it is the last.
    template <class Work>
    void visit(std::size_t i, int, Work&& work) const {
        const std::size_t at = first(i);
        work(View<std::int64_t>{s_.threshold ? s_.threshold + at : nullptr, s_.pos + at, s_.neg + at,
                                first(i + 1) - at});
    }

   private:
    static constexpr std::size_t most = std::size_t(1) << 16;
    View<std::int64_t> s_;
};

// The same of sorted rows: a bucket is a stretch, and those that are looked at are all that is in memory.
template <class S, class R>
class EntriesOfRows {
   public:
    EntriesOfRows(const SortedRows<S, R>& rows, int threads)
        : rows_(rows), room_(std::make_unique<Room[]>(std::size_t(threads))) {}
    std::size_t size() const noexcept { return rows_.size(); }
    std::size_t stretches() const noexcept { return rows_.buckets(); }
    std::size_t first(std::size_t i) const noexcept {
        return i < stretches() ? rows_.start(stretches() - 1 - i) : size();
    }
    std::pair<std::int64_t, std::int64_t> sums(std::size_t i) const noexcept {
        const auto& all = rows_.all(stretches() - 1 - i);
        return {all.pos, all.neg};
    }
    template <class Work>
    void visit(std::size_t i, int worker, Work&& work) const {
        std::size_t b = stretches() - 1 - i;
        const std::size_t m = rows_.size(b);
        Room& room = room_[std::size_t(worker)];
        room.threshold.reserve(m);
        room.pos.reserve(m + 1);
        room.neg.reserve(m + 1);
        rows_.entries(b, room.threshold.data(), room.pos.data(), room.neg.data());
        while (b > 0 && rows_.size(b - 1) == 0) --b;
        if (b > 0) {
            room.pos[m] = rows_.highest(b - 1).pos;
            room.neg[m] = rows_.highest(b - 1).neg;
        }
        work(View<std::int64_t>{room.threshold.data(), room.pos.data(), room.neg.data(), m});
    }

   private:
    struct Room {
        Buffer<double> threshold;
        Buffer<std::int64_t> pos, neg;
    };
    const SortedRows<S, R>& rows_;
    std::unique_ptr<Room[]> room_;
};

// All stretches, and one more for their end. keep(stretch, i, worker): how many of the points of the i-th are kept.
template <class Source, class Keep>
std::vector<Stretch> stretches(const Source& source, int threads, Keep&& keep) {
    std::vector<Stretch> all(source.stretches());
    parallel(all.size(), threads, [&](std::size_t i, int worker) {
        Stretch& own = all[i];
        own = {source.first(i), source.first(i + 1)};
        std::tie(own.tp, own.fp) = source.sums(i);
        own.kept = keep(own, i, worker);
    });
    all.push_back({source.size(), source.size()});
    std::int64_t tp = 0, fp = 0;
    std::size_t kept = 0;
    for (Stretch& own : all) {
        std::swap(tp, own.tp), tp += own.tp;
        std::swap(fp, own.fp), fp += own.fp;
        std::swap(kept, own.kept), kept += own.kept;
    }
    return all;
}
// The same, where all points are kept.
template <class Source>
std::vector<Stretch> stretches(const Source& source, int threads) {
    return stretches(source, threads, [](const Stretch& own, std::size_t, int) { return own.end - own.first; });
}
// Calls work(stretch, its entries) for each.
template <class Source, class Work>
void each_stretch(const Source& source, const std::vector<Stretch>& all, int threads, Work&& work) {
    parallel(all.size() - 1, threads, [&](std::size_t i, int worker) {
        source.visit(i, worker, [&](View<std::int64_t> s) { work(all[i], s); });
    });
}

template <class Source>
Points roc_of(const Source& source, bool corners_only, int threads) {
    // A point is dropped if the step to it and the next one from it are the same, but never the first or last.
    const auto turns = [](View<std::int64_t> s, std::size_t k) {
        return std::size_t(int(s.pos[k] != s.pos[k + 1]) | int(s.neg[k] != s.neg[k + 1]));
    };
    const auto inner = [&](const Stretch& own, View<std::int64_t> s) {
        const std::size_t from = std::min<std::size_t>(own.first == 0, s.m);
        return std::pair(from, std::max(from, own.end == source.size() && s.m > 0 ? s.m - 1 : s.m));
    };
    const auto all = stretches(source, threads, [&](const Stretch& own, std::size_t i, int worker) {
        std::size_t kept = own.end - own.first;
        if (corners_only)
            source.visit(i, worker, [&](View<std::int64_t> s) {
                const auto [from, to] = inner(own, s);
                kept -= to - from;
                for (std::size_t k = from; k < to; ++k) kept += turns(s, k);
            });
        return kept;
    });
    if (all.back().tp == 0 || all.back().fp == 0) return {};
    const double P = double(all.back().tp), N = double(all.back().fp);
    const std::size_t size = all.back().kept + 1;
    Points out{Buffer<double>(size), Buffer<double>(size), Buffer<double>(size), size};
    out.x[0] = out.y[0] = 0;
    out.threshold[0] = std::numeric_limits<double>::infinity();
    each_stretch(source, all, threads, [&](const Stretch& own, View<std::int64_t> s) {
        std::int64_t tp = own.tp, fp = own.fp;
        std::size_t at = own.kept + 1;
        const auto [from, to] = inner(own, s);
        // Which points stay is as random as the labels: all of a block are written, those that go are
        // overwritten, and only those that stay are divided.
        constexpr std::size_t block = 1024;
        double x[block], y[block], threshold[block];
        for (std::size_t first = 0; first < s.m; first += block) {
            std::size_t kept = 0;
            for (std::size_t k = first; k < std::min(first + block, s.m); ++k) {
                tp += s.pos[k];
                fp += s.neg[k];
                x[kept] = double(fp);
                y[kept] = double(tp);
                threshold[kept] = s.threshold[k];
                kept += !corners_only || k < from || k >= to ? 1 : turns(s, k);
            }
            for (std::size_t i = 0; i < kept; ++i) out.x[at + i] = x[i] / N;
            for (std::size_t i = 0; i < kept; ++i) out.y[at + i] = y[i] / P;
            std::copy_n(threshold, kept, out.threshold.data() + at);
            at += kept;
        }
    });
    return out;
}

template <class Source>
Points precision_recall_of(const Source& source, int threads) {
    const auto all = stretches(source, threads);
    if (all.back().tp == 0) return {};
    const double P = double(all.back().tp);
    const std::size_t m = source.size();
    Points out{Buffer<double>(m + 1), Buffer<double>(m + 1), Buffer<double>(m), m + 1};
    each_stretch(source, all, threads, [&](const Stretch& own, View<std::int64_t> s) {
        std::int64_t tp = own.tp, flagged = own.tp + own.fp;
        for (std::size_t k = 0, at = m - own.first; k < s.m; ++k) {
            tp += s.pos[k];
            flagged += s.pos[k] + s.neg[k];
            --at;
            out.x[at] = double(tp) / double(flagged);
            out.y[at] = double(tp) / P;
            out.threshold[at] = s.threshold[k];
        }
    });
    out.x[m] = 1;
    out.y[m] = 0;
    return out;
}

template <class Source>
Points det_of(const Source& source, int threads) {
    const auto all = stretches(source, threads);
    const std::int64_t positives = all.back().tp, negatives = all.back().fp;
    if (positives == 0 || negatives == 0) return {};
    const auto last_where = [&](auto&& before) {  // the last stretch before which that holds
        return std::size_t(std::partition_point(all.begin(), all.end() - 1, before) - all.begin()) - 1;
    };
    const std::size_t alarm = last_where([](const Stretch& s) { return s.fp == 0; });
    const std::size_t miss = last_where([&](const Stretch& s) { return s.tp < positives; });
    // From the last cut without a false alarm to the first without a miss; cut k flags the k highest scores.
    std::size_t first = all[alarm].first, last = all[miss].end;
    source.visit(alarm, 0, [&](View<std::int64_t> s) {
        for (std::size_t k = 0; s.neg[k] == 0; ++k) ++first;
    });
    source.visit(miss, 0, [&](View<std::int64_t> s) {
        for (std::size_t k = s.m; s.pos[k - 1] == 0; --k) --last;
    });
    const std::size_t size = last + 1 - first;
    Points out{Buffer<double>(size), Buffer<double>(size), Buffer<double>(size), size};
    const auto put = [&](std::size_t cut, std::int64_t tp, std::int64_t fp, double threshold) {
        const std::size_t at = last - cut;
        out.x[at] = double(fp) / double(negatives);
        out.y[at] = double(positives - tp) / double(positives);
        out.threshold[at] = threshold;
    };
    if (first == 0) put(0, 0, 0, std::numeric_limits<double>::infinity());
    each_stretch(source, all, threads, [&](const Stretch& own, View<std::int64_t> s) {
        std::int64_t tp = own.tp, fp = own.fp;
        for (std::size_t k = 0; k < s.m && own.first + k < last; ++k) {
            tp += s.pos[k];
            fp += s.neg[k];
            if (own.first + k + 1 >= first) put(own.first + k + 1, tp, fp, s.threshold[k]);
        }
    });
    return out;
}

// Threads add up blocks, then one adds these. Of arrays in a file, as many blocks as a thread is at are in memory.
inline cutscore::Blocks<std::int64_t> summed_blocks(View<std::int64_t> s, std::size_t size, int threads) {
    cutscore::Blocks<std::int64_t> out(s.m, size);
    const std::size_t blocks = out.count, each = 256;
    out.tp[0] = out.fp[0] = 0;
    parallel((blocks + each - 1) / each, threads, [&](std::size_t part, int) {
        const std::size_t from = part * each, to = std::min(from + each, blocks);
        for (std::size_t b = from; b < to; ++b) {
            const std::size_t first = b * size, end = std::min(first + size, s.m);
            out.first[b] = s.threshold[first];
            out.tp[b + 1] = std::accumulate(s.pos + first, s.pos + end, std::int64_t(0));
            out.fp[b + 1] = std::accumulate(s.neg + first, s.neg + end, std::int64_t(0));
        }
        const std::size_t bytes = 8 * (std::min(to * size, s.m) - from * size);
        for (const void* column : {static_cast<const void*>(s.threshold + from * size),
                                   static_cast<const void*>(s.pos + from * size),
                                   static_cast<const void*>(s.neg + from * size)})
            cutscore::forget(column, bytes);
    });
    for (const auto* sums : {&out.tp, &out.fp})
        std::partial_sum(sums->data(), sums->data() + blocks + 1, sums->data());
    return out;
}

// What entries add to the average precision; before them so many are flagged. If `positives` is 0, there are
// those of the entries only.
template <class Source>
double precision_of(const Source& source, std::int64_t tp, std::int64_t fp, double positives, int threads) {
    const auto all = stretches(source, threads);
    if (positives == 0) positives = double(all.back().tp);
    std::vector<double> part(all.size());
    each_stretch(source, all, threads, [&](const Stretch& own, View<std::int64_t> s) {
        CarefulSum sum;
        std::int64_t hit = tp + own.tp, flagged = hit + fp + own.fp;
        for (std::size_t k = 0; k < s.m; ++k) {  // without positives it is 0: a branch would cost more
            hit += s.pos[k];
            flagged += s.pos[k] + s.neg[k];
            const auto precision = double(hit) / double(std::max<std::int64_t>(flagged, 1));
            sum.add(double(s.pos[k]) / positives * precision);
        }
        part[std::size_t(&own - all.data())] = sum.total();
    });
    CarefulSum sum;
    for (const double value : part) sum.add(value);
    return sum.total();
}

// A curve of rows, by curve(entries): of the table of few distinct scores, or else of sorted buckets.
template <class S, class Curve>
auto curve_of_rows(const Rows& rows, Curve&& curve) {
    if (const auto m = counted<S>(rows))
        return curve(EntriesOfSweep({m->threshold.data(), m->pos.data(), m->neg.data(), m->pos.size()}));
    const SortedRows<S, Bare<typename Keys<S>::Key>> sorted(rows);
    return curve(EntriesOfRows(sorted, rows.threads));
}

}  // namespace CUTSCORE_ISA
