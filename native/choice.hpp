// What a cut is worth on rows it was not chosen on: choices on folds, and on bootstrap samples of these.
//
// Rows are counted: pos[i] and neg[i] of them have the i-th score from above. Each row has a fold, by a
// shuffle within its class. A cut is chosen on the rows of all other folds and judged on those of its own;
// sums over the folds are what a choice on (almost) so many rows does on new ones. In a bootstrap sample
// the copies of a row are in one fold, or a cut would be judged on rows it was chosen on.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "kernels.hpp"
#include "parallel.hpp"
#include "resample.hpp"

namespace CUTSCORE_ISA {

using cutscore::Aim;
using cutscore::Choices;
using cutscore::Ratio;

// The value of a ratio where the share u of the positives and v of the negatives is flagged.
inline double value_of(const Ratio& r, double u, double v, double share) {
    const double p = r.prior < 0 ? share : r.prior, n = 1 - p;
    const double x[4] = {p * u, n * v, p * (1 - u), n * (1 - v)};
    double up = 0, down = 0;
    for (int k = 0; k < 4; ++k) {
        up += r.num[k] * x[k];
        down += r.den[k] * x[k];
    }
    return down != 0 ? up / down : std::numeric_limits<double>::quiet_NaN();
}

// How far a value is on the wrong side of its bound, as a share of the bound.
inline double shortfall(const Ratio& r, double value) {
    const double scale = r.bound != 0 ? std::abs(r.bound) : 1.0;
    const double short_by = (r.at_least ? r.bound - value : value - r.bound) / scale;
    return value != value ? std::numeric_limits<double>::infinity() : std::max(short_by, 0.0);
}

// Masses of the scores from above, of some rows.
struct Counts {
    const double *pos, *neg;
    double P, N;
};

// The best cut of some rows, as the number of scores of all rows that it flags: all down to the middle
// between the lowest score that is flagged among these rows and the next one among them.
inline std::size_t chosen(const Aim& aim, const Choices& c, const Counts& rows, double in_pos, double in_neg) {
    const double P = rows.P * in_pos, N = rows.N * in_neg, share = P / (P + N);
    double tp = 0, fp = 0, best = -std::numeric_limits<double>::infinity();
    double least = std::numeric_limits<double>::infinity();
    std::size_t cut = 0, last = c.m, after = c.m;  // last: the lowest score that is flagged
    const auto look = [&](std::size_t at) {
        const double u = rows.P > 0 ? tp / rows.P : 0, v = rows.N > 0 ? fp / rows.N : 0;
        double worst = 0;
        for (std::size_t k = 0; k < aim.limits; ++k)
            worst = std::max(worst, shortfall(aim.limit[k], value_of(aim.limit[k], u, v, share)));
        const double value = aim.sign * value_of(aim.goal, u, v, share);
        // Of equally good cuts the first; rounding must not make one of them better.
        constexpr double slack = 1e-12;
        if (worst < least - slack || (worst <= least + slack && value > best + slack * (1 + std::abs(value))) ||
            at == c.m) {
            best = value == value ? value : -std::numeric_limits<double>::infinity();
            least = worst;
            last = at;
            return true;
        }
        return false;
    };
    bool open = look(c.m);  // flags nothing; open: the next score of these rows is still to come
    for (std::size_t i = 0; i < c.m; ++i) {
        if (rows.pos[i] == 0 && rows.neg[i] == 0) continue;
        if (open) after = i;
        tp += rows.pos[i];
        fp += rows.neg[i];
        open = look(i);
        if (open) after = c.m;
    }
    if (last == c.m) return 0;
    if (after == c.m) return c.m;
    const double middle = c.threshold[last] / 2 + c.top[after] / 2;
    for (cut = last + 1; cut < after && c.threshold[cut] >= middle; ++cut) {}
    return cut;
}

// The fold of each row of a class: as many rows in each, but for one.
inline void shuffled_folds(Random& random, std::size_t rows, std::uint32_t folds, std::uint8_t* out) {
    for (std::size_t i = 0; i < rows; ++i) out[i] = std::uint8_t(i % folds);
    for (std::size_t i = rows; i > 1; --i) std::swap(out[i - 1], out[random.below(std::uint32_t(i))]);
}

// Room for one sample: masses of each fold, of all, and of all but one.
struct Sample {
    explicit Sample(std::size_t m, std::size_t folds)
        : m(m), folds(folds), of_fold(2 * m * folds), all(2 * m), rest(2 * m) {}

