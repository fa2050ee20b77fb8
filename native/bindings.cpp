// Python's view of the native core. Arrays come in as they are (any stride, no copy); the GIL is
// released while the kernels run.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

#include "kernels.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Column = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;
template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::device::cpu, nb::c_contig>;
template <class T>
using InOut = nb::ndarray<T, nb::ndim<1>, nb::device::cpu, nb::c_contig>;
template <class T>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class Mass>
using SweepTuple = std::tuple<Out<double>, Out<Mass>, Out<Mass>>;

cutpoint::Kind kind_of(nb::dlpack::dtype t) {
    using cutpoint::Kind;
    using Code = nb::dlpack::dtype_code;
    const auto code = static_cast<Code>(t.code);
    if (code == Code::Bool && t.bits == 8) return Kind::b8;
    if (code == Code::Float) return t.bits == 32 ? Kind::f32 : t.bits == 64 ? Kind::f64 : Kind::none;
    const bool is_signed = code == Code::Int;
    if (!is_signed && code != Code::UInt) return Kind::none;
    switch (t.bits) {
        case 8: return is_signed ? Kind::i8 : Kind::u8;
        case 16: return is_signed ? Kind::i16 : Kind::u16;
        case 32: return is_signed ? Kind::i32 : Kind::u32;
        case 64: return is_signed ? Kind::i64 : Kind::u64;
        default: return Kind::none;
    }
}

cutpoint::Column column(const Column& array, const char* what, bool floats) {
    using cutpoint::Kind;
    const Kind kind = kind_of(array.dtype());
    if (kind == Kind::none || (floats && kind != Kind::f32 && kind != Kind::f64))
        throw nb::type_error((std::string(what) + " has a type that the native core does not read").c_str());
    return {array.data(), array.stride(0) * std::int64_t(array.itemsize()), kind};
}

cutpoint::Rows make_rows(const Column& score, const Column& label, double negative, double positive,
                         const std::optional<Column>& weight, int threads, bool finite = false) {
    cutpoint::Rows rows;
    rows.n = std::int64_t(score.shape(0));
    rows.score = column(score, "score", true);
    rows.label = column(label, "label", false);
    if (weight) rows.weight = column(*weight, "weight", true);
    if (label.shape(0) != score.shape(0) || (weight && weight->shape(0) != score.shape(0)))
        throw nb::value_error("score, label and weight differ in length");
    rows.negative = negative;
    rows.positive = positive;
    rows.finite = finite;
    rows.threads = std::max(threads, 1);
    return rows;
}

template <class T>
Out<T> hand_over(cutpoint::Buffer<T>&& buffer) {
    auto* kept = new cutpoint::Buffer<T>(std::move(buffer));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<cutpoint::Buffer<T>*>(p); });
    return Out<T>(kept->data(), {kept->size()}, owner);
}
template <class Mass>
SweepTuple<Mass> hand_over(cutpoint::Masses<Mass>&& m) {
    return {hand_over(std::move(m.threshold)), hand_over(std::move(m.pos)), hand_over(std::move(m.neg))};
}

nb::object python_int(cutpoint::Wide x) {
    const nb::int_ high(std::uint64_t(x >> 64)), low{std::uint64_t(x)};
    return (high << nb::int_(64)) | low;
}

template <class Run>
auto unlocked(Run&& run) {
    nb::gil_scoped_release release;
    return run();
}

template <class Mass>
cutpoint::View<Mass> view(const In<double>& threshold, const In<Mass>& pos, const In<Mass>& neg) {
    if (pos.shape(0) != threshold.shape(0) || neg.shape(0) != threshold.shape(0))
        throw nb::value_error("threshold, pos and neg differ in length");
    return {threshold.data(), pos.data(), neg.data(), threshold.shape(0)};
}

template <class Mass>
SweepTuple<Mass> merge(const In<double>& threshold_a, const In<Mass>& pos_a, const In<Mass>& neg_a,
                       const In<double>& threshold_b, const In<Mass>& pos_b, const In<Mass>& neg_b) {
    const auto a = view(threshold_a, pos_a, neg_a), b = view(threshold_b, pos_b, neg_b);
    return hand_over(unlocked([&] { return cutpoint::merge(a, b); }));
}

template <class Mass>
using Staircase = std::tuple<Out<std::int64_t>, Out<Mass>, Out<Mass>>;

void same_length(std::size_t a, std::size_t b) {
    if (a != b) throw nb::value_error("the masses of the classes differ in length");
}

template <class Mass>
Staircase<Mass> corners(const In<Mass>& pos, const In<Mass>& neg) {
    same_length(pos.shape(0), neg.shape(0));
    auto c = unlocked([&] {
        return cutpoint::corners(cutpoint::View<Mass>{nullptr, pos.data(), neg.data(), pos.shape(0)});
    });
    return {hand_over(std::move(c.cut)), hand_over(std::move(c.tp)), hand_over(std::move(c.fp))};
}

template <class Mass>
Staircase<Mass> hull(const In<Mass>& tp, const In<Mass>& fp) {
    same_length(tp.shape(0), fp.shape(0));
    auto h = unlocked([&] { return cutpoint::hull(tp.data(), fp.data(), tp.shape(0)); });
    return {hand_over(std::move(h.end)), hand_over(std::move(h.pos)), hand_over(std::move(h.neg))};
}

