// The area alone when one class is rare: rank every row among the rare ones, sort nothing else.
//
// With the rare keys sorted, a row's place among them comes from a KeyMap and two or three comparisons,
// all of it in the second-level cache. For every row x add #{rare < x} + #{rare <= x}. Labels need not
// be read again: the rare rows' own contribution is exactly their number squared.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>

#include "exact.hpp"
#include "keymap.hpp"
#include "parallel.hpp"
#include "rows.hpp"
#include "sorting.hpp"

namespace CUTSCORE_ISA {

// Past this many rare rows the tables leave the cache and dealing into buckets is faster.
inline constexpr std::int64_t most_rare = 400'000;

// Rows of each class, part by part.
struct ClassCounts {
    Buffer<std::int64_t> of_part;  // positives of each part
    std::int64_t positives = 0, negatives = 0;
};

// Threads for a pass that reads little but labels: below a million rows one is done before two start.
inline int label_threads(const Rows& rows) noexcept {
    return rows.n < 1'000'000 ? 1 : rows.threads;
}

template <class S>
ClassCounts count_classes(const Rows& rows, const Parts& parts) {
    ClassCounts counts{Buffer<std::int64_t>(parts.count)};
    Faults faults;
    parallel(parts.count, label_threads(rows), [&](std::size_t part, int) {
        Reader<S> reader(rows, faults);
        std::int64_t positives = 0;
        parts.blocks(part, faults, [&](std::int64_t first, int n) {
            const std::uint8_t* label = reader.labels(first, n);
            std::uint32_t sum = 0;
            for (int i = 0; i < n; ++i) sum += label[i];
            positives += sum;
        });
        counts.of_part[part] = positives;
    });
    faults.raise();
    for (std::size_t part = 0; part < parts.count; ++part) counts.positives += counts.of_part[part];
    counts.negatives = rows.n - counts.positives;
    return counts;
}

// A rare row: its key, and its weight where rows have one.
template <class U, bool weighted>
using RareRow = std::conditional_t<weighted, Weighed<U>, U>;

// The rare class in order, and a way to find any key's place in it.
template <class S, bool weighted>
class RareRanks {
   public:
    using U = typename Keys<S>::Key;
    using Row = RareRow<U, weighted>;
    using Mass = std::conditional_t<weighted, double, std::uint32_t>;

    RareRanks(const Rows& rows, const Parts& parts, const ClassCounts& counts, std::uint8_t rare)
        : size_(std::size_t(rare ? counts.positives : counts.negatives)) {
        Buffer<Row> a(size_), b(size_);
        Buffer<std::size_t> start(parts.count);
        for (std::size_t part = 0, at = 0; part < parts.count; ++part) {
            start[part] = at;
            const std::int64_t all = parts.first(part + 1) - parts.first(part);
            at += std::size_t(rare ? counts.of_part[part] : all - counts.of_part[part]);
        }
        Faults ignored;  // the pass over all rows reports them
        parallel(parts.count, label_threads(rows), [&](std::size_t part, int) {
            Reader<S> reader(rows, ignored);
            Row* at = a.data() + start[part];
            const Row* end = a.data() + (part + 1 < parts.count ? start[part + 1] : size_);
            parts.blocks(part, ignored, [&](std::int64_t first, int n) {
                collect(rows, reader, first, n, rare, at, end);
            });
            while (at != end) *at++ = Row{};
        });
        const Row* sorted = radix_sort(a.data(), b.data(), size_, Keys<S>::bits);
        distinct(sorted);
        index();
    }

    // False where the keys crowd so much that comparing inside a cell would take long.
    bool even() const noexcept { return even_; }

