// The kernels of tables of features for one instruction set, as kernels.cpp has the others: those that gain
// from wider registers.
#ifndef CUTSCORE_ISA
#error "set CUTSCORE_ISA to the namespace of this build"
#endif

#include "linear.hpp"
#include "logistic.hpp"
#include "perceptron.hpp"
#include "scatter.hpp"

namespace CUTSCORE_ISA {

void scores(const Table& t, const double* w, double b, double* out) {
    by_table(t, [&](const auto& x) { scored(x, w, b, out); });
}

void combine(const Table& t, const double* coefficient, double* sum) {
    by_table(t, [&](const auto& x) { combined(x, coefficient, sum); });
}

void products(const Table& t, const double* coefficient, double* sum, double* squares) {
    by_table(t, [&](const auto& x) { paired(x, coefficient, sum, squares); });
}

void scatter(const Table& t, const std::int64_t* chosen, std::int64_t count, const double* weight,
             const double* start, bool products, double* out) {
    by_table(t, [&](const auto& x) { scattered(x, chosen, count, weight, start, products, out); });
}

double largest_square(const Table& t) {
    return by_table(t, [&](const auto& x) { return most_square(x); });
}

void perceptron(const Table& t, const bool* positive, const double* weight, double rate, double square,
                Perceptron& p) {
    by_table(t, [&](const auto& x) { taught(x, positive, weight, rate, square, p); });
}

void logistic(const Table& t, const bool* positive, const double* weight, const double* w, double b,
              bool curved, double* out) {
    by_table(t, [&](const auto& x) {
        curved ? lost<2>(x, positive, weight, w, b, out) : lost<1>(x, positive, weight, w, b, out);
    });
}

}  // namespace CUTSCORE_ISA
