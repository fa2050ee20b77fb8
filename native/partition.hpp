// Rows dealt out into buckets of neighbouring scores, in one pass: equal scores share a bucket, every
// score of a bucket is below every score of the next, and a bucket fits the cache. Inside a bucket the
// rows keep their order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "keymap.hpp"
#include "keys.hpp"
#include "parallel.hpp"
#include "rows.hpp"
#include "sorting.hpp"

namespace CUTSCORE_ISA {

inline constexpr std::size_t line_bytes = 64;

// Buckets of fewer bytes in all are written as they come. Of more, lines are collected first, and written past
// the caches: there are none left that hold them until they are read again.
inline constexpr std::size_t cached_bytes = std::size_t(32) << 20;

inline void stream_line(void* to, const void* from) noexcept {
#if defined(__x86_64__)
    auto* t = static_cast<__m128i*>(to);
    const auto* f = static_cast<const __m128i*>(from);
    for (int i = 0; i < 4; ++i) _mm_stream_si128(t + i, _mm_load_si128(f + i));
#else
    std::memcpy(to, from, line_bytes);
#endif
}
inline void stream_end() noexcept {
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

// Which bucket a key belongs to. Two buckets at either end take the keys outside the sampled range, one
// for each sign: no bucket holds both signs, so that a key less its bucket's lowest one leaves the top
// bit free for the label.
template <class U>
class Buckets {
   public:
    // `sorted` are m sampled keys; none at all is fine for a few rows.
    Buckets(const U* sorted, std::size_t m, std::size_t wanted) : low_(wanted + 6) {
        constexpr U sign = U(1) << (std::numeric_limits<U>::digits - 1);
        low_[0] = 0;
        low_[1] = sign;
        std::uint16_t b = 1;
        if (m > 0) {
            map_ = KeyMap<U>(sorted, m, 8.0 * double(wanted) / double(m));
            bucket_ = Buffer<std::uint16_t>(map_.size());
            const auto cells = map_.cells();
            std::size_t seen = 0, last = ~std::size_t(0);
            map_.each_cell([&](std::uint32_t cell, U lowest) {
                const std::size_t quantile = seen * wanted / m;
                if (quantile != last || lowest == sign) low_[++b] = lowest;
                last = quantile;
                bucket_[cell] = b;
                while (seen < m && cells.of(sorted[seen]) == cell) ++seen;
            });
        } else {
            bucket_ = Buffer<std::uint16_t>(map_.size());
            bucket_[0] = b;  // nobody's, but read before a key is found to lie outside
        }
        const U high = map_.cells().high;
        low_[++b] = high + 1;
        low_[++b] = std::max<U>(sign, high + 1);
        count_ = std::size_t(b) + 1;
    }

    std::size_t count() const noexcept { return count_; }
    U low(std::size_t bucket) const noexcept { return low_[bucket]; }

    // The bucket and the record bits of each of n keys with their labels.
    void of(const U* key, const std::uint8_t* label, int n, std::uint16_t* bucket,
            U* bits) const noexcept {
        const auto cells = map_.cells();
        if (cells.high == 0) {  // no sample: the signs are apart, and nothing else
            constexpr int sign = std::numeric_limits<U>::digits - 1;
            for (int i = 0; i < n; ++i) bucket[i] = std::uint16_t((key[i] >> sign) * (count_ - 1));
            for (int i = 0; i < n; ++i) bits[i] = key[i] << 1 | label[i];
            return;
        }
        const std::uint16_t* bucket_of = bucket_.data();
        const U* low = low_.data();
        std::uint32_t cell[block_rows];
        std::uint8_t outside[block_rows];
        for (int i = 0; i < n; ++i) cell[i] = cells.nearest(key[i]);
        for (int i = 0; i < n; ++i) outside[i] = key[i] < cells.low || key[i] > cells.high;
        for (int i = 0; i < n; ++i) bucket[i] = bucket_of[cell[i]];
        each_equal(outside, n, 1, [&](int i) {
            const bool positive = key[i] >> (std::numeric_limits<U>::digits - 1);
            bucket[i] = std::uint16_t((key[i] < cells.low ? 0 : count_ - 2) + positive);
        });
        for (int i = 0; i < n; ++i) bits[i] = (key[i] - low[bucket[i]]) << 1 | label[i];
    }

   private:
    KeyMap<U> map_;
    Buffer<std::uint16_t> bucket_;
    Buffer<U> low_;
    std::size_t count_;
};

// How the records of a bucket lie in memory: in chunks, at multiples of their size.
template <class R>
struct Chunks {
    static constexpr std::size_t chunk_bytes = std::max<std::size_t>(1024, 128 * sizeof(R));
    static constexpr std::size_t chunk_records = chunk_bytes / sizeof(R);

    static constexpr std::size_t line_records = line_bytes / sizeof(R);

    // How many records after the last one still fit its chunk, or another unit; none if there is no chunk.
    template <std::size_t unit = chunk_bytes>
    static std::size_t left(const R* end) noexcept {
        return (0 - reinterpret_cast<std::uintptr_t>(end)) % unit / sizeof(R);
    }
};

// Writes each row of a block to where the next record of its bucket goes, or to fresh(bucket, end) where the
// last unit, a chunk or a line, is full. Chunks are long, so that this is rare: a branch that is taken once a
// line costs as much as the writing.
template <class S, std::size_t unit, class R, class Fresh>
inline void deal_block(const Buckets<typename Keys<S>::Key>& buckets, const Block<S>& block, int n, R** end,
                       Fresh&& fresh) {
    using U = typename Keys<S>::Key;
    U keys[block_rows], bits[block_rows];
    std::uint16_t bucket[block_rows];
    for (int i = 0; i < n; ++i) keys[i] = Keys<S>::of(block.score[i]);
    buckets.of(keys, block.label, n, bucket, bits);
    for (int i = 0; i < n; ++i) {
        if constexpr (R::weighted)
            if (block.weight[i] == 0) continue;
        const std::size_t b = bucket[i];
        R* to = end[b];
        if (reinterpret_cast<std::uintptr_t>(to) % unit == 0) to = fresh(b, to);
        to->bits = bits[i];
        if constexpr (R::weighted) to->weight = block.weight[i];
        if constexpr (requires { to->row; }) to->row = U(block.first + i);
        end[b] = to + 1;
    }
}

// Calls visit(records, n) for the chunks of a list that holds so many records. at(chunk) is where one
// lies, next(chunk) the one after it, which is fetched meanwhile.
template <class R, class At, class Next, class Visit>
inline void each_chunk(std::size_t left, std::size_t chunk, At&& at, Next&& next, Visit&& visit) {
    while (left > 0) {
        const std::size_t n = std::min(left, Chunks<R>::chunk_records);
        const std::size_t following = left > n ? next(chunk) : chunk;
        const char* ahead = reinterpret_cast<const char*>(at(following));
        for (std::size_t b = 0; b < Chunks<R>::chunk_bytes; b += line_bytes) __builtin_prefetch(ahead + b);
        visit(at(chunk), n);
        left -= n;
        chunk = following;
    }
}

// Up to 65,536 keys from all over the rows, sorted: 32 for each bucket that is wanted. In short runs: a run
// costs one cache miss.
template <class S>
Buffer<typename Keys<S>::Key> sample_keys(const Rows& rows, std::size_t wanted) {
    using U = typename Keys<S>::Key;
    constexpr std::int64_t run = 4;
    const std::int64_t runs = std::clamp<std::int64_t>(std::int64_t(wanted) * 8, 1, 16384);
    Buffer<U> a(std::size_t(runs * run)), b(std::size_t(runs * run));
    std::size_t m = 0;
    for (std::int64_t r = 0; r < runs; ++r) {
        const auto first = std::int64_t(cutscore::Wide(rows.n - run) * std::size_t(r) / std::size_t(runs));
        const char* p = static_cast<const char*>(rows.score.data) + first * rows.score.stride;
        for (std::int64_t i = 0; i < run; ++i) a[m++] = Keys<S>::of(load<S>(p + i * rows.score.stride));
    }
    if (radix_sort(a.data(), b.data(), m, Keys<S>::bits) == a.data()) return a;
    return b;
}

template <class S, class R>
class Partition {
   public:
    using U = typename Keys<S>::Key;

    explicit Partition(const Rows& rows) : Partition(rows, wanted(rows.n)) {}

    std::size_t buckets() const noexcept { return buckets_.count(); }
    U low(std::size_t bucket) const noexcept { return buckets_.low(bucket); }

    std::size_t size(std::size_t bucket) const noexcept {
        std::size_t n = 0;
        for (std::size_t part = 0; part < parts_.count; ++part) n += run(part, bucket).count;
        return n;
    }
    // Calls visit(records, n) for the pieces of a bucket, in the order of the rows.
    template <class Visit>
    void pieces(std::size_t bucket, Visit&& visit) const {
        for (std::size_t part = 0; part < parts_.count; ++part) {
            const Run& r = run(part, bucket);
            if (part + 1 < parts_.count && run(part + 1, bucket).count > 0)
                __builtin_prefetch(at(run(part + 1, bucket).head));
            each_chunk<R>(
                r.count, r.head, [&](std::size_t chunk) { return at(chunk); },
                [&](std::size_t chunk) { return next_[chunk]; }, visit);
        }
    }

   private:
    static constexpr std::size_t chunk_records = Chunks<R>::chunk_records;

    struct Run {
        std::size_t count, head;
    };
    // Buckets of 2048 to 8192 rows, as long as that makes no more than 4096 of them: their lines have
    // to stay in the cache, too.
    static std::size_t wanted(std::int64_t n) noexcept {
        const std::int64_t rows = std::clamp<std::int64_t>(n / 256, 2048, 8192);
        return n < 16384 ? 0 : std::size_t(std::min<std::int64_t>(n / rows, 4096));
    }
    // Parts large enough to fill their last chunks mostly; few rows are better spread over threads.
    static std::int64_t least_part(std::int64_t n, std::size_t buckets) noexcept {
        return std::max<std::int64_t>(8192, std::int64_t(buckets) * (n < 1'000'000 ? 128 : 512));
    }

    Partition(const Rows& rows, std::size_t wanted)
        : buckets_(make_buckets(rows, wanted)),
          parts_(rows.n, least_part(rows.n, buckets_.count()), 128),
          runs_(parts_.count * buckets_.count()) {
        const std::size_t chunks = (std::size_t(rows.n) + chunk_records - 1) / chunk_records +
                                   parts_.count * (buckets_.count() + 1);
        pool_ = Buffer<R>((chunks + 1) * chunk_records);
        first_ = pool_.data() + Chunks<R>::left(pool_.data());
        next_ = Buffer<std::uint32_t>(chunks);
        Faults faults;
        parallel(parts_.count, rows.threads, [&](std::size_t part, int) { deal(rows, part, faults); });
        faults.raise();
    }

    static Buckets<U> make_buckets(const Rows& rows, std::size_t wanted) {
        if (wanted == 0) return Buckets<U>(nullptr, 0, 0);
        const auto sample = sample_keys<S>(rows, wanted);
        return Buckets<U>(sample.data(), sample.size(), wanted);
    }

    Run& run(std::size_t part, std::size_t bucket) const noexcept {
        return runs_[part * buckets() + bucket];
    }
    R* at(std::size_t chunk) const noexcept { return first_ + chunk * chunk_records; }

    void deal(const Rows& rows, std::size_t part, Faults& faults) {
        Buffer<R*> end(buckets());
        std::fill_n(end.data(), buckets(), nullptr);
        Run* const runs = &run(part, 0);
        std::fill_n(runs, buckets(), Run{0, 0});
        auto unused = std::uint32_t(std::size_t(parts_.first(part)) / chunk_records + part * (buckets() + 1));
        const auto fresh = [&](std::size_t b, const R* full) [[gnu::noinline]] {
            if (full)
                next_[std::size_t(full - first_) / chunk_records - 1] = unused;
            else
                runs[b].head = unused;
            runs[b].count += chunk_records;
            return at(unused++);
        };
        Reader<S> reader(rows, faults);
        if (pool_.size() * sizeof(R) <= cached_bytes)
            parts_.blocks(part, faults, [&](std::int64_t first, int n) {
                deal_block<S, Chunks<R>::chunk_bytes>(buckets_, reader.read(first, n), n, end.data(), fresh);
            });
        else
            deal_by_line(reader, part, faults, end.data(), fresh);
        for (std::size_t b = 0; b < buckets(); ++b) runs[b].count -= Chunks<R>::left(end[b]);
    }

    // The same by way of a line for each bucket; `end` is the last record of a chunk as before.
    template <class Fresh>
    void deal_by_line(Reader<S>& reader, std::size_t part, Faults& faults, R** end, Fresh&& fresh) {
        constexpr std::size_t line_records = Chunks<R>::line_records;
        Buffer<R> lines(buckets() * line_records);
        Buffer<R*> at(buckets());
        std::fill_n(at.data(), buckets(), nullptr);
        const auto flush = [&](std::size_t b, const R* full) [[gnu::noinline]] {
            R* const line = lines.data() + b * line_records;
            if (full) {
                if (Chunks<R>::left(end[b]) == 0) end[b] = fresh(b, end[b]);
                stream_line(end[b], line);
                end[b] += line_records;
            }
            return line;
        };
        parts_.blocks(part, faults, [&](std::int64_t first, int n) {
            deal_block<S, line_bytes>(buckets_, reader.read(first, n), n, at.data(), flush);
        });
        for (std::size_t b = 0; b < buckets(); ++b) {
            flush(b, at[b]);
            end[b] -= Chunks<R>::template left<line_bytes>(at[b]);
        }
        stream_end();
    }

    Buckets<U> buckets_;
    Parts parts_;
    Buffer<Run> runs_;
    Buffer<R> pool_;
    R* first_;
    Buffer<std::uint32_t> next_;
};

}  // namespace CUTSCORE_ISA
