// The sweep of rows that come in batches, from several threads, and may be more than memory holds: each
// batch is dealt into buckets of neighbouring scores as it comes; what is too much is written to a file,
// bucket by bucket; at the end one bucket after the other is read back, sorted and added up. So is the sweep
// itself: if it is too much for memory, it stays in a file. As long as a thread has seen few distinct scores, it
// only counts them.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <system_error>
#include <vector>

#include "counting.hpp"
#include "exact.hpp"

namespace CUTSCORE_ISA {

using cutscore::SpillFault;
using cutscore::StreamOf;
using cutscore::StreamPlan;

inline void write_all(int file, const char* data, std::size_t bytes, std::uint64_t at) {
    while (bytes > 0) {
        const auto done = ::pwrite(file, data, bytes, off_t(at));
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) throw SpillFault(done < 0 ? errno : ENOSPC);
        data += done;
        bytes -= std::size_t(done);
        at += std::uint64_t(done);
    }
}
inline void read_all(int file, char* data, std::size_t bytes, std::uint64_t at) {
    while (bytes > 0) {
        const auto done = ::pread(file, data, bytes, off_t(at));
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) throw SpillFault(done < 0 ? errno : EIO);
        data += done;
        bytes -= std::size_t(done);
        at += std::uint64_t(done);
    }
}

// What one thread has dealt: for each bucket a list of chunks.
template <class S, class R>
class Dealt {
   public:
    using U = typename Keys<S>::Key;

    explicit Dealt(const Buckets<U>& buckets)
        : buckets_(buckets),
          end_(buckets.count()),
          count_(buckets.count()),
          head_(buckets.count()),
          last_(buckets.count()) {
        clear();
    }

    void add(const Rows& rows) {
        Faults faults;
        Reader<S> reader(rows, faults);
        for (std::int64_t first = 0; first < rows.n; first += block_rows) {
            const int n = int(std::min<std::int64_t>(block_rows, rows.n - first));
            const Block<S> block = reader.read(first, n);
            faults.raise();
            deal_block<S, Chunks<R>::chunk_bytes>(buckets_, block, n, end_.data(),
                                                  [&](std::size_t b, R* full) { return fresh(b, full); });
        }
    }

    std::size_t bytes() const noexcept { return blocks_.size() * block_bytes; }
    std::size_t size(std::size_t bucket) const noexcept { return count_[bucket] - Chunks<R>::left(end_[bucket]); }

    template <class Visit>
    void pieces(std::size_t bucket, Visit&& visit) const {
        each_chunk<R>(
            size(bucket), head_[bucket], [&](std::size_t chunk) { return at(chunk); },
            [&](std::size_t chunk) { return next_of(chunk); }, visit);
    }

    // Nothing is there any more; the memory is kept for what comes.
    void clear() noexcept {
        std::fill_n(end_.data(), end_.size(), nullptr);
        std::fill_n(count_.data(), count_.size(), std::size_t(0));
        chunks_ = 0;
    }

   private:
    static constexpr std::size_t chunk_records = Chunks<R>::chunk_records;
    static constexpr std::size_t block_chunks = 8192;  // of a block of memory
    static constexpr std::size_t block_bytes =
        block_chunks * (Chunks<R>::chunk_bytes + sizeof(std::uint32_t));

    R* at(std::size_t chunk) const noexcept {
        return blocks_[chunk / block_chunks].data() + chunk % block_chunks * chunk_records;
    }
    std::uint32_t& next_of(std::size_t chunk) const noexcept {
        return next_[chunk / block_chunks][chunk % block_chunks];
    }
    // Out of line: in the loop that deals it would take the registers.
    [[gnu::noinline]] R* fresh(std::size_t b, const R* full) {
        if (chunks_ == blocks_.size() * block_chunks) {
            blocks_.emplace_back(block_chunks * chunk_records);
            next_.emplace_back(block_chunks);
        }
        const auto chunk = std::uint32_t(chunks_++);
        (full ? next_of(last_[b]) : head_[b]) = chunk;
        last_[b] = chunk;
        count_[b] += chunk_records;
        return at(chunk);
    }

    const Buckets<U>& buckets_;
    Buffer<R*> end_;
    Buffer<std::size_t> count_;
    Buffer<std::uint32_t> head_, last_;
    std::vector<Buffer<R>> blocks_;
    std::vector<Buffer<std::uint32_t>> next_;
    std::size_t chunks_ = 0;
};

