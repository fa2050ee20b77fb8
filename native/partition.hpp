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

// Buckets of fewer bytes in all are still in the cache when they are read again.
inline constexpr std::size_t cached_bytes = std::size_t(4) << 20;

// Writes one cache line past the caches: buckets are read again much later.
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

// How records lie in memory: in chunks that are written a cache line at a time.
template <class R>
struct Chunks {
    static constexpr std::size_t line_records = line_bytes / sizeof(R);
    static constexpr std::size_t chunk_bytes = std::max<std::size_t>(1024, 128 * sizeof(R));
    static constexpr std::size_t chunk_records = chunk_bytes / sizeof(R);
    static constexpr std::uint32_t chunk_lines = chunk_bytes / line_bytes;
};

// Deals the rows of a block into the lines of their buckets, of which `count` have come so far. Calls
// flush(bucket, number of the last record) for each line that is full.
template <class S, class R, class Flush>
inline void deal_block(const Buckets<typename Keys<S>::Key>& buckets, const Block<S>& block, int n,
                       std::uint32_t* count, R* lines, Flush&& flush) {
    using U = typename Keys<S>::Key;
    constexpr std::size_t line_records = Chunks<R>::line_records;
    U keys[block_rows], bits[block_rows];
    std::uint16_t bucket[block_rows];
    for (int i = 0; i < n; ++i) keys[i] = Keys<S>::of(block.score[i]);
    buckets.of(keys, block.label, n, bucket, bits);
    for (int i = 0; i < n; ++i) {
        if constexpr (R::weighted)
            if (block.weight[i] == 0) continue;
        const std::size_t b = bucket[i];
        const std::uint32_t c = count[b]++;
        R& r = lines[b * line_records + c % line_records];
        r.bits = bits[i];
        if constexpr (R::weighted) r.weight = block.weight[i];
        if constexpr (requires { r.row; }) r.row = U(block.first + i);
        if (c % line_records == line_records - 1) flush(b, c);
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
    static constexpr std::size_t line_records = Chunks<R>::line_records;
    static constexpr std::size_t chunk_records = Chunks<R>::chunk_records;

    struct Run {
        std::size_t count, head;
    };
    // The lines that one worker is filling, and where the current part's full ones go.
    struct Lines {
        explicit Lines(std::size_t buckets)
            : records(buckets * line_records), count(buckets), chunk(buckets) {}
        Buffer<R> records;
        Buffer<std::uint32_t> count;
        Buffer<std::uint32_t> chunk;
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
        pool_ = Buffer<R>(chunks * chunk_records);
        next_ = Buffer<std::uint32_t>(chunks);
        const int workers = int(std::min<std::size_t>(parts_.count, std::size_t(rows.threads)));
        auto lines = std::make_unique<std::unique_ptr<Lines>[]>(std::size_t(workers));
        for (int w = 0; w < workers; ++w) lines[std::size_t(w)] = std::make_unique<Lines>(buckets());
        Faults faults;
        parallel(parts_.count, rows.threads, [&](std::size_t part, int worker) {
            deal(rows, part, *lines[std::size_t(worker)], faults);
        });
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
    R* at(std::size_t chunk) const noexcept { return pool_.data() + chunk * chunk_records; }

    void deal(const Rows& rows, std::size_t part, Lines& lines, Faults& faults) {
        std::memset(lines.count.data(), 0, buckets() * sizeof(std::uint32_t));
        std::uint32_t fresh = std::uint32_t(
            std::size_t(parts_.first(part)) / chunk_records + part * (buckets() + 1));
        Reader<S> reader(rows, faults);
        const bool small = pool_.size() * sizeof(R) <= cached_bytes;
        const auto flush = [&](std::size_t b, std::uint32_t last) {
            const std::uint32_t line = last / line_records;
            if (line % Chunks<R>::chunk_lines == 0) {
                if (line == 0)
                    run(part, b).head = fresh;
                else
                    next_[lines.chunk[b]] = fresh;
                lines.chunk[b] = fresh++;
            }
            R* const to = at(lines.chunk[b]) + (line % Chunks<R>::chunk_lines) * line_records;
            const R* const from = lines.records.data() + b * line_records;
            if (small)
                std::memcpy(to, from, line_bytes);
            else
                stream_line(to, from);
        };
        std::uint32_t* const count = lines.count.data();
        R* const records = lines.records.data();
        parts_.blocks(part, faults, [&](std::int64_t first, int n) {
            deal_block<S>(buckets_, reader.read(first, n), n, count, records, flush);
        });
        for (std::size_t b = 0; b < buckets(); ++b) {
            const std::uint32_t c = lines.count[b];
            run(part, b).count = c;
            if (c % line_records != 0) flush(b, c - 1);
        }
        stream_end();
    }

    Buckets<U> buckets_;
    Parts parts_;
    Buffer<Run> runs_;
    Buffer<R> pool_;
    Buffer<std::uint32_t> next_;
};

}  // namespace CUTSCORE_ISA
