// Not inline: the kernels are compiled several times, this once.
#include "memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

namespace cutscore {

namespace {

constexpr std::size_t page = 4096, huge_page = std::size_t(2) << 20;
constexpr std::size_t least_kept = 16 * page, least_marked = 256 * page;

// Whole pages that were given back. Never waits for its lock: in a process forked while another thread
// held it, it would wait for ever.
class BlockCache {
   public:
    void* take(std::size_t& bytes) {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock) return nullptr;
        Block* best = nullptr;
        for (Block& b : blocks_)
            if (b.data && b.bytes >= bytes && b.bytes <= bytes + bytes / 4 && (!best || b.bytes < best->bytes))
                best = &b;
        if (!best) return nullptr;
        held_ -= best->bytes;
        bytes = best->bytes;
        return std::exchange(best->data, nullptr);
    }
    // True if the block is kept. Older ones make room for it.
    bool give(void* data, std::size_t bytes) noexcept {
#if defined(__linux__) && defined(MADV_FREE)
        const std::unique_lock lock(mutex_, std::try_to_lock);
        // Small blocks keep their pages: the call would take longer than the work of a few thousand rows.
        if (!lock || bytes > most || (bytes >= least_marked && madvise(data, bytes, MADV_FREE) != 0)) return false;
        Block* place = free_place();
        while (place == nullptr || held_ + bytes > most) place = drop_oldest();
        *place = {data, bytes, ++given_};
        held_ += bytes;
        return true;
#else
        (void)data, (void)bytes;
        return false;
#endif
    }

    void drop_all() noexcept {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock) return;
        for (Block& b : blocks_) std::free(std::exchange(b.data, nullptr));
        held_ = 0;
    }

    static BlockCache& shared() {
        static auto* cache = new BlockCache;  // never destroyed: arrays may outlive everything else
        return *cache;
    }

   private:
    static constexpr std::size_t most = std::size_t(512) << 20;
    struct Block {
        void* data = nullptr;
        std::size_t bytes = 0, given = 0;
    };
    Block* free_place() noexcept {
        for (Block& b : blocks_)
            if (!b.data) return &b;
        return nullptr;
    }
    Block* drop_oldest() noexcept {
        Block* oldest = nullptr;
        for (Block& b : blocks_)
            if (b.data && (!oldest || b.given < oldest->given)) oldest = &b;
        held_ -= oldest->bytes;
        std::free(std::exchange(oldest->data, nullptr));
        return oldest;
    }
    std::mutex mutex_;
    Block blocks_[32];
    std::size_t held_ = 0, given_ = 0;
};

// Where files are mapped. Without a lock, for the same reason. If there are too many, pages of the others are
// given back with them only.
class Mappings {
   public:
    void add(std::uintptr_t start, std::size_t bytes) noexcept {
        for (Mapping& m : mappings_) {
            std::uintptr_t none = 0;
            if (!m.start.compare_exchange_strong(none, taken)) continue;
            m.end.store(start + bytes);
            m.start.store(start);
            return;
        }
    }
    void remove(std::uintptr_t start) noexcept {
        for (Mapping& m : mappings_)
            if (m.start.load() == start) {
                m.start.store(0);
                return;
            }
    }
    // Calls visit(from, to) for the whole pages of mapped files in [start, end).
    template <class Visit>
    void inside(std::uintptr_t start, std::uintptr_t end, Visit&& visit) const noexcept {
        for (const Mapping& m : mappings_) {
            const std::uintptr_t first = m.start.load();
            if (first <= taken || end <= first || m.end.load() <= start) continue;
            // The pages at both ends too: others may want them, and read them again.
            const std::uintptr_t from = std::max(start, first) / page * page, to = std::min(end, m.end.load());
            visit(from, to);
        }
    }

   private:
    static constexpr std::uintptr_t taken = 1;
    struct Mapping {
        std::atomic<std::uintptr_t> start{0}, end{0};
    };
    Mapping mappings_[256];
};
Mappings mappings;

}  // namespace

void* allocate(std::size_t& bytes) {
    const std::size_t unit = bytes >= huge_page ? huge_page : bytes >= least_kept ? page : 64;
    bytes = bytes == 0 ? unit : (bytes + unit - 1) / unit * unit;
    if (unit >= page)
        if (void* p = BlockCache::shared().take(bytes)) return p;
    void* p = std::aligned_alloc(unit, bytes);
    if (p == nullptr) throw std::bad_alloc();
#if defined(__linux__)
    if (unit == huge_page) madvise(p, bytes, MADV_HUGEPAGE);  // advice: a refusal costs speed, nothing else
#endif
    return p;
}
void release(void* p, std::size_t bytes) noexcept {
    if (bytes < least_kept || !BlockCache::shared().give(p, bytes)) std::free(p);
}
void trim() noexcept { BlockCache::shared().drop_all(); }

const void* map_file(int file, std::uint64_t start, std::size_t bytes) {
    if (bytes == 0) return nullptr;
    void* p = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, off_t(start));
    if (p == MAP_FAILED) throw std::system_error(errno, std::generic_category());
    mappings.add(reinterpret_cast<std::uintptr_t>(p), bytes);
    return p;
}
void unmap_file(const void* p, std::size_t bytes) noexcept {
    mappings.remove(reinterpret_cast<std::uintptr_t>(p));
    munmap(const_cast<void*>(p), bytes);
}
void forget(const void* p, std::size_t bytes) noexcept {
    const auto start = reinterpret_cast<std::uintptr_t>(p);
    mappings.inside(start, start + bytes, [](std::uintptr_t from, std::uintptr_t to) {
        madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
    });
}

}  // namespace cutscore