// The entries of a sweep as they are found, bucket after bucket from the highest scores down, by several threads:
// in memory, or, once they are too many, in a file, which has a column for thresholds, one for each class and,
// of runs, one for their highest scores.
template <class S, class Mass>
class Entries {
   public:
    using U = typename Keys<S>::Key;
    using Steps = std::vector<Step<U, Mass>>;

    // There are at most as many as rows: so far apart are the columns in the file. What none fills takes no disk.
    Entries(bool compact, std::size_t rows, std::size_t most, int file)
        : compact_(compact), most_(most), file_(file), column_((rows * 8 / page + 1) * page) {}

    // Some steps of a bucket, upwards, below all that it had before; waits for the buckets above it. They are
    // used up. With the last ones the next bucket may go on.
    void add(std::size_t bucket, Steps& steps, bool last) {
        wait(bucket);
        std::size_t n = 0;
        if (!steps.empty()) {
            if (open_) join(steps);
            lowest_ = steps.front();
            open_ = true;
            n = steps.size() - 1;
        }
        const std::size_t at = count_;
        count_ += n;
        if (!in_file_ && count_ >= most_) move_to_file();
        const bool in_file = in_file_;
        if (!in_file && n > 0) kept_.emplace_back(steps.begin() + 1, steps.end());  // no larger than it is
        if (last) pass();
        if (in_file && n > 0) write(steps.data() + 1, n, at);
        steps.clear();
    }

    // Nobody shall wait for what never comes.
    void fail(std::exception_ptr why) noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!failed_) failed_ = why;
        turn_changed_.notify_all();
    }

    Masses<Mass> masses(int threads) {
        if (open_) {
            ++count_;
            kept_.push_back({lowest_});
        }
        if (in_file_) {
            if (open_) write(kept_.back().data(), 1, count_ - 1);
            return mapped();
        }
        Masses<Mass> out{Buffer<double>(count_), Buffer<Mass>(count_), Buffer<Mass>(count_),
                         Buffer<double>(compact_ ? count_ : 0)};
        std::vector<std::size_t> start(kept_.size());
        for (std::size_t k = 0, at = 0; k < kept_.size(); at += kept_[k++].size()) start[k] = at;
        // The steps are given back as the arrays fill up.
        parallel(kept_.size(), threads, [&](std::size_t k, int) {
            copy(kept_[k].data(), kept_[k].size(), out.threshold.data() + start[k], out.pos.data() + start[k],
                 out.neg.data() + start[k], compact_ ? out.top.data() + start[k] : nullptr);
            Steps().swap(kept_[k]);
        });
        if (!runs_) out.top = Buffer<double>(0);
        return out;
    }

   private:
    static constexpr std::size_t page = std::size_t(1) << 16;  // of any system

    // Runs of one class may go on from one bucket to the next. Those of +inf stand alone.
    void join(Steps& steps) const {
        auto& step = steps.back();
        const bool one_class = (step.pos == 0 && lowest_.pos == 0) || (step.neg == 0 && lowest_.neg == 0);
        if (compact_ && one_class && lowest_.high != Keys<S>::of(std::numeric_limits<S>::infinity())) {
            step.high = lowest_.high;
            step.pos += lowest_.pos;
            step.neg += lowest_.neg;
        } else {
            steps.push_back(lowest_);
        }
    }

    void wait(std::size_t bucket) {
        std::unique_lock<std::mutex> lock(mutex_);
        turn_changed_.wait(lock, [&] { return turn_ == bucket || failed_; });
        if (failed_) std::rethrow_exception(failed_);
    }
    void pass() {
        const std::lock_guard<std::mutex> lock(mutex_);
        ++turn_;
        turn_changed_.notify_all();
    }

    void move_to_file() {
        std::size_t at = 0;
        for (Steps& steps : kept_) {
            write(steps.data(), steps.size(), at);
            at += steps.size();
            Steps().swap(steps);
        }
        kept_.clear();
        in_file_ = true;
    }
    // Steps, upwards, as entries, downwards.
    void copy(const Step<U, Mass>* steps, std::size_t n, double* threshold, Mass* pos, Mass* neg, double* top) {
        bool runs = false;
        for (std::size_t i = 0; i < n; ++i) {
            const auto& step = steps[n - 1 - i];
            threshold[i] = double(Keys<S>::score(step.low));
            pos[i] = step.pos;
            neg[i] = step.neg;
            if (top) top[i] = double(Keys<S>::score(step.high));
            runs |= step.low != step.high;
        }
        if (runs) runs_ = true;
    }
    void write(const Step<U, Mass>* steps, std::size_t n, std::size_t at) {
        constexpr std::size_t most = std::size_t(1) << 14;
        const std::size_t room = std::min(n, most);
        Buffer<double> threshold(room), top(compact_ ? room : 0);
        Buffer<Mass> pos(room), neg(room);
        for (std::size_t k = 0; k < n; k += room) {
            const std::size_t some = std::min(room, n - k);
            copy(steps + (n - k - some), some, threshold.data(), pos.data(), neg.data(),
                 compact_ ? top.data() : nullptr);
            std::uint64_t to = (at + k) * 8;
            const void* columns[] = {threshold.data(), pos.data(), neg.data(), compact_ ? top.data() : nullptr};
            for (const void* column : columns) {
                if (column) write_all(file_, static_cast<const char*>(column), some * 8, to);
                to += column_;
            }
        }
    }
    Masses<Mass> mapped() const {
        try {
            return {Buffer<double>(file_, 0, count_), Buffer<Mass>(file_, column_, count_),
                    Buffer<Mass>(file_, 2 * column_, count_), Buffer<double>(file_, 3 * column_, runs_ ? count_ : 0)};
        } catch (const std::system_error& error) {
            throw SpillFault(error.code().value());
        }
    }

    const bool compact_;
    const std::size_t most_;
    const int file_;
    const std::uint64_t column_;  // bytes from one column to the next
    std::mutex mutex_;
    std::condition_variable turn_changed_;
    std::exception_ptr failed_;
    std::size_t turn_ = 0;  // the bucket that may add its steps; only who has the turn uses what follows
    std::size_t count_ = 0;
    std::vector<Steps> kept_;
    Step<U, Mass> lowest_{};  // it may still grow
    bool open_ = false, in_file_ = false;
    std::atomic<bool> runs_{false};
};

