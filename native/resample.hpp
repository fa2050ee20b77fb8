// Bootstrap samples as counts: how often each row is drawn.
//
// n draws among n rows are n independent Poisson counts, given that these add up to n. So counts are
// drawn from a Poisson distribution with a mean a little less than one, sixteen at a time; the draws
// that are still missing then are made one by one. If there are too many already, which a distance of
// five standard deviations makes rare, all is drawn anew. The result is exactly multinomial.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "kernels.hpp"
#include "parallel.hpp"
#include "sums.hpp"

namespace CUTSCORE_ISA {

using namespace cutscore;

// Vectors of the compiler, not of a processor: the same numbers everywhere.
using Words = std::uint64_t __attribute__((vector_size(32)));
using Shorts = std::int16_t __attribute__((vector_size(32)));
using Bytes = std::uint8_t __attribute__((vector_size(16)));

// Blackman and Vigna's xoshiro256++, four independent ones side by side.
class Random {
   public:
    Random(std::uint64_t seed, std::uint64_t stream) {
        // SplitMix64 fills the state from a start that is a hash: starts in a row would make states
        // that are shifts of each other, and streams that repeat.
        std::uint64_t x = mixed(mixed(seed + 0x9e3779b97f4a7c15) + mixed(~stream));
        for (auto& word : state_)
            for (int lane = 0; lane < 4; ++lane) word[lane] = mixed(x += 0x9e3779b97f4a7c15);
    }

    Words operator()() {
        auto& [a, b, c, d] = state_;
        const Words out = rotated(a + d, 23) + a, t = b << 17;
        c ^= a;
        d ^= b;
        b ^= c;
        a ^= d;
        c ^= t;
        d = rotated(d, 45);
        return out;
    }

    std::uint64_t word() {
        if (left_ == 0) {
            kept_ = (*this)();
            left_ = 4;
        }
        return kept_[--left_];
    }

    // A whole number below n, all of them equally likely (Lemire's way).
    std::uint32_t below(std::uint32_t n) {
        std::uint64_t product = (word() >> 32) * n;
        if (std::uint32_t(product) < n) {
            const std::uint32_t unfair = std::uint32_t(-n) % n;
            while (std::uint32_t(product) < unfair) product = (word() >> 32) * n;
        }
        return std::uint32_t(product >> 32);
    }

   private:
    static Words rotated(Words x, int k) { return (x << k) | (x >> (64 - k)); }
    static std::uint64_t mixed(std::uint64_t x) {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
        x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
        return x ^ (x >> 31);
    }

    std::array<Words, 4> state_;
    Words kept_{};
    int left_ = 0;
};

// Draws how often each of n rows is drawn when n of them are.
class Draw {
   public:
    explicit Draw(std::size_t n) : n_(n) {
        const double mean = n < 64 ? 0.0 : 1 - 5 / std::sqrt(double(n));
        double chance = std::exp(-mean), sum = 0;
        for (std::size_t k = 0; k < up_to_.size(); ++k) {
            sum += chance;
            chance *= mean / double(k + 1);
            up_to_[k] = sum < 1 - 0x1p-53 ? std::uint64_t(sum * 0x1p64) : ~std::uint64_t(0);
        }
        few_ = mean == 0.0;
    }

    std::size_t size() const { return (n_ + 15) / 16 * 16; }  // of the counts, which n of them fill

    // Returns a number that no count exceeds.
    std::uint8_t operator()(Random& random, std::uint8_t* counts) const {
        std::size_t sum = 0;
        std::uint8_t largest = 7;
        if (few_)
            std::memset(counts, 0, size());
        else
            while ((sum = poisson(random, counts, largest)) > n_) {}
        for (; sum < n_; ++sum) largest = std::max(largest, ++counts[random.below(std::uint32_t(n_))]);
        return largest;
    }

