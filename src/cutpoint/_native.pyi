from typing import Any

from numpy import float64, int64
from numpy.typing import NDArray

_Column = NDArray[Any]

class RowFault(ValueError): ...

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
def weighted_sweep(
    score: _Column,
    label: _Column,
    negative: float,
    positive: float,
    weight: _Column,
    threads: int,
    finite: bool = False,
) -> tuple[NDArray[float64], NDArray[float64], NDArray[float64]]: ...
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
