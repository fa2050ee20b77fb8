// Memory for kernels that run at the speed of memory. Fresh pages are the slowest there is: the system
// clears them one by one. So large blocks take huge pages where the system gives them, and a block that
// is given back waits here for the next call, marked so that the system may take its pages meanwhile.
#pragma once

#include <cstddef>
#include <utility>

namespace cutscore {

// At least `bytes` bytes; `bytes` becomes what the block really has.
void* allocate(std::size_t& bytes);
void release(void* p, std::size_t bytes) noexcept;
// Gives back what waits: pages that the system may take count as ours until it does.
void trim() noexcept;

// An owned, uninitialised array of trivially copyable values.
template <class T>
class Buffer {
   public:
    Buffer() = default;
    explicit Buffer(std::size_t size) : size_(size), bytes_(size * sizeof(T)) {
        data_ = static_cast<T*>(allocate(bytes_));
    }
    Buffer(Buffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)),
          bytes_(std::exchange(other.bytes_, 0)) {}
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Buffer() {
        if (data_) release(data_, bytes_);
    }

    T* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    T& operator[](std::size_t i) const noexcept { return data_[i]; }
    void reserve(std::size_t size) {  // keeps nothing
        if (size > size_) *this = Buffer(size);
    }

   private:
    T* data_ = nullptr;
    std::size_t size_ = 0, bytes_ = 0;
};

}  // namespace cutscore
