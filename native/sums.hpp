// Sums of many doubles, the same to the bit wherever the terms are added in the same order.
#pragma once

#include <cmath>

namespace cutscore {

// Terms are added up in groups of 32, and what rounding takes from the sum of groups is kept (Neumaier).
class CarefulSum {
   public:
    void add(double term) noexcept {
        group_ += term;
        if (++terms_ == 32) close();
    }
    double total() noexcept {
        close();
        return sum_ + lost_;
    }

   private:
    void close() noexcept {
        const double sum = sum_ + group_;
        lost_ += std::fabs(sum_) >= std::fabs(group_) ? (sum_ - sum) + group_ : (group_ - sum) + sum_;
        sum_ = sum;
        group_ = 0;
        terms_ = 0;
    }
    double sum_ = 0, lost_ = 0, group_ = 0;
    int terms_ = 0;
};

}  // namespace cutscore
