// What a cut is worth on rows it was not chosen on: choices on folds, and on bootstrap samples of these.
//
// Each row has a fold, by a shuffle within its class. A cut is chosen on the rows of all other folds and
// judged on those of its own, as a choice on (almost) so many rows is on new ones. In a bootstrap sample the copies of a row are in one fold, or a cut would be judged on rows it was
// chosen on. Rows of one unit stay together. Of several scores, each choice takes the best one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numbers>
#include <vector>

#include "kernels.hpp"
#include "parallel.hpp"
#include "resample.hpp"

namespace CUTSCORE_ISA {

using cutscore::Aim;
using cutscore::Choices;
using cutscore::Ratio;
using cutscore::Scored;

constexpr double infinite = std::numeric_limits<double>::infinity();

// Where tp of P positives and fp of N negatives are flagged, of which the share `share` is positive.
struct Flagged {
    double tp, fp, P, N, share;
};

// The value of a measure.
inline double value_of(const Ratio& r, const Flagged& c) {
    const double u = c.P > 0 ? c.tp / c.P : 0, v = c.N > 0 ? c.fp / c.N : 0;
    const double p = r.prior < 0 ? c.share : r.prior, n = 1 - p;
    const double x[4] = {p * u, n * v, p * (1 - u), n * (1 - v)};
    double up = 0, down = 0;
    if (r.form == Ratio::matthews) {
        up = x[0] * x[3] - x[1] * x[2];
        down = std::sqrt(p * n * (x[0] + x[1]) * (x[2] + x[3]));
    } else {
        for (int k = 0; k < 4; ++k) {
            up += r.num[k] * x[k];
            down += r.den[k] * x[k];
        }
        if (r.form == Ratio::lift) down *= p;
    }
    return down != 0 ? up / down : std::numeric_limits<double>::quiet_NaN();
}

// How far a limit is from holding, as a share of its bound.
inline double shortfall(const Ratio& r, const Flagged& c) {
    if (r.allowed == nullptr) {
        const double value = value_of(r, c), scale = r.bound != 0 ? std::abs(r.bound) : 1.0;
        const double short_by = (r.at_least ? r.bound - value : value - r.bound) / scale;
        return value != value ? infinite : std::max(short_by, 0.0);
    }
    // With a confidence: so many rows may be wrong, of so many; if none may, none may be touched.
    const double x[4] = {c.tp, c.fp, c.P - c.tp, c.N - c.fp};
    double wrong = 0, rows = 0, touched = 0;
    for (int k = 0; k < 4; ++k) {
        wrong += r.num[k] * x[k];
        rows += r.den[k] * x[k];
        touched += (r.num[k] > 0 || r.num[k ^ 1] > 0) * x[k];
    }
    const double at = std::clamp(rows * r.step, 0.0, double(r.size - 1));
    const auto k = std::size_t(at);
    const double next = r.allowed[std::min(k + 1, r.size - 1)];
    const double most = std::floor(r.allowed[k] + (at - double(k)) * (next - r.allowed[k]) + 1e-9);
    return most < 0 ? touched : std::max(wrong - most, 0.0) / std::max(r.bound * rows, 1.0);
}

// Masses of the scores from above, of some rows.
struct Counts {
    const double *pos, *neg;
    double P, N;
};

// A cut, as the number of scores of all rows that it flags; how far its limits are from holding, and its
// value, of which more is better.
struct Cut {
    std::size_t cut;
    double worst, value;