template <class S, class R>
class Stream final : public StreamOf<MassOf<R>> {
   public:
    using U = typename Keys<S>::Key;
    using Mass = MassOf<R>;

    explicit Stream(const StreamPlan& plan)
        : plan_(plan), own_(std::size_t(plan.workers)), tallies_(std::size_t(plan.workers)) {}

    void begin(const double* sample, std::size_t sample_size, std::size_t buckets) override {
        Buffer<U> a(sample_size), b(sample_size);
        for (std::size_t i = 0; i < sample_size; ++i) a[i] = Keys<S>::of(S(sample[i]));
        const U* sorted = radix_sort(a.data(), b.data(), sample_size, Keys<S>::bits);
        buckets_ = std::make_unique<Buckets<U>>(sorted, buckets > 0 ? sample_size : 0, buckets);
        segments_.assign(own_.size(), std::vector<Segments>(buckets_->count()));
        for (std::size_t w = 0; w < own_.size(); ++w) parts_.push_back(std::make_unique<Dealt<S, R>>(*buckets_));
        begun_.store(true, std::memory_order_release);
    }

    bool add(int worker, const Rows& rows) override {
        Own& own = own_.at(std::size_t(worker));
        auto& tally = tallies_[std::size_t(worker)];
        if (!tally && begun_.load(std::memory_order_relaxed)) own.full = true;  // others have found too many
        if (!own.full) {
            if (!tally) tally = std::make_unique<Counts>();
            own.counted = count(own, *tally, rows);
            if (own.counted == rows.n) return true;
            own.full = true;
        }
        if (!begun_.load(std::memory_order_acquire)) return false;
        deal_counted(worker);
        Rows rest = rows;
        rest.n -= own.counted;
        for (Column* column : {&rest.score, &rest.label, &rest.weight})
            if (column->data) column->data = static_cast<const char*>(column->data) + own.counted * column->stride;
        own.counted = 0;
        deal(worker, rest);
        return true;
    }

    std::uint64_t spilled() const noexcept override { return end_; }

