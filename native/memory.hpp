// Memory for kernels that run at the speed of memory. Fresh pages are the slowest there is: the system
// clears them one by one. So large blocks take huge pages where the system gives them, and a block that
// is given back waits here for the next call, marked so that the system may take its pages meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace cutscore {

// At least `bytes` bytes; `bytes` becomes what the block really has.
void* allocate(std::size_t& bytes);
void release(void* p, std::size_t bytes) noexcept;
// Gives back what waits: pages that the system may take count as ours until it does.
void trim() noexcept;

// So many bytes of a file, from `start`, a multiple of a page, on; nobody can write to them. Throws
// std::system_error.
const void* map_file(int file, std::uint64_t start, std::size_t bytes);
void unmap_file(const void* p, std::size_t bytes) noexcept;
// Pages of mapped files that were read count as memory of this process. This gives back those that lie in a
// range; the file still has them. To any other memory it does nothing.
void forget(const void* p, std::size_t bytes) noexcept;

// An owned, uninitialised array of trivially copyable values; or those of a file, to be read only.
template <class T>
class Buffer {
   public:
    Buffer() = default;
    explicit Buffer(std::size_t size) : size_(size), bytes_(size * sizeof(T)) {
        data_ = static_cast<T*>(allocate(bytes_));
    }
    Buffer(int file, std::uint64_t start, std::size_t size)
        : size_(size), bytes_(size * sizeof(T)), of_file_(true) {
        data_ = static_cast<T*>(const_cast<void*>(map_file(file, start, bytes_)));
    }
    Buffer(Buffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)),
          bytes_(std::exchange(other.bytes_, 0)),
          of_file_(other.of_file_) {}
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(bytes_, other.bytes_);
        std::swap(of_file_, other.of_file_);
        return *this;
    }
    ~Buffer() {
        if (data_) of_file_ ? unmap_file(data_, bytes_) : release(data_, bytes_);
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
    bool of_file_ = false;
};

}  // namespace cutscore
