// The native core against a plain oracle, on random rows of every type, stride and shape. Built with
// sanitizers by `make sanitize`; the Python tests compare with their own oracle besides.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "kernels.hpp"

using namespace cutpoint;

namespace {

std::mt19937_64 random_bits(1);
double uniform() { return double(random_bits() >> 11) * 0x1p-53; }
std::size_t below(std::size_t n) { return std::size_t(random_bits() % n); }

#define CHECK(what)                                                                \
    do {                                                                           \
        if (!(what)) {                                                             \
            std::fprintf(stderr, "%s:%d: %s fails\n", __FILE__, __LINE__, #what);  \
            std::exit(1);                                                          \
        }                                                                          \
    } while (false)

template <class T>
constexpr Kind kind_of() {
    if constexpr (std::is_same_v<T, float>) return Kind::f32;
    if constexpr (std::is_same_v<T, double>) return Kind::f64;
    if constexpr (std::is_same_v<T, std::uint8_t>) return Kind::u8;
    if constexpr (std::is_same_v<T, std::int16_t>) return Kind::i16;
    if constexpr (std::is_same_v<T, std::int64_t>) return Kind::i64;
    return Kind::none;
}

// A column with gaps between its values, forwards or backwards.
template <class T>
struct Strided {
    std::vector<T> storage;
    Column column;

    Strided(const std::vector<double>& values, int step) {
        const std::size_t gap = std::size_t(std::abs(step)), n = values.size();
        storage.assign(n * gap + 1, T(77));
        for (std::size_t i = 0; i < n; ++i) storage[(step > 0 ? i : n - 1 - i) * gap] = T(values[i]);
        column = {storage.data() + (step > 0 || n == 0 ? 0 : (n - 1) * gap),
                  std::int64_t(step) * std::int64_t(sizeof(T)), kind_of<T>()};
    }
};

double score(int shape) {
    const double z = std::sqrt(-2 * std::log(1 - uniform())) * std::cos(6.283185307179586 * uniform());
    switch (shape) {
        case 0: return z;
        case 1: return std::round(10 * z) / 10;
        case 2: return uniform() < 0.3 ? 0.5 : z;
        case 3: return uniform() < 1e-3 ? -1e30 : 0.5 + 1e-6 * z;
        case 4: return std::exp(40 * z) * (uniform() < 0.5 ? -1 : 1);
        case 5: return uniform() < 0.1 ? (uniform() < 0.5 ? -1 : 1) * std::numeric_limits<double>::infinity()
                                       : (uniform() < 0.5 ? -0.0 : 0.0);
        case 6: return 1e-310 * z;
        default: return 1;
    }
}

// NaN of any payload and either sign: the all-ones patterns sit at the very ends of the keys.
template <class S>
S any_nan() {
    using U = std::conditional_t<sizeof(S) == 4, std::uint32_t, std::uint64_t>;
    U bits = std::bit_cast<U>(std::numeric_limits<S>::quiet_NaN());
    if (uniform() < 0.5) bits |= U(random_bits());
    if (uniform() < 0.5) bits |= ~U(0) >> 1;
    if (uniform() < 0.5) bits |= U(1) << (8 * sizeof(S) - 1);
    return std::bit_cast<S>(bits);
}

// The upper hull by its definition: a vertex has no chord over it, and none through it.
void decide(View<std::int64_t> s, int threads) {
    const auto c = corners(s);
    const std::size_t size = c.cut.size();
    std::vector<std::int64_t> tp{0}, fp{0};
    for (std::size_t k = 0; k < s.m; ++k) {
        tp.push_back(tp.back() + s.pos[k]);
        fp.push_back(fp.back() + s.neg[k]);
    }
    CHECK(c.cut[0] == 0 && c.cut[size - 1] == std::int64_t(s.m));
    for (std::size_t i = 0; i < size; ++i) {
        CHECK(i == 0 || c.cut[i] > c.cut[i - 1]);
        CHECK(c.tp[i] == tp[std::size_t(c.cut[i])] && c.fp[i] == fp[std::size_t(c.cut[i])]);
    }
    const auto h = hull(c.tp.data(), c.fp.data(), size);
    std::int64_t at = 0;
    for (std::size_t i = 0; i < h.end.size(); ++i) {
        const auto from = std::size_t(c.cut[std::size_t(at)]), to = std::size_t(c.cut[std::size_t(h.end[i])]);
        CHECK(tp[to] - tp[from] == h.pos[i] && fp[to] - fp[from] == h.neg[i]);
        for (std::size_t k = from; k <= to; ++k)  // nothing is above a segment
            CHECK((tp[k] - tp[from]) * h.neg[i] <= h.pos[i] * (fp[k] - fp[from]));
        if (i > 0) CHECK(h.pos[i - 1] * h.neg[i] > h.pos[i] * h.neg[i - 1]);
        at = h.end[i];
    }
    CHECK(at == std::int64_t(size - 1));

    const auto [of_pos, of_neg] =
        squared_placements(s.pos, s.neg, s.m, std::uint64_t(fp.back()));
    Wide expected_pos = 0, expected_neg = 0;
    for (std::size_t k = 0; k < s.m; ++k) {
        const Wide won = Wide(2 * (fp.back() - fp[k + 1]) + s.neg[k]), lost = Wide(tp[k] + tp[k + 1]);
        expected_pos += Wide(s.pos[k]) * won * won;
        expected_neg += Wide(s.neg[k]) * lost * lost;
    }
    CHECK(of_pos == expected_pos && of_neg == expected_neg);

    std::vector<std::int64_t> pos(s.m), neg(s.m);
    std::vector<double> areas(3);
    if (tp.back() > 0 && fp.back() > 0) {
        bootstrap_area(s, 7, threads, 0, areas.size(), areas.data());
        for (std::size_t i = 0; i < areas.size(); ++i) {
            resample(s.pos, s.m, 7, 2 * i, pos.data());
            resample(s.neg, s.m, 7, 2 * i + 1, neg.data());
            std::int64_t p = 0, n = 0;
            for (std::size_t k = 0; k < s.m; ++k) {
                CHECK((s.pos[k] > 0 || pos[k] == 0) && (s.neg[k] > 0 || neg[k] == 0));
                p += pos[k];
                n += neg[k];
            }
            CHECK(p == tp.back() && n == fp.back());
            const Wide twice = twice_area(pos.data(), neg.data(), s.m);
            CHECK(areas[i] == double(std::uint64_t(twice)) / double(2 * std::uint64_t(p) * std::uint64_t(n)));
        }
    }

    std::vector<double> table(s.threshold, s.threshold + s.m);
    std::reverse(table.begin(), table.end());
    std::vector<double> x(100);
    for (auto& v : x) v = table.empty() || uniform() < 0.3 ? score(0) : table[below(table.size())];
    std::vector<std::int64_t> found(x.size());
    for (const bool level : {false, true}) {
        look_up(table.data(), table.size(), x.data(), x.size(), level, threads, found.data());
        for (std::size_t i = 0; i < x.size(); ++i) {
            const auto where = level ? std::upper_bound(table.begin(), table.end(), x[i])
                                     : std::lower_bound(table.begin(), table.end(), x[i]);
            CHECK(found[i] == where - table.begin());
        }
    }
}

template <class S, class L>
void trial(std::size_t n, int shape, double share, int threads) {
    std::vector<double> s(n), y(n), w(n);
    for (std::size_t i = 0; i < n; ++i) {
        s[i] = double(S(score(shape)));
        y[i] = uniform() < share;
        w[i] = double(below(4));  // whole numbers: sums are exact in any order
    }
    const int steps[] = {1, 3, -1, -2};
    const Strided<S> scores(s, steps[below(4)]);
    const Strided<L> labels(y, steps[below(4)]);
    const Strided<double> weights(w, steps[below(4)]);
    Rows rows;
    rows.n = std::int64_t(n);
    rows.score = scores.column;
    rows.label = labels.column;
    rows.threads = threads;

    std::map<double, std::pair<std::int64_t, std::int64_t>, std::greater<>> counts, sums;
    for (std::size_t i = 0; i < n; ++i) {
        auto& c = counts[s[i]];
        ++(y[i] != 0 ? c.first : c.second);
        if (w[i] == 0) continue;
        auto& m = sums[s[i]];
        (y[i] != 0 ? m.first : m.second) += std::int64_t(w[i]);
    }
    const auto compare = [](const auto& expected, const auto& masses, Wide twice, double p, double q) {
        CHECK(masses.threshold.size() == expected.size());
        std::size_t i = 0;
        Wide pos = 0, neg = 0, pairs = 0;
        for (const auto& [t, mass] : expected) {
            CHECK(masses.threshold[i] == t);
            CHECK(double(masses.pos[i]) == double(mass.first));
            CHECK(double(masses.neg[i]) == double(mass.second));
            pairs += Wide(mass.second) * (2 * pos + Wide(mass.first));
            pos += Wide(mass.first);
            neg += Wide(mass.second);
            ++i;
        }
        CHECK(twice == pairs);
        CHECK(p == double(pos) && q == double(neg));
    };
    const Area a = area(rows);
    const auto masses = sweep(rows);
    compare(counts, masses, a.twice, double(a.pos), double(a.neg));
    decide({masses.threshold.data(), masses.pos.data(), masses.neg.data(), masses.threshold.size()}, threads);
    rows.weight = weights.column;
    const WeightedArea b = weighted_area(rows);
    compare(sums, weighted_sweep(rows), Wide(b.twice), b.pos, b.neg);

    std::vector<double> pos(1 << 10), neg(1 << 10), edges(1 << 10);
    weighted_bin(rows, 10, pos.data(), neg.data());
    bin_edges(10, edges.data());
    for (std::size_t e = 0; e < edges.size(); e += 37) {
        double above = 0, binned = 0;
        for (const auto& [t, mass] : sums)
            if (t >= edges[e]) above += double(mass.first + mass.second);
        for (std::size_t i = e; i < edges.size(); ++i) binned += pos[i] + neg[i];
        // The edges of bins that hold only NaN patterns repeat the infinities.
        if (e == 0 || edges[e] > edges[e - 1]) CHECK(above == binned);
    }
    if (n > 0) {
        const std::size_t bad = below(n);
        std::vector<S> plain(n);
        for (std::size_t i = 0; i < n; ++i) plain[i] = S(s[i]);
        plain[bad] = any_nan<S>();
        rows.score = {plain.data(), sizeof(S), kind_of<S>()};
        const auto refused = [&](auto kernel) {
            try {
                (void)kernel(rows);
                CHECK(!"NaN is refused");
            } catch (const RowFault& fault) {
                CHECK(std::string(fault.what()) == "score:" + std::to_string(bad));
            }
        };
        refused(weighted_sweep);
        refused(weighted_area);
        rows.weight = {};
        refused(sweep);
        refused(area);
    }
}

void any_trial() {
    const double shares[] = {0.5, 0.02, 0.001, 0.98, 0.0};
    const auto n = std::size_t(std::exp(uniform() * std::log(uniform() < 0.1 ? 300'000 : 30'000)));
    const int shape = int(below(8)), threads = 1 + int(below(8));
    const double share = shares[below(5)];
    switch (below(5)) {
        case 0: return trial<float, std::uint8_t>(n, shape, share, threads);
        case 1: return trial<double, std::uint8_t>(n, shape, share, threads);
        case 2: return trial<float, std::int64_t>(n, shape, share, threads);
        case 3: return trial<double, double>(n, shape, share, threads);
        default: return trial<double, std::int16_t>(n, shape, share, threads);
    }
}

// Several callers at once, as Python threads are once the GIL is released.
void crowd() {
    std::vector<float> s(200'000);
    std::vector<std::uint8_t> y(s.size());
    for (std::size_t i = 0; i < s.size(); ++i) s[i] = float(score(0)), y[i] = uniform() < 0.3;
    Rows rows;
    rows.n = std::int64_t(s.size());
    rows.score = {s.data(), sizeof(float), Kind::f32};
    rows.label = {y.data(), 1, Kind::u8};
    rows.threads = 4;
    const Area expected = area(rows);
    std::vector<std::jthread> callers;
    for (int c = 0; c < 8; ++c)
        callers.emplace_back([&] {
            for (int i = 0; i < 3; ++i) {
                CHECK(area(rows).twice == expected.twice);
                const auto m = sweep(rows);
                CHECK(twice_area(m.pos.data(), m.neg.data(), m.pos.size()) == expected.twice);
                double areas[4];
                bootstrap_area({nullptr, m.pos.data(), m.neg.data(), m.pos.size()}, 1, 4, 0, 4, areas);
                CHECK(areas[0] > 0 && areas[0] < 1);
            }
        });
}

}  // namespace

int main(int argc, char** argv) {
    const int trials = argc > 1 ? std::atoi(argv[1]) : 100;
    for (std::size_t n : {0, 1, 2, 3}) trial<double, std::uint8_t>(n, 0, 0.5, 2);
    for (int i = 0; i < trials; ++i) any_trial();
    crowd();
    std::printf("%d trials passed, 0 failed\n", trials);
}