    bool operator<(const Cut& other) const {
        const bool holds = worst <= 0, holds_there = other.worst <= 0;
        return holds != holds_there ? holds_there : value < other.value;
    }
};

// The best cut of some rows: all down to the middle between the lowest score that is flagged among these
// rows and the next one among them.
inline Cut chosen(const Aim& aim, const Scored& s, const Counts& rows, double in_pos, double in_neg) {
    const double P = rows.P * in_pos, N = rows.N * in_neg;
    Flagged flagged{0, 0, rows.P, rows.N, P / (P + N)};
    double best = -infinite, least = infinite;
    std::size_t last = s.m, after = s.m;  // last: the lowest score that is flagged
    const auto look = [&](std::size_t at) {
        double worst = 0;
        for (std::size_t k = 0; k < aim.limits; ++k) worst = std::max(worst, shortfall(aim.limit[k], flagged));
        const double value = aim.sign * value_of(aim.goal, flagged);
        // Of equally good cuts the first; rounding must not make one of them better.
        constexpr double slack = 1e-12;
        if (worst < least - slack || (worst <= least + slack && value > best + slack * (1 + std::abs(value))) ||
            at == s.m) {
            best = value == value ? value : -infinite;
            least = worst;
            last = at;
            return true;
        }
        return false;
    };
    // Flags nothing, which no threshold does where scores are infinite; open: the next score of these rows
    // is still to come.
    bool open = s.m > 0 && s.top[0] == infinite ? false : look(s.m);
    for (std::size_t i = 0; i < s.m; ++i) {
        if (rows.pos[i] == 0 && rows.neg[i] == 0) continue;
        if (open) after = i;
        flagged.tp += rows.pos[i];
        flagged.fp += rows.neg[i];
        open = look(i);
        if (open) after = s.m;
    }
    if (last == s.m) return {0, least, best};
    if (after == s.m) return {s.m, least, best};
    const double middle = s.threshold[last] / 2 + s.top[after] / 2;
    std::size_t cut = last + 1;
    while (cut < after && s.threshold[cut] >= middle) ++cut;
    return {cut, least, best};
}

// A fold for each of n: as many in each, but for one.
inline void shuffled_folds(Random& random, std::size_t n, std::uint32_t folds, std::uint8_t* out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = std::uint8_t(i % folds);
    for (std::size_t i = n; i > 1; --i) std::swap(out[i - 1], out[random.below(std::uint32_t(i))]);
}

// About as many as a Poisson distribution of a large mean draws.
inline double many(Random& random, double mean) {
    const double u = double((random.word() >> 11) + 1) * 0x1p-53, v = double(random.word() >> 11) * 0x1p-53;
    return std::max(mean + std::sqrt(-2 * mean * std::log(u)) * std::cos(2 * std::numbers::pi * v), 0.0);
}

// Room for one sample: for each score, masses of each fold, of all, and of all but one.
class Sample {
   public:
    explicit Sample(const Choices& c) : c_(c) {
        for (std::size_t k = 0; k < c.scores; ++k) {
            const std::size_t m = c.score[k].m;
            of_fold_.emplace_back(2 * m * c.folds);
            all_.emplace_back(2 * m);
            rest_.emplace_back(2 * m);
        }
    }

    // The fold of each item, or unit of items, and how often it is drawn if that is given.
    void fill(const std::uint8_t* fold, const std::uint8_t* drawn, Random& random) {
        for (auto& to : of_fold_) std::fill_n(to.data(), to.size(), 0.0);
        for (std::size_t j = 0; j < c_.items; ++j) {
            const std::size_t at = c_.unit ? std::size_t(c_.unit[j]) : j;
            const double each = c_.weight ? c_.weight[j] : 1;
            if (c_.count && c_.count[j] > 1) {  // many rows of one score: as many in each fold
                const double mean = c_.count[j] / double(c_.folds);
                for (std::size_t f = 0; f < c_.folds; ++f) add(j, f, each * (drawn ? many(random, mean) : mean));
            } else {
                add(j, fold[at], each * (drawn ? drawn[at] : 1));
            }
        }
        P_ = N_ = 0;
        for (std::size_t k = 0; k < c_.scores; ++k) {
            const std::size_t wide = 2 * c_.score[k].m;
            double* const sum = all_[k].data();
            std::fill_n(sum, wide, 0.0);
            for (std::size_t f = 0; f < c_.folds; ++f)
                for (std::size_t i = 0; i < wide; ++i) sum[i] += of_fold_[k].data()[f * wide + i];
        }
        for (std::size_t i = 0; i < c_.score[0].m; ++i) {
            P_ += all_[0].data()[i];
            N_ += all_[0].data()[c_.score[0].m + i];
        }
    }

    double share(double in_pos, double in_neg) const { return P_ * in_pos / (P_ * in_pos + N_ * in_neg); }

    // What the cut of each fold flags, chosen on the others: shares of all positives and of all negatives
    // that are in the fold and flagged, and that are flagged.
    void judge(const Aim& aim, double in_pos, double in_neg, double* out) {
        for (std::size_t f = 0; f < c_.folds; ++f) {
            for (std::size_t k = 0; k < c_.scores; ++k) {
                const std::size_t wide = 2 * c_.score[k].m;
                for (std::size_t i = 0; i < wide; ++i)
                    rest_[k].data()[i] = all_[k].data()[i] - of_fold_[k].data()[f * wide + i];
            }
            const auto [k, cut] = best(aim, rest_, in_pos, in_neg);
            const std::size_t m = c_.score[k].m;
            const double* const own = of_fold_[k].data() + f * 2 * m;
            const double* const every = all_[k].data();
            double sum[4] = {};
            for (std::size_t i = 0; i < cut; ++i) {
                sum[0] += own[i];
                sum[1] += own[m + i];
                sum[2] += every[i];
                sum[3] += every[m + i];
            }
            for (std::size_t j = 0; j < 4; ++j) out[j * c_.folds + f] = sum[j] / (j % 2 ? N_ : P_);
        }
    }

