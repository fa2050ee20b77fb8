// The logistic loss of a line over a table, its derivatives and theirs by the bias, in one pass.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "linear.hpp"

namespace CUTSCORE_ISA {

// Σ c[i] xⁱ, even and odd powers apart, so that fewer steps wait for the one before.
template <std::size_t m>
CUTSCORE_INLINE Eight polynomial(Eight x, const double (&c)[m]) noexcept {
    static_assert(m % 2 == 0);
    const Eight y = x * x;
    Eight even = all_eight(c[m - 2]), odd = all_eight(c[m - 1]);
#pragma GCC unroll 16
    for (std::size_t i = m - 2; i >= 2; i -= 2) {
        even = even * y + all_eight(c[i - 2]);
        odd = odd * y + all_eight(c[i - 1]);
    }
    return even + x * odd;
}

// exp(-|z|), but no less than is still a normal number.
CUTSCORE_INLINE Eight shrunk(Eight z) noexcept {
    // Of (exp(r) - 1 - r)/r², by interpolation at Chebyshev's nodes; 2e-17 is left out.
    static constexpr double rest[] = {
        0x1.0000000000001p-1,  0x1.5555555555556p-3,  0x1.5555555553d63p-5,  0x1.11111111109b3p-7,
        0x1.6c16c1788bd90p-10, 0x1.a01a01a7c41d5p-13, 0x1.a019b90d2ae7ap-16, 0x1.71de0dae63bb3p-19,
        0x1.289185613a3d6p-22, 0x1.af38a9b0ec855p-26};
    // 2^k exp(r), |r| <= ln 2 / 2; ln 2 in two parts, the first so short that its product is exact.
    constexpr double shift = 0x1.8p52;
    const Eight size = at_most(magnitude(z), 708);
    const Eight shifted = all_eight(shift) - size * 0x1.71547652b82fep+0;
    const Eight k = shifted - all_eight(shift);
    const Eight r = (all_eight(0) - size - k * 0x1.62e42fefp-1) - k * 0x1.473de6af278edp-34;
    return (all_eight(1) + (r + r * r * polynomial(r, rest))) * power_of_two(shifted);
}

// Of z, the score against a row's class, and e = exp(-|z|): ln(1 + exp(z)), its derivative and its second
// one, within a few units of the last place.
struct Losses {
    Eight loss, first, second;
};
CUTSCORE_INLINE Losses losses(Eight z, Eight e) noexcept {
    // Of (atanh(s)/s - 1)/s², in the same way.
    static constexpr double rest[] = {
        0x1.5555555555555p-2, 0x1.9999999999a38p-3, 0x1.2492492476c87p-3, 0x1.c71c720160b47p-4,
        0x1.745cf901605f7p-4, 0x1.3b1c360763b8ap-4, 0x1.0fbe83c2cbcf3p-4, 0x1.0c04595972ab8p-4};
    // ln(1 + e) = 2 atanh(e/(e + 2)), or ln 2 + 2 atanh((e - 1)/(e + 3)) where that is closer to 0.
    const Eight half = if_above(e, 0x1.a827999fcef32p-2, all_eight(1), all_eight(0));
    const Eight below = e + all_eight(2) + half, one = e + all_eight(1);
    const Eight both = all_eight(1) / (one * below);  // one division for two
    const Eight s = (e - half) * one * both, t = s * s;
    const Eight log = half * 0x1.62e42fefa39efp-1 + ((s + s) + (s + s) * (t * polynomial(t, rest)));
    const Eight share = below * both;  // 1/(1 + e)
    return {if_above(z, 0, z, all_eight(0)) + log, if_above(z, 0, all_eight(1), e) * share, e * share * share};
}

// Adds rows times coefficients to `sums` sums at once, each in whole eights; some rows at a time, so that
// the sums are loaded and stored once for all of them.
template <int sums, class S>
void add_rows(const Dense<S>& x, std::int64_t from, std::int64_t to, const double* const (&c)[sums],
              double* const (&sum)[sums]) noexcept {
    constexpr int rows = 8 / sums;
    std::int64_t i = from;
    for (; i + rows <= to; i += rows) {
        const S* p[rows];
        Eight by[sums][rows];
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) {
            p[r] = x.row(i + r);
#pragma GCC unroll 2
            for (int j = 0; j < sums; ++j) by[j][r] = all_eight(c[j][i - from + r]);
        }
        const auto add = [&](std::int64_t k, auto&& load) {
            Eight even[sums], odd[sums];
#pragma GCC unroll 4
            for (int r = 0; r < rows; r += 2) {
                const Eight v = load(p[r] + k), u = load(p[r + 1] + k);
#pragma GCC unroll 2
                for (int j = 0; j < sums; ++j) {
                    const Eight a = v * by[j][r], b = u * by[j][r + 1];
                    even[j] = r ? even[j] + a : a;
                    odd[j] = r ? odd[j] + b : b;
                }
            }
#pragma GCC unroll 2
            for (int j = 0; j < sums; ++j) put(sum[j] + k, eight(sum[j] + k) + (even[j] + odd[j]));
        };
        std::int64_t k = 0;
        for (; k + 8 <= x.d; k += 8) add(k, [](const S* v) { return eight(v); });
        if (k < x.d) add(k, [&](const S* v) { return some_eight(v, x.d - k); });
    }
    for (; i < to; ++i)
        for (int j = 0; j < sums; ++j) x.add_to(sum[j], i, c[j][i - from]);
}
template <int sums, class S, class I>
void add_rows(const Sparse<S, I>& x, std::int64_t from, std::int64_t to, const double* const (&c)[sums],
              double* const (&sum)[sums]) noexcept {
    for (std::int64_t i = from; i < to; ++i)
        for (int j = 0; j < sums; ++j) x.add_to(sum[j], i, c[j][i - from]);
}

