// Picks the build of the kernels that this processor can run; and what needs no choice.
#include <cstddef>
#include <cstdint>
#include <limits>

#define CUTPOINT_ISA cutpoint::baseline
#include "keys.hpp"
#undef CUTPOINT_ISA
#include "kernels.hpp"

namespace cutpoint {

#define CUTPOINT_DECLARE                                                  \
    Area area(const Rows&);                                               \
    WeightedArea weighted_area(const Rows&);                              \
    Masses<std::int64_t> sweep(const Rows&);                              \
    Masses<double> weighted_sweep(const Rows&);                           \
    void bin(const Rows&, int, std::int64_t*, std::int64_t*);             \
    void weighted_bin(const Rows&, int, double*, double*);

namespace baseline {
CUTPOINT_DECLARE
}

#if defined(CUTPOINT_HAS_AVX2)
namespace avx2 {
CUTPOINT_DECLARE
}
static bool has_avx2() noexcept {
    static const bool yes = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
    return yes;
}
#define CUTPOINT_DISPATCH(call) (has_avx2() ? avx2::call : baseline::call)
#else
#define CUTPOINT_DISPATCH(call) baseline::call
#endif

Area area(const Rows& r) { return CUTPOINT_DISPATCH(area(r)); }
WeightedArea weighted_area(const Rows& r) { return CUTPOINT_DISPATCH(weighted_area(r)); }
Masses<std::int64_t> sweep(const Rows& r) { return CUTPOINT_DISPATCH(sweep(r)); }
Masses<double> weighted_sweep(const Rows& r) { return CUTPOINT_DISPATCH(weighted_sweep(r)); }
void bin(const Rows& r, int bits, std::int64_t* pos, std::int64_t* neg) {
    CUTPOINT_DISPATCH(bin(r, bits, pos, neg));
}
void weighted_bin(const Rows& r, int bits, double* pos, double* neg) {
    CUTPOINT_DISPATCH(weighted_bin(r, bits, pos, neg));
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
    Masses<Mass> out{Buffer<double>(m), Buffer<Mass>(m), Buffer<Mass>(m)};
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

}  // namespace cutpoint
