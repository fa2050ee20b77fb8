// The kernels for one instruction set: compiled once for each, into a namespace of its own.
#ifndef CUTSCORE_ISA
#error "set CUTSCORE_ISA to the namespace of this build"
#endif

#include "binning.hpp"
#include "counting.hpp"
#include "exact.hpp"
#include "groups.hpp"
#include "lookup.hpp"
#include "paired.hpp"
#include "points.hpp"
#include "rank.hpp"
#include "choice.hpp"
#include "resample.hpp"
#include "stream.hpp"

namespace CUTSCORE_ISA {

template <class Run>
auto by_score(const Rows& rows, Run&& run) {
    return rows.score.kind == Kind::f32 ? run(float{}) : run(double{});
}

Area area(const Rows& rows) {
    return by_score(rows, [&]<class S>(S) {
        if (const auto m = counted<S>(rows)) {
            Area a;
            for (std::size_t i = 0; i < m->pos.size(); ++i) {
                a.pos += std::uint64_t(m->pos[i]);
                a.neg += std::uint64_t(m->neg[i]);
            }
            a.twice = cutscore::twice_area(m->pos.data(), m->neg.data(), m->pos.size());
            return a;
        }
        if (rows.n >= 4096)
            if (const auto a = rank_area<S>(rows)) return *a;
        return exact_area<S, Bare<typename Keys<S>::Key>>(rows);
    });
}

WeightedArea weighted_area(const Rows& rows) {
    return by_score(rows, [&]<class S>(S) {
        if (rows.n >= 4096)
            if (const auto a = weighted_rank_area<S>(rows)) return *a;
        return exact_area<S, Heavy<typename Keys<S>::Key>>(rows);
    });
}

Masses<std::int64_t> sweep(const Rows& rows, std::size_t block) {
    return by_score(rows, [&]<class S>(S) {
        if (auto m = counted<S>(rows)) {
            const View<std::int64_t> entries{m->threshold.data(), m->pos.data(), m->neg.data(), m->pos.size()};
            if (block > 0) m->blocks = summed_blocks(entries, block, 1);
            return std::move(*m);
        }
        return exact_sweep<S, Bare<typename Keys<S>::Key>>(rows, block);
    });
}

Masses<double> weighted_sweep(const Rows& rows) {
    return by_score(
        rows, [&]<class S>(S) { return exact_sweep<S, Heavy<typename Keys<S>::Key>>(rows); });
}

Masses<std::int64_t> compact_sweep(const Rows& rows) {
    return by_score(
        rows, [&]<class S>(S) { return CUTSCORE_ISA::compact_sweep<S, Bare<typename Keys<S>::Key>>(rows); });
}

Masses<double> weighted_compact_sweep(const Rows& rows) {
    return by_score(
        rows, [&]<class S>(S) { return CUTSCORE_ISA::compact_sweep<S, Heavy<typename Keys<S>::Key>>(rows); });
}

std::unique_ptr<StreamOf<std::int64_t>> stream(const StreamPlan& plan) {
    if (plan.score == Kind::f32) return std::make_unique<Stream<float, Bare<std::uint32_t>>>(plan);
    return std::make_unique<Stream<double, Bare<std::uint64_t>>>(plan);
}

std::unique_ptr<StreamOf<double>> weighted_stream(const StreamPlan& plan) {
    if (plan.score == Kind::f32) return std::make_unique<Stream<float, Heavy<std::uint32_t>>>(plan);
    return std::make_unique<Stream<double, Heavy<std::uint64_t>>>(plan);
}

void bin(const Rows& rows, int bits, std::int64_t* pos, std::int64_t* neg) {
    by_score(rows, [&]<class S>(S) { add_to_bins<S>(rows, bits, pos, neg); });
}

void weighted_bin(const Rows& rows, int bits, double* pos, double* neg) {
    by_score(rows, [&]<class S>(S) { add_to_bins<S>(rows, bits, pos, neg); });
}

void group_areas(const Rows& rows, const std::int64_t* group, std::size_t groups, std::int64_t* pos,
                 std::int64_t* neg, double* area) {
    by_score(rows, [&]<class S>(S) { areas_of_groups<S>(rows, group, groups, pos, neg, area); });
}

void weighted_placements(const Rows& rows, double* out) {
    by_score(rows, [&]<class S>(S) { placed<S, double>(rows, out); });
}

std::uint64_t placement_sums(const Rows* rows, std::size_t k, bool wide, Wide* out) {
    return wide ? multiplied<std::uint64_t, Wide>(rows, k, out)
                : multiplied<std::uint32_t, std::uint64_t>(rows, k, out);
}

// curve(entries) of rows, whatever the type of their scores.
template <class Curve>
auto by_entries(const Rows& rows, Curve&& curve) {
    return by_score(rows, [&]<class S>(S) { return curve_of_rows<S>(rows, curve); });
}

Points roc_curve(const Rows& rows, bool corners_only) {
    return by_entries(rows, [&](const auto& e) { return roc_of(e, corners_only, rows.threads); });
}

Points precision_recall_curve(const Rows& rows) {
    return by_entries(rows, [&](const auto& e) { return precision_recall_of(e, rows.threads); });
}

Points det_curve(const Rows& rows) {
    return by_entries(rows, [&](const auto& e) { return det_of(e, rows.threads); });
}

double average_precision(const Rows& rows) {
    return by_entries(rows, [&](const auto& e) { return precision_of(e, 0, 0, 0, rows.threads); });
}

cutscore::Blocks<std::int64_t> block_sums(View<std::int64_t> s, std::size_t size, int threads) {
    return summed_blocks(s, size, threads);
}

double average_precision(View<std::int64_t> s, std::int64_t tp, std::int64_t fp, double positives, int threads) {
    return precision_of(EntriesOfSweep(s), tp, fp, positives, threads);
}

void look_up(const double* table, std::size_t m, const double* x, std::size_t n, bool level, int threads,
             std::int64_t* out) {
    if (level)
        looked_up<true>(table, m, x, n, threads, out);
    else
        looked_up<false>(table, m, x, n, threads, out);
}

void resample(const std::int64_t* mass, std::size_t m, std::uint64_t seed, std::uint64_t stream,
              std::int64_t* out) {
    resampled(mass, m, seed, stream, out);
}

void bootstrap_area(View<std::int64_t> s, std::uint64_t seed, int threads, std::size_t first,
                    std::size_t n, double* areas) {
    resampled_areas(s, seed, threads, first, n, areas);
}

void bootstrap_precision(View<std::int64_t> s, std::uint64_t seed, int threads, std::size_t first,
                         std::size_t n, double* values) {
    resampled_precisions(s, seed, threads, first, n, values);
}

void cross_fit(const Aim& aim, const Choices& c, std::uint64_t seed, int threads) {
    cross_fitted(aim, c, seed, threads);
}

}  // namespace CUTSCORE_ISA
