// Python's view of the native core. Arrays come in as they are (any stride, no copy); the GIL is
// released while the kernels run.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <vector>

#include "kernels.hpp"
#include "pairs.hpp"

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
// A result that stays as it is: Python keeps it without a copy, since nobody can write to it.
template <class T>
using Result = Out<const T>;
template <class Mass>
using SweepTuple = std::tuple<Result<double>, Result<Mass>, Result<Mass>>;

cutscore::Kind kind_of(nb::dlpack::dtype t) {
    using cutscore::Kind;
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

cutscore::Column column(const Column& array, const char* what, bool floats) {
    using cutscore::Kind;
    const Kind kind = kind_of(array.dtype());
    if (kind == Kind::none || (floats && kind != Kind::f32 && kind != Kind::f64))
        throw nb::type_error((std::string(what) + " has a type that the native core does not read").c_str());
    return {array.data(), array.stride(0) * std::int64_t(array.itemsize()), kind};
}

cutscore::Rows make_rows(const Column& score, const Column& label, double negative, double positive,
                         const std::optional<Column>& weight, int threads, bool finite = false) {
    cutscore::Rows rows;
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

using Array = nb::ndarray<nb::ro, nb::device::cpu>;

// A matrix of rows that lie side by side; or data, indices and indptr of one in CSR form.
cutscore::Table table(const Array& data, const std::optional<Column>& indices,
                      const std::optional<Column>& indptr, std::size_t d) {
    using cutscore::Kind;
    cutscore::Table t;
    t.kind = kind_of(data.dtype());
    t.data = data.data();
    t.d = std::int64_t(d);
    if (t.kind != Kind::f32 && t.kind != Kind::f64)
        throw nb::type_error("X has a type that the native core does not read");
    if (!indptr) {
        if (data.ndim() != 2 || (data.shape(0) > 0 && data.shape(1) > 1 && data.stride(1) != 1))
            throw nb::value_error("X must be a matrix whose rows are contiguous");
        if (data.shape(1) != d) throw nb::value_error("X has another number of columns");
        t.n = std::int64_t(data.shape(0));
        t.stride = data.stride(0);
        return t;
    }
    t.index = kind_of(indptr->dtype());
    if (!indices || kind_of(indices->dtype()) != t.index || (t.index != Kind::i32 && t.index != Kind::i64))
        throw nb::type_error("the index arrays of a CSR matrix must both be int32 or both int64");
    if (data.ndim() != 1 || indices->shape(0) != data.shape(0) || indptr->shape(0) < 1)
        throw nb::value_error("the arrays of a CSR matrix don't fit each other");
    if ((data.shape(0) > 1 && (data.stride(0) != 1 || indices->stride(0) != 1)) ||
        (indptr->shape(0) > 1 && indptr->stride(0) != 1))
        throw nb::value_error("the arrays of a CSR matrix must be contiguous");
    t.n = std::int64_t(indptr->shape(0)) - 1;
    t.indices = indices->data();
    t.indptr = indptr->data();
    t.entries = std::int64_t(data.shape(0));
    return t;
}

void one_for_each_row(const cutscore::Table& t, std::size_t n) {
    if (std::size_t(t.n) != n) throw nb::value_error("there must be one value for each row of X");
}

template <class T>
Result<T> hand_over(cutscore::Buffer<T>&& buffer) {
    auto* kept = new cutscore::Buffer<T>(std::move(buffer));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<cutscore::Buffer<T>*>(p); });
    return Result<T>(kept->data(), {kept->size()}, owner);
}
// For the many small results of a pass block by block: the heap has their pages at hand, a Buffer asks
// the system for each.
Out<double> small(std::size_t size) {
    auto* values = new double[size];
    nb::capsule owner(values, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return Out<double>(values, {size}, owner);
}
// What users may change: drop-ins return arrays as their model does. Of the room only so much is used.
Out<double> writable(cutscore::Buffer<double>&& buffer, std::size_t size) {
    auto* kept = new cutscore::Buffer<double>(std::move(buffer));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<cutscore::Buffer<double>*>(p); });
    return Out<double>(kept->data(), {size}, owner);
}
std::tuple<Out<double>, Out<double>, Out<double>> writable(cutscore::Points&& p) {
    const std::size_t thresholds = std::min(p.size, p.threshold.size());
    return {writable(std::move(p.x), p.size), writable(std::move(p.y), p.size),
            writable(std::move(p.threshold), thresholds)};
}
SweepTuple<std::int64_t> hand_over(cutscore::Blocks<std::int64_t>&& b) {
    return {hand_over(std::move(b.first)), hand_over(std::move(b.tp)), hand_over(std::move(b.fp))};
}
template <class Mass>
SweepTuple<Mass> hand_over(cutscore::Masses<Mass>&& m) {
    return {hand_over(std::move(m.threshold)), hand_over(std::move(m.pos)), hand_over(std::move(m.neg))};
}

