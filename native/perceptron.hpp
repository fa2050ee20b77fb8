// The perceptron: rows one after the other, and the line moves at each that it has on the wrong side.
#pragma once

#include <algorithm>
#include <cstdint>

#include "linear.hpp"

namespace CUTSCORE_ISA {

using cutscore::Perceptron;

template <class X>
void taught(const X& x, const bool* positive, const double* weight, double rate, double square,
            Perceptron& p) {
    // A table, since a branch on labels in no order is mispredicted every other time.
    static constexpr double sign[] = {-1, 1};
    const std::int64_t d = x.d;
    const Weights line(p.line, d), drift(p.drift ? p.drift : p.line, d);
    double* const w = line.data();
    double b = p.line[d];
    std::int64_t run = p.run, steps = p.steps;
    const auto move = [&](std::int64_t i) {
        const double c = sign[positive[i]] * (weight ? rate * weight[i] : rate);
        if (p.kept && run > p.longest) {
            p.longest = run;
            double* const place = p.kept + (p.records++ % p.room) * (d + 1);
            line.copy_to(place);
            place[d] = b;
        }
        x.add_to(w, i, c);
        b += c * square;
        if (p.drift) {
            const double late = c * double(steps);
            x.add_to(drift.data(), i, late);
            p.drift[d] += late * square;
        }
        ++p.updates;
    };
    // Written so that a NaN, which comes of overflow, counts as wrong: nothing else ever hides it.
    const auto right = [&](std::int64_t i, double score) {
        return sign[positive[i]] * score > 0;
    };
    for (std::int64_t i = 0; i < x.n; ++i, ++steps) {
        if (right(i, x.dot(i, w) + b)) {
            ++run;
        } else {
            move(i);
            run = 0;
        }
    }
    p.run = run;
    p.steps = steps;
    line.copy_to(p.line);
    p.line[d] = b;
    if (p.drift) drift.copy_to(p.drift);
}

}  // namespace CUTSCORE_ISA
