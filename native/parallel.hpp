// A loop over independent parts on a few threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <system_error>
#include <thread>

#include "kernels.hpp"

namespace CUTSCORE_ISA {

// Calls work(part, worker) for every part in [0, parts); workers are numbered from 0 and take the next
// part when they are done with one. Threads live for the call only: nothing survives a fork, and a
// start costs some 20 us, which callers weigh against the rows they have. The first exception is
// rethrown here, after all threads have ended.
template <class Work>
void parallel(std::size_t parts, int threads, Work&& work) {
    const int workers = int(std::min<std::size_t>(parts, std::size_t(threads)));
    const auto poll = cutscore::between_parts.load(std::memory_order_relaxed);
    if (workers <= 1) {
        for (std::size_t part = 0; part < parts; ++part) {
            if (poll) poll();
            work(part, 0);
        }
        return;
    }
    std::atomic<std::size_t> next{0};
    std::exception_ptr failed;
    std::atomic<bool> fails{false};
    auto run = [&](int worker) noexcept {
        try {
            for (std::size_t part; (part = next.fetch_add(1, std::memory_order_relaxed)) < parts;) {
                if (poll && worker == 0) poll();
                work(part, worker);
            }
        } catch (...) {
            if (!fails.exchange(true)) failed = std::current_exception();
            next.store(parts);
        }
    };
    {
        auto pool = std::make_unique<std::jthread[]>(std::size_t(workers - 1));
        for (int worker = 1; worker < workers; ++worker) {
            try {
                pool[std::size_t(worker - 1)] = std::jthread(run, worker);
            } catch (const std::system_error&) {
                break;  // no more threads to be had: those that run take all the parts
            }
        }
        run(0);
    }
    if (failed) std::rethrow_exception(failed);
}

}  // namespace CUTSCORE_ISA