   private:
    // Sixteen bits tell a count but for one time in eight thousand, when they are the leading bits of
    // a limit; then 48 more are drawn.
    std::size_t poisson(Random& random, std::uint8_t* counts, std::uint8_t& largest) const {
        Shorts limit[7];
        for (int k = 0; k < 7; ++k)
            limit[k] = Shorts{} + std::int16_t(std::uint16_t(up_to_[std::size_t(k)] >> 48) ^ 0x8000);
        std::size_t sum = 0;
        constexpr std::size_t part = 16 * 1024;  // sums of so many counts fit 16 bits, lane by lane
        for (std::size_t start = 0; start < n_; start += part) {
            Shorts sums{};
            for (std::size_t i = start; i < std::min(start + part, n_); i += 16) {
                const auto bits = (Shorts)random();
                Shorts count{}, open = bits == (Shorts{} + std::int16_t(0x7fff));
                for (const auto& least : limit) {
                    count -= bits > least;
                    open |= bits == least;
                }
                const auto any = (Words)open;
                if (any[0] | any[1] | any[2] | any[3]) [[unlikely]]
                    for (int lane = 0; lane < 16; ++lane)
                        if (open[lane]) {
                            count[lane] = exact(bits[lane], random);
                            largest = std::max(largest, std::uint8_t(count[lane]));
                        }
                sums += count;
                const Bytes narrow = __builtin_convertvector(count, Bytes);
                std::memcpy(counts + i, &narrow, 16);
            }
            for (int lane = 0; lane < 16; ++lane) sum += std::uint16_t(sums[lane]);
        }
        for (std::size_t i = n_; i < size(); ++i) {  // there are no such rows
            sum -= counts[i];
            counts[i] = 0;
        }
        return sum;
    }

    std::uint8_t exact(std::int16_t bits, Random& random) const {
        const std::uint64_t x = std::uint64_t(std::uint16_t(bits) ^ 0x8000) << 48 | random.word() >> 16;
        std::uint8_t count = 0;
        for (const auto limit : up_to_) count = std::uint8_t(count + (x >= limit));
        return count;
    }

