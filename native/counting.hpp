// Rows of few distinct scores: counted in a hash table that stays in the cache, nothing is sorted.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kernels.hpp"
#include "parallel.hpp"
#include "rows.hpp"

namespace CUTSCORE_ISA {

using cutscore::Masses;

// How often each score occurs with each label, of no more than `most` scores. Fibonacci hashing of the bits,
// the next free place if one is taken, of `room` for each score. -0.0 and 0.0 are two scores here.
template <class S, std::size_t most, std::size_t room = 4>
class Tally {
   public:
    using U = typename Keys<S>::Key;
    struct Place {
        U bits;
        std::uint64_t count[2];
    };

    Tally() : places_(size) {
        for (std::size_t i = 0; i < size; ++i) places_[i] = {none, {0, 0}};
    }

    // Returns how many were counted: all, or those before the first that is one score too many.
    int add(const S* score, const std::uint8_t* label, int n) noexcept {
        Place* const places = places_.data();
        for (int i = 0; i < n; ++i) {
            const U bits = std::bit_cast<U>(score[i]);
            std::size_t at = std::size_t(std::uint64_t(bits) * 0x9e3779b97f4a7c15u >> (64 - size_bits));
            while (places[at].bits != bits) [[unlikely]] {
                if (places[at].bits == none) {
                    if (used_ == most) return i;
                    ++used_;
                    places[at].bits = bits;
                    break;
                }
                at = (at + 1) % size;
            }
            ++places[at].count[label[i]];
        }
        return n;
    }
    std::size_t used() const noexcept { return used_; }
    template <class Visit>
    void each(Visit&& visit) const {
        for (std::size_t i = 0; i < size; ++i)
            if (places_[i].bits != none) visit(places_[i]);
    }

   private:
    static constexpr std::size_t size = room * most;
    static constexpr int size_bits = std::countr_zero(size);
    static constexpr U none = ~U(0);  // the bits of a NaN, which is no score
    Buffer<Place> places_;
    std::size_t used_ = 0;
};

inline constexpr std::size_t most_counted = 4096;

// Whether scores are so few that counting pays, judged by a sample in short runs: there are 1,024 of them.
template <class S>
bool few_scores(const Rows& rows) {
    constexpr std::int64_t runs = 256, run = 4;
    if (rows.n < 131'072) return false;
    Tally<S, runs * run> seen;
    for (std::int64_t quarter = 0; quarter < 4; ++quarter) {
        for (std::int64_t r = quarter; r < runs; r += 4) {
            const char* p = static_cast<const char*>(rows.score.data) + (rows.n - run) / runs * r * rows.score.stride;
            S score[run];
            const std::uint8_t label[run] = {};
            for (std::int64_t i = 0; i < run; ++i) score[i] = load<S>(p + i * rows.score.stride);
            seen.add(score, label, int(run));
        }
        if (seen.used() == std::size_t((quarter + 1) * runs * run / 4)) return false;  // no two are equal
    }
    return 4 * seen.used() <= 3 * std::size_t(runs * run);
}
// What was counted by several, downwards; some of them may have no tally.
template <class S>
struct Counted {
    typename Keys<S>::Key key;
    std::int64_t pos, neg;
};
template <class S, class T>
std::vector<Counted<S>> all_counted(const std::unique_ptr<T>* tallies, std::size_t count) {
    using Entry = Counted<S>;
    std::vector<Entry> all;
    for (std::size_t w = 0; w < count; ++w)
        if (tallies[w])
            tallies[w]->each([&](const auto& place) {
                all.push_back({Keys<S>::of(std::bit_cast<S>(place.bits)), std::int64_t(place.count[1]),
                               std::int64_t(place.count[0])});
            });
    std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.key > b.key; });
    std::size_t m = 0;
    for (const Entry& e : all) {
        if (m > 0 && all[m - 1].key == e.key)
            all[m - 1].pos += e.pos, all[m - 1].neg += e.neg;
        else
            all[m++] = e;
    }
    all.resize(m);
    return all;
}

// The sweep of rows that have few scores, if they do.
template <class S>
std::optional<Masses<std::int64_t>> counted(const Rows& rows) {
    if (!few_scores<S>(rows)) return std::nullopt;
    using Counts = Tally<S, most_counted>;
    const Parts parts(rows.n);
    const auto workers = std::size_t(std::max(rows.threads, 1));
    const auto tallies = std::make_unique<std::unique_ptr<Counts>[]>(workers);
    std::atomic<bool> many{false};
    Faults faults;
    parallel(parts.count, rows.threads, [&](std::size_t part, int worker) {
        auto& own = tallies[std::size_t(worker)];
        if (!own) own = std::make_unique<Counts>();
        Reader<S> reader(rows, faults);
        parts.blocks(part, faults, [&](std::int64_t first, int n) {
            if (many.load(std::memory_order_relaxed)) return;
            const Block<S> block = reader.read(first, n);
            if (own->add(block.score, block.label, n) < n) many.store(true);
        });
    });
    if (many.load()) return std::nullopt;
    faults.raise();
    const auto all = all_counted<S>(tallies.get(), workers);
    const std::size_t m = all.size();
    Masses<std::int64_t> out{Buffer<double>(m), Buffer<std::int64_t>(m), Buffer<std::int64_t>(m), Buffer<double>(0)};
    for (std::size_t i = 0; i < m; ++i) {
        out.threshold[i] = double(Keys<S>::score(all[i].key));
        out.pos[i] = all[i].pos;
        out.neg[i] = all[i].neg;
    }
    return out;
}

}  // namespace CUTSCORE_ISA
