"""A sweep of fixed size: one pass, constant memory, and an interval instead of a number."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutpoint import _native
from cutpoint._check import check_rows, threads
from cutpoint.errors import DataError, UndefinedError
from cutpoint.interval import Interval