// Pieces of rows that stay in the first-level cache between their scores and their sums.
template <int sums, class X>
void lost(const X& x, const bool* positive, const double* weight, const double* line, double b,
          double* out) {
    static constexpr double sign[] = {1, -1};
    constexpr std::int64_t most = 256;
    const std::int64_t d = x.d;
    const std::int64_t size =
        X::wants_fours ? std::clamp<std::int64_t>(4096 / std::max<std::int64_t>(d, 1) / 8 * 8, 8, most) : most;
    const Weights w(line, d);
    // The line itself is of no use as a start, but of the right length.
    const Weights g(line, d), h(line, sums > 1 ? d : 0);
    std::fill_n(g.data(), d, 0.0);
    if constexpr (sums > 1) std::fill_n(h.data(), d, 0.0);
    Eight loss = all_eight(0), g_b = all_eight(0), h_b = all_eight(0);
    alignas(64) double z[most], e[most], side[most], mass[most], curved[most];
    std::fill_n(mass, most, 1.0);
    for (std::int64_t from = 0; from < x.n; from += size) {
        const std::int64_t to = std::min(x.n, from + size), count = to - from;
        std::int64_t i = 0;
        for (; i + 4 <= count; i += 4) {
            double score[4];
            x.dot_four(from + i, w.data(), score);
            for (int j = 0; j < 4; ++j) {
                side[i + j] = sign[positive[from + i + j]];
                z[i + j] = side[i + j] * (score[j] + b);
            }
        }
        for (; i < count; ++i) {
            side[i] = sign[positive[from + i]];
            z[i] = side[i] * (x.dot(from + i, w.data()) + b);
        }
        std::int64_t padded = count;
        if (weight) std::copy_n(weight + from, count, mass);
        for (; padded % 8; ++padded) z[padded] = side[padded] = mass[padded] = 0;  // after the last row
        // Two loops: their steps wait for each other less than those of one.
        for (i = 0; i < padded; i += 8) put(e + i, shrunk(eight(z + i)));
        for (i = 0; i < padded; i += 8) {
            const Losses l = losses(eight(z + i), eight(e + i));
            const Eight m = eight(mass + i), p = l.first * (m * eight(side + i));
            loss += l.loss * m;
            g_b += p;
            put(z + i, p);
            if constexpr (sums > 1) {
                const Eight q = l.second * m;
                h_b += q;
                put(curved + i, q);
            }
        }
        if constexpr (sums > 1)
            add_rows<2>(x, from, to, {z, curved}, {g.data(), h.data()});
        else
            add_rows<1>(x, from, to, {z}, {g.data()});
    }
    out[0] = across(loss);
    g.copy_to(out + 1);
    out[d + 1] = across(g_b);
    if constexpr (sums > 1) {
        h.copy_to(out + d + 2);
        out[2 * d + 2] = across(h_b);
    }
}

}  // namespace CUTSCORE_ISA
