// Buffers that take huge pages where the system gives them: fresh memory in 4 KiB pages faults in at
// about 2 GB/s, slower than the kernels that fill it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace cutpoint {

inline constexpr std::size_t huge_page = std::size_t(2) << 20;

inline void* allocate(std::size_t bytes) {
    if (bytes < huge_page) {
        void* p = std::aligned_alloc(64, (bytes + 64) / 64 * 64);
        if (p == nullptr) throw std::bad_alloc();
        return p;
    }
    const std::size_t rounded = (bytes + huge_page - 1) / huge_page * huge_page;
    void* p = std::aligned_alloc(huge_page, rounded);
    if (p == nullptr) throw std::bad_alloc();
#if defined(__linux__)
    madvise(p, rounded, MADV_HUGEPAGE);  // advice: a refusal costs speed, nothing else
#endif
    return p;
}

// An owned, uninitialised array of trivially copyable values.
template <class T>
class Buffer {
   public:
    Buffer() = default;
    explicit Buffer(std::size_t size)
        : data_(static_cast<T*>(allocate(size * sizeof(T)))), size_(size) {}

    T* data() const noexcept { return data_.get(); }
    std::size_t size() const noexcept { return size_; }
    T& operator[](std::size_t i) const noexcept { return data_.get()[i]; }
    T* release() noexcept { return data_.release(); }
    void reserve(std::size_t size) {  // keeps nothing
        if (size > size_) *this = Buffer(size);
    }

   private:
    struct Free {
        void operator()(T* p) const noexcept { std::free(p); }
    };
    std::unique_ptr<T, Free> data_;
    std::size_t size_ = 0;
};

}  // namespace cutpoint