    std::size_t n_;
    std::array<std::uint64_t, 20> up_to_;  // chances of at most k, times 2^64
    bool few_;
};

// sums[i]: all counts before the i-th. There is room for `size` counts, a multiple of 16, and one more.
inline void prefix_sums(const std::uint8_t* counts, std::size_t size, std::uint8_t largest,
                        std::uint32_t* sums) {
    using Eight = std::uint32_t __attribute__((vector_size(32)));
    std::uint32_t sum = 0;
    if (largest > 15) {  // sixteen of them may not fit a byte; this hardly ever happens
        for (std::size_t i = 0; i < size; ++i) {
            sums[i] = sum;
            sum += counts[i];
        }
    } else {
        const Bytes none{};
        for (std::size_t i = 0; i < size; i += 16) {
            Bytes x;
            std::memcpy(&x, counts + i, 16);
            x += __builtin_shufflevector(none, x, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
            x += __builtin_shufflevector(none, x, 0, 1, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29);
            x += __builtin_shufflevector(none, x, 0, 1, 2, 3, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27);
            x += __builtin_shufflevector(none, x, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
            const auto wide = __builtin_convertvector(x, Shorts);
            const auto left = __builtin_shufflevector(wide, wide, 0, 1, 2, 3, 4, 5, 6, 7);
            const auto right = __builtin_shufflevector(wide, wide, 8, 9, 10, 11, 12, 13, 14, 15);
            const Eight a = __builtin_convertvector(left, Eight) + sum;
            const Eight b = __builtin_convertvector(right, Eight) + sum;
            sums[i] = sum;
            std::memcpy(sums + i + 1, &a, sizeof a);
            std::memcpy(sums + i + 9, &b, sizeof b);
            sum += x[15];
        }
    }
    sums[size] = sum;
}

inline std::size_t total(const std::int64_t* mass, std::size_t m) {
    std::size_t n = 0;
    for (std::size_t k = 0; k < m; ++k) n += std::size_t(mass[k]);
    return n;
}

inline void resampled(const std::int64_t* mass, std::size_t m, std::uint64_t seed, std::uint64_t stream,
                      std::int64_t* out) {
    const Draw draw(total(mass, m));
    Buffer<std::uint8_t> counts(draw.size());
    Random random(seed, stream);
    const auto largest = draw(random, counts.data());
    // Entries of one row or two, at random: a loop over the rows of each would mispredict its end.
    Buffer<std::uint32_t> sums(draw.size() + 1);
    prefix_sums(counts.data(), draw.size(), largest, sums.data());
    const std::uint32_t* next = sums.data();
    for (std::size_t k = 0; k < m; ++k) {
        const std::uint32_t before = *next;
        out[k] = *(next += mass[k]) - before;
    }
}

inline void resampled_areas(View<std::int64_t> s, std::uint64_t seed, int threads, std::size_t first,
                            std::size_t n, double* areas) {
    const std::size_t P = total(s.pos, s.m), N = total(s.neg, s.m);
    const bool rare_pos = P <= N;
    const std::size_t rare = rare_pos ? P : N, common = rare_pos ? N : P;

    // For each row of the rarer class, how many of the other are above it, without and with those level.
    Buffer<std::uint32_t> above(rare), level(rare);
    const auto *a = rare_pos ? s.pos : s.neg, *b = rare_pos ? s.neg : s.pos;
    std::uint32_t so_far = 0;
    bool tied = false;
    for (std::size_t k = 0, i = 0; k < s.m; ++k) {
        tied = tied || (a[k] > 0 && b[k] > 0);
        const auto with = so_far + std::uint32_t(b[k]);
        for (auto left = a[k]; left > 0; --left, ++i) {
            above[i] = so_far;
            level[i] = with;
        }
        so_far = with;
    }

    const Draw draw_rare(rare), draw_common(common);
    struct Scratch {
        Buffer<std::uint8_t> rare, common;
        Buffer<std::uint32_t> sums;
    };
    const auto workers = std::size_t(std::max(threads, 1));
    const auto scratch = std::make_unique<Scratch[]>(workers);
    parallel(n, threads, [&](std::size_t part, int worker) {
        const std::size_t replicate = first + part;
        auto& [of_rare, of_common, sums] = scratch[std::size_t(worker)];
        of_rare.reserve(draw_rare.size());
        of_common.reserve(draw_common.size());
        sums.reserve(draw_common.size() + 1);
        Random random_rare(seed, 2 * replicate + !rare_pos), random_common(seed, 2 * replicate + rare_pos);
        const auto largest = draw_common(random_common, of_common.data());
        draw_rare(random_rare, of_rare.data());
        prefix_sums(of_common.data(), draw_common.size(), largest, sums.data());
        std::uint64_t twice = 0;
        if (tied) {
            for (std::size_t i = 0; i < rare; ++i)
                twice += std::uint64_t(of_rare[i]) * (std::uint64_t(sums[above[i]]) + sums[level[i]]);
        } else {
            for (std::size_t i = 0; i < rare; ++i) twice += std::uint64_t(of_rare[i]) * sums[above[i]];
            twice *= 2;
        }
        const auto all = 2 * std::uint64_t(P) * N;
        areas[part] = double(rare_pos ? all - twice : twice) / double(all);
    });
}

inline void resampled_precisions(View<std::int64_t> s, std::uint64_t seed, int threads, std::size_t first,
                                 std::size_t n, double* values) {
    const std::size_t P = total(s.pos, s.m), N = total(s.neg, s.m);
    // Each score that has positives: how many, and how many negatives are at it or above.
    std::vector<std::uint32_t> here, level;
    std::uint32_t so_far = 0;
    for (std::size_t k = 0; k < s.m; ++k) {
        so_far += std::uint32_t(s.neg[k]);
        if (s.pos[k] == 0) continue;
        here.push_back(std::uint32_t(s.pos[k]));
        level.push_back(so_far);
    }
    const Draw draw_pos(P), draw_neg(N);
    struct Scratch {
        Buffer<std::uint8_t> pos, neg;
        Buffer<std::uint32_t> sums;
    };
    const auto scratch = std::make_unique<Scratch[]>(std::size_t(std::max(threads, 1)));
    parallel(n, threads, [&](std::size_t part, int worker) {
        const std::size_t replicate = first + part;
        auto& [of_pos, of_neg, sums] = scratch[std::size_t(worker)];
        of_pos.reserve(draw_pos.size());
        of_neg.reserve(draw_neg.size());
        sums.reserve(draw_neg.size() + 1);
        Random random_pos(seed, 2 * replicate), random_neg(seed, 2 * replicate + 1);
        draw_pos(random_pos, of_pos.data());
        const auto largest = draw_neg(random_neg, of_neg.data());
        prefix_sums(of_neg.data(), draw_neg.size(), largest, sums.data());
        CarefulSum sum;
        std::uint64_t tp = 0;
        const std::uint8_t* row = of_pos.data();
        for (std::size_t i = 0; i < here.size(); ++i) {
            std::uint32_t drawn = 0;
            for (const auto* const end = row + here[i]; row != end; ++row) drawn += *row;
            if (drawn == 0) continue;
            tp += drawn;
            sum.add(double(drawn) / double(P) * (double(tp) / double(tp + sums[level[i]])));
        }
        values[part] = std::min(1.0, sum.total());
    });
}

}  // namespace CUTSCORE_ISA
