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
    compare(counts, sweep(rows), a.twice, double(a.pos), double(a.neg));
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
