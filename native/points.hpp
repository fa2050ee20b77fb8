// Curves as scikit-learn returns them, and the average precision: from masses, in parts on a few threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

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

// All entries in stretches, and one more for their ends. keep(k): whether the point at entry k is kept.
template <class Keep>
std::vector<Stretch> stretches(View<std::int64_t> s, int threads, Keep&& keep) {
    constexpr std::size_t most = std::size_t(1) << 16;
    std::vector<Stretch> all;
    for (std::size_t first = 0; first < s.m; first += most) all.push_back({first, std::min(first + most, s.m)});
    parallel(all.size(), threads, [&](std::size_t i, int) {
        Stretch& own = all[i];
        for (std::size_t k = own.first; k < own.end; ++k) {
            own.tp += s.pos[k];
            own.fp += s.neg[k];
            own.kept += keep(k);
        }
    });
    all.push_back({s.m, s.m});
    std::int64_t tp = 0, fp = 0;
    std::size_t kept = 0;
    for (Stretch& own : all) {
        std::swap(tp, own.tp), tp += own.tp;
        std::swap(fp, own.fp), fp += own.fp;
        std::swap(kept, own.kept), kept += own.kept;
    }
    return all;
}
// The same, where all points are kept; and work(stretch) is called for each.
template <class Work>
void each_stretch(const std::vector<Stretch>& all, int threads, Work&& work) {
    parallel(all.size() - 1, threads, [&](std::size_t i, int) { work(all[i]); });
}

inline Points roc_of(View<std::int64_t> s, bool corners_only, int threads) {
    // Dropped if the step to the point and the next one from it are the same.
    const auto keep = [&](std::size_t k) {
        const std::size_t next = std::min(k + 1, s.m - 1);
        return std::size_t(int(!corners_only) | int(k == 0) | int(k + 1 == s.m) |
                           int(s.pos[k] != s.pos[next]) | int(s.neg[k] != s.neg[next]));
    };
    const auto all = stretches(s, threads, keep);
    const double P = double(all.back().tp), N = double(all.back().fp);
    const std::size_t size = all.back().kept + 1;
    Points out{Buffer<double>(size), Buffer<double>(size), Buffer<double>(size), size};
    out.x[0] = out.y[0] = 0;
    out.threshold[0] = std::numeric_limits<double>::infinity();
    each_stretch(all, threads, [&](const Stretch& own) {
        std::int64_t tp = own.tp, fp = own.fp;
        std::size_t at = own.kept + 1;
        // Which points stay is as random as the labels: all of a block are written, those that go are
        // overwritten, and only those that stay are divided.
        constexpr std::size_t block = 1024;
        double x[block], y[block], threshold[block];
        for (std::size_t first = own.first; first < own.end; first += block) {
            const std::size_t end = std::min(first + block, own.end);
            std::size_t kept = 0;
            for (std::size_t k = first; k < end; ++k) {
                tp += s.pos[k];
                fp += s.neg[k];
                x[kept] = double(fp);
                y[kept] = double(tp);
                threshold[kept] = s.threshold[k];
                kept += keep(k);
            }
            for (std::size_t i = 0; i < kept; ++i) out.x[at + i] = x[i] / N;
            for (std::size_t i = 0; i < kept; ++i) out.y[at + i] = y[i] / P;
            std::copy_n(threshold, kept, out.threshold.data() + at);
            at += kept;
        }
    });
    return out;
}

inline Points precision_recall_of(View<std::int64_t> s, int threads) {
    const auto all = stretches(s, threads, [](std::size_t) { return 1u; });
    const double P = double(all.back().tp);
    Points out{Buffer<double>(s.m + 1), Buffer<double>(s.m + 1), Buffer<double>(s.m), s.m + 1};
    each_stretch(all, threads, [&](const Stretch& own) {
        std::int64_t tp = own.tp, flagged = own.tp + own.fp;
        for (std::size_t k = own.first, at = s.m - own.first; k < own.end; ++k) {
            tp += s.pos[k];
            flagged += s.pos[k] + s.neg[k];
            --at;
            out.x[at] = double(tp) / double(flagged);
            out.y[at] = double(tp) / P;
            out.threshold[at] = s.threshold[k];
        }
    });
    out.x[s.m] = 1;
    out.y[s.m] = 0;
    return out;
}