    // Adds up, over n keys, #{rare < key} + #{rare <= key}.
    std::uint64_t pairs(const U* k, int n) const noexcept {
        std::uint32_t at[block_rows];
        std::uint8_t tie[block_rows];
        places(k, n, at, tie);
        std::uint64_t sum = 0;
        if (!ties_) {
            std::uint64_t twice = 0;
            for (int i = 0; i < n; ++i) twice += at[i];
            for (int i = 0; i < n; ++i) sum += tie[i];
            const U* u = keys_.data();
            each_equal(tie, n, 1, [&](int i) {  // a rare key may stand there more than once
                for (std::uint32_t j = at[i] + 1; j < m_ && u[j] == k[i]; ++j) ++sum;
            });
            return sum + 2 * twice;
        }
        for (int i = 0; i < n; ++i) sum += mass_[at[i]] + mass_[at[i] + tie[i]];
        return sum;
    }
    // The same for each key, by weight.
    void masses(const U* k, int n, double* mass) const noexcept {
        std::uint32_t at[block_rows];
        std::uint8_t tie[block_rows];
        places(k, n, at, tie);
        for (int i = 0; i < n; ++i) mass[i] = mass_[at[i]] + mass_[at[i] + tie[i]];
    }

   private:
    // For each of n keys the first of the rare keys that is not below it, and whether it is equal.
    // Stage by stage over the block and without branches: many look-ups then wait for the caches at
    // the same time, and the compiler can use vector instructions.
    void places(const U* k, int n, std::uint32_t* at, std::uint8_t* tie) const noexcept {
        const auto cells = map_.cells();
        for (int i = 0; i < n; ++i) at[i] = cells.nearest(k[i]);
        const std::uint32_t* first = first_.data();
        const U* u = keys_.data();
        std::uint8_t beyond[block_rows];
        for (int i = 0; i < n; ++i) {
            const std::uint32_t j = first[at[i]];
            const U u0 = u[j], u1 = u[j + 1];
            at[i] = j + std::uint32_t(u0 < k[i]) + std::uint32_t(u1 < k[i]);
            tie[i] = (u0 == k[i]) | (u1 == k[i]);
            beyond[i] = u1 < k[i];
        }
        each_equal(beyond, n, 1, [&](int i) {
            while (u[at[i]] < k[i]) ++at[i];
            tie[i] = u[at[i]] == k[i];
        });
    }

    // Writes the rare rows of a block to `at`, never past `end`: labels may change while they are read.
    static void collect(const Rows& rows, Reader<S>& reader, std::int64_t first, int n, std::uint8_t rare,
                        Row*& at, const Row* end) noexcept {
        const std::uint8_t* label = reader.labels(first, n);
        const double* weight = reader.weights(first, n);
        const char* score = static_cast<const char*>(rows.score.data) + first * rows.score.stride;
        const auto take = [&](int i) {
            if (at == end) return;
            const U k = Keys<S>::of(load<S>(score + i * rows.score.stride));
            if constexpr (weighted)
                *at++ = {k, weight[i]};
            else
                *at++ = k;
        };
        each_equal(label, n, rare, take);
    }

    // Keys in order, and in mass_ what lies below each. Where few keys are equal they are all kept: a
    // place is then a rank already. Else equal ones are kept once.
    void distinct(const Row* sorted) {
        std::size_t changes = 0;
        for (std::size_t i = 1; i < size_; ++i) changes += key(sorted[i]) != key(sorted[i - 1]);
        ties_ = weighted || changes + 1 < size_ - size_ / 4;
        constexpr std::size_t sentinels = 3;  // places() looks that far past the end
        keys_ = Buffer<U>(size_ + sentinels);
        if (ties_) {
            mass_ = Buffer<Mass>(size_ + sentinels);
            Mass sum = 0;
            for (std::size_t i = 0; i < size_;) {
                const U k = key(sorted[i]);
                keys_[m_] = k;
                mass_[m_++] = sum;
                do {
                    if constexpr (weighted)
                        sum += sorted[i].weight;
                    else
                        ++sum;
                } while (++i < size_ && key(sorted[i]) == k);
            }
            for (std::size_t s = 0; s < sentinels; ++s) mass_[m_ + s] = sum;
        } else {
            for (; m_ < size_; ++m_) keys_[m_] = key(sorted[m_]);
        }
        for (std::size_t s = 0; s < sentinels; ++s)
            keys_[m_ + s] = ~U(0);  // above every score: the keys up there are NaN
    }

    void index() {
        map_ = KeyMap<U>(keys_.data(), m_, 2.0);
        first_ = Buffer<std::uint32_t>(map_.size());
        const auto cells = map_.cells();
        std::size_t j = 0, comparisons = 0;
        for (std::uint32_t cell = 0; cell < map_.size(); ++cell) {
            first_[cell] = std::uint32_t(j);
            const std::size_t from = j;
            while (j < m_ && cells.of(keys_[j]) == cell) ++j;
            comparisons += (j - from) * (j - from);
        }
        even_ = comparisons <= 8 * m_;
    }

