from typing import Any

from numpy import bool_, float64, int32, int64
from numpy.typing import NDArray

_Column = NDArray[Any]

class RowFault(ValueError): ...
class SpillFault(OSError): ...

class Stream:
    spilled: int
    def begin(self, sample: NDArray[float64], buckets: int) -> None: ...
    def add(self, worker: int, score: _Column, label: _Column, weight: _Column | None) -> bool: ...
    def finish(
        self, threads: int, compact: bool, most: int, file: int
    ) -> tuple[NDArray[float64], NDArray[int64], NDArray[int64], NDArray[float64]]: ...

class WeightedStream:
    spilled: int
    def begin(self, sample: NDArray[float64], buckets: int) -> None: ...
    def add(self, worker: int, score: _Column, label: _Column, weight: _Column | None) -> bool: ...
    def finish(
        self, threads: int, compact: bool, most: int, file: int
    ) -> tuple[NDArray[float64], NDArray[float64], NDArray[float64], NDArray[float64]]: ...

def stream(single: bool, workers: int, limit: int, most: int, file: int) -> Stream: ...
def weighted_stream(
    single: bool, workers: int, limit: int, most: int, file: int
) -> WeightedStream: ...
def area(
    score: _Column,
    label: _Column,
    negative: float,
    positive: float,
    threads: int,
    finite: bool = False,
) -> tuple[int, int, int]: ...
def weighted_area(
    score: _Column,
    label: _Column,
    negative: float,
    positive: float,
    weight: _Column,
    threads: int,
    finite: bool = False,
) -> tuple[float, float, float]: ...
def sweep(
    score: _Column,
    label: _Column,
    negative: float,
    positive: float,
    threads: int,
    finite: bool = False,
) -> tuple[NDArray[float64], NDArray[int64], NDArray[int64]]: ...
def sweep_in_blocks(
    score: _Column,
    label: _Column,
    negative: float,
    positive: float,
    threads: int,
    size: int,
) -> tuple[
    tuple[NDArray[float64], NDArray[int64], NDArray[int64]],
    tuple[NDArray[float64], NDArray[int64], NDArray[int64]],
]: ...
def weighted_sweep(
    score: _Column,
    label: _Column,
    negative: float,
    positive: float,
    weight: _Column,
    threads: int,
    finite: bool = False,
) -> tuple[NDArray[float64], NDArray[float64], NDArray[float64]]: ...
def compact_sweep(
    score: _Column, label: _Column, negative: float, positive: float, threads: int
) -> tuple[NDArray[float64], NDArray[int64], NDArray[int64], NDArray[float64]]: ...
def weighted_compact_sweep(
    score: _Column, label: _Column, negative: float, positive: float, weight: _Column, threads: int
) -> tuple[NDArray[float64], NDArray[float64], NDArray[float64], NDArray[float64]]: ...
def bin(
    score: _Column,
    label: _Column,
    negative: float,
    positive: float,
    threads: int,
    pos: NDArray[int64],
    neg: NDArray[int64],
) -> None: ...
def weighted_bin(
    score: _Column,
    label: _Column,
    negative: float,
    positive: float,
    weight: _Column,
    threads: int,
    pos: NDArray[float64],
    neg: NDArray[float64],
) -> None: ...
def bin_edges(bits: int) -> NDArray[float64]: ...
def twice_area(pos: NDArray[int64], neg: NDArray[int64]) -> int: ...
def merge(
    threshold_a: NDArray[float64],
    pos_a: NDArray[int64],
    neg_a: NDArray[int64],
    threshold_b: NDArray[float64],
    pos_b: NDArray[int64],
    neg_b: NDArray[int64],
) -> tuple[NDArray[float64], NDArray[int64], NDArray[int64]]: ...
def weighted_merge(
    threshold_a: NDArray[float64],
    pos_a: NDArray[float64],
    neg_a: NDArray[float64],
    threshold_b: NDArray[float64],
    pos_b: NDArray[float64],
    neg_b: NDArray[float64],
) -> tuple[NDArray[float64], NDArray[float64], NDArray[float64]]: ...
def corners(
    pos: NDArray[int64], neg: NDArray[int64], tp: int = 0, fp: int = 0
) -> tuple[NDArray[int64], NDArray[int64], NDArray[int64]]: ...
def weighted_corners(
    pos: NDArray[float64], neg: NDArray[float64], tp: float = 0.0, fp: float = 0.0
) -> tuple[NDArray[int64], NDArray[float64], NDArray[float64]]: ...
def count_below(value: NDArray[int64], bound: NDArray[int64], or_equal: bool) -> NDArray[int64]: ...
def weighted_count_below(
    value: NDArray[float64], bound: NDArray[float64], or_equal: bool
) -> NDArray[int64]: ...
def best_pair(
    a: NDArray[int64],
    b: NDArray[int64],
    mass: NDArray[int64],
    a_allowed: NDArray[bool_],
    b_allowed: NDArray[bool_],
    low: NDArray[int64],
    high: NDArray[int64],
) -> tuple[int, int]: ...
def weighted_best_pair(
    a: NDArray[float64],
    b: NDArray[float64],
    mass: NDArray[float64],
    a_allowed: NDArray[bool_],
    b_allowed: NDArray[bool_],
    low: NDArray[int64],
    high: NDArray[int64],
) -> tuple[int, int]: ...
def hull(
    tp: NDArray[int64], fp: NDArray[int64]
) -> tuple[NDArray[int64], NDArray[int64], NDArray[int64]]: ...
def weighted_hull(
    tp: NDArray[float64], fp: NDArray[float64]
) -> tuple[NDArray[int64], NDArray[float64], NDArray[float64]]: ...
def squared_placements(
    pos: NDArray[int64], neg: NDArray[int64], pos_above: int, neg_left: int
) -> tuple[int, int]: ...
def forget(array: NDArray[Any]) -> None: ...
def bootstrap_precision(
    pos: NDArray[int64], neg: NDArray[int64], first: int, n: int, seed: int, threads: int
) -> NDArray[float64]: ...
def roc_curve(
    score: _Column,
    label: _Column,
    negative: float,
    positive: float,
    threads: int,
    finite: bool,
    corners_only: bool,
) -> tuple[NDArray[float64], NDArray[float64], NDArray[float64]]: ...
def precision_recall_curve(
    score: _Column,
    label: _Column,
    negative: float,
    positive: float,
    threads: int,
    finite: bool,
) -> tuple[NDArray[float64], NDArray[float64], NDArray[float64]]: ...
def det_curve(
    score: _Column,
    label: _Column,
    negative: float,
    positive: float,
    threads: int,
    finite: bool,
) -> tuple[NDArray[float64], NDArray[float64], NDArray[float64]]: ...
def average_precision_of_rows(
    score: _Column,
    label: _Column,
    negative: float,
    positive: float,
    threads: int,
    finite: bool,
) -> float: ...
def block_sums(
    threshold: NDArray[float64],
    pos: NDArray[int64],
    neg: NDArray[int64],
    size: int,
    threads: int,
) -> tuple[NDArray[float64], NDArray[int64], NDArray[int64]]: ...
def average_precision(
    pos: NDArray[int64], neg: NDArray[int64], tp: int, fp: int, positives: float, threads: int
) -> float: ...
def group_areas(
    score: _Column,
    label: _Column,
    negative: float,
    positive: float,
    threads: int,
    group: NDArray[int64],
    groups: int,
) -> tuple[NDArray[int64], NDArray[int64], NDArray[float64]]: ...
def weighted_placements(
    score: _Column,
    label: _Column,
    negative: float,
    positive: float,
    weight: NDArray[float64],
    threads: int,
    out: NDArray[float64],
) -> None: ...
def placement_sums(
    scores: list[_Column],
    label: _Column,
    negative: float,
    positive: float,
    threads: int,
    wide: bool,
) -> tuple[int, list[int]]: ...
def look_up(
    table: NDArray[float64], x: NDArray[float64], level: bool, threads: int
) -> NDArray[int64]: ...
def resample(mass: NDArray[int64], seed: int, stream: int) -> NDArray[int64]: ...
def cross_fit(
    scores: list[tuple[NDArray[float64], NDArray[float64], NDArray[int32]]],
    positives: int,
    count: NDArray[float64] | None,
    weight: NDArray[float64] | None,
    unit: NDArray[int32] | None,
    aim: NDArray[float64],
    allowed: list[NDArray[float64] | None],
    folds: int,
    repeats: int,
    in_pos: NDArray[float64],
    in_neg: NDArray[float64],
    seed: int,
    threads: int,
) -> tuple[NDArray[float64], NDArray[float64], NDArray[float64]]: ...
def bootstrap_area(
    pos: NDArray[int64], neg: NDArray[int64], first: int, n: int, seed: int, threads: int
) -> NDArray[float64]: ...
def scores(
    data: _Column,
    indices: _Column | None,
    indptr: _Column | None,
    w: NDArray[float64],
    b: float,
) -> NDArray[float64]: ...
def combine(
    data: _Column,
    indices: _Column | None,
    indptr: _Column | None,
    coefficient: NDArray[float64],
    features: int,
) -> NDArray[float64]: ...
def products(
    data: _Column,
    indices: _Column | None,
    indptr: _Column | None,
    coefficient: NDArray[float64],
    sum: NDArray[float64],
    squares: NDArray[float64],
) -> None: ...
def scatter(
    data: _Column,
    chosen: NDArray[int64] | None,
    weight: NDArray[float64] | None,
    start: NDArray[float64],
    products: bool,
) -> NDArray[float64]: ...
def largest_square(
    data: _Column, indices: _Column | None, indptr: _Column | None, features: int
) -> float: ...
def perceptron(
    data: _Column,
    indices: _Column | None,
    indptr: _Column | None,
    positive: NDArray[bool_],
    weight: NDArray[float64] | None,
    rate: float,
    square: float,
    line: NDArray[float64],
    drift: NDArray[float64] | None,
    kept: NDArray[float64] | None,
    counts: NDArray[int64],
) -> None: ...
def logistic(
    data: _Column,
    indices: _Column | None,
    indptr: _Column | None,
    positive: NDArray[bool_],
    weight: NDArray[float64] | None,
    w: NDArray[float64],
    b: float,
    curved: bool,
) -> NDArray[float64]: ...
