// What is computed from masses that are there already, in descending order of the scores.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels.hpp"

namespace cutscore {

Wide twice_area(const std::int64_t* pos, const std::int64_t* neg, std::size_t m) {
    Wide twice = 0, above = 0;
    for (std::size_t i = 0; i < m; ++i) {
        twice += Wide(neg[i]) * (2 * above + Wide(pos[i]));
        above += Wide(pos[i]);
    }
    return twice;
}

template <class Mass>
Masses<Mass> merge(View<Mass> a, View<Mass> b) {
    std::size_t m = 0;
    for (std::size_t i = 0, j = 0; i < a.m || j < b.m; ++m) {
        const bool take_a = j == b.m || (i < a.m && a.threshold[i] >= b.threshold[j]);
        const bool take_b = i == a.m || (j < b.m && b.threshold[j] >= a.threshold[i]);
        i += take_a;
        j += take_b;
    }
    Masses<Mass> out{Buffer<double>(m), Buffer<Mass>(m), Buffer<Mass>(m), Buffer<double>(0)};
    for (std::size_t i = 0, j = 0, o = 0; o < m; ++o) {
        const bool take_a = j == b.m || (i < a.m && a.threshold[i] >= b.threshold[j]);
        const bool take_b = i == a.m || (j < b.m && b.threshold[j] >= a.threshold[i]);
        out.threshold[o] = take_a ? a.threshold[i] : b.threshold[j];
        out.pos[o] = (take_a ? a.pos[i] : Mass(0)) + (take_b ? b.pos[j] : Mass(0));
        out.neg[o] = (take_a ? a.neg[i] : Mass(0)) + (take_b ? b.neg[j] : Mass(0));
        i += take_a;
        j += take_b;
    }
    return out;
}
template Masses<std::int64_t> merge(View<std::int64_t>, View<std::int64_t>);
template Masses<double> merge(View<double>, View<double>);

template <class Mass>
Corners<Mass> corners(View<Mass> s, Mass tp, Mass fp) {
    // Written without a branch: which entries are corners is as random as the labels.
    Corners<Mass> all{Buffer<std::int64_t>(s.m + 2), Buffer<Mass>(s.m + 2), Buffer<Mass>(s.m + 2)};
    all.cut[0] = 0;
    all.tp[0] = tp;
    all.fp[0] = fp;
    std::size_t size = 1;
    for (std::size_t k = 0; k < s.m; ++k) {
        tp += s.pos[k];
        fp += s.neg[k];
        all.cut[size] = std::int64_t(k + 1);
        all.tp[size] = tp;
        all.fp[size] = fp;
        size += std::size_t(k == 0 || k + 2 >= s.m || (int(s.pos[k] > 0) & int(s.neg[k + 1] > 0)));
    }
    Corners<Mass> out{Buffer<std::int64_t>(size), Buffer<Mass>(size), Buffer<Mass>(size)};
    for (std::size_t i = 0; i < size; ++i) {
        out.cut[i] = all.cut[i];
        out.tp[i] = all.tp[i];
        out.fp[i] = all.fp[i];
    }
    return out;
}
template Corners<std::int64_t> corners(View<std::int64_t>, std::int64_t, std::int64_t);
template Corners<double> corners(View<double>, double, double);

// Whether a*b <= c*d, exactly: in 64 bits where all products fit, in 128 bits, or of floats.
struct Narrow {
    static bool at_most(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
        return a * b <= c * d;
    }
};
struct Broad {
    static bool at_most(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
        return Wide(a) * Wide(b) <= Wide(c) * Wide(d);
    }
};
struct Rounded {
    static bool at_most(double a, double b, double c, double d) {
        // Rounded products that differ are in the right order; of equal ones the errors tell.
        const double ab = a * b, cd = c * d;
        return ab != cd ? ab < cd : std::fma(a, b, -ab) <= std::fma(c, d, -cd);
    }
};

template <class Product, class Mass>
static Hull<Mass> hull_by(const Mass* tp, const Mass* fp, std::size_t size) {
    Hull<Mass> h{Buffer<std::int64_t>(size), Buffer<Mass>(size), Buffer<Mass>(size)};
    std::size_t top = 0;  // segments so far, their slopes falling
    for (std::size_t i = 1; i < size; ++i) {
        Mass p = tp[i] - tp[i - 1], n = fp[i] - fp[i - 1];
        while (top > 0 && Product::at_most(h.pos[top - 1], n, p, h.neg[top - 1])) {
            --top;
            p += h.pos[top];
            n += h.neg[top];
        }
        h.end[top] = std::int64_t(i);
        h.pos[top] = p;
        h.neg[top] = n;
        ++top;
    }
    Hull<Mass> out{Buffer<std::int64_t>(top), Buffer<Mass>(top), Buffer<Mass>(top)};
    for (std::size_t i = 0; i < top; ++i) {
        out.end[i] = h.end[i];
        out.pos[i] = h.pos[i];
        out.neg[i] = h.neg[i];
    }
    return out;
}

template <>
Hull<std::int64_t> hull(const std::int64_t* tp, const std::int64_t* fp, std::size_t size) {
    const bool fits = size == 0 || double(tp[size - 1]) * double(fp[size - 1]) < 0x1p62;
    return fits ? hull_by<Narrow>(tp, fp, size) : hull_by<Broad>(tp, fp, size);
}
template <>
Hull<double> hull(const double* tp, const double* fp, std::size_t size) {
    return hull_by<Rounded>(tp, fp, size);
}

std::pair<Wide, Wide> squared_placements(const std::int64_t* pos, const std::int64_t* neg, std::size_t m,
                                         std::uint64_t pos_above, std::uint64_t neg_left) {
    Wide of_pos = 0, of_neg = 0;
    std::uint64_t above = 2 * pos_above, below = 2 * neg_left;
    for (std::size_t k = 0; k < m; ++k) {
        const auto p = std::uint64_t(pos[k]), n = std::uint64_t(neg[k]);
        below -= 2 * n;
        const std::uint64_t won = below + n, lost = above + p;
        above += 2 * p;
        of_pos += Wide(p * won) * won;
        of_neg += Wide(n * lost) * lost;
    }
    return {of_pos, of_neg};
}

}  // namespace cutscore