inline Points det_of(View<std::int64_t> s, int threads) {
    const auto all = stretches(s, threads, [](std::size_t) { return 1u; });
    const std::int64_t positives = all.back().tp;
    const double P = double(positives), N = double(all.back().fp);
    // From the last cut without a false alarm to the first without a miss; cut k flags the k highest scores.
    std::size_t first = 0, last = s.m;
    while (first < s.m && s.neg[first] == 0) ++first;
    while (last > first && s.pos[last - 1] == 0) --last;
    const std::size_t size = last + 1 - first;
    Points out{Buffer<double>(size), Buffer<double>(size), Buffer<double>(size), size};
    const auto put = [&](std::size_t cut, std::int64_t tp, std::int64_t fp) {
        const std::size_t at = last - cut;
        out.x[at] = double(fp) / N;
        out.y[at] = double(positives - tp) / P;
        out.threshold[at] = cut == 0 ? std::numeric_limits<double>::infinity() : s.threshold[cut - 1];
    };
    if (first == 0) put(0, 0, 0);
    each_stretch(all, threads, [&](const Stretch& own) {
        std::int64_t tp = own.tp, fp = own.fp;
        for (std::size_t k = own.first; k < std::min(own.end, last); ++k) {
            tp += s.pos[k];
            fp += s.neg[k];
            if (k + 1 >= first) put(k + 1, tp, fp);
        }
    });
    return out;
}

// What is flagged after each block, and its first threshold: threads add up blocks, then one adds these. Of
// arrays in a file, as many blocks as a thread is at are in memory.
inline void summed_blocks(View<std::int64_t> s, std::size_t size, int threads, double* threshold, std::int64_t* tp,
                          std::int64_t* fp) {
    const std::size_t blocks = (s.m + size - 1) / size, each = 256;
    tp[0] = fp[0] = 0;
    parallel((blocks + each - 1) / each, threads, [&](std::size_t part, int) {
        const std::size_t from = part * each, to = std::min(from + each, blocks);
        for (std::size_t b = from; b < to; ++b) {
            const std::size_t first = b * size, end = std::min(first + size, s.m);
            threshold[b] = s.threshold[first];
            tp[b + 1] = std::accumulate(s.pos + first, s.pos + end, std::int64_t(0));
            fp[b + 1] = std::accumulate(s.neg + first, s.neg + end, std::int64_t(0));
        }
        const std::size_t bytes = 8 * (std::min(to * size, s.m) - from * size);
        for (const void* column : {static_cast<const void*>(s.threshold + from * size),
                                   static_cast<const void*>(s.pos + from * size),
                                   static_cast<const void*>(s.neg + from * size)})
            cutscore::forget(column, bytes);
    });
    std::partial_sum(tp, tp + blocks + 1, tp);
    std::partial_sum(fp, fp + blocks + 1, fp);
}

inline double precision_of(View<std::int64_t> s, std::int64_t tp, std::int64_t fp, double positives, int threads) {
    const auto all = stretches(s, threads, [](std::size_t) { return 1u; });
    std::vector<double> part(all.size());
    each_stretch(all, threads, [&](const Stretch& own) {
        CarefulSum sum;
        std::int64_t hit = tp + own.tp, flagged = hit + fp + own.fp;
        for (std::size_t k = own.first; k < own.end; ++k) {
            flagged += s.pos[k] + s.neg[k];
            if (s.pos[k] == 0) continue;
            hit += s.pos[k];
            sum.add(double(s.pos[k]) / positives * (double(hit) / double(flagged)));
        }
        part[std::size_t(&own - all.data())] = sum.total();
    });
    CarefulSum sum;
    for (const double value : part) sum.add(value);
    return sum.total();
}

}  // namespace CUTSCORE_ISA