template <class Mass, class Add>
void bin(const Column& score, const Column& label, double negative, double positive,
         const std::optional<Column>& weight, int threads, const InOut<Mass>& pos,
         const InOut<Mass>& neg, Add&& add) {
    const auto rows = make_rows(score, label, negative, positive, weight, threads);
    int bits = 0;
    while (bits < 24 && (std::size_t(1) << bits) < pos.shape(0)) ++bits;
    if (pos.shape(0) != neg.shape(0) || bits < 1 || pos.shape(0) != std::size_t(1) << bits)
        throw nb::value_error("the number of bins is not a power of two from 2 to 2**24");
    unlocked([&] { add(rows, bits, pos.data(), neg.data()); });
}

}  // namespace

NB_MODULE(_native, m) {
    nb::exception<cutpoint::RowFault>(m, "RowFault", PyExc_ValueError);

    m.def("area", [](const Column& score, const Column& label, double negative, double positive,
                     int threads, bool finite) {
        const auto rows = make_rows(score, label, negative, positive, std::nullopt, threads, finite);
        const auto a = unlocked([&] { return cutpoint::area(rows); });
        return std::make_tuple(a.pos, a.neg, python_int(a.twice));
    }, "score"_a, "label"_a, "negative"_a, "positive"_a, "threads"_a,
    "finite"_a = false);

    m.def("weighted_area", [](const Column& score, const Column& label, double negative,
                              double positive, const Column& weight, int threads, bool finite) {
        const auto rows = make_rows(score, label, negative, positive, weight, threads, finite);
        const auto a = unlocked([&] { return cutpoint::weighted_area(rows); });
        return std::make_tuple(a.pos, a.neg, a.twice);
    }, "score"_a, "label"_a, "negative"_a, "positive"_a, "weight"_a, "threads"_a,
    "finite"_a = false);

    m.def("sweep", [](const Column& score, const Column& label, double negative, double positive,
                      int threads, bool finite) {
        const auto rows = make_rows(score, label, negative, positive, std::nullopt, threads, finite);
        return hand_over(unlocked([&] { return cutpoint::sweep(rows); }));
    }, "score"_a, "label"_a, "negative"_a, "positive"_a, "threads"_a,
    "finite"_a = false);

    m.def("weighted_sweep", [](const Column& score, const Column& label, double negative,
                               double positive, const Column& weight, int threads, bool finite) {
        const auto rows = make_rows(score, label, negative, positive, weight, threads, finite);
        return hand_over(unlocked([&] { return cutpoint::weighted_sweep(rows); }));
    }, "score"_a, "label"_a, "negative"_a, "positive"_a, "weight"_a, "threads"_a,
    "finite"_a = false);

    m.def("bin", [](const Column& score, const Column& label, double negative, double positive,
                    int threads, const InOut<std::int64_t>& pos, const InOut<std::int64_t>& neg) {
        bin(score, label, negative, positive, std::nullopt, threads, pos, neg, cutpoint::bin);
    });
    m.def("weighted_bin", [](const Column& score, const Column& label, double negative,
                             double positive, const Column& weight, int threads,
                             const InOut<double>& pos, const InOut<double>& neg) {
        bin(score, label, negative, positive, weight, threads, pos, neg, cutpoint::weighted_bin);
    });
    m.def("bin_edges", [](int bits) {
        if (bits < 1 || bits > 24) throw nb::value_error("bits must lie in 1..24");
        cutpoint::Buffer<double> edges(std::size_t(1) << bits);
        cutpoint::bin_edges(bits, edges.data());
        return hand_over(std::move(edges));
    });

    m.def("twice_area", [](const In<std::int64_t>& pos, const In<std::int64_t>& neg) {
        same_length(pos.shape(0), neg.shape(0));
        return python_int(
            unlocked([&] { return cutpoint::twice_area(pos.data(), neg.data(), pos.shape(0)); }));
    });
    m.def("merge", &merge<std::int64_t>);
    m.def("weighted_merge", &merge<double>);
    m.def("corners", &corners<std::int64_t>);
    m.def("weighted_corners", &corners<double>);
    m.def("hull", &hull<std::int64_t>);
    m.def("weighted_hull", &hull<double>);
    m.def("squared_placements", [](const In<std::int64_t>& pos, const In<std::int64_t>& neg,
                                   std::uint64_t all_neg) {
        same_length(pos.shape(0), neg.shape(0));
        const auto [of_pos, of_neg] = unlocked([&] {
            return cutpoint::squared_placements(pos.data(), neg.data(), pos.shape(0), all_neg);
        });
        return std::make_tuple(python_int(of_pos), python_int(of_neg));
    });
    m.def("look_up", [](const In<double>& table, const In<double>& x, bool level, int threads) {
        cutpoint::Buffer<std::int64_t> out(x.shape(0));
        unlocked([&] {
            cutpoint::look_up(table.data(), table.shape(0), x.data(), x.shape(0), level, threads,
                              out.data());
        });
        return hand_over(std::move(out));
    });
    m.def("resample", [](const In<std::int64_t>& mass, std::uint64_t seed, std::uint64_t stream) {
        cutpoint::Buffer<std::int64_t> out(mass.shape(0));
        unlocked([&] { cutpoint::resample(mass.data(), mass.shape(0), seed, stream, out.data()); });
        return hand_over(std::move(out));
    });
    m.def("bootstrap_area", [](const In<std::int64_t>& pos, const In<std::int64_t>& neg,
                               std::size_t first, std::size_t n, std::uint64_t seed, int threads) {
        same_length(pos.shape(0), neg.shape(0));
        cutpoint::Buffer<double> areas(n);
        unlocked([&] {
            cutpoint::bootstrap_area({nullptr, pos.data(), neg.data(), pos.shape(0)}, seed, threads,
                                     first, n, areas.data());
        });
        return hand_over(std::move(areas));
    });
}
