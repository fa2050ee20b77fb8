// The best pair of two cuts, where what is between them is a decision of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cutscore {

// The (i, j) that has the largest a[i] + b[j], where low[i] <= j <= high[i] and both are allowed, and of
// equal ones the first with the least mass[j] - mass[i]; (size, size) if there is none. low and high never fall, so that the best j of each window is
// at the front of a queue of those that no later one beats: one pass.
template <class Value>
std::pair<std::size_t, std::size_t> best_pair(const Value* a, const Value* b, const Value* mass,
                                              const bool* a_allowed, const bool* b_allowed,
                                              const std::int64_t* low, const std::int64_t* high,
                                              std::size_t size) {
    std::vector<std::size_t> queue(size);
    std::size_t front = 0, back = 0, next = 0;
    std::pair<std::size_t, std::size_t> best{size, size};
    Value most{}, least{};
    for (std::size_t i = 0; i < size; ++i) {
        for (; next < size && std::int64_t(next) <= high[i]; ++next) {
            if (!b_allowed[next]) continue;
            while (back > front && b[queue[back - 1]] < b[next]) --back;
            queue[back++] = next;
        }
        while (front < back && std::int64_t(queue[front]) < low[i]) ++front;
        if (!a_allowed[i] || front == back) continue;
        const Value value = a[i] + b[queue[front]], between = mass[queue[front]] - mass[i];
        if (best.first == size || value > most || (value == most && between < least)) {
            most = value;
            least = between;
            best = {i, queue[front]};
        }
    }
    return best;
}

// How many values are below each bound, or at most that: values and bounds never fall, so that
// one pass over both does what a search for each bound would.
template <class Value>
void count_below(const Value* value, std::size_t values, const Value* bound, std::size_t bounds, bool or_equal,
                 std::int64_t* out) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < bounds; ++i) {
        while (at < values && (value[at] < bound[i] || (or_equal && value[at] == bound[i]))) ++at;
        out[i] = std::int64_t(at);
    }
}

}  // namespace cutscore
