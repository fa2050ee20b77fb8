// Sums over a table of features, in double whatever its type: scores w·x, sums of rows, lengths of rows.
// Lanes are part of the definition: column k of a row belongs to lane k mod 8, and the lanes are added
// in one order, so that every build gives the same bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "kernels.hpp"
#include "lanes.hpp"

namespace CUTSCORE_ISA {

using cutscore::Kind;
using cutscore::Table;

// How far before its use memory is asked for, in bytes: the processor's own guesses end with each page. Less
// of long rows, whose pieces fill the first-level cache.
constexpr std::ptrdiff_t ahead(std::int64_t row) noexcept { return row <= 2048 ? 8192 : 2048; }

// w·x of several rows at once: the weights, whole eights of them, are loaded once for all.
template <int rows, class S>
CUTSCORE_INLINE void dots(const S* const (&x)[rows], const double* w, std::int64_t d,
                          double (&out)[rows]) noexcept {
    Eight sum[rows];
    // Told to unroll, the compiler keeps these in registers.
    const auto each = [](auto&& run) {
#pragma GCC unroll 4
        for (int j = 0; j < rows; ++j) run(j);
    };
    each([&](int j) { sum[j] = all_eight(0); });
    const std::ptrdiff_t later = ahead(d * std::int64_t(sizeof(S)));
    std::int64_t k = 0;
    for (; k + 8 <= d; k += 8) {
        const Eight a = eight(w + k);
        each([&](int j) {
            __builtin_prefetch(reinterpret_cast<const char*>(x[j] + k) + later);
            sum[j] += eight(x[j] + k) * a;
        });
    }
    if (k < d) {
        const Eight a = eight(w + k);
        each([&](int j) { sum[j] += some_eight(x[j] + k, d - k) * a; });
    }
    each([&](int j) { out[j] = across(sum[j]); });
}

// Weights as `dot` and `add_to` want them: in whole eights, so that what one of them stores the other can
// load before it has arrived in memory.
class Weights {
   public:
    Weights(const double* w, std::int64_t d) : d_(d), room_((std::size_t(d) / 8 + 1) * 8) {
        std::copy_n(w, d, room_.data());
        std::fill(room_.data() + d, room_.data() + room_.size(), 0.0);
    }
    double* data() const noexcept { return room_.data(); }
    void copy_to(double* out) const noexcept { std::copy_n(room_.data(), d_, out); }

   private:
    std::int64_t d_;
    cutscore::Buffer<double> room_;
};

template <class S>
struct Dense {
    static constexpr bool wants_fours = true;
    const S* x;
    std::int64_t n, d, stride;

    explicit Dense(const Table& t)
        : x(static_cast<const S*>(t.data)), n(t.n), d(t.d), stride(t.stride) {}

    const S* row(std::int64_t i) const noexcept { return x + i * stride; }

    double dot(std::int64_t i, const double* w) const noexcept {
        double out[1];
        dots<1, S>({row(i)}, w, d, out);
        return out[0];
    }
    void dot_four(std::int64_t i, const double* w, double (&out)[4]) const noexcept {
        dots<4, S>({row(i), row(i + 1), row(i + 2), row(i + 3)}, w, d, out);
    }
    void add_to(double* sum, std::int64_t i, double c) const noexcept {
        const S* p = row(i);
        std::int64_t k = 0;
        for (; k + 4 <= d; k += 4) put(sum + k, four(sum + k) + four(p + k) * c);
        if (k < d) put(sum + k, four(sum + k) + some(p + k, d - k) * c);
    }
    double square(std::int64_t i) const noexcept {
        const S* p = row(i);
        Four even = all(0), odd = all(0);
        std::int64_t k = 0;
        for (; k + 8 <= d; k += 8) {
            const Four a = four(p + k), b = four(p + k + 4);
            even += a * a;
            odd += b * b;
        }
        double sum = across(even + odd);
        for (; k < d; ++k) sum += double(p[k]) * double(p[k]);
        return sum;
    }
};

// Rows of a matrix in CSR form. Column numbers and row ends are checked once, here, so that nothing that
// comes from a damaged file reads or writes outside of its arrays.
template <class S, class I>
struct Sparse {
    static constexpr bool wants_fours = false;
    const S* x;
    const I *column, *ends;
    std::int64_t n, d;

    explicit Sparse(const Table& t)
        : x(static_cast<const S*>(t.data)),
          column(static_cast<const I*>(t.indices)),
          ends(static_cast<const I*>(t.indptr)),
          n(t.n),
          d(t.d) {
        bool sorted = ends[0] >= 0 && std::int64_t(ends[n]) <= t.entries;
        for (std::int64_t i = 0; i < n; ++i) sorted &= ends[i] <= ends[i + 1];
        if (!sorted)
            throw std::invalid_argument(
                "the indptr of a CSR matrix must not fall, nor leave its entries; this one does. "
                "Make the matrix again, or look at its check_format().");
        using U = std::make_unsigned_t<I>;
        U most = 0;
        for (I j = ends[0]; j < ends[n]; ++j) most = std::max(most, U(column[j]));
        if (ends[n] > ends[0] && std::uint64_t(most) >= std::uint64_t(d))
            throw std::invalid_argument(
                "the column numbers of a CSR matrix must be below its number of columns, and none "
                "negative; one is not. Make the matrix again, or look at its check_format().");
    }