    Masses<Mass> finish(int threads, bool compact, std::size_t most, int file) override {
        if (!begun_.load()) return counted(threads, compact, most, file);
        for (int w = 0; w < plan_.workers; ++w) deal_counted(w);
        const std::size_t buckets = buckets_->count();
        std::size_t rows = 0;
        for (std::size_t b = 0; b < buckets; ++b) rows += size(b);
        Entries<S, Mass> entries(compact, rows, most, file);
        auto room = std::make_unique<Room[]>(std::size_t(threads));
        parallel(buckets, threads, [&](std::size_t k, int worker) {
            const std::size_t b = buckets - 1 - k;
            const U low = buckets_->low(b);
            try {
                sorted(b, compact, room[std::size_t(worker)], [&](Steps& steps, bool last) {
                    for (auto& step : steps) {
                        step.low += low;
                        step.high += low;
                    }
                    entries.add(k, steps, last);
                });
            } catch (...) {
                entries.fail(std::current_exception());
                throw;
            }
        });
        parts_.clear();
        room.reset();
        if (end_ > 0) trim();  // there was not room for everything: leave none lying about
        return entries.masses(threads);
    }

   private:
    struct Segment {
        std::uint64_t start;
        std::size_t count;
    };
    using Steps = typename Entries<S, Mass>::Steps;
    using Segments = std::vector<Segment>;
    using Visit = std::function<void(const R*, std::size_t)>;
    using Each = std::function<void(const Visit&)>;
    using Add = std::function<void(Steps&, bool last)>;
    // What one thread needs to sort a bucket: the same memory for all, since fresh pages are the slowest there is.
    struct Room {
        Scratch<R> scratch;
        Buffer<R> read;
        Steps steps;
    };

    // Tables that the second-level cache holds. Of so many rows most have a score that was there before, or counting
    // does not pay.
    using Counts = Tally<S, std::size_t(1) << 14, 2>;
    static constexpr std::int64_t judged = std::int64_t(1) << 13;
    // What a worker does with rows: as long as its tally is not full, it counts them.
    struct Own {
        std::int64_t counted = 0;  // of the last rows
        std::int64_t seen = 0;
        bool full = !std::is_same_v<Mass, std::int64_t>;  // weights are not counted
    };

    void deal(int worker, const Rows& rows) {
        auto& part = *parts_[std::size_t(worker)];
        part.add(rows);
        if (part.bytes() * std::size_t(plan_.workers) > plan_.limit) spill(part, segments_[std::size_t(worker)]);
    }

    // Returns how many rows were counted: all, or those before the first that has one score too many.
    std::int64_t count(Own& own, Counts& tally, const Rows& rows) {
        Faults faults;
        Reader<S> reader(rows, faults);
        for (std::int64_t first = 0; first < rows.n; first += block_rows) {
            const int n = int(std::min<std::int64_t>(block_rows, rows.n - first));
            const Block<S> block = reader.read(first, n);
            faults.raise();
            const int done = tally.add(block.score, block.label, n);
            if (done < n) return first + done;
            const bool before = own.seen < judged;
            own.seen += n;
            if (before && own.seen >= judged && 4 * tally.used() > 3 * std::size_t(own.seen)) return first + n;
        }
        return rows.n;
    }

    // There are too many scores: rows that were counted are dealt after all.
    void deal_counted(int worker) {
        const auto tally = std::move(tallies_[std::size_t(worker)]);
        if (!tally) return;
        Buffer<S> score(std::size_t(1) << 16);
        Buffer<std::uint8_t> label(score.size());
        std::size_t n = 0;
        const auto flush = [&] {
            deal(worker, {std::int64_t(n), {score.data(), sizeof(S), plan_.score}, {label.data(), 1, Kind::u8}, {}});
            n = 0;
        };
        tally->each([&](const auto& place) {
            for (std::uint8_t y : {0, 1})
                for (std::uint64_t left = place.count[y]; left > 0;) {
                    const auto some = std::min<std::uint64_t>(left, score.size() - n);
                    std::fill_n(score.data() + n, some, std::bit_cast<S>(place.bits));
                    std::fill_n(label.data() + n, some, y);
                    n += some;
                    left -= some;
                    if (n == score.size()) flush();
                }
        });
        flush();
    }

    Masses<Mass> counted(int threads, bool compact, std::size_t most, int file) const {
        const auto all = all_counted<S>(tallies_.data(), tallies_.size());
        Entries<S, Mass> entries(compact, all.size(), most, file);
        Steps one;
        for (const auto& c : all) {
            one.assign(1, {c.key, c.key, Mass(c.pos), Mass(c.neg)});
            entries.add(0, one, false);
        }
        return entries.masses(threads);
    }

