// Rows read block by block into plain contiguous arrays that stay in the first-level cache. All
// conversion and all checking of rows happens here, once; the kernels see scores, 0/1 labels and
// double weights. Columns that have that form already are handed on without a copy.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels.hpp"
#include "keys.hpp"

namespace CUTSCORE_ISA {

using cutscore::Column;
using cutscore::Fault;
using cutscore::Kind;
using cutscore::RowFault;
using cutscore::Rows;

inline constexpr int block_rows = 1024;

template <class S>
struct Block {
    const S* score;
    const std::uint8_t* label;
    const double* weight;  // null when unweighted
    int n;
    std::int64_t first;  // number of the first row
};

// The smallest row number a fault was seen at, kind by kind.
class Faults {
   public:
    void at(Fault fault, std::int64_t row) noexcept {
        auto& first = first_[std::size_t(fault)];
        std::int64_t seen = first.load(std::memory_order_relaxed);
        while (row < seen && !first.compare_exchange_weak(seen, row)) {
        }
    }
    // Whether the rows from here on can't matter: an earlier label is at fault, and labels come first.
    bool settled_before(std::int64_t row) const noexcept {
        return first_[std::size_t(Fault::label)].load(std::memory_order_relaxed) < row;
    }
    void raise() const {
        for (Fault fault : {Fault::label, Fault::score, Fault::weight}) {
            const std::int64_t row = first_[std::size_t(fault)].load();
            if (row != none) throw RowFault(fault, row);
        }
    }

   private:
    static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    std::atomic<std::int64_t> first_[3] = {none, none, none};
};

template <class T>
inline T load(const char* p) noexcept {
    T value;
    std::memcpy(&value, p, sizeof value);
    return value;
}

// Calls visit(i) where flag[i] == value, for flags that are 0 or 1 and mostly not `value`: eight at a
// time, by the bits of a word.
template <class Visit>
inline void each_equal(const std::uint8_t* flag, int n, std::uint8_t value, Visit&& visit) {
    const std::uint64_t flip = value ? 0 : 0x0101010101010101u;
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        std::uint64_t word = load<std::uint64_t>(reinterpret_cast<const char*>(flag + i)) ^ flip;
        if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
        for (; word != 0; word &= word - 1) visit(i + std::countr_zero(word) / 8);
    }
    for (; i < n; ++i)
        if (flag[i] == value) visit(i);
}

// Calls visit(T{}) with the C++ type of a kind.
template <class Visit>
decltype(auto) with_type(Kind kind, Visit&& visit) {
    switch (kind) {
        case Kind::i8: return visit(std::int8_t{});
        case Kind::i16: return visit(std::int16_t{});
        case Kind::i32: return visit(std::int32_t{});
        case Kind::i64: return visit(std::int64_t{});
        case Kind::u16: return visit(std::uint16_t{});
        case Kind::u32: return visit(std::uint32_t{});
        case Kind::u64: return visit(std::uint64_t{});
        case Kind::f32: return visit(float{});
        case Kind::f64: return visit(double{});
        default: return visit(std::uint8_t{});  // u8, b8
    }
}

template <class S>
class Reader {
   public:
    Reader(const Rows& rows, Faults& faults) noexcept : rows_(rows), faults_(faults) {
        const Kind k = rows.label.kind;
        direct_labels_ = (k == Kind::b8 || k == Kind::u8 || k == Kind::i8) && rows.label.stride == 1 &&
                         rows.negative == 0 && rows.positive == 1;
        most_ = Keys<S>::magnitude(std::numeric_limits<S>::infinity()) - rows.finite;
    }

    // Rows [first, first + n), n <= block_rows. A row that breaks a rule is noted in the faults and
    // comes out as something harmless.
    Block<S> read(std::int64_t first, int n) noexcept {
        return {scores(first, n), labels(first, n), weights(first, n), n, first};
    }

