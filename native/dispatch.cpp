// Picks the build of the kernels that this processor can run; and what needs no choice.
#include <cstddef>
#include <cstdint>
#include <limits>

#define CUTSCORE_ISA cutscore::baseline
#include "keys.hpp"
#undef CUTSCORE_ISA
#include "kernels.hpp"

namespace cutscore {

#define CUTSCORE_DECLARE                                                  \
    Area area(const Rows&);                                               \
    WeightedArea weighted_area(const Rows&);                              \
    Masses<std::int64_t> sweep(const Rows&, std::size_t);                 \
    Masses<double> weighted_sweep(const Rows&);                           \
    Masses<std::int64_t> compact_sweep(const Rows&);                      \
    Masses<double> weighted_compact_sweep(const Rows&);                   \
    std::unique_ptr<StreamOf<std::int64_t>> stream(const StreamPlan&);    \
    std::unique_ptr<StreamOf<double>> weighted_stream(const StreamPlan&); \
    void bin(const Rows&, int, std::int64_t*, std::int64_t*);             \
    void weighted_bin(const Rows&, int, double*, double*);               \
    void group_areas(const Rows&, const std::int64_t*, std::size_t, std::int64_t*, std::int64_t*, double*); \
    void weighted_placements(const Rows&, double*);                       \
    std::uint64_t placement_sums(const Rows*, std::size_t, bool, Wide*);  \
    Points roc_curve(const Rows&, bool);                                  \
    Points precision_recall_curve(const Rows&);                           \
    Points det_curve(const Rows&);                                        \
    double average_precision(const Rows&);                                \
    Blocks<std::int64_t> block_sums(View<std::int64_t>, std::size_t, int); \
    double average_precision(View<std::int64_t>, std::int64_t, std::int64_t, double, int); \
    void look_up(const double*, std::size_t, const double*, std::size_t, bool, int, std::int64_t*); \
    void bootstrap_area(View<std::int64_t>, std::uint64_t, int, std::size_t, std::size_t, double*); \
    void bootstrap_precision(View<std::int64_t>, std::uint64_t, int, std::size_t, std::size_t, double*); \
    void resample(const std::int64_t*, std::size_t, std::uint64_t, std::uint64_t, std::int64_t*);   \
    void cross_fit(const Aim&, const Choices&, std::uint64_t, int);
#define CUTSCORE_DECLARE_FEATURES                                         \
    void scores(const Table&, const double*, double, double*);            \
    void combine(const Table&, const double*, double*);                   \
    void products(const Table&, const double*, double*, double*);         \
    void scatter(const Table&, const std::int64_t*, std::int64_t, const double*, const double*, bool, double*); \
    double largest_square(const Table&);                                  \
    void perceptron(const Table&, const bool*, const double*, double, double, Perceptron&); \
    void logistic(const Table&, const bool*, const double*, const double*, double, bool, double*);

namespace baseline {
CUTSCORE_DECLARE
CUTSCORE_DECLARE_FEATURES
}

#if defined(CUTSCORE_HAS_AVX)
namespace avx2 {
CUTSCORE_DECLARE
CUTSCORE_DECLARE_FEATURES
}
namespace avx512 {
CUTSCORE_DECLARE_FEATURES
}
static bool has_avx2() noexcept {
    static const bool yes = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
    return yes;
}
static bool has_avx512() noexcept {
    static const bool yes = has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    return yes;
}
#define CUTSCORE_DISPATCH(call) (has_avx2() ? avx2::call : baseline::call)
#define CUTSCORE_DISPATCH_FEATURES(call) (has_avx512() ? avx512::call : CUTSCORE_DISPATCH(call))
#else
#define CUTSCORE_DISPATCH(call) baseline::call
#define CUTSCORE_DISPATCH_FEATURES(call) baseline::call
#endif

Area area(const Rows& r) { return CUTSCORE_DISPATCH(area(r)); }
WeightedArea weighted_area(const Rows& r) { return CUTSCORE_DISPATCH(weighted_area(r)); }
Masses<std::int64_t> sweep(const Rows& r, std::size_t block) { return CUTSCORE_DISPATCH(sweep(r, block)); }
Masses<double> weighted_sweep(const Rows& r) { return CUTSCORE_DISPATCH(weighted_sweep(r)); }
Masses<std::int64_t> compact_sweep(const Rows& r) { return CUTSCORE_DISPATCH(compact_sweep(r)); }
Masses<double> weighted_compact_sweep(const Rows& r) {
    return CUTSCORE_DISPATCH(weighted_compact_sweep(r));
}
std::unique_ptr<StreamOf<std::int64_t>> stream(const StreamPlan& plan) {
    return CUTSCORE_DISPATCH(stream(plan));
}
std::unique_ptr<StreamOf<double>> weighted_stream(const StreamPlan& plan) {
    return CUTSCORE_DISPATCH(weighted_stream(plan));
}
void bin(const Rows& r, int bits, std::int64_t* pos, std::int64_t* neg) {
    CUTSCORE_DISPATCH(bin(r, bits, pos, neg));
}
void weighted_bin(const Rows& r, int bits, double* pos, double* neg) {
    CUTSCORE_DISPATCH(weighted_bin(r, bits, pos, neg));
}
void group_areas(const Rows& r, const std::int64_t* group, std::size_t groups, std::int64_t* pos,
                 std::int64_t* neg, double* area) {
    CUTSCORE_DISPATCH(group_areas(r, group, groups, pos, neg, area));
}
void weighted_placements(const Rows& r, double* out) { CUTSCORE_DISPATCH(weighted_placements(r, out)); }
std::uint64_t placement_sums(const Rows* rows, std::size_t k, bool wide, Wide* out) {
    return CUTSCORE_DISPATCH(placement_sums(rows, k, wide, out));
}
Points roc_curve(const Rows& r, bool corners_only) { return CUTSCORE_DISPATCH(roc_curve(r, corners_only)); }
Points precision_recall_curve(const Rows& r) { return CUTSCORE_DISPATCH(precision_recall_curve(r)); }
Points det_curve(const Rows& r) { return CUTSCORE_DISPATCH(det_curve(r)); }
double average_precision(const Rows& r) { return CUTSCORE_DISPATCH(average_precision(r)); }
Blocks<std::int64_t> block_sums(View<std::int64_t> s, std::size_t size, int threads) {
    return CUTSCORE_DISPATCH(block_sums(s, size, threads));
}
double average_precision(View<std::int64_t> s, std::int64_t tp, std::int64_t fp, double positives, int threads) {
    return CUTSCORE_DISPATCH(average_precision(s, tp, fp, positives, threads));
}
void look_up(const double* table, std::size_t m, const double* x, std::size_t n, bool level, int threads,
             std::int64_t* out) {
    CUTSCORE_DISPATCH(look_up(table, m, x, n, level, threads, out));
}
void bootstrap_area(View<std::int64_t> s, std::uint64_t seed, int threads, std::size_t first,
                    std::size_t n, double* areas) {
    CUTSCORE_DISPATCH(bootstrap_area(s, seed, threads, first, n, areas));
}
void bootstrap_precision(View<std::int64_t> s, std::uint64_t seed, int threads, std::size_t first,
                         std::size_t n, double* values) {
    CUTSCORE_DISPATCH(bootstrap_precision(s, seed, threads, first, n, values));
}
void cross_fit(const Aim& aim, const Choices& c, std::uint64_t seed, int threads) {
    CUTSCORE_DISPATCH(cross_fit(aim, c, seed, threads));
}
void resample(const std::int64_t* mass, std::size_t m, std::uint64_t seed, std::uint64_t stream,
              std::int64_t* out) {
    CUTSCORE_DISPATCH(resample(mass, m, seed, stream, out));
}
void scores(const Table& t, const double* w, double b, double* out) {
    CUTSCORE_DISPATCH_FEATURES(scores(t, w, b, out));
}
void combine(const Table& t, const double* coefficient, double* sum) {
    CUTSCORE_DISPATCH_FEATURES(combine(t, coefficient, sum));
}
void products(const Table& t, const double* coefficient, double* sum, double* squares) {
    CUTSCORE_DISPATCH_FEATURES(products(t, coefficient, sum, squares));
}
void scatter(const Table& t, const std::int64_t* chosen, std::int64_t count, const double* weight,
             const double* start, bool products, double* out) {
    CUTSCORE_DISPATCH_FEATURES(scatter(t, chosen, count, weight, start, products, out));
}
double largest_square(const Table& t) { return CUTSCORE_DISPATCH_FEATURES(largest_square(t)); }
void perceptron(const Table& t, const bool* positive, const double* weight, double rate, double square,
                Perceptron& p) {
    CUTSCORE_DISPATCH_FEATURES(perceptron(t, positive, weight, rate, square, p));
}
void logistic(const Table& t, const bool* positive, const double* weight, const double* w, double b,
              bool curved, double* out) {
    CUTSCORE_DISPATCH_FEATURES(logistic(t, positive, weight, w, b, curved, out));
}

void bin_edges(int bits, double* edges) {
    // Bins whose leading bits belong to a NaN pattern stay empty; their edges are -inf and +inf.
    using K = baseline::Keys<float>;
    constexpr float inf = std::numeric_limits<float>::infinity();
    for (std::size_t b = 0; b < std::size_t(1) << bits; ++b) {
        const auto key = std::uint32_t(b) << (32 - bits);
        edges[b] = key < K::of(-inf) ? -inf : key > K::of(inf) ? inf : double(K::score(key));
    }
}

}  // namespace cutscore