    // Segments of each bucket are the worker's own, so that its rows stay in their order.
    void spill(Dealt<S, R>& part, std::vector<Segments>& segments) {
        std::size_t rows = 0;
        for (std::size_t b = 0; b < buckets_->count(); ++b) rows += part.size(b);
        std::uint64_t at;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            at = end_;
            end_ += rows * sizeof(R);
        }
        constexpr std::size_t room = std::size_t(1) << 18;
        Buffer<R> staged(room);
        std::size_t filled = 0;
        std::uint64_t next = at;
        for (std::size_t b = 0; b < buckets_->count(); ++b) {
            if (part.size(b) > 0) segments[b].push_back({next, part.size(b)});
            next += part.size(b) * sizeof(R);
            part.pieces(b, [&](const R* r, std::size_t n) {
                if (filled + n > room) {
                    write_all(plan_.file, reinterpret_cast<const char*>(staged.data()), filled * sizeof(R), at);
                    at += filled * sizeof(R);
                    filled = 0;
                }
                std::memcpy(staged.data() + filled, r, n * sizeof(R));
                filled += n;
            });
        }
        write_all(plan_.file, reinterpret_cast<const char*>(staged.data()), filled * sizeof(R), at);
        part.clear();
    }

    // What is wanted of a bucket, and what is in the way.
    struct Wish {
        bool compact;
        U infinity;  // the key of +inf here
        bool one(const Glance<R>& g) const noexcept {
            return g.low == g.high ||
                   (compact && (g.positives == 0 || g.positives == g.n) && g.high != infinity);
        }
    };

    std::size_t size(std::size_t b) const noexcept {
        std::size_t n = 0;
        for (const auto& part : parts_) n += part->size(b);
        for (const auto& own : segments_)
            for (const Segment& s : own[b]) n += s.count;
        return n;
    }

    // Adds the steps of a bucket, the highest first: all at once, or of a part after the other. Its rows are
    // visited worker by worker, and each worker's in the order in which they came: sums of weights depend on it.
    void sorted(std::size_t b, bool compact, Room& room, const Add& add) {
        const Wish wish{compact, infinity_in<S>(buckets_->low(b))};
        const std::size_t n = size(b);
        std::size_t in_memory = 0;
        for (const auto& part : parts_) in_memory += part->size(b);
        if (n <= plan_.most && in_memory == n) {
            steps_of(
                [&](auto&& visit) {
                    for (const auto& part : parts_) part->pieces(b, visit);
                },
                wish, room);
            return add(room.steps, true);
        }
        if (n <= plan_.most) {
            room.read.reserve(n);
            R* end = room.read.data();
            for (std::size_t w = 0; w < parts_.size(); ++w) {
                end = read_segments(segments_[w][b], end);
                parts_[w]->pieces(b, [&](const R* r, std::size_t k) {
                    std::memcpy(end, r, k * sizeof(R));
                    end += k;
                });
            }
            steps_of([&](auto&& visit) { visit(room.read.data(), n); }, wish, room);
            return add(room.steps, true);
        }
        too_many(
            [&](const Visit& visit) {
                for (std::size_t w = 0; w < parts_.size(); ++w) {
                    each_read(segments_[w][b], visit);
                    parts_[w]->pieces(b, visit);
                }
            },
            wish, room, add);
        add(room.steps, true);
    }

    R* read_segments(const Segments& segments, R* to) const {
        for (const Segment& s : segments) {
            read_all(plan_.file, reinterpret_cast<char*>(to), s.count * sizeof(R), s.start);
            to += s.count;
        }
        return to;
    }
    void each_read(const Segments& segments, const Visit& visit) const {
        constexpr std::size_t some = std::size_t(1) << 16;
        Buffer<R> buffer(some);
        for (const Segment& s : segments)
            for (std::size_t k = 0; k < s.count; k += some) {
                const std::size_t m = std::min(some, s.count - k);
                read_all(plan_.file, reinterpret_cast<char*>(buffer.data()), m * sizeof(R),
                         s.start + k * sizeof(R));
                visit(buffer.data(), m);
            }
    }

    template <class Pieces>
    static void steps_of(Pieces&& pieces, const Wish& wish, Room& room) {
        Steps& out = room.steps;
        const Glance<R> g = glance<R>(pieces);
        if (g.n == 0) return;
        if (wish.one(g)) {
            Tied<R> tied;
            pieces([&](const R* r, std::size_t n) { tied.add(r, n); });
            out.push_back({g.low, g.high, tied.pos, tied.neg});
            return;
        }
        const R* a = sorted_records(pieces, g, room.scratch);
        wish.compact ? each_step<true>(a, g.n, wish.infinity, out)
                     : each_step<false>(a, g.n, wish.infinity, out);
    }

    // More rows than may be sorted at a time: the sample did not tell that so many would come here. They
    // are dealt once more, by their own quantiles, into slices of the file; and so on. It ends, since a
    // slice has fewer keys than the whole, and one key is only counted.
    void too_many(const Each& each, const Wish& wish, Room& room, const Add& add) {
        Glance<R> g;
        Tied<R> tied;
        each([&](const R* r, std::size_t n) {
            g.add(r, n);
            tied.add(r, n);
        });
        if (wish.one(g)) {
            room.steps.push_back({g.low, g.high, tied.pos, tied.neg});
            return add(room.steps, false);
        }
        const auto bounds = quantiles(each, g);
        std::vector<Segments> slices(bounds.size() + 1);
        std::vector<std::vector<R>> staged(slices.size());
        constexpr std::size_t room_each = std::size_t(1) << 12;
        const auto flush = [&](std::size_t k) {
            if (staged[k].empty()) return;
            const std::size_t bytes = staged[k].size() * sizeof(R);
            std::uint64_t at;
            {
                const std::lock_guard<std::mutex> lock(mutex_);
                at = end_;
                end_ += bytes;
            }
            write_all(plan_.file, reinterpret_cast<const char*>(staged[k].data()), bytes, at);
            slices[k].push_back({at, staged[k].size()});
            staged[k].clear();
        };
        each([&](const R* r, std::size_t n) {
            for (std::size_t i = 0; i < n; ++i) {
                const auto k = std::size_t(std::upper_bound(bounds.begin(), bounds.end(), key(r[i])) -
                                           bounds.begin());
                staged[k].push_back(r[i]);
                if (staged[k].size() == room_each) flush(k);
            }
        });
        for (std::size_t k = 0; k < slices.size(); ++k) flush(k);
        std::vector<std::vector<R>>().swap(staged);
        for (std::size_t k = slices.size(); k-- > 0;) {
            const Segments& slice = slices[k];
            std::size_t n = 0;
            for (const Segment& s : slice) n += s.count;
            if (n > plan_.most) {
                too_many([&](const Visit& visit) { each_read(slice, visit); }, wish, room, add);
                continue;
            }
            room.read.reserve(n);
            read_segments(slice, room.read.data());
            steps_of([&](auto&& visit) { visit(room.read.data(), n); }, wish, room);
            add(room.steps, false);
        }
    }

    // Keys at which slices begin, upwards, the lowest key not among them: of a sample of the records, and
    // the middle of all keys, so that there is one.
    std::vector<U> quantiles(const Each& each, const Glance<R>& g) const {
        const std::size_t slices = std::clamp<std::size_t>(4 * g.n / plan_.most, 4, 1024);
        const std::size_t step = std::max<std::size_t>(1, g.n / (64 * slices));
        std::vector<U> sample;
        std::size_t seen = 0;
        each([&](const R* r, std::size_t n) {
            for (std::size_t i = (step - seen % step) % step; i < n; i += step) sample.push_back(key(r[i]));
            seen += n;
        });
        std::sort(sample.begin(), sample.end());
        std::vector<U> bounds{U(g.low + (g.high - g.low) / 2 + 1)};
        for (std::size_t k = 1; k < slices; ++k) {
            const U at = sample[k * sample.size() / slices];
            if (at > g.low) bounds.push_back(at);
            if (at < g.high) bounds.push_back(at + 1);  // what many share stands alone
        }
        std::sort(bounds.begin(), bounds.end());
        bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
        return bounds;
    }

    StreamPlan plan_;
    std::vector<Own> own_;
    std::vector<std::unique_ptr<Counts>> tallies_;  // of workers whose rows have few scores so far
    std::atomic<bool> begun_{false};
    std::unique_ptr<Buckets<U>> buckets_;
    std::vector<std::unique_ptr<Dealt<S, R>>> parts_;
    std::mutex mutex_;
    std::vector<std::vector<Segments>> segments_;  // of each worker and bucket
    std::uint64_t end_ = 0;
};

}  // namespace CUTSCORE_ISA
