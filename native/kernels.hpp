// What the native core offers, in plain C++: no Python here.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "memory.hpp"

namespace cutscore {

// Called between the parts of a loop, by the thread that asked for it: whoever throws here ends the loop.
inline std::atomic<void (*)()> between_parts{nullptr};

enum class Kind : std::uint8_t { none, b8, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64 };

// One column of a table: any numeric type, any stride (in bytes, negative and zero included).
struct Column {
    const void* data = nullptr;
    std::int64_t stride = 0;
    Kind kind = Kind::none;
};

// n rows with a score (f32 or f64), a label and, if weight.kind is not none, a weight (f32 or f64).
// A label equals `positive` or `negative`; anything else is a RowFault.
struct Rows {
    std::int64_t n = 0;
    Column score;
    Column label;
    Column weight;
    double negative = 0;
    double positive = 1;
    bool finite = false;  // whether infinite scores are faults, as NaN always is
    int threads = 1;
};

enum class Fault : std::uint8_t { label, score, weight };

// The first row that breaks a rule.
struct RowFault : std::runtime_error {
    RowFault(Fault fault, std::int64_t row)
        : std::runtime_error(std::string(fault == Fault::label   ? "label"
                                         : fault == Fault::score ? "score"
                                                                 : "weight") +
                             ":" + std::to_string(row)) {}
};

using Wide = unsigned __int128;

// Twice the number of (positive, negative) pairs in the right order, ties counted once: 2*P*N*AUC.
struct Area {
    std::uint64_t pos = 0, neg = 0;
    Wide twice = 0;
};
struct WeightedArea {
    double pos = 0, neg = 0, twice = 0;
};

// What is flagged before each of `count` blocks of entries and, last, by all; and the first threshold of each.
template <class Mass>
struct Blocks {
    std::size_t count = 0;
    Buffer<double> first;
    Buffer<Mass> tp, fp;
    Blocks() = default;
    Blocks(std::size_t m, std::size_t size)
        : count((m + size - 1) / size), first(count), tp(count + 1), fp(count + 1) {}
};

// Distinct scores, descending, with the mass of each class at exactly that score.
template <class Mass>
struct Masses {
    Buffer<double> threshold;
    Buffer<Mass> pos, neg;
    Buffer<double> top;  // of runs of scores that were merged: the highest of each; else empty
    Blocks<Mass> blocks{};
};

Area area(const Rows&);
WeightedArea weighted_area(const Rows&);
// If `block` is not 0, with the sums of blocks of so many entries.
Masses<std::int64_t> sweep(const Rows&, std::size_t block = 0);
Masses<double> weighted_sweep(const Rows&);
// Runs of scores of one class are mostly one entry; see exact.hpp.
Masses<std::int64_t> compact_sweep(const Rows&);
Masses<double> weighted_compact_sweep(const Rows&);

// How rows that come in batches are kept until they are sorted.
struct StreamPlan {
    Kind score = Kind::f64;
    int workers = 1;        // threads that may add rows, each by its number
    std::size_t limit = 0;  // bytes of rows in memory; more are written to `file`
    std::size_t most = 0;   // rows that one thread may sort at a time
    int file = -1;
};
// A file did not take what was written, or did not give it back.
struct SpillFault : std::runtime_error {
    explicit SpillFault(int error) : std::runtime_error(std::to_string(error)) {}
};
template <class Mass>
class StreamOf {
   public:
    virtual ~StreamOf() = default;
    // Once: some of the scores, for about so many buckets of about equal size; none for a few rows.
    virtual void begin(const double* sample, std::size_t sample_size, std::size_t buckets) = 0;
    // False if the rows need buckets, of which nobody said anything so far: then begin, and add them again.
    [[nodiscard]] virtual bool add(int worker, const Rows&) = 0;
    virtual std::uint64_t spilled() const noexcept = 0;
    // The sweep of all rows; once. If it has more than so many entries, it stays in `file`.
    virtual Masses<Mass> finish(int threads, bool compact, std::size_t most, int file) = 0;
};
std::unique_ptr<StreamOf<std::int64_t>> stream(const StreamPlan&);
std::unique_ptr<StreamOf<double>> weighted_stream(const StreamPlan&);

// Adds every row to its bin, the leading `bits` bits of its score's key as a float32 rounded down.
void bin(const Rows&, int bits, std::int64_t* pos, std::int64_t* neg);
void weighted_bin(const Rows&, int bits, double* pos, double* neg);

// The lowest score of each of the 2^bits bins.
void bin_edges(int bits, double* edges);

// What follows starts from masses that are there already, in descending order of the scores.
template <class Mass>
struct View {
    const double* threshold;
    const Mass* pos;
    const Mass* neg;
    std::size_t m;
};
template <class Mass>
Masses<Mass> merge(View<Mass> a, View<Mass> b);

Wide twice_area(const std::int64_t* pos, const std::int64_t* neg, std::size_t m);

// The cuts after which the staircase of the ROC curve turns from up to right, with the first two and the
// last two: no other can be best where more tp and less fp are better, even if nothing or everything
// flagged has no value. Cut k flags the k highest scores. Of a part of a sweep `tp` and `fp` are flagged before it.
template <class Mass>
struct Corners {
    Buffer<std::int64_t> cut;
    Buffer<Mass> tp, fp;
};
template <class Mass>
Corners<Mass> corners(View<Mass>, Mass tp = 0, Mass fp = 0);

// The upper convex hull of a staircase: for each of its segments, the point at which it ends and the
// masses between its ends. Points on a segment are none of its ends.
template <class Mass>
struct Hull {
    Buffer<std::int64_t> end;
    Buffer<Mass> pos, neg;
};
template <class Mass>
Hull<Mass> hull(const Mass* tp, const Mass* fp, std::size_t size);

// Sums of squares of each positive's 2 (negatives below) + (negatives level), and of each negative's
// 2 (positives above) + (positives level), in a part of a sweep: above it are so many positives, and in it
// and below so many negatives. Products P (2N)^2 and N (2P)^2 must fit 128 bits, and 2PN 64.
std::pair<Wide, Wide> squared_placements(const std::int64_t* pos, const std::int64_t* neg, std::size_t m,
                                         std::uint64_t pos_above, std::uint64_t neg_left);

// Points of a curve: scikit-learn's ROC curve from +inf downwards, without those that are on a line with their
// neighbours if `corners_only`; its precision (x) and recall (y) from the lowest threshold upwards, and then
// (1, 0); its DET curve, FPR (x) and FNR (y), upwards, from the first cut without a miss to the last without a
// false alarm.
struct Points {
    Buffer<double> x, y, threshold;
    std::size_t size = 0;  // of x and y; 0 if there is no class that it is a share of
};
Points roc_curve(const Rows&, bool corners_only);
Points precision_recall_curve(const Rows&);
Points det_curve(const Rows&);
// nan without positives.
double average_precision(const Rows&);

Blocks<std::int64_t> block_sums(View<std::int64_t>, std::size_t size, int threads);

// What a part of a sweep adds to the average precision; before it so many are flagged.
double average_precision(View<std::int64_t>, std::int64_t tp, std::int64_t fp, double positives, int threads);

// The area inside of each group, and the rows of each class there; nan if one has none. group[i], from 0 and
// below `groups`, is that of row i. No weights.
void group_areas(const Rows&, const std::int64_t* group, std::size_t groups, std::int64_t* pos, std::int64_t* neg,
                 double* area);

// For each row, twice its placement among the other class: twice the weight of negatives below a positive, or
// of positives above a negative, and once that of the same score. Weights are float64, all in a row.
void weighted_placements(const Rows&, double* out);
// Of k scores of the same rows without weights: for the positives, then for the negatives, and each score in
// turn, the sum of such placements, by number, and the sums of their products with those of each score up to
// itself. The number of positives. Of 2^26 rows or more, `wide`: products of a block need 128 bits.
std::uint64_t placement_sums(const Rows*, std::size_t k, bool wide, Wide* out);

// For each of n values, how many of the m entries of an ascending table are less; if `level`, not more.
void look_up(const double* table, std::size_t m, const double* x, std::size_t n, bool level, int threads,
             std::int64_t* out);

// A bootstrap sample of rows that are counted: mass[k] rows of kind k, as many drawn with replacement.
// Equal (seed, stream) draw the same sample, on every processor.
void resample(const std::int64_t* mass, std::size_t m, std::uint64_t seed, std::uint64_t stream,
              std::int64_t* out);

// The areas of n samples from the `first` on, each class drawn for itself: the i-th of all as by
// resample(pos, 2 i) and (neg, 2 i + 1). The threshold is not looked at. 2PN must fit 63 bits.
void bootstrap_area(View<std::int64_t>, std::uint64_t seed, int threads, std::size_t first, std::size_t n,
                    double* areas);

// The same of the average precision: that of the i-th sample as by average_precision() of its counts.
void bootstrap_precision(View<std::int64_t>, std::uint64_t seed, int threads, std::size_t first, std::size_t n,
                         double* values);

// A measure: num · x / den · x, where x are the shares of all cases that are TP, FP, FN and TN, if the share
// `prior` of them is positive; less than 0 for as many as there are. The lift is that, by the share of
// positives, and Matthews' correlation has a formula of its own. As a limit it must be at least `bound`, or
// at most. If `allowed` is given, it must be shown instead that the share of num · x in den · x is at most
// `bound`: of i / step rows only allowed[i] may be wrong, of numbers in between as many in proportion.
struct Ratio {
    enum Form { plain, lift, matthews };
    double num[4], den[4];
    double prior;
    double bound = 0;
    bool at_least = false;
    Form form = plain;
    const double* allowed = nullptr;
    std::size_t size = 0;
    double step = 1;
};
struct Aim {
    Ratio goal;
    double sign;  // -1 where less is better
    const Ratio* limit;
    std::size_t limits;
};

// One of the scores: m different ones from above, of which runs reach up to `top`; and which of them each
// item has.
struct Scored {
    const double *threshold, *top;
    std::size_t m;
    const std::int32_t* index;
};

// Items, positives first: rows, or `count` rows of one score where that is not null and more than 1, each of
// a weight and in a unit, if these are not null. And what choices on folds of them, and on bootstrap samples,
// come to. Sample b weighs its positives by in_pos[b] and its negatives by in_neg[b].
struct Choices {
    const Scored* score;
    std::size_t scores, items, positives;
    const double *count, *weight;
    const std::int32_t* unit;
    std::size_t units, folds, repeats, samples;
    const double *in_pos, *in_neg;
    // Of each repeat, and of each sample, for each fold: the shares of all positives and of all negatives that
    // its cut flags among the rows left out; then both among all rows.
    double *of_repeat, *of_sample;
    double* sample_share;              // of positives
    double *here_recall, *here_fpr;    // of each sample's own choice, on the rows themselves
};
void cross_fit(const Aim&, const Choices&, std::uint64_t seed, int threads);

// A table of features, f32 or f64. Dense: n rows of d numbers each, `stride` numbers apart. Or CSR, if
// indptr is not null: `data` and `indices` have `entries` entries, `index` (i32 or i64) is the type of both
// index arrays. Damaged index arrays are refused as std::invalid_argument by all that follows.
struct Table {
    std::int64_t n = 0, d = 0;
    Kind kind = Kind::none;
    const void* data = nullptr;
    std::int64_t stride = 0;
    const void* indices = nullptr;
    const void* indptr = nullptr;
    Kind index = Kind::none;
    std::int64_t entries = 0;
};

// out[i] = w·x + b of row i.
void scores(const Table&, const double* w, double b, double* out);
// sum[k] += the sum over rows of coefficient[i] x[i][k]. Rows with a coefficient of 0 are not read.
void combine(const Table&, const double* coefficient, double* sum);
// sum[a][b], d by d, and squares[a] += products of entries of each row, times its coefficient, so that
// sum + sumᵀ + diag(squares) is the sum of coefficient x xᵀ. Of CSR only.
void products(const Table&, const double* coefficient, double* sum, double* squares);
// Sums over chosen rows of a dense table of weight z, z = x - start, and then of the weights: d + 1 numbers.
// Or `products`: out[a][b], d + 1 by d + 1, are sums of weight z zᵀ, where z has a 1 as its last entry.
// `chosen` is `count` row numbers, or null for the first `count` rows; `weight`, one for each, or null for 1.
void scatter(const Table&, const std::int64_t* chosen, std::int64_t count, const double* weight,
             const double* start, bool products, double* out);
// The largest squared length of a row.
double largest_square(const Table&);

// What a perceptron carries from row to row. A line is d weights and then the bias.
struct Perceptron {
    double* line;
    double* drift;       // sum of (rows before) * (move) for each move, or null: the mean line over all
                         // rows is line - drift / steps
    double* kept;        // `room` lines that had a longer run than any before, oldest overwritten; or null
    std::int64_t room;
    std::int64_t records;  // how many lines were put there
    std::int64_t steps, updates;
    std::int64_t run, longest;  // rows in a row that were right
};
// One pass: at each row that is not on its side of the line, w moves by ±rate x and the bias by
// ±rate square, times the row's weight if there are any.
void perceptron(const Table&, const bool* positive, const double* weight, double rate, double square,
                Perceptron&);

// The sum over rows of weight ln(1 + exp(-y (w·x + b))), y = ±1; its derivatives by w and by b; and, if
// `curved`, the derivatives of the one by b by w and by b: 1 + (d + 1) or 1 + 2 (d + 1) numbers. What is
// not finite in any row leaves something that is not finite.
void logistic(const Table&, const bool* positive, const double* weight, const double* w, double b,
              bool curved, double* out);

}  // namespace cutscore