    const S* scores(std::int64_t first, int n) noexcept {
        const char* p = at(rows_.score, first);
        const S* score;
        if (rows_.score.stride == sizeof(S)) {
            score = reinterpret_cast<const S*>(p);
        } else {
            for (int i = 0; i < n; ++i) score_[i] = load<S>(p + i * rows_.score.stride);
            score = score_;
        }
        bool bad = false;
        for (int i = 0; i < n; ++i) bad |= Keys<S>::magnitude(score[i]) > most_;
        if (bad)
            note(Fault::score, first, n,
                 [&](int i) { return Keys<S>::magnitude(score[i]) > most_; });
        return score;
    }

    const std::uint8_t* labels(std::int64_t first, int n) noexcept {
        const char* p = at(rows_.label, first);
        if (direct_labels_) {
            const auto* label = reinterpret_cast<const std::uint8_t*>(p);
            std::uint8_t all = 0;
            for (int i = 0; i < n; ++i) all |= label[i];
            if (all <= 1) return label;
        }
        with_type(rows_.label.kind, [&]<class L>(L) {
            // Both are values of the column's type: whoever names the labels sees to that.
            const L yes = L(rows_.positive), no = L(rows_.negative);
            const std::int64_t stride = rows_.label.stride;
            bool bad = false;
            for (int i = 0; i < n; ++i) {
                const L v = load<L>(p + i * stride);
                label_[i] = v == yes;
                bad |= (v != yes) & (v != no);
            }
            if (bad)
                note(Fault::label, first, n, [&](int i) {
                    const L v = load<L>(p + i * stride);
                    return v != yes && v != no;
                });
        });
        return label_;
    }

    const double* weights(std::int64_t first, int n) noexcept {
        if (rows_.weight.kind == Kind::none) return nullptr;
        const char* p = at(rows_.weight, first);
        const double* weight = weight_;
        if (rows_.weight.kind == Kind::f64 && rows_.weight.stride == sizeof(double)) {
            weight = reinterpret_cast<const double*>(p);
        } else {
            with_type(rows_.weight.kind, [&]<class W>(W) {
                for (int i = 0; i < n; ++i)
                    weight_[i] = double(load<W>(p + i * rows_.weight.stride));
            });
        }
        constexpr double most = std::numeric_limits<double>::max();
        bool bad = false;
        for (int i = 0; i < n; ++i) bad |= !(weight[i] >= 0 && weight[i] <= most);
        if (bad)
            note(Fault::weight, first, n,
                 [&](int i) { return !(weight[i] >= 0 && weight[i] <= most); });
        return weight;
    }

   private:
    static const char* at(const Column& column, std::int64_t row) noexcept {
        return static_cast<const char*>(column.data) + row * column.stride;
    }
    template <class Bad>
    void note(Fault fault, std::int64_t first, int n, Bad&& is_bad) noexcept {
        for (int i = 0; i < n; ++i)
            if (is_bad(i)) return faults_.at(fault, first + i);
    }

    const Rows& rows_;
    Faults& faults_;
    bool direct_labels_;
    typename Keys<S>::Key most_;  // magnitude of the largest score there may be
    alignas(64) S score_[block_rows];
    alignas(64) double weight_[block_rows];
    alignas(64) std::uint8_t label_[block_rows];
};

// Rows cut into parts. The cut depends on n alone, so that whatever is added up part by part comes out
// the same on any number of threads.
struct Parts {
    std::int64_t n;
    std::size_t count;

    explicit Parts(std::int64_t rows, std::int64_t least = 16384, std::size_t most = 32) noexcept
        : n(rows), count(std::clamp<std::size_t>(std::size_t(rows / least), 1, most)) {}

    std::int64_t first(std::size_t part) const noexcept {
        return std::int64_t(Wide(n) * part / count);
    }
    // Calls visit(first, rows) for every block of the part, unless the faults make it pointless.
    template <class Visit>
    void blocks(std::size_t part, const Faults& faults, Visit&& visit) const {
        const std::int64_t end = first(part + 1);
        for (std::int64_t row = first(part); row < end && !faults.settled_before(row); row += block_rows)
            visit(row, int(std::min<std::int64_t>(block_rows, end - row)));
    }

   private:
    using Wide = cutscore::Wide;
};

}  // namespace CUTSCORE_ISA