    std::size_t size_, m_ = 0;
    Buffer<U> keys_;
    Buffer<Mass> mass_;
    KeyMap<U> map_;
    Buffer<std::uint32_t> first_;
    bool ties_ = false, even_ = true;
};

// The rarer class, ranked, if that pays.
template <class S, bool weighted>
struct Rarer {
    Parts parts;
    ClassCounts counts;
    std::uint8_t label;
    std::optional<RareRanks<S, weighted>> ranks;

    explicit Rarer(const Rows& rows)
        : parts(rows.n),
          counts(count_classes<S>(rows, parts)),
          label(counts.positives <= counts.negatives) {
        const std::int64_t few = std::min(counts.positives, counts.negatives);
        if (few == 0 || few > std::min(most_rare, rows.n / 8)) return;
        ranks.emplace(rows, parts, counts, label);
        if (!ranks->even()) ranks.reset();
    }
};

// Adds up visit(reader, first, n) over all blocks: within a part, then one part after the other.
template <class Sum, class S, class Visit>
Sum sum_over_rows(const Rows& rows, const Parts& parts, Visit&& visit) {
    Faults faults;
    Buffer<Sum> sums(parts.count);
    parallel(parts.count, rows.threads, [&](std::size_t part, int) {
        Reader<S> reader(rows, faults);
        Sum sum{};
        parts.blocks(part, faults,
                     [&](std::int64_t first, int n) { sum += visit(reader, first, n); });
        sums[part] = sum;
    });
    faults.raise();
    Sum total{};
    for (std::size_t part = 0; part < parts.count; ++part) total += sums[part];
    return total;
}

template <class S>
std::optional<Area> rank_area(const Rows& rows) {
    const Rarer<S, false> rarer(rows);
    if (!rarer.ranks) return std::nullopt;
    const std::uint64_t sum = sum_over_rows<std::uint64_t, S>(
        rows, rarer.parts, [&](Reader<S>& reader, std::int64_t first, int n) {
            typename Keys<S>::Key keys[block_rows];
            const S* score = reader.scores(first, n);
            for (int i = 0; i < n; ++i) keys[i] = Keys<S>::of(score[i]);
            return rarer.ranks->pairs(keys, n);
        });
    Area area{std::uint64_t(rarer.counts.positives), std::uint64_t(rarer.counts.negatives), 0};
    const std::uint64_t few = std::min(area.pos, area.neg);
    area.twice = sum - few * few;
    if (rarer.label) area.twice = 2 * cutscore::Wide(area.pos) * area.neg - area.twice;
    return area;
}

template <class S>
std::optional<WeightedArea> weighted_rank_area(const Rows& rows) {
    const Rarer<S, true> rarer(rows);
    if (!rarer.ranks) return std::nullopt;
    // By class: the rare rows' own part can't be taken off afterwards, it might dwarf the rest.
    struct Sum {
        double twice[2], mass[2];
        Sum& operator+=(const Sum& o) noexcept {
            for (int c : {0, 1}) twice[c] += o.twice[c], mass[c] += o.mass[c];
            return *this;
        }
    };
    const Sum sum = sum_over_rows<Sum, S>(
        rows, rarer.parts, [&](Reader<S>& reader, std::int64_t first, int n) {
            const Block<S> block = reader.read(first, n);
            typename Keys<S>::Key keys[block_rows];
            double mass[block_rows];
            for (int i = 0; i < n; ++i) keys[i] = Keys<S>::of(block.score[i]);
            rarer.ranks->masses(keys, n, mass);
            Sum here{};
            for (int i = 0; i < n; ++i) {
                const double w = block.weight[i];
                const int c = block.label[i] & 1;
                here.twice[c] += w * mass[i];
                here.mass[c] += w;
            }
            return here;
        });
    WeightedArea area{sum.mass[1], sum.mass[0], sum.twice[rarer.label ? 0 : 1]};
    if (rarer.label) area.twice = 2 * area.pos * area.neg - area.twice;
    return area;
}

}  // namespace CUTSCORE_ISA