template <class Mass>
std::tuple<Result<double>, Result<Mass>, Result<Mass>, Result<double>> hand_over_runs(cutscore::Masses<Mass>&& m) {
    return {hand_over(std::move(m.threshold)), hand_over(std::move(m.pos)), hand_over(std::move(m.neg)),
            hand_over(std::move(m.top))};
}

nb::object python_int(cutscore::Wide x) {
    const nb::int_ high(std::uint64_t(x >> 64)), low{std::uint64_t(x)};
    return (high << nb::int_(64)) | low;
}

// Lets Python handle signals, a few times a second: a handler that raises ends the kernel. Only the main
// thread of Python runs handlers; to all others this does nothing.
void answer_signals() {
    using Clock = std::chrono::steady_clock;
    static thread_local Clock::time_point last = Clock::now();
    if (Clock::now() - last < std::chrono::milliseconds(50)) return;
    last = Clock::now();
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

template <class Run>
auto unlocked(Run&& run) {
    nb::gil_scoped_release release;
    return run();
}

template <class Mass>
cutscore::View<Mass> view(const In<double>& threshold, const In<Mass>& pos, const In<Mass>& neg) {
    if (pos.shape(0) != threshold.shape(0) || neg.shape(0) != threshold.shape(0))
        throw nb::value_error("threshold, pos and neg differ in length");
    return {threshold.data(), pos.data(), neg.data(), threshold.shape(0)};
}

template <class Mass>
SweepTuple<Mass> merge(const In<double>& threshold_a, const In<Mass>& pos_a, const In<Mass>& neg_a,
                       const In<double>& threshold_b, const In<Mass>& pos_b, const In<Mass>& neg_b) {
    const auto a = view(threshold_a, pos_a, neg_a), b = view(threshold_b, pos_b, neg_b);
    return hand_over(unlocked([&] { return cutscore::merge(a, b); }));
}

template <class Mass>
using Staircase = std::tuple<Result<std::int64_t>, Result<Mass>, Result<Mass>>;

void same_length(std::size_t a, std::size_t b) {
    if (a != b) throw nb::value_error("the masses of the classes differ in length");
}

template <class Value>
Result<std::int64_t> count_below(const In<Value>& value, const In<Value>& bound, bool or_equal) {
    cutscore::Buffer<std::int64_t> out(bound.shape(0));
    unlocked([&] {
        cutscore::count_below(value.data(), value.shape(0), bound.data(), bound.shape(0), or_equal, out.data());
        return 0;
    });
    return hand_over(std::move(out));
}

template <class Value>
std::tuple<std::size_t, std::size_t> best_pair(const In<Value>& a, const In<Value>& b, const In<Value>& mass,
                                               const In<bool>& a_allowed, const In<bool>& b_allowed,
                                               const In<std::int64_t>& low, const In<std::int64_t>& high) {
    const std::size_t size = a.shape(0);
    for (const std::size_t other : {b.shape(0), mass.shape(0), a_allowed.shape(0), b_allowed.shape(0), low.shape(0),
                                    high.shape(0)})
        same_length(size, other);
    const auto found = unlocked([&] {
        return cutscore::best_pair(a.data(), b.data(), mass.data(), a_allowed.data(), b_allowed.data(), low.data(),
                                   high.data(), size);
    });
    return {found.first, found.second};
}

template <class Mass>
Staircase<Mass> corners(const In<Mass>& pos, const In<Mass>& neg, Mass tp, Mass fp) {
    same_length(pos.shape(0), neg.shape(0));
    auto c = unlocked([&] {
        return cutscore::corners(cutscore::View<Mass>{nullptr, pos.data(), neg.data(), pos.shape(0)}, tp, fp);
    });
    return {hand_over(std::move(c.cut)), hand_over(std::move(c.tp)), hand_over(std::move(c.fp))};
}

template <class Mass>
Staircase<Mass> hull(const In<Mass>& tp, const In<Mass>& fp) {
    same_length(tp.shape(0), fp.shape(0));
    auto h = unlocked([&] { return cutscore::hull(tp.data(), fp.data(), tp.shape(0)); });
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

template <class Mass>
std::unique_ptr<cutscore::StreamOf<Mass>> make_stream(const cutscore::StreamPlan& plan) {
    if constexpr (std::is_same_v<Mass, double>)
        return cutscore::weighted_stream(plan);
    else
        return cutscore::stream(plan);
}

// A stream of batches. Threads may add at the same time, each by its own number.
template <class Mass>
void bind_stream(nb::module_& m, const char* name) {
    using Stream = cutscore::StreamOf<Mass>;
    nb::class_<Stream>(m, name)
        .def("add", [](Stream& s, int worker, const Column& score, const Column& label,
                       const std::optional<Column>& weight) {
            const auto rows = make_rows(score, label, 0, 1, weight, 1);
            return unlocked([&] { return s.add(worker, rows); });
        }, "worker"_a, "score"_a, "label"_a, "weight"_a.none())
        .def("begin", [](Stream& s, const In<double>& sample, std::size_t buckets) {
            const auto most = std::min<std::size_t>(buckets, 4096);
            unlocked([&] { s.begin(sample.data(), sample.shape(0), most); });
        }, "sample"_a, "buckets"_a)
        .def_prop_ro("spilled", [](const Stream& s) { return s.spilled(); })
        .def("finish", [](Stream& s, int threads, bool compact, std::size_t most, int file) {
            return hand_over_runs(unlocked([&] { return s.finish(threads, compact, most, file); }));
        }, "threads"_a, "compact"_a, "most"_a, "file"_a);
    m.def(std::is_same_v<Mass, double> ? "weighted_stream" : "stream",
          [](bool single, int workers, std::size_t limit, std::size_t most, int file) {
              cutscore::StreamPlan plan;
              plan.score = single ? cutscore::Kind::f32 : cutscore::Kind::f64;
              plan.workers = std::max(workers, 1);
              plan.limit = limit;
              plan.most = std::max<std::size_t>(most, 1024);
              plan.file = file;
              return make_stream<Mass>(plan);
          }, "single"_a, "workers"_a, "limit"_a, "most"_a, "file"_a);
}

}  // namespace

NB_MODULE(_native, m) {
    cutscore::between_parts = answer_signals;
    nb::exception<cutscore::RowFault>(m, "RowFault", PyExc_ValueError);

    nb::exception<cutscore::SpillFault>(m, "SpillFault", PyExc_OSError);
    bind_stream<std::int64_t>(m, "Stream");
    bind_stream<double>(m, "WeightedStream");

    m.def("area", [](const Column& score, const Column& label, double negative, double positive,
                     int threads, bool finite) {
        const auto rows = make_rows(score, label, negative, positive, std::nullopt, threads, finite);
        const auto a = unlocked([&] { return cutscore::area(rows); });
        return std::make_tuple(a.pos, a.neg, python_int(a.twice));
    }, "score"_a, "label"_a, "negative"_a, "positive"_a, "threads"_a,
    "finite"_a = false);

    m.def("weighted_area", [](const Column& score, const Column& label, double negative,
                              double positive, const Column& weight, int threads, bool finite) {
        const auto rows = make_rows(score, label, negative, positive, weight, threads, finite);
        const auto a = unlocked([&] { return cutscore::weighted_area(rows); });
        return std::make_tuple(a.pos, a.neg, a.twice);
    }, "score"_a, "label"_a, "negative"_a, "positive"_a, "weight"_a, "threads"_a,
    "finite"_a = false);

    m.def("sweep", [](const Column& score, const Column& label, double negative, double positive,
                      int threads, bool finite) {
        const auto rows = make_rows(score, label, negative, positive, std::nullopt, threads, finite);
        return hand_over(unlocked([&] { return cutscore::sweep(rows); }));
    }, "score"_a, "label"_a, "negative"_a, "positive"_a, "threads"_a,
    "finite"_a = false);
    // The same, and the sums of blocks of so many entries.
    m.def("sweep_in_blocks", [](const Column& score, const Column& label, double negative, double positive,
                                int threads, std::size_t size) {
        const auto rows = make_rows(score, label, negative, positive, std::nullopt, threads);
        if (size < 1) throw nb::value_error("a block has at least one entry");
        auto masses = unlocked([&] { return cutscore::sweep(rows, size); });
        auto blocks = hand_over(std::move(masses.blocks));
        return std::make_tuple(hand_over(std::move(masses)), std::move(blocks));
    }, "score"_a, "label"_a, "negative"_a, "positive"_a, "threads"_a, "size"_a);

    m.def("weighted_sweep", [](const Column& score, const Column& label, double negative,
                               double positive, const Column& weight, int threads, bool finite) {
        const auto rows = make_rows(score, label, negative, positive, weight, threads, finite);
        return hand_over(unlocked([&] { return cutscore::weighted_sweep(rows); }));
    }, "score"_a, "label"_a, "negative"_a, "positive"_a, "weight"_a, "threads"_a,
    "finite"_a = false);

    m.def("compact_sweep", [](const Column& score, const Column& label, double negative,
                              double positive, int threads) {
        const auto rows = make_rows(score, label, negative, positive, std::nullopt, threads);
        return hand_over_runs(unlocked([&] { return cutscore::compact_sweep(rows); }));
    });
    m.def("weighted_compact_sweep", [](const Column& score, const Column& label, double negative,
                                       double positive, const Column& weight, int threads) {
        const auto rows = make_rows(score, label, negative, positive, weight, threads);
        return hand_over_runs(unlocked([&] { return cutscore::weighted_compact_sweep(rows); }));
    });

    m.def("bin", [](const Column& score, const Column& label, double negative, double positive,
                    int threads, const InOut<std::int64_t>& pos, const InOut<std::int64_t>& neg) {
        bin(score, label, negative, positive, std::nullopt, threads, pos, neg, cutscore::bin);
    });
    m.def("weighted_bin", [](const Column& score, const Column& label, double negative,
                             double positive, const Column& weight, int threads,
                             const InOut<double>& pos, const InOut<double>& neg) {
        bin(score, label, negative, positive, weight, threads, pos, neg, cutscore::weighted_bin);
    });
    m.def("bin_edges", [](int bits) {
        if (bits < 1 || bits > 24) throw nb::value_error("bits must lie in 1..24");
        cutscore::Buffer<double> edges(std::size_t(1) << bits);
        cutscore::bin_edges(bits, edges.data());
        return hand_over(std::move(edges));
    });

    m.def("twice_area", [](const In<std::int64_t>& pos, const In<std::int64_t>& neg) {
        same_length(pos.shape(0), neg.shape(0));
        return python_int(
            unlocked([&] { return cutscore::twice_area(pos.data(), neg.data(), pos.shape(0)); }));
    });
    m.def("merge", &merge<std::int64_t>);
    m.def("weighted_merge", &merge<double>);
    m.def("corners", &corners<std::int64_t>, "pos"_a, "neg"_a, "tp"_a = 0, "fp"_a = 0);
    m.def("weighted_corners", &corners<double>, "pos"_a, "neg"_a, "tp"_a = 0.0, "fp"_a = 0.0);
    m.def("count_below", &count_below<std::int64_t>);
    m.def("weighted_count_below", &count_below<double>);
    m.def("best_pair", &best_pair<std::int64_t>);
    m.def("weighted_best_pair", &best_pair<double>);
    m.def("hull", &hull<std::int64_t>);
    m.def("weighted_hull", &hull<double>);
    m.def("squared_placements", [](const In<std::int64_t>& pos, const In<std::int64_t>& neg,
                                   std::uint64_t pos_above, std::uint64_t neg_left) {
        same_length(pos.shape(0), neg.shape(0));
        const auto [of_pos, of_neg] = unlocked([&] {
            return cutscore::squared_placements(pos.data(), neg.data(), pos.shape(0), pos_above, neg_left);
        });
        return std::make_tuple(python_int(of_pos), python_int(of_neg));
    });
    m.def("group_areas", [](const Column& score, const Column& label, double negative, double positive,
                            int threads, const In<std::int64_t>& group, std::size_t groups) {
        const auto rows = make_rows(score, label, negative, positive, std::nullopt, threads);
        same_length(score.shape(0), group.shape(0));
        for (std::size_t i = 0; i < group.shape(0); ++i)
            if (group.data()[i] < 0 || std::size_t(group.data()[i]) >= groups)
                throw std::invalid_argument("a row is in none of the groups");
        cutscore::Buffer<std::int64_t> pos(groups), neg(groups);
        cutscore::Buffer<double> area(groups);
        unlocked([&] { cutscore::group_areas(rows, group.data(), groups, pos.data(), neg.data(), area.data()); });
        return std::make_tuple(hand_over(std::move(pos)), hand_over(std::move(neg)), hand_over(std::move(area)));
    });
    m.def("weighted_placements", [](const Column& score, const Column& label, double negative,
                                    double positive, const In<double>& weight, int threads,
                                    const InOut<double>& out) {
        auto rows = make_rows(score, label, negative, positive, std::nullopt, threads);
        same_length(score.shape(0), out.shape(0));
        same_length(score.shape(0), weight.shape(0));
        rows.weight = {weight.data(), sizeof(double), cutscore::Kind::f64};
        unlocked([&] { cutscore::weighted_placements(rows, out.data()); });
    });
    m.def("placement_sums", [](const std::vector<Column>& scores, const Column& label, double negative,
                               double positive, int threads, bool wide) {
        std::vector<cutscore::Rows> rows;
        for (const Column& score : scores)
            rows.push_back(make_rows(score, label, negative, positive, std::nullopt, threads));
        if (rows.empty()) throw nb::value_error("there are no scores");
        const std::size_t k = rows.size();
        std::vector<cutscore::Wide> sums(k * (k + 1) + 2 * k);
        const auto positives = unlocked([&] { return cutscore::placement_sums(rows.data(), k, wide, sums.data()); });
        nb::list out;
        for (const cutscore::Wide sum : sums) out.append(python_int(sum));
        return std::make_tuple(positives, out);
    });
    m.def("forget", [](const Column& array) {
        if (array.shape(0) > 0 && array.stride(0) == 1)
            cutscore::forget(array.data(), array.shape(0) * array.itemsize());
    });
    m.def("look_up", [](const In<double>& table, const In<double>& x, bool level, int threads) {
        cutscore::Buffer<std::int64_t> out(x.shape(0));
        unlocked([&] {
            cutscore::look_up(table.data(), table.shape(0), x.data(), x.shape(0), level, threads,
                              out.data());
        });
        return hand_over(std::move(out));
    });
    m.def("resample", [](const In<std::int64_t>& mass, std::uint64_t seed, std::uint64_t stream) {
        cutscore::Buffer<std::int64_t> out(mass.shape(0));
        unlocked([&] { cutscore::resample(mass.data(), mass.shape(0), seed, stream, out.data()); });
        return hand_over(std::move(out));
    });
    const auto bind_bootstrap = [&](const char* name, auto kernel) {
        m.def(name, [kernel](const In<std::int64_t>& pos, const In<std::int64_t>& neg, std::size_t first,
                             std::size_t n, std::uint64_t seed, int threads) {
            same_length(pos.shape(0), neg.shape(0));
            cutscore::Buffer<double> values(n);
            unlocked([&] {
                kernel({nullptr, pos.data(), neg.data(), pos.shape(0)}, seed, threads, first, n, values.data());
            });
            return hand_over(std::move(values));
        });
    };
    bind_bootstrap("bootstrap_area", &cutscore::bootstrap_area);
    bind_bootstrap("bootstrap_precision", &cutscore::bootstrap_precision);

    m.def("roc_curve", [](const Column& score, const Column& label, double negative, double positive, int threads,
                          bool finite, bool corners_only) {
        const auto rows = make_rows(score, label, negative, positive, std::nullopt, threads, finite);
        return writable(unlocked([&] { return cutscore::roc_curve(rows, corners_only); }));
    }, "score"_a, "label"_a, "negative"_a, "positive"_a, "threads"_a, "finite"_a, "corners_only"_a);
    m.def("precision_recall_curve", [](const Column& score, const Column& label, double negative, double positive,
                                       int threads, bool finite) {
        const auto rows = make_rows(score, label, negative, positive, std::nullopt, threads, finite);
        return writable(unlocked([&] { return cutscore::precision_recall_curve(rows); }));
    }, "score"_a, "label"_a, "negative"_a, "positive"_a, "threads"_a, "finite"_a);
    m.def("det_curve", [](const Column& score, const Column& label, double negative, double positive, int threads,
                          bool finite) {
        const auto rows = make_rows(score, label, negative, positive, std::nullopt, threads, finite);
        return writable(unlocked([&] { return cutscore::det_curve(rows); }));
    }, "score"_a, "label"_a, "negative"_a, "positive"_a, "threads"_a, "finite"_a);
    m.def("average_precision_of_rows", [](const Column& score, const Column& label, double negative, double positive,
                                          int threads, bool finite) {
        const auto rows = make_rows(score, label, negative, positive, std::nullopt, threads, finite);
        return unlocked([&] { return cutscore::average_precision(rows); });
    }, "score"_a, "label"_a, "negative"_a, "positive"_a, "threads"_a, "finite"_a);
    m.def("block_sums", [](const In<double>& threshold, const In<std::int64_t>& pos, const In<std::int64_t>& neg,
                           std::size_t size, int threads) {
        const auto s = view(threshold, pos, neg);
        return hand_over(unlocked([&] { return cutscore::block_sums(s, size, threads); }));
    });
    m.def("average_precision", [](const In<std::int64_t>& pos, const In<std::int64_t>& neg, std::int64_t tp,
                                  std::int64_t fp, double positives, int threads) {
        same_length(pos.shape(0), neg.shape(0));
        return unlocked([&] {
            return cutscore::average_precision({nullptr, pos.data(), neg.data(), pos.shape(0)}, tp, fp, positives,
                                               threads);
        });
    });

    // A score is (threshold, top, index), see Scored. A limit that needs a table of what is allowed has one.
    using Score = std::tuple<In<double>, In<double>, In<std::int32_t>>;
    m.def("cross_fit", [](const std::vector<Score>& scores, std::size_t positives,
                          const std::optional<In<double>>& count, const std::optional<In<double>>& weight,
                          const std::optional<In<std::int32_t>>& unit, const In<double>& aim,
                          const std::vector<std::optional<In<double>>>& allowed, std::size_t folds,
                          std::size_t repeats, const In<double>& in_pos, const In<double>& in_neg,
                          std::uint64_t seed, int threads) {
        constexpr std::size_t each = 13;  // numbers a measure
        if (aim.shape(0) == 0 || aim.shape(0) != each * allowed.size() || folds < 2 || folds > 255 || repeats < 1)
            throw std::invalid_argument("an aim has 13 numbers for each measure, and 2 to 255 folds");
        if (scores.empty()) throw std::invalid_argument("there is no score to choose a cut of");
        same_length(in_pos.shape(0), in_neg.shape(0));
        const std::size_t items = std::get<2>(scores[0]).shape(0), samples = in_pos.shape(0);
        if (positives > items) throw std::invalid_argument("more items are positive than there are");
        if (count) same_length(items, count->shape(0));
        if (weight) same_length(items, weight->shape(0));
        if (unit) same_length(items, unit->shape(0));
        std::size_t units = 0;
        if (unit)
            for (std::size_t j = 0; j < items; ++j) {
                if (unit->data()[j] < 0) throw std::invalid_argument("units are numbered from 0 on");
                units = std::max(units, std::size_t(unit->data()[j]) + 1);
            }
        std::vector<cutscore::Scored> scored;
        for (const auto& [threshold, top, index] : scores) {
            same_length(threshold.shape(0), top.shape(0));
            same_length(items, index.shape(0));
            for (std::size_t j = 0; j < items; ++j)
                if (index.data()[j] < 0 || std::size_t(index.data()[j]) >= threshold.shape(0))
                    throw std::invalid_argument("an item has none of the scores");
            scored.push_back({threshold.data(), top.data(), threshold.shape(0), index.data()});
        }
        std::vector<cutscore::Ratio> ratios(allowed.size());
        for (std::size_t k = 0; k < ratios.size(); ++k) {
            const double* from = aim.data() + each * k;
            auto& r = ratios[k];
            std::copy_n(from, 4, r.num);
            std::copy_n(from + 4, 4, r.den);
            r.prior = from[8];
            r.bound = from[9];
            r.at_least = from[10] > 0;
            r.form = cutscore::Ratio::Form(int(from[11]));
            r.step = from[12];
            if (allowed[k]) {
                if (allowed[k]->shape(0) < 1) throw std::invalid_argument("nothing says how many are allowed");
                r.allowed = allowed[k]->data();
                r.size = allowed[k]->shape(0);
            }
        }
        cutscore::Buffer<double> of_repeats(4 * folds * repeats), of_samples(4 * folds * samples), here(3 * samples);
        double* const h = here.data();
        unlocked([&] {
            cutscore::cross_fit({ratios[0], ratios[0].at_least ? 1.0 : -1.0, ratios.data() + 1, ratios.size() - 1},
                                {scored.data(), scored.size(), items, positives, count ? count->data() : nullptr,
                                 weight ? weight->data() : nullptr, unit ? unit->data() : nullptr, units, folds,
                                 repeats, samples, in_pos.data(), in_neg.data(), of_repeats.data(), of_samples.data(),
                                 h, h + samples, h + 2 * samples},
                                seed, threads);
        });
        return std::make_tuple(hand_over(std::move(of_repeats)), hand_over(std::move(of_samples)),
                               hand_over(std::move(here)));
    }, "scores"_a, "positives"_a, "count"_a.none(), "weight"_a.none(), "unit"_a.none(), "aim"_a, "allowed"_a,
    "folds"_a, "repeats"_a, "in_pos"_a, "in_neg"_a, "seed"_a, "threads"_a);

    using Index = std::optional<Column>;
    m.def("scores", [](const Array& data, const Index& indices, const Index& indptr,
                       const In<double>& w, double b) {
        const auto t = table(data, indices, indptr, w.shape(0));
        auto out = small(std::size_t(t.n));
        unlocked([&] { cutscore::scores(t, w.data(), b, out.data()); });
        return out;
    }, "data"_a, "indices"_a.none(), "indptr"_a.none(), "w"_a, "b"_a);
    m.def("combine", [](const Array& data, const Index& indices, const Index& indptr,
                        const In<double>& coefficient, std::size_t features) {
        const auto t = table(data, indices, indptr, features);
        one_for_each_row(t, coefficient.shape(0));
        auto sum = small(features);
        std::fill_n(sum.data(), features, 0.0);
        unlocked([&] { cutscore::combine(t, coefficient.data(), sum.data()); });
        return sum;
    }, "data"_a, "indices"_a.none(), "indptr"_a.none(), "coefficient"_a, "features"_a);
    m.def("products", [](const Array& data, const Index& indices, const Index& indptr,
                         const In<double>& coefficient,
                         const nb::ndarray<double, nb::ndim<2>, nb::device::cpu, nb::c_contig>& sum,
                         const InOut<double>& squares) {
        const std::size_t d = squares.shape(0);
        if (sum.shape(0) != d || sum.shape(1) != d)
            throw nb::value_error("sums of products must be square, one row for each column of X");
        const auto t = table(data, indices, indptr, d);
        one_for_each_row(t, coefficient.shape(0));
        unlocked([&] { cutscore::products(t, coefficient.data(), sum.data(), squares.data()); });
    }, "data"_a, "indices"_a.none(), "indptr"_a.none(), "coefficient"_a, "sum"_a, "squares"_a);
    m.def("scatter", [](const Array& data, const std::optional<In<std::int64_t>>& chosen,
                        const std::optional<In<double>>& weight, const In<double>& start, bool products) {
        const std::size_t d = start.shape(0);
        const auto t = table(data, {}, {}, d);
        const std::size_t count = chosen ? chosen->shape(0) : std::size_t(t.n);
        if (weight && weight->shape(0) != count) throw nb::value_error("there must be one weight for each row");
        for (std::size_t i = 0; chosen && i < count; ++i)
            if (std::uint64_t(chosen->data()[i]) >= std::uint64_t(t.n))
                throw nb::index_error("a row number is below 0 or past the end of X");
        auto out = small((d + 1) * (products ? d + 1 : 1));
        unlocked([&] {
            cutscore::scatter(t, chosen ? chosen->data() : nullptr, std::int64_t(count),
                              weight ? weight->data() : nullptr, start.data(), products, out.data());
        });
        return out;
    }, "data"_a, "chosen"_a.none(), "weight"_a.none(), "start"_a, "products"_a);
    m.def("largest_square", [](const Array& data, const Index& indices, const Index& indptr,
                               std::size_t features) {
        const auto t = table(data, indices, indptr, features);
        return unlocked([&] { return cutscore::largest_square(t); });
    }, "data"_a, "indices"_a.none(), "indptr"_a.none(), "features"_a);
    m.def("logistic", [](const Array& data, const Index& indices, const Index& indptr,
                         const In<bool>& positive, const std::optional<In<double>>& weight,
                         const In<double>& w, double b, bool curved) {
        const auto t = table(data, indices, indptr, w.shape(0));
        one_for_each_row(t, positive.shape(0));
        if (weight) one_for_each_row(t, weight->shape(0));
        auto out = small(1 + (w.shape(0) + 1) * (curved ? 2 : 1));
        unlocked([&] {
            cutscore::logistic(t, positive.data(), weight ? weight->data() : nullptr, w.data(), b,
                               curved, out.data());
        });
        return out;
    }, "data"_a, "indices"_a.none(), "indptr"_a.none(), "positive"_a, "weight"_a.none(), "w"_a, "b"_a,
    "curved"_a);
    // Lines have d + 1 entries, the bias last. `counts` are records, steps, updates, run and longest.
    m.def("perceptron", [](const Array& data, const Index& indices, const Index& indptr,
                           const In<bool>& positive, const std::optional<In<double>>& weight,
                           double rate, double square, const InOut<double>& line,
                           const std::optional<InOut<double>>& drift,
                           const std::optional<nb::ndarray<double, nb::ndim<2>, nb::device::cpu, nb::c_contig>>& kept,
                           const InOut<std::int64_t>& counts) {
        const std::size_t d1 = line.shape(0);
        if (d1 < 1 || counts.shape(0) != 5 || (drift && drift->shape(0) != d1) ||
            (kept && (kept->shape(0) < 1 || kept->shape(1) != d1)))
            throw nb::value_error("the arrays that a perceptron carries don't fit each other");
        const auto t = table(data, indices, indptr, d1 - 1);
        one_for_each_row(t, positive.shape(0));
        if (weight) one_for_each_row(t, weight->shape(0));
        std::int64_t* c = counts.data();
        cutscore::Perceptron p{line.data(),
                               drift ? drift->data() : nullptr,
                               kept ? kept->data() : nullptr,
                               kept ? std::int64_t(kept->shape(0)) : 0,
                               c[0], c[1], c[2], c[3], c[4]};
        unlocked([&] {
            cutscore::perceptron(t, positive.data(), weight ? weight->data() : nullptr, rate, square, p);
        });
        const std::int64_t now[] = {p.records, p.steps, p.updates, p.run, p.longest};
        std::copy_n(now, 5, c);
    }, "data"_a, "indices"_a.none(), "indptr"_a.none(), "positive"_a, "weight"_a.none(), "rate"_a,
    "square"_a, "line"_a, "drift"_a.none(), "kept"_a.none(), "counts"_a);
}
