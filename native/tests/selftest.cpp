// The native core against a plain oracle, on random rows of every type, stride and shape. Built with
// sanitizers by `make sanitize`; the Python tests compare with their own oracle besides.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernels.hpp"

#define CUTSCORE_DECLARE                                                                            \
    void logistic(const Table&, const bool*, const double*, const double*, double, bool, double*);  \
    void scatter(const Table&, const std::int64_t*, std::int64_t, const double*, const double*, bool, double*);
#if defined(CUTSCORE_HAS_AVX)
namespace cutscore::baseline {
CUTSCORE_DECLARE
}
namespace cutscore::avx2 {
CUTSCORE_DECLARE
}
#endif

using namespace cutscore;

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
    if constexpr (std::is_same_v<T, std::int8_t>) return Kind::i8;
    if constexpr (std::is_same_v<T, std::int16_t>) return Kind::i16;
    if constexpr (std::is_same_v<T, std::int32_t>) return Kind::i32;
    if constexpr (std::is_same_v<T, std::int64_t>) return Kind::i64;
    if constexpr (std::is_same_v<T, std::uint8_t>) return Kind::u8;
    if constexpr (std::is_same_v<T, std::uint16_t>) return Kind::u16;
    if constexpr (std::is_same_v<T, std::uint32_t>) return Kind::u32;
    if constexpr (std::is_same_v<T, std::uint64_t>) return Kind::u64;
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
void decide(const Rows& rows, View<std::int64_t> s) {
    const int threads = rows.threads;
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
    // The same of weights, and of counts whose products need 128 bits.
    std::vector<double> weighed_tp(c.tp.data(), c.tp.data() + size), weighed_fp(c.fp.data(), c.fp.data() + size);
    std::vector<std::int64_t> many_tp, many_fp;
    for (std::size_t i = 0; i < size; ++i) {
        many_tp.push_back(c.tp[i] << 36);
        many_fp.push_back(c.fp[i] << 36);
    }
    const auto weighed = hull(weighed_tp.data(), weighed_fp.data(), size);
    const auto many = hull(many_tp.data(), many_fp.data(), size);
    CHECK(weighed.end.size() == h.end.size() && many.end.size() == h.end.size());
    for (std::size_t i = 0; i < h.end.size(); ++i) {
        CHECK(weighed.end[i] == h.end[i] && weighed.pos[i] == double(h.pos[i]) && weighed.neg[i] == double(h.neg[i]));
        CHECK(many.end[i] == h.end[i] && many.pos[i] == h.pos[i] << 36 && many.neg[i] == h.neg[i] << 36);
    }

    const auto [of_pos, of_neg] =
        squared_placements(s.pos, s.neg, s.m, 0, std::uint64_t(fp.back()));
    Wide expected_pos = 0, expected_neg = 0;
    for (std::size_t k = 0; k < s.m; ++k) {
        const Wide won = Wide(2 * (fp.back() - fp[k + 1]) + s.neg[k]), lost = Wide(tp[k] + tp[k + 1]);
        expected_pos += Wide(s.pos[k]) * won * won;
        expected_neg += Wide(s.neg[k]) * lost * lost;
    }
    CHECK(of_pos == expected_pos && of_neg == expected_neg);
    const std::size_t half = s.m / 2;  // and of two parts
    const auto [first_pos, first_neg] = squared_placements(s.pos, s.neg, half, 0, std::uint64_t(fp.back()));
    const auto [last_pos, last_neg] =
        squared_placements(s.pos + half, s.neg + half, s.m - half, std::uint64_t(tp[half]),
                           std::uint64_t(fp.back() - fp[half]));
    CHECK(first_pos + last_pos == of_pos && first_neg + last_neg == of_neg);

    const double P = double(tp.back()), N = double(fp.back());
    const auto precision = [&](const std::int64_t* pos, const std::int64_t* neg) {
        double sum = 0, hit = 0, flagged = 0;
        for (std::size_t k = 0; k < s.m; ++k) {
            hit += double(pos[k]);
            flagged += double(pos[k] + neg[k]);
            if (pos[k] > 0) sum += double(pos[k]) / P * (hit / flagged);
        }
        return sum;
    };
    if (tp.back() > 0) {
        CHECK(std::abs(average_precision(s, 0, 0, P, threads) - precision(s.pos, s.neg)) < 1e-12);
        CHECK(std::abs(average_precision(rows) - precision(s.pos, s.neg)) < 1e-12);
        const auto p = precision_recall_curve(rows);
        CHECK(p.size == s.m + 1 && p.x[s.m] == 1 && p.y[s.m] == 0);
        for (std::size_t k = 0; k < s.m; ++k) {
            CHECK(p.threshold[s.m - 1 - k] == s.threshold[k] && p.y[s.m - 1 - k] == double(tp[k + 1]) / P);
            CHECK(p.x[s.m - 1 - k] == double(tp[k + 1]) / double(tp[k + 1] + fp[k + 1]));
        }
    }
    if (tp.back() > 0 && fp.back() > 0) {
        for (const bool corners_only : {false, true}) {
            const auto r = roc_curve(rows, corners_only);
            CHECK(r.x[0] == 0 && r.y[0] == 0 && r.threshold[0] == std::numeric_limits<double>::infinity());
            std::size_t i = 1;
            for (std::size_t k = 0; k < s.m; ++k) {
                const bool inner = k > 0 && k + 1 < s.m;
                if (corners_only && inner && s.pos[k] == s.pos[k + 1] && s.neg[k] == s.neg[k + 1]) continue;
                CHECK(i < r.size && r.threshold[i] == s.threshold[k]);
                CHECK(r.x[i] == double(fp[k + 1]) / N && r.y[i] == double(tp[k + 1]) / P);
                ++i;
            }
            CHECK(i == r.size);
        }
        const auto d = det_curve(rows);
        CHECK(d.size > 0 && d.x[d.size - 1] == 0 && d.y[0] == 0);
        CHECK((d.size == 1 || (d.x[d.size - 2] > 0 && d.y[1] > 0)));
        std::size_t first = 0;
        while (fp[first + 1] == 0) ++first;
        for (std::size_t i = 0; i < d.size; ++i) {
            const std::size_t cut = first + d.size - 1 - i;
            CHECK(d.x[i] == double(fp[cut]) / N && d.y[i] == double(tp.back() - tp[cut]) / P);
            CHECK(d.threshold[i] == (cut > 0 ? s.threshold[cut - 1] : std::numeric_limits<double>::infinity()));
        }
    } else {
        CHECK(roc_curve(rows, true).size == 0 && det_curve(rows).size == 0);
    }
    if (tp.back() == 0) CHECK(precision_recall_curve(rows).size == 0);
    for (const auto& every : {block_sums(s, 7, threads), std::move(sweep(rows, 7).blocks)}) {
        CHECK(every.count == (s.m + 6) / 7 && every.tp[0] == 0 && every.fp[0] == 0);
        for (std::size_t b = 0; b < every.count; ++b) {
            const std::size_t end = std::min(s.m, 7 * (b + 1));
            CHECK(every.tp[b + 1] == tp[end] && every.fp[b + 1] == fp[end] && every.first[b] == s.threshold[7 * b]);
        }
    }

    std::vector<std::int64_t> pos(s.m), neg(s.m);
    std::vector<double> areas(3), precisions(3);
    if (tp.back() > 0 && fp.back() > 0) {
        bootstrap_area(s, 7, threads, 0, areas.size(), areas.data());
        bootstrap_precision(s, 7, threads, 0, precisions.size(), precisions.data());
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
            const double direct = average_precision({nullptr, pos.data(), neg.data(), s.m}, 0, 0, P, threads);
            CHECK(std::abs(precisions[i] - direct) < 1e-12);
            CHECK(std::abs(precisions[i] - precision(pos.data(), neg.data())) < 1e-12);
        }
    }

    if (tp.back() > 2 && fp.back() > 2) {
        // Recall, and the precision at least a half: flagged rows are among those there are, and equal
        // seeds choose alike on any number of threads.
        const Ratio recall{{1, 0, 0, 0}, {1, 0, 1, 0}, -1}, precise{{1, 0, 0, 0}, {1, 1, 0, 0}, -1, 0.5, true};
        // Of rows, of many rows as one item, of rows that weigh more, and of units; and of two scores.
        const std::vector<double> ones(5, 1.0);
        std::vector<std::int32_t> index, unit;
        std::vector<double> count;
        for (const auto* mass : {s.pos, s.neg})
            for (std::size_t k = 0; k < s.m; ++k)
                for (auto left = mass[k]; left > 0; --left) index.push_back(std::int32_t(k));
        for (std::size_t j = 0; j < index.size(); ++j) {
            unit.push_back(std::int32_t(j % 7));
            count.push_back(j % 3 ? 1 : 50);
        }
        const Scored score[2] = {{s.threshold, s.threshold, s.m, index.data()}, {s.threshold, s.threshold, s.m, index.data()}};
        const double allowed[] = {-1, 0, 1, 3};
        const Ratio sure{{0, 1, 0, 0}, {0, 1, 0, 1}, -1, 0.5, false, Ratio::plain, allowed, 4, 0.5};
        const Ratio matthews{{}, {}, -1, 0, true, Ratio::matthews};
        for (int form = 0; form < 4; ++form) {
            const double* of = form == 0 ? nullptr : count.data();
            const std::int32_t* in = form == 3 && index.size() >= 7 ? unit.data() : nullptr;
            std::vector<double> one(4 * 3 * (2 + 5) + 3 * 5), many(one.size());
            for (auto* const out : {one.data(), many.data()})
                cross_fit({form == 2 ? matthews : recall, 1, form == 1 ? &sure : &precise, 1},
                          {score, form == 2 ? 2u : 1u, index.size(), std::size_t(tp.back()), form == 1 ? of : nullptr,
                           form == 2 ? of : nullptr, in, 7, 3, 2, 5, ones.data(), ones.data(), out, out + 24, out + 84,
                           out + 89, out + 94},
                          11, out == one.data() ? 1 : threads);
            for (std::size_t i = 0; i < one.size(); ++i) {
                CHECK(one[i] == many[i] || (one[i] != one[i] && many[i] != many[i]));
                CHECK(form == 3 || (one[i] >= 0 && one[i] <= 1 + 1e-12));
            }
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

// Some steps of the staircase, upwards: neighbours of one class are one.
template <class Mass>
void compact_is_right(const Masses<Mass>& full, const Masses<Mass>& compact) {
    std::size_t k = 0;  // of the full sweep
    for (std::size_t i = 0; i < compact.threshold.size(); ++i) {
        const double top = compact.top.size() > 0 ? compact.top[i] : compact.threshold[i];
        CHECK(top == full.threshold[k]);
        Mass pos = 0, neg = 0;
        const std::size_t first = k;
        while (k < full.threshold.size() && full.threshold[k] >= compact.threshold[i]) {
            pos += full.pos[k];
            neg += full.neg[k];
            ++k;
        }
        CHECK(pos == compact.pos[i] && neg == compact.neg[i]);
        CHECK(k == first + 1 || pos == 0 || neg == 0);
    }
    CHECK(k == full.threshold.size());
}

// Rows in batches from several threads, in memory or past it.
template <class Mass>
void streamed(const Rows& all, const std::vector<double>& sample, std::size_t size, const Masses<Mass>& full) {
    std::FILE* file = std::tmpfile();
    for (const bool compact : {false, true}) {
        StreamPlan plan;
        plan.score = all.score.kind;
        plan.workers = 3;
        plan.limit = below(2) ? 1 : std::size_t(1) << 30;
        plan.most = below(2) ? 1024 : all.n + 1;
        plan.file = fileno(file);
        std::unique_ptr<StreamOf<Mass>> s;
        if constexpr (std::is_same_v<Mass, double>)
            s = weighted_stream(plan);
        else
            s = stream(plan);
        std::once_flag once;
        const std::size_t buckets = below(2) ? std::min<std::size_t>(sample.size() / 4, 64) : 0;
        const auto begin = [&] {
            std::call_once(once, [&] { s->begin(sample.data(), sample.size(), buckets); });
        };
        if (std::is_same_v<Mass, double> || below(2)) begin();
        {
            std::vector<std::jthread> workers;
            for (int w = 0; w < 3; ++w)
                workers.emplace_back([&, w] {
                    for (std::int64_t first = w * 777; first < all.n; first += 3 * 777) {
                        Rows some = all;
                        const auto at = [&](Column& c) {
                            if (c.kind != Kind::none) c.data = static_cast<const char*>(c.data) + first * c.stride;
                        };
                        at(some.score), at(some.label), at(some.weight);
                        some.n = std::min<std::int64_t>(777, all.n - first);
                        if (s->add(w, some)) continue;
                        begin();
                        CHECK(s->add(w, some));
                    }
                });
        }
        std::FILE* of_sweep = std::tmpfile();
        const auto found = s->finish(2, compact, below(2) ? size : 3, fileno(of_sweep));
        std::fclose(of_sweep);  // what is mapped stays
        if (compact) {
            compact_is_right(full, found);
        } else {
            CHECK(found.threshold.size() == full.threshold.size());
            for (std::size_t i = 0; i < full.threshold.size(); ++i)
                CHECK(found.threshold[i] == full.threshold[i] && found.pos[i] == full.pos[i] &&
                      found.neg[i] == full.neg[i]);
        }
    }
    std::fclose(file);
}

// Twice the placement of each row, by weight.
std::vector<double> placements_of(const std::vector<double>& s, const std::vector<double>& y,
                                  const std::vector<double>& w) {
    const std::size_t n = s.size();
    std::map<double, std::pair<double, double>> masses;
    double P = 0;
    for (std::size_t i = 0; i < n; ++i) {
        (y[i] != 0 ? masses[s[i]].first : masses[s[i]].second) += w[i];
        P += y[i] != 0 ? w[i] : 0;
    }
    std::map<double, std::pair<double, double>> expected;
    double below_neg = 0, below_pos = 0;
    for (const auto& [t, mass] : masses) {
        expected[t] = {2 * below_neg + mass.second, 2 * (P - below_pos - mass.first) + mass.first};
        below_pos += mass.first;
        below_neg += mass.second;
    }
    std::vector<double> out(n);
    for (std::size_t i = 0; i < n; ++i) out[i] = y[i] != 0 ? expected[s[i]].first : expected[s[i]].second;
    return out;
}

void placed(Rows rows, const std::vector<double>& s, const std::vector<double>& y, const std::vector<double>& w) {
    std::vector<double> found(s.size());
    rows.weight = {w.data(), sizeof(double), Kind::f64};
    weighted_placements(rows, found.data());
    CHECK(found == placements_of(s, y, w));
}

// Sums of products of the placements of some scores: the rows' own, and the same in other orders.
void multiplied(const Rows& rows, const std::vector<double>& s, const std::vector<double>& y) {
    const std::size_t n = s.size(), k = 1 + below(4), each = k * (k + 3) / 2;
    std::vector<std::vector<double>> columns(k, s), v;
    std::vector<Rows> all(k, rows);
    for (std::size_t j = 1; j < k; ++j) {
        for (std::size_t i = 0; i < n; ++i) columns[j][i] = s[(i * (2 * j + 1) + j) % n];
        all[j].score = {columns[j].data(), sizeof(double), Kind::f64};
    }
    for (const auto& column : columns) v.push_back(placements_of(column, y, std::vector<double>(n, 1.0)));
    std::vector<Wide> found(2 * each), expected(2 * each);
    const auto positives = placement_sums(all.data(), k, below(2) == 0, found.data());
    CHECK(double(positives) == std::accumulate(y.begin(), y.end(), 0.0));
    for (std::size_t i = 0; i < n; ++i) {
        Wide* at = expected.data() + (y[i] != 0 ? 0 : each);
        for (std::size_t a = 0; a < k; ++a) {
            *at++ += Wide(v[a][i]);
            for (std::size_t b = 0; b <= a; ++b) *at++ += Wide(v[a][i]) * Wide(v[b][i]);
        }
    }
    CHECK(found == expected);
}

// The area inside of some groups, each by its own sweep.
void grouped(const Rows& rows, const std::vector<double>& s, const std::vector<double>& y) {
    const std::size_t n = s.size(), groups = 1 + below(5);
    std::vector<std::int64_t> group(n), pos(groups), neg(groups);
    std::vector<double> found(groups);
    for (auto& g : group) g = std::int64_t(below(groups));
    group_areas(rows, group.data(), groups, pos.data(), neg.data(), found.data());
    for (std::size_t g = 0; g < groups; ++g) {
        std::map<double, std::pair<std::int64_t, std::int64_t>, std::greater<>> counts;
        for (std::size_t i = 0; i < n; ++i)
            if (group[i] == std::int64_t(g)) ++(y[i] != 0 ? counts[s[i]].first : counts[s[i]].second);
        double P = 0, N = 0, twice = 0;
        for (const auto& [t, mass] : counts) {
            twice += double(mass.second) * (2 * P + double(mass.first));
            P += double(mass.first);
            N += double(mass.second);
        }
        CHECK(double(pos[g]) == P && double(neg[g]) == N);
        CHECK(P * N > 0 ? found[g] == twice / (2 * P * N) : found[g] != found[g]);
    }
}

// Entries of a sweep dealt to two, some to both, are the sweep again once these are merged.
template <class Mass>
void merged(const Masses<Mass>& full) {
    std::vector<double> threshold[2];
    std::vector<Mass> pos[2], neg[2];
    for (std::size_t i = 0; i < full.threshold.size(); ++i) {
        const std::size_t to = below(3);
        for (std::size_t k = 0; k < 2; ++k) {
            if (to == 1 - k) continue;
            threshold[k].push_back(full.threshold[i]);
            pos[k].push_back(to == 2 && k == 1 ? Mass(0) : full.pos[i]);
            neg[k].push_back(to == 2 && k == 0 ? Mass(0) : full.neg[i]);
        }
    }
    const auto view = [&](std::size_t k) {
        return View<Mass>{threshold[k].data(), pos[k].data(), neg[k].data(), threshold[k].size()};
    };
    const auto found = merge(view(0), view(1));
    CHECK(found.threshold.size() == full.threshold.size());
    for (std::size_t i = 0; i < full.threshold.size(); ++i)
        CHECK(found.threshold[i] == full.threshold[i] && found.pos[i] == full.pos[i] && found.neg[i] == full.neg[i]);
}

// Whoever throws between two parts ends any kernel, and the next call is as if there had been none.
struct Interrupt {};
std::atomic<int> polls_left;
void interrupt() {
    if (polls_left.fetch_sub(1) <= 0) throw Interrupt{};
}

template <class Kernel>
void interrupted(Kernel kernel) {
    polls_left = int(below(5));
    between_parts = interrupt;
    try {
        kernel();
    } catch (const Interrupt&) {
    }
    between_parts = nullptr;
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
    compact_is_right(masses, compact_sweep(rows));
    merged(masses);
    interrupted([&] { (void)sweep(rows); });
    interrupted([&] { (void)area(rows); });
    interrupted([&] { multiplied(rows, s, y); });
    interrupted([&] { grouped(rows, s, y); });
    interrupted([&] {
        decide(rows, {masses.threshold.data(), masses.pos.data(), masses.neg.data(), masses.threshold.size()});
    });
    std::vector<double> sample;
    for (std::size_t i = 0; i < n; i += 1 + n / 500) sample.push_back(s[i]);
    streamed(rows, sample, n, masses);
    decide(rows, {masses.threshold.data(), masses.pos.data(), masses.neg.data(), masses.threshold.size()});
    multiplied(rows, s, y);
    placed(rows, s, y, w);
    grouped(rows, s, y);
    rows.weight = weights.column;
    const WeightedArea b = weighted_area(rows);
    const auto weighed = weighted_sweep(rows);
    compare(sums, weighed, Wide(b.twice), b.pos, b.neg);
    compact_is_right(weighed, weighted_compact_sweep(rows));
    merged(weighed);
    streamed(rows, sample, n, weighed);

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
    Rows alike = rows;  // a weight of one each is none
    const std::vector<double> ones(n, 1.0);
    alike.weight = {ones.data(), sizeof(double), Kind::f64};
    std::vector<std::int64_t> counted_pos(1 << 10), counted_neg(1 << 10);
    std::fill(pos.begin(), pos.end(), 0.0);
    std::fill(neg.begin(), neg.end(), 0.0);
    weighted_bin(alike, 10, pos.data(), neg.data());
    alike.weight = {};
    bin(alike, 10, counted_pos.data(), counted_neg.data());
    for (std::size_t b = 0; b < edges.size(); ++b)
        CHECK(double(counted_pos[b]) == pos[b] && double(counted_neg[b]) == neg[b]);
    if (n > 0) {
        const std::size_t bad = below(n);
        std::vector<S> plain(n);
        for (std::size_t i = 0; i < n; ++i) plain[i] = S(s[i]);
        plain[bad] = any_nan<S>();
        const auto refused = [&](auto kernel, const char* what) {
            try {
                (void)kernel(rows);
                CHECK(!"a bad row is refused");
            } catch (const RowFault& fault) {
                CHECK(fault.what() == what + (":" + std::to_string(bad)));
            }
        };
        w[bad] = below(2) ? -1 : std::numeric_limits<double>::quiet_NaN();
        rows.weight = {w.data(), sizeof(double), Kind::f64};
        refused(weighted_sweep, "weight");
        refused(weighted_area, "weight");
        rows.weight = weights.column;
        rows.score = {plain.data(), sizeof(S), kind_of<S>()};
        refused(weighted_sweep, "score");
        refused(weighted_area, "score");
        rows.weight = {};
        refused([](const Rows& r) { return sweep(r); }, "score");
        refused(area, "score");
        rows.score = scores.column;
        std::vector<L> third(n);
        for (std::size_t i = 0; i < n; ++i) third[i] = L(i == bad ? 3 : y[i]);
        rows.label = {third.data(), sizeof(L), kind_of<L>()};
        refused([](const Rows& r) { return sweep(r); }, "label");
        refused(area, "label");
        refused([](const Rows& r) {
            const Rows twice[] = {r, r};
            Wide sums[10];
            return placement_sums(twice, 2, false, sums);
        }, "label");
    }
}

void any_trial() {
    const double shares[] = {0.5, 0.02, 0.001, 0.98, 0.0};
    const auto n = std::size_t(std::exp(uniform() * std::log(uniform() < 0.1 ? 300'000 : 30'000)));
    const int shape = int(below(8)), threads = 1 + int(below(8));
    const double share = shares[below(5)];
    switch (below(11)) {
        case 0: return trial<float, std::uint8_t>(n, shape, share, threads);
        case 1: return trial<double, std::uint8_t>(n, shape, share, threads);
        case 2: return trial<float, std::int64_t>(n, shape, share, threads);
        case 3: return trial<double, double>(n, shape, share, threads);
        case 4: return trial<double, float>(n, shape, share, threads);
        case 5: return trial<float, std::int8_t>(n, shape, share, threads);
        case 6: return trial<double, std::int32_t>(n, shape, share, threads);
        case 7: return trial<float, std::uint16_t>(n, shape, share, threads);
        case 8: return trial<double, std::uint32_t>(n, shape, share, threads);
        case 9: return trial<float, std::uint64_t>(n, shape, share, threads);
        default: return trial<double, std::int16_t>(n, shape, share, threads);
    }
}

// A file that takes nothing is a fault of its own, from whichever thread it comes.
void unwritable() {
    std::vector<double> s(40'000);  // too many to be counted
    std::iota(s.begin(), s.end(), 0.0);
    const std::vector<std::uint8_t> y(s.size(), 1);
    Rows rows;
    rows.n = std::int64_t(s.size());
    rows.score = {s.data(), sizeof(double), Kind::f64};
    rows.label = {y.data(), 1, Kind::u8};
    StreamPlan plan;
    plan.limit = 1;
    plan.most = 1024;
    try {
        const auto rows_kept = stream(plan);
        CHECK(!rows_kept->add(0, rows));
        rows_kept->begin(s.data(), s.size(), 8);
        for (int i = 0; i < 200; ++i) CHECK(rows_kept->add(0, rows));
        (void)rows_kept->finish(2, false, 3, -1);
        CHECK(!"a file that can't be written is a fault");
    } catch (const SpillFault&) {
    }
}

// A table of features in memory of just its size, so that any step outside is seen: dense with a gap
// after each row but the last, or CSR, in which some numbers stand as two halves, the second at the end of
// the row.
template <class S, class I>
struct Features {
    std::size_t n, d;
    std::vector<double> x;  // n by d
    std::vector<S> data;
    std::vector<I> indices, indptr;
    Table table;

    Features(std::size_t rows, std::size_t columns, bool sparse, bool whole) : n(rows), d(columns), x(n * d) {
        for (auto& v : x)
            v = uniform() < 0.4 ? 0 : whole ? double(below(19)) - 9 : double(S(score(0)));
        table.n = std::int64_t(n);
        table.d = std::int64_t(d);
        table.kind = kind_of<S>();
        if (sparse) {
            indptr.push_back(0);
            for (std::size_t i = 0; i < n; ++i) {
                const auto put = [&](std::size_t k, double v) {
                    data.push_back(S(v));
                    indices.push_back(I(k));
                };
                std::vector<std::size_t> halved;
                for (std::size_t k = 0; k < d; ++k) {
                    const double v = x[i * d + k];
                    if (v == 0) continue;
                    const bool half = std::abs(v) > 1e-30 && uniform() < 0.1;
                    put(k, half ? v / 2 : v);
                    if (half) halved.push_back(k);
                }
                for (const std::size_t k : halved) put(k, x[i * d + k] / 2);
                indptr.push_back(I(data.size()));
            }
            table.indices = indices.data();
            table.indptr = indptr.data();
            table.index = sizeof(I) == 4 ? Kind::i32 : Kind::i64;
            table.entries = std::int64_t(data.size());
        } else {
            const std::size_t stride = d + below(3);
            data.assign(n == 0 ? 0 : (n - 1) * stride + d, S(77));
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t k = 0; k < d; ++k) data[i * stride + k] = S(x[i * d + k]);
            table.stride = std::int64_t(stride);
        }
        table.data = data.data();
    }
};

template <class S, class I>
void linear_trial(bool sparse) {
    const std::size_t n = below(30), d = uniform() < 0.1 ? 1000 + below(60) : below(70);
    const Features<S, I> f(n, d, sparse, false);
    std::vector<double> w(d), c(n), out(n), sum(d, 0.25);
    for (auto& v : w) v = score(0);
    for (auto& v : c) v = uniform() < 0.3 ? 0 : score(0);
    scores(f.table, w.data(), 0.5, out.data());
    double most = 0;
    for (std::size_t i = 0; i < n; ++i) {
        double lane[8] = {}, plain = 0.5, size = 0.5, square = 0;
        for (std::size_t k = 0; k < d; ++k) {
            const double v = f.x[i * d + k] * w[k];
            lane[k % 8] += v;
            plain += v;
            size += std::abs(v);
            square += f.x[i * d + k] * f.x[i * d + k];
        }
        // The lanes are fixed, so every build has to agree with them to the bit.
        double four[4];
        for (int l = 0; l < 4; ++l) four[l] = lane[l] + lane[l + 4];
        if (!sparse) CHECK(out[i] == ((four[0] + four[2]) + (four[1] + four[3])) + 0.5);
        CHECK(std::abs(out[i] - plain) <= 1e-13 * size);
        most = std::max(most, square);
    }
    CHECK(std::abs(largest_square(f.table) - most) <= 1e-13 * most);
    combine(f.table, c.data(), sum.data());
    for (std::size_t k = 0; k < d; ++k) {
        double plain = 0.25, size = 0.25;
        for (std::size_t i = 0; i < n; ++i) plain += c[i] * f.x[i * d + k], size += std::abs(c[i] * f.x[i * d + k]);
        CHECK(std::abs(sum[k] - plain) <= 1e-13 * size);
    }
    if (sparse && !f.data.empty()) {
        auto damaged = f;
        damaged.indices[below(damaged.indices.size())] = uniform() < 0.5 ? I(-1) : I(d);
        damaged.table.indices = damaged.indices.data();
        try {
            scores(damaged.table, w.data(), 0, out.data());
            CHECK(!"a damaged matrix is refused");
        } catch (const std::invalid_argument&) {
        }
    }
}

// Calls check with every build that the dispatcher may not have picked here: all have the same bits.
#if defined(CUTSCORE_HAS_AVX)
struct Baseline {
    static constexpr auto logistic = cutscore::baseline::logistic;
    static constexpr auto scatter = cutscore::baseline::scatter;
};
struct Avx2 {
    static constexpr auto logistic = cutscore::avx2::logistic;
    static constexpr auto scatter = cutscore::avx2::scatter;
};
template <class Check>
void each_build(Check&& check) {
    check(Baseline{});
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) check(Avx2{});
}
#else
template <class Check>
void each_build(Check&&) {}
#endif

// Sums of products of columns, entry by entry in long double; sizes around tiles and whole eights.
template <class S, class I>
void scatter_trial() {
    const std::size_t n = 1 + (uniform() < 0.3 ? below(300) : below(30)), d = below(70);
    const Features<S, I> f(n, d, false, false);
    std::vector<std::int64_t> chosen(below(2 * n));
    for (auto& i : chosen) i = std::int64_t(below(n));
    const bool all = uniform() < 0.3, weighted = uniform() < 0.5;
    const std::size_t count = all ? n : chosen.size();
    std::vector<double> start(d), weight(count), out((d + 1) * (d + 1), 77), sums(d + 1, 77);
    for (auto& v : start) v = uniform() < 0.5 ? 0 : score(0);
    for (auto& v : weight) v = 3 * uniform();
    const auto run = [&](auto&& scatter, bool products, std::vector<double>& to) {
        scatter(f.table, all ? nullptr : chosen.data(), std::int64_t(count), weighted ? weight.data() : nullptr,
                start.data(), products, to.data());
    };
    run(cutscore::scatter, true, out);
    run(cutscore::scatter, false, sums);
    CHECK(std::equal(sums.begin(), sums.end(), out.end() - std::ptrdiff_t(d + 1)));
    each_build([&](auto build) {
        auto other = out;
        run(build.scatter, true, other);
        CHECK(other == out);
    });
    for (std::size_t a = 0; a <= d; ++a)
        for (std::size_t b = 0; b <= d; ++b) {
            long double plain = 0, size = 0;
            for (std::size_t r = 0; r < count; ++r) {
                const double* x = f.x.data() + (all ? r : std::size_t(chosen[r])) * d;
                const auto z = [&](std::size_t k) { return k < d ? x[k] - start[k] : 1.0; };
                const long double v = (weighted ? weight[r] : 1.0L) * z(a) * z(b);
                plain += v, size += std::abs(v);
            }
            CHECK(std::abs(double(out[a * (d + 1) + b] - plain)) <= 1e-13 * double(size) + 1e-300);
            CHECK(out[a * (d + 1) + b] == out[b * (d + 1) + a]);
        }
}

// The logistic loss against libm, row by row in long double; sizes around pieces and whole fours.
template <class S, class I>
void logistic_trial(bool sparse) {
    const std::size_t n = uniform() < 0.1 ? below(600) : below(30);
    const std::size_t d = uniform() < 0.05 ? 500 + below(60) : below(70);
    const Features<S, I> f(n, d, sparse, uniform() < 0.5);
    const double spread = std::exp2(double(below(12)) - 9);
    std::vector<double> w(d), weight(n), sums(2 * d + 3, 77), less(d + 2, 77), score_of(n);
    for (auto& v : w) v = spread * score(0);
    const auto positive = std::make_unique<bool[]>(n);
    for (std::size_t i = 0; i < n; ++i) positive[i] = uniform() < 0.5, weight[i] = 3 * uniform();
    const double* mass = uniform() < 0.5 ? weight.data() : nullptr;
    scores(f.table, w.data(), 0.25, score_of.data());
    std::vector<long double> plain(2 * d + 3), size(2 * d + 3);
    for (std::size_t i = 0; i < n; ++i) {
        const long double sign = positive[i] ? -1 : 1, z = sign * score_of[i], m = mass ? mass[i] : 1;
        const long double e = std::exp(-std::abs(z));
        const long double first = (z > 0 ? 1 : e) / (1 + e), second = e / ((1 + e) * (1 + e));
        const auto add = [&](std::size_t k, long double v) { plain[k] += v, size[k] += std::abs(v); };
        add(0, m * (std::max(z, 0.0L) + std::log1p(e)));
        for (std::size_t k = 0; k <= d; ++k) {
            const double x = k < d ? f.x[i * d + k] : 1;
            add(1 + k, m * sign * first * x);
            add(d + 2 + k, m * second * x);
        }
    }
    logistic(f.table, positive.get(), mass, w.data(), 0.25, true, sums.data());
    logistic(f.table, positive.get(), mass, w.data(), 0.25, false, less.data());
    for (std::size_t k = 0; k < sums.size(); ++k)
        CHECK(std::abs(double(sums[k] - plain[k])) <= 1e-13 * double(size[k]) + 1e-300);
    CHECK(less[0] == sums[0] && less[d + 1] == sums[d + 1]);
    each_build([&](auto build) {
        auto other = sums;
        build.logistic(f.table, positive.get(), mass, w.data(), 0.25, true, other.data());
        CHECK(other == sums);
    });
    for (std::size_t k = 0; k < d; ++k) CHECK(std::abs(less[1 + k] - sums[1 + k]) <= 1e-13 * double(size[1 + k]));

    std::vector<double> pairs(d * d, 0.5), squares(d, 0.25);
    try {
        products(f.table, weight.data(), pairs.data(), squares.data());
        CHECK(sparse);
    } catch (const std::invalid_argument&) {
        CHECK(!sparse);
        return;
    }
    for (std::size_t a = 0; a < d; ++a)
        for (std::size_t b = 0; b < d; ++b) {
            double sum = a == b ? 1.25 : 1, all = sum;
            for (std::size_t i = 0; i < n; ++i) {
                const double v = weight[i] * f.x[i * d + a] * f.x[i * d + b];
                sum += v, all += std::abs(v);
            }
            const double got = pairs[a * d + b] + pairs[b * d + a] + (a == b ? squares[a] : 0);
            CHECK(std::abs(got - sum) <= 1e-13 * all);
        }
}

// Whole numbers, so that the plain loop has the same bits whatever the order of its sums.
template <class S, class I>
void perceptron_trial(bool sparse) {
    const std::size_t n = 1 + below(60), d = below(40), room = 3;
    const Features<S, I> f(n, d, sparse, true);
    std::vector<double> line(d + 1), drift(d + 1), kept(room * (d + 1)), weight(n);
    const auto positive = std::make_unique<bool[]>(n);
    for (std::size_t i = 0; i < n; ++i) positive[i] = uniform() < 0.5, weight[i] = double(1 + below(3));
    const bool weighted = uniform() < 0.5;
    Perceptron p{line.data(), drift.data(), kept.data(), std::int64_t(room), 0, 0, 0, 0, 0};
    std::vector<double> w(d), moved(d + 1);
    std::vector<std::vector<double>> records;
    double b = 0;
    std::int64_t steps = 0, updates = 0, run = 0, longest = 0;
    for (int pass = 0; pass < 3; ++pass) {
        perceptron(f.table, positive.get(), weighted ? weight.data() : nullptr, 2, 7, p);
        for (std::size_t i = 0; i < n; ++i, ++steps) {
            double s = b;
            for (std::size_t k = 0; k < d; ++k) s += w[k] * f.x[i * d + k];
            const double sign = positive[i] ? 1 : -1;
            if (sign * s > 0) {
                ++run;
                continue;
            }
            if (run > longest) {
                longest = run;
                records.push_back(w);
                records.back().push_back(b);
            }
            run = 0;
            ++updates;
            const double c = 2 * sign * (weighted ? weight[i] : 1);
            for (std::size_t k = 0; k < d; ++k) w[k] += c * f.x[i * d + k], moved[k] += c * double(steps) * f.x[i * d + k];
            b += 7 * c;
            moved[d] += 7 * c * double(steps);
        }
    }
    CHECK(std::equal(w.begin(), w.end(), line.begin()) && line[d] == b);
    CHECK(moved == drift);
    CHECK(p.steps == steps && p.updates == updates && p.run == run && p.longest == longest);
    CHECK(p.records == std::int64_t(records.size()));
    for (std::size_t r = records.size() > room ? records.size() - room : 0; r < records.size(); ++r)
        CHECK(std::equal(records[r].begin(), records[r].end(), kept.begin() + std::ptrdiff_t(r % room * (d + 1))));
}

template <class S, class I>
void linear_trials() {
    const bool sparse = uniform() < 0.5;
    linear_trial<S, I>(sparse);
    perceptron_trial<S, I>(sparse);
    logistic_trial<S, I>(sparse);
    scatter_trial<S, I>();
}

void any_linear_trial() {
    switch (below(4)) {
        case 0: return linear_trials<float, std::int32_t>();
        case 1: return linear_trials<float, std::int64_t>();
        case 2: return linear_trials<double, std::int32_t>();
        default: return linear_trials<double, std::int64_t>();
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
    for (const int shape : {1, 5, 0}) {  // so many that few scores are counted
        trial<double, std::uint8_t>(140'000, shape, 0.5, 3);
        trial<float, std::int64_t>(140'000, shape, 0.1, 3);
    }
    trial<double, std::uint8_t>(1'100'000, 0, 0.3, 4);  // so many that threads share the labels
    for (int i = 0; i < trials; ++i) any_trial();
    unwritable();
    for (int i = 0; i < 10 * trials; ++i) any_linear_trial();
    crowd();
    std::printf("%d trials passed, 0 failed\n", trials);
}
