"""A detector as one Python file without dependencies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from cutscore.detector.artefact import Detector
from cutscore.detector.columns import CategoryColumn, Column
from cutscore.detector.export.trees import Ensemble, Leaf, Node, walk
from cutscore.detector.scorers.column import ColumnScorer
from cutscore.detector.scorers.linear import GROUP, LinearScorer, line_of
from cutscore.detector.scorers.model import ModelScorer
from cutscore.detector.terms import CategoryTerm
from cutscore.tables.literals import EXACT, MISSING, NUMBER

_INDENT = "    "


def to_python(detector: Detector) -> str:
    """The source of a Python module that scores rows and decides about them; Python's standard
    library is all it needs.

    It has ``score`` of a row, a mapping from columns to values, and ``decide``, ``llr`` and
    ``probability`` of a score: ``decide(score(row))``. Where the score is a column, as in the
    detector of a policy, there is no ``score``.

    Parameters
    ----------
    detector
        The detector: a line, boosted trees or a policy.

    Notes
    -----
    Scores are those of :meth:`cutscore.detector.Detector.apply` to the last bit, and so are
    decisions. None, NaN and empty text are missing values; numbers, dates and booleans may be text.
    What ``apply`` refuses, such as an infinite number, is a ValueError.

    Examples
    --------
    >>> import numpy as np
    >>> import cutscore as cs
    >>> from cutscore.detector import Detector, Encoding, LinearScorer
    >>> from cutscore.detector.export import to_python
    >>> table = {"age": [20, 40, 60, 80]}
    >>> scorer = LinearScorer.of(Encoding.fit(table), cs.LinearDetector(np.array([1.0]), 0.5))
    >>> s = cs.sweep([0, 0, 1, 1], scorer.scores(table))
    >>> policy = cs.Policy.choose(s, "f1", calibrator=cs.Affine(1.0, 0.0))
    >>> module = {}
    >>> exec(to_python(Detector(scorer, policy)), module)
    >>> score, decide = module["score"], module["decide"]
    >>> decide(score({"age": 70})), decide(score({"age": "30"})), score({"age": None})
    (True, False, 0.5)
    """
    decision = str(detector.policy.export("python"))
    scorer = detector.scorer
    if isinstance(scorer, ColumnScorer):
        return decision
    if isinstance(scorer, ModelScorer):
        return decision + _SCORE + "".join(_trees(scorer)) + _READERS
    return decision + _SCORE + "".join(_line(line_of(scorer, "a Python module"))) + _READERS


def _trees(scorer: ModelScorer) -> Iterator[str]:
    ensemble = Ensemble.of(scorer, "a Python module")
    yield _columns([_reader(column) for column in scorer.inputs])
    yield f"\n\nBASE = {ensemble.base!r}\n"
    yield _TREES
    for tree in ensemble.trees:
        yield f"{_INDENT}[\n"
        for node in _nodes(tree):
            yield f"{_INDENT * 2}{node},\n"
        yield f"{_INDENT}],\n"
    yield "]\n"
    yield _OF_TREES + (_SINGLE if ensemble.single else _DOUBLE)


def _nodes(tree: Node) -> Iterator[str]:
    nodes = list(walk(tree))
    place = {id(node): k for k, node in enumerate(nodes)}
    for node in nodes:
        if isinstance(node, Leaf):
            yield repr(node.value)
            continue
        test = node.test
        if isinstance(test, tuple):
            test_text = "{" + ", ".join(map(str, test)) + "}" if test else "()"
        else:
            test_text = repr(float(test))
        sides = f"{place[id(node.yes)]}, {place[id(node.no)]}"
        yield f"({node.column}, {test_text}, {bool(node.missing)}, {sides})"


def _reader(column: Column) -> str:
    """How the value of a column is read, as the model takes it."""
    if not isinstance(column, CategoryColumn):
        return f"({column.name!r}, _{column.kind})"
    levels = len(column.levels)
    other = levels if column.other else np.nan
    return _of_level(column, [*range(levels), other, np.nan])


def _of_level(column: CategoryColumn, values: Sequence[float]) -> str:
    """A category, with a value for each level, for another one and for a missing one."""
    *known, other, missing = values
    kind = column.kind if column.kind == "boolean" else f"{column.level_type}_level"
    table = dict(zip(column.levels, known, strict=True))
    return f"({column.name!r}, _{kind}, {table!r}, {other!r}, {missing!r})"


def _line(line: LinearScorer) -> Iterator[str]:
    readers, weights = [], []
    for term in line.terms:
        if isinstance(term, CategoryTerm):
            readers.append(_of_level(term.column, term.table.tolist()))
            weights.append("None")
        else:
            readers.append(f"({term.column.name!r}, _{term.column.kind})")
            weights.append(f"({term.weight!r}, {term.column.mean!r}, {term.missing!r})")
    yield _columns(readers)
    yield f"\n\nBASE = {line.base!r}\n"
    yield _TERMS + "".join(f"{_INDENT}{one},\n" for one in weights) + "]\n"
    yield _OF_LINE.format(group=GROUP)


def _columns(readers: Sequence[str]) -> str:
    rows = "".join(f"{_INDENT * 2}{one},\n" for one in readers)
    return f"\n\ndef _columns():\n{_INDENT}return [\n{rows}{_INDENT}]\n"


_SCORE = '''

# From here on: the score of a row.

import re
from datetime import date, datetime, timezone
from math import nan
from numbers import Integral
from struct import pack, unpack


def score(row):
    """The score of a row, a mapping from columns to values: decide(score(row)) decides about it.

    None, NaN and empty text are missing. A value that does not belong into its column is a
    ValueError.
    """
    return _sum([read(row[name], name, *more) for name, read, *more in COLUMNS])
'''

_TREES = """# The nodes of each tree. A tuple asks about a column: whether it is at most a number,
# or one of some levels; the answer if it is missing; the next node for yes, and for no.
TREES = [
"""

_TERMS = """# Of a number its weight, its mean, and what a missing one adds. Levels are weights.
TERMS = [
"""

_OF_TREES = """

def _leaf(tree, x):
    node = tree[0]
    while isinstance(node, tuple):
        column, test, missing, yes, no = node
        value = x[column]
        if value != value:
            answer = missing
        else:
            answer = value <= test if isinstance(test, float) else value in test
        node = tree[yes if answer else no]
    return node
"""

_DOUBLE = """

def _sum(x):
    total = BASE
    for tree in TREES:
        total += _leaf(tree, x)
    return total
"""

_SINGLE = """

def _sum(x):
    total = BASE
    for tree in TREES:  # in single precision, as the library does it
        (total,) = unpack("f", pack("f", total + _leaf(tree, x)))
    return total
"""

_OF_LINE = """

def _added(value, term):
    if term is None:
        return value
    weight, mean, missing = term
    return missing if value != value else weight * (value - mean)


def _sum(x):
    total = BASE
    added = [_added(value, term) for value, term in zip(x, TERMS)]
    for first in range(0, len(added), {group}):
        group, *rest = added[first : first + {group}]
        for value in rest:
            group += value
        total += group
    return total
"""

_READERS = f"""

MISSING = {MISSING!r}
NUMBER = re.compile({NUMBER!r})
DATE = re.compile(
    r"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}"
    r"([ T][0-9]{{2}}:[0-9]{{2}}(:[0-9]{{2}}(\\.[0-9]+)?)?(Z|[+-][0-9]{{2}}(:?[0-9]{{2}})?)?)?"
)


def _is_missing(value, words=MISSING):
    return value is None or value != value or (isinstance(value, str) and value in words)


def _refuse(value, name, wanted):
    raise ValueError("%r must hold %s; it is %r" % (name, wanted, value))


def _number(value, name):
    if _is_missing(value):
        return nan
    if isinstance(value, str) and not NUMBER.match(value):
        _refuse(value, name, "numbers")
    try:
        x = float(value)
    except (TypeError, ValueError, OverflowError):
        _refuse(value, name, "numbers")
    if isinf(x):
        _refuse(value, name, "finite numbers")
    return x


def _moment(value, name):
    if isinstance(value, str) and DATE.fullmatch(value):
        try:
            value = datetime.fromisoformat(value.replace("Z", "+00:00"))
        except ValueError:
            _refuse(value, name, "dates")
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            value = value.astimezone(timezone.utc)
        return value.replace(tzinfo=None)
    if not isinstance(value, date):
        _refuse(value, name, "dates")
    return datetime(value.year, value.month, value.day)


def _date(value, name):
    if _is_missing(value):
        return nan
    since = _moment(value, name) - datetime(1970, 1, 1)
    return since.days + (since.seconds * 10**6 + since.microseconds) / 86_400_000_000


def _boolean(value, name, levels, other, missing):
    if _is_missing(value):
        return missing
    text = value.strip().lower() if isinstance(value, str) else value
    if text in ("true", "1", "1.0") or text == 1:
        return levels.get("true", other)
    if text in ("false", "0", "0.0") or text == 0:
        return levels.get("false", other)
    _refuse(value, name, "true and false, or 1 and 0")


def _text_level(value, name, levels, other, missing):
    if _is_missing(value, [""]):
        return missing
    return levels.get(value if isinstance(value, str) else _whole(value, name), other)


def _whole_level(value, name, levels, other, missing):
    if _is_missing(value, [""]):
        return missing
    text = value
    if isinstance(value, str):
        if re.fullmatch("[+-]?[0-9]{{1,38}}", value.strip()):
            text = str(int(value))
        elif NUMBER.match(value) and _is_whole(float(value)):
            text = str(int(float(value)))
    else:
        text = _whole(value, name)
    return levels.get(text, other)


def _date_level(value, name, levels, other, missing):
    if _is_missing(value):
        return missing
    day, _, time = _moment(value, name).isoformat(" ").partition(" ")
    time = time.rstrip("0") if "." in time else time
    return levels.get(day if time == "00:00:00" else day + " " + time, other)


def _whole(value, name):
    if not isinstance(value, Integral) and not (isinstance(value, float) and _is_whole(value)):
        _refuse(value, name, "text or whole numbers")
    if isinstance(value, bool):
        _refuse(value, name, "text or whole numbers")
    return str(int(value))


def _is_whole(x):
    return abs(x) < {EXACT} and x == int(x)


COLUMNS = _columns()
"""