    // The same on other rows, by the cut of these.
    void judge_on(const Sample& rows, const Aim& aim, double in_pos, double in_neg, double* recall, double* fpr) {
        const auto [k, cut] = best(aim, all_, in_pos, in_neg);
        const double* const masses = rows.all_[k].data();
        double tp = 0, fp = 0;
        for (std::size_t i = 0; i < cut; ++i) {
            tp += masses[i];
            fp += masses[c_.score[k].m + i];
        }
        *recall = tp / rows.P_;
        *fpr = fp / rows.N_;
    }

   private:
    void add(std::size_t j, std::size_t f, double mass) {
        for (std::size_t k = 0; k < c_.scores; ++k) {
            const std::size_t m = c_.score[k].m, i = std::size_t(c_.score[k].index[j]);
            of_fold_[k].data()[(2 * f + (j >= c_.positives)) * m + i] += mass;
        }
    }

    // The best score, and its cut; of equally good ones the first.
    std::pair<std::size_t, std::size_t> best(const Aim& aim, const std::vector<cutscore::Buffer<double>>& masses,
                                             double in_pos, double in_neg) const {
        double P = 0, N = 0;
        for (std::size_t i = 0; i < c_.score[0].m; ++i) {
            P += masses[0].data()[i];
            N += masses[0].data()[c_.score[0].m + i];
        }
        std::size_t which = 0;
        Cut found{};
        for (std::size_t k = 0; k < c_.scores; ++k) {
            const double* const from = masses[k].data();
            const Cut cut = chosen(aim, c_.score[k], {from, from + c_.score[k].m, P, N}, in_pos, in_neg);
            if (k == 0 || found < cut) which = k, found = cut;
        }
        return {which, found.cut};
    }

    const Choices& c_;
    std::vector<cutscore::Buffer<double>> of_fold_, all_, rest_;
    double P_ = 0, N_ = 0;
};

inline void cross_fitted(const Aim& aim, const Choices& c, std::uint64_t seed, int threads) {
    // What is drawn: positives and negatives, each for themselves, or units of both. Where many rows are one
    // item, some more are drawn with the others and forgotten, or the number of these would never vary.
    const std::size_t first = c.unit ? c.units : c.positives, second = c.unit ? 0 : c.items - c.positives;
    const auto spare = [&](std::size_t from, std::size_t n) {
        double mass = 0;
        if (c.count)
            for (std::size_t j = from; j < from + n; ++j) mass += c.count[j] > 1 ? c.count[j] : 0;
        return std::size_t(std::min(mass, 3.0 * double(n)));
    };
    const Draw draw_first(first + (c.unit ? 0 : spare(0, first)));
    const Draw draw_second(second + (c.unit ? 0 : spare(c.positives, second)));
    cutscore::Buffer<std::uint8_t> fold(c.repeats * (first + second));
    for (std::size_t r = 0; r < c.repeats; ++r) {
        Random random(seed, 2 * r);
        shuffled_folds(random, first, std::uint32_t(c.folds), fold.data() + r * (first + second));
        shuffled_folds(random, second, std::uint32_t(c.folds), fold.data() + r * (first + second) + first);
    }
    Random none(seed, 0);
    Sample rows(c);
    rows.fill(fold.data(), nullptr, none);
    struct Scratch {
        std::unique_ptr<Sample> sample;
        cutscore::Buffer<std::uint8_t> drawn, more;
    };
    const auto scratch = std::make_unique<Scratch[]>(std::size_t(std::max(threads, 1)));
    parallel(c.repeats + c.samples, threads, [&](std::size_t part, int worker) {
        auto& [sample, drawn, more] = scratch[std::size_t(worker)];
        if (!sample) {
            sample = std::make_unique<Sample>(c);
            drawn.reserve(draw_first.size() + second);
            more.reserve(draw_second.size());
        }
        const bool resampled = part >= c.repeats;
        const std::size_t b = part - c.repeats;
        const auto* const of_item = fold.data() + (resampled ? b % c.repeats : part) * (first + second);
        Random random(seed, 2 * b + 1);
        if (!resampled) {
            sample->fill(of_item, nullptr, random);
            return sample->judge(aim, 1, 1, c.of_repeat + part * 4 * c.folds);
        }
        draw_first(random, drawn.data());
        if (second) {
            draw_second(random, more.data());
            std::copy_n(more.data(), second, drawn.data() + first);
        }
        sample->fill(of_item, drawn.data(), random);
        const double in_pos = c.in_pos[b], in_neg = c.in_neg[b];
        c.sample_share[b] = sample->share(in_pos, in_neg);
        sample->judge(aim, in_pos, in_neg, c.of_sample + b * 4 * c.folds);
        sample->judge_on(rows, aim, in_pos, in_neg, c.here_recall + b, c.here_fpr + b);
    });
}

}  // namespace CUTSCORE_ISA