    // Rows of class k, in the order of scores: their folds, and how often each is drawn if that is given.
    void fill(int k, const std::int64_t* mass, const std::uint8_t* fold, const std::uint8_t* drawn) {
        double* const to = of_fold.data() + std::size_t(k) * m * folds;
        std::fill_n(to, m * folds, 0.0);
        std::size_t row = 0;
        for (std::size_t i = 0; i < m; ++i)
            for (auto left = mass[i]; left > 0; --left, ++row) to[fold[row] * m + i] += drawn ? drawn[row] : 1;
        double* const sum = all.data() + std::size_t(k) * m;
        std::fill_n(sum, m, 0.0);
        for (std::size_t f = 0; f < folds; ++f)
            for (std::size_t i = 0; i < m; ++i) sum[i] += to[f * m + i];
    }

    // Flagged positives and negatives of all folds, each by the cut of the others.
    void judge(const Aim& aim, const Choices& c, double in_pos, double in_neg, double* tp, double* fp) {
        *tp = *fp = 0;
        for (std::size_t f = 0; f < folds; ++f) {
            const double* own[2] = {of_fold.data() + f * m, of_fold.data() + (folds + f) * m};
            double total[2] = {};
            for (int k = 0; k < 2; ++k) {
                double* const to = rest.data() + std::size_t(k) * m;
                const double* const from = all.data() + std::size_t(k) * m;
                for (std::size_t i = 0; i < m; ++i) total[k] += to[i] = from[i] - own[k][i];
            }
            const std::size_t cut =
                chosen(aim, c, {rest.data(), rest.data() + m, total[0], total[1]}, in_pos, in_neg);
            for (std::size_t i = 0; i < cut; ++i) {
                *tp += own[0][i];
                *fp += own[1][i];
            }
        }
    }

    std::size_t m, folds;
    cutscore::Buffer<double> of_fold, all, rest;
};

inline void cross_fitted(const Aim& aim, const Choices& c, std::uint64_t seed, int threads) {
    const std::size_t P = total(c.pos, c.m), N = total(c.neg, c.m), folds = c.folds;
    const auto workers = std::size_t(std::max(threads, 1));
    cutscore::Buffer<std::uint8_t> fold(c.repeats * (P + N));
    for (std::size_t r = 0; r < c.repeats; ++r) {
        Random random(seed, 2 * r);
        shuffled_folds(random, P, std::uint32_t(folds), fold.data() + r * (P + N));
        shuffled_folds(random, N, std::uint32_t(folds), fold.data() + r * (P + N) + P);
    }
    const Draw draw_pos(P), draw_neg(N);
    struct Scratch {
        std::unique_ptr<Sample> sample;
        cutscore::Buffer<std::uint8_t> pos, neg;
    };
    const auto scratch = std::make_unique<Scratch[]>(workers);
    parallel(c.repeats + c.samples, threads, [&](std::size_t part, int worker) {
        auto& [sample, pos, neg] = scratch[std::size_t(worker)];
        if (!sample) {
            sample = std::make_unique<Sample>(c.m, folds);
            pos.reserve(draw_pos.size());
            neg.reserve(draw_neg.size());
        }
        const bool resampled = part >= c.repeats;
        const std::size_t b = part - c.repeats;
        const auto* const of_row = fold.data() + (resampled ? b % c.repeats : part) * (P + N);
        if (resampled) {
            Random random(seed, 2 * b + 1);
            draw_pos(random, pos.data());
            draw_neg(random, neg.data());
        }
        sample->fill(0, c.pos, of_row, resampled ? pos.data() : nullptr);
        sample->fill(1, c.neg, of_row + P, resampled ? neg.data() : nullptr);
        if (!resampled) return sample->judge(aim, c, 1, 1, c.tp + part, c.fp + part);
        const double in_pos = c.in_pos[b], in_neg = c.in_neg[b];
        sample->judge(aim, c, in_pos, in_neg, c.sample_tp + b, c.sample_fp + b);
        const Counts all{sample->all.data(), sample->all.data() + c.m, double(P), double(N)};
        const std::size_t cut = chosen(aim, c, all, in_pos, in_neg);
        double tp = 0, fp = 0;
        for (std::size_t i = 0; i < cut; ++i) {
            tp += double(c.pos[i]);
            fp += double(c.neg[i]);
        }
        c.here_tp[b] = tp;
        c.here_fp[b] = fp;
    });
}

}  // namespace CUTSCORE_ISA