    double dot(std::int64_t i, const double* w) const noexcept {
        // Four sums, so that no addition waits for the one before.
        double sum[4] = {};
        I j = ends[i];
        const I end = ends[i + 1];
        for (; end - j >= 4; j += 4)
            for (int l = 0; l < 4; ++l) sum[l] += double(x[j + l]) * w[column[j + l]];
        for (int l = 0; j < end; ++j, ++l) sum[l] += double(x[j]) * w[column[j]];
        return (sum[0] + sum[2]) + (sum[1] + sum[3]);
    }
    void dot_four(std::int64_t i, const double* w, double (&out)[4]) const noexcept {
        for (int j = 0; j < 4; ++j) out[j] = dot(i + j, w);
    }
    void add_to(double* sum, std::int64_t i, double c) const noexcept {
        for (I j = ends[i]; j < ends[i + 1]; ++j) sum[column[j]] += double(x[j]) * c;
    }
    // Entries of one column are summands of one number: squares come after their sum.
    double square(std::int64_t i) const {
        const I from = ends[i], to = ends[i + 1];
        double sum = 0;
        bool rising = true;
        for (I j = from; j < to; ++j) {
            sum += double(x[j]) * double(x[j]);
            rising &= j == from || column[j - 1] < column[j];
        }
        if (rising) return sum;
        std::vector<I> order(std::size_t(to - from));
        std::iota(order.begin(), order.end(), from);
        std::stable_sort(order.begin(), order.end(), [&](I a, I b) { return column[a] < column[b]; });
        sum = 0;
        for (std::size_t k = 0; k < order.size();) {
            const I c = column[order[k]];
            double entry = 0;
            for (; k < order.size() && column[order[k]] == c; ++k) entry += double(x[order[k]]);
            sum += entry * entry;
        }
        return sum;
    }
};

template <class Run>
auto by_table(const Table& t, Run&& run) {
    const bool single = t.kind == Kind::f32;
    if (t.indptr == nullptr)
        return single ? run(Dense<float>(t)) : run(Dense<double>(t));
    if (t.index == Kind::i32)
        return single ? run(Sparse<float, std::int32_t>(t)) : run(Sparse<double, std::int32_t>(t));
    return single ? run(Sparse<float, std::int64_t>(t)) : run(Sparse<double, std::int64_t>(t));
}

template <class X>
void scored(const X& x, const double* weights, double b, double* out) {
    const Weights fours(weights, X::wants_fours ? x.d : 0);
    const double* const w = X::wants_fours ? fours.data() : weights;
    std::int64_t i = 0;
    for (; i + 4 <= x.n; i += 4) {
        double some[4];
        x.dot_four(i, w, some);
        for (int j = 0; j < 4; ++j) out[i + j] = some[j] + b;
    }
    for (; i < x.n; ++i) out[i] = x.dot(i, w) + b;
}

// sum += the rows whose coefficient is not 0, four by four: the sum is loaded and stored once for four.
template <class S>
void combined(const Dense<S>& x, const double* coefficient, double* sum) {
    constexpr std::int64_t tile = 1024;  // columns whose sums stay in the first-level cache
    for (std::int64_t from = 0; from < x.d; from += tile) {
        const std::int64_t to = std::min(x.d, from + tile);
        const S* p[4] = {};
        double c[4] = {};
        int held = 0;
        for (std::int64_t i = 0; i < x.n; ++i) {
            if (coefficient[i] == 0) continue;
            p[held] = x.row(i);
            c[held] = coefficient[i];
            if (++held < 4) continue;
            held = 0;
            std::int64_t k = from;
            for (; k + 4 <= to; k += 4)
                put(sum + k, four(sum + k) + ((four(p[0] + k) * c[0] + four(p[1] + k) * c[1]) +
                                              (four(p[2] + k) * c[2] + four(p[3] + k) * c[3])));
            for (; k < to; ++k)
                sum[k] += (double(p[0][k]) * c[0] + double(p[1][k]) * c[1]) +
                          (double(p[2][k]) * c[2] + double(p[3][k]) * c[3]);
        }
        for (int j = 0; j < held; ++j)
            for (std::int64_t k = from; k < to; ++k) sum[k] += double(p[j][k]) * c[j];
    }
}
template <class S, class I>
void combined(const Sparse<S, I>& x, const double* coefficient, double* sum) {
    for (std::int64_t i = 0; i < x.n; ++i)
        if (coefficient[i] != 0) x.add_to(sum, i, coefficient[i]);
}

// sum += coefficient x xᵀ of each row, in the place of a pair of its entries only: the one that comes later
// has the row. `squares` gets pairs of an entry with itself, so that sum + sumᵀ + diag(squares) is all,
// whatever the order of columns and however often they are there.
template <class S, class I>
void paired(const Sparse<S, I>& x, const double* coefficient, double* sum, double* squares) {
    for (std::int64_t i = 0; i < x.n; ++i) {
        const I from = x.ends[i], to = x.ends[i + 1];
        for (I j = from; j < to; ++j) {
            const double v = coefficient[i] * double(x.x[j]);
            double* const row = sum + std::int64_t(x.column[j]) * x.d;
            for (I k = from; k < j; ++k) row[x.column[k]] += v * double(x.x[k]);
            squares[x.column[j]] += v * double(x.x[j]);
        }
    }
}
template <class S>
void paired(const Dense<S>&, const double*, double*, double*) {
    throw std::invalid_argument("pairs of entries are added up of CSR matrices only");
}

template <class X>
double most_square(const X& x) {
    double most = 0;
    for (std::int64_t i = 0; i < x.n; ++i) most = std::max(most, x.square(i));
    return most;
}

}  // namespace CUTSCORE_ISA
