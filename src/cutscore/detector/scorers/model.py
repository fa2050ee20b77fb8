"""A model of another library, in a format that holds no code: embedded, or in a file."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.base import Where
from cutscore.core.findings.models import FieldUnfit
from cutscore.core.findings.rows import LengthsDiffer
from cutscore.core.findings.scorers import (
    CategoriesDiffer,
    ColumnsMoved,
    ScorerFileChanged,
    ScoresUnusable,
)
from cutscore.core.findings.tables import FileUnreadable
from cutscore.core.frozen import derived
from cutscore.detector.columns import CategoryColumn, Column, NumberColumn
from cutscore.detector.novelty import Novelty
from cutscore.detector.scorers.base import Contributions, Scored, Scorer
from cutscore.detector.scorers.reading import read_columns
from cutscore.detector.scorers.registry import MODELS, find
from cutscore.detector.scorers.trees import Model
from cutscore.sweeps.sweep import Floats

if TYPE_CHECKING:
    from cutscore.tables.frames import TableLike

Format = Literal["lightgbm", "xgboost", "catboost", "onnx", "sklearn"]


@dataclass(frozen=True)
class EmbeddedModel:
    """A model inside of the detector's own file."""

    encoding: Literal["text", "base64"]
    content: str

    @classmethod
    def of(cls, data: bytes) -> EmbeddedModel:
        """As text, if it is some."""
        try:
            return cls("text", data.decode("utf-8"))
        except UnicodeDecodeError:
            return cls("base64", base64.b64encode(data).decode("ascii"))

    def read(self) -> bytes:
        """The model, as its library wrote it."""
        if self.encoding == "text":
            return self.content.encode("utf-8")
        try:
            return base64.b64decode(self.content, validate=True)
        except binascii.Error:
            raise DataError(FieldUnfit("content", "base64")) from None

    @property
    def words(self) -> str:
        """What it is, for people."""
        return f"embedded, {len(self.content):,} characters"


@dataclass(frozen=True)
class ModelFile:
    """A model in a file of its own, which must not change."""

    path: str
    """From the working directory, or absolute; in a detector's file from the folder of that."""
    sha256: str

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> ModelFile:
        """The file as it is now."""
        where = os.fspath(path)
        return cls(where, sha256(_read(where)))

    def moved(self, start: str, to: str) -> ModelFile:
        """The same file, where paths were from one folder and are to be from another."""
        if os.path.isabs(self.path):
            return self
        return replace(self, path=os.path.relpath(os.path.join(start, self.path), to or "."))

    def read(self) -> bytes:
        """The model, as its library wrote it; a DataError if it is another one by now."""
        data = _read(self.path)
        found = sha256(data)
        if found != self.sha256:
            raise DataError(ScorerFileChanged(self.path, self.sha256, found))
        return data

    @property
    def words(self) -> str:
        """What it is, for people."""
        return f"in {self.path}"


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(FileUnreadable(reason, where=Where(file=path))) from error


def sha256(data: bytes) -> str:
    """The digest of a file."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


@dataclass(frozen=True, repr=False)
class ModelScorer(Scorer):
    """Scores rows with a model from another library: LightGBM, XGBoost, CatBoost, ONNX, or
    scikit-learn through skops.

    For boosted trees the score is the margin, the log-odds at the prevalence of the training rows.
    The model is loaded when rows are scored for the first time.

    Parameters
    ----------
    format
        Which library reads it.
    inputs
        The columns that the model uses, in its order. A category is encoded as the number of its
        level, starting at 0. NaN represents a missing value or an unknown level; if the training
        rows had rare levels, unknown levels are treated like them.
    model
        The model itself, or the file that contains it.
    profiled
        Whether the columns store a profile of the training rows. Only then is there a warning about
        unseen values.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import lightgbm
    >>> import numpy as np
    >>> from cutscore.detector import ModelScorer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2))
    >>> trained = lightgbm.train({"objective": "binary", "verbosity": -1},
    ...                          lightgbm.Dataset(X, X[:, 0] > 0), 5)
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.txt"
    >>> _ = trained.save_model(file)
    >>> scorer = ModelScorer.from_file(file, ["age", "income"])
    >>> table = {"income": X[:3, 1], "age": X[:3, 0]}  # in any order
    >>> np.array_equal(scorer.scores(table), trained.predict(X[:3], raw_score=True))
    True
    """

    kind = "model"

    format: Format
    inputs: tuple[Column, ...]
    model: EmbeddedModel | ModelFile
    profiled: bool = True

    def __post_init__(self) -> None:
        names = self.columns
        if len(set(names)) < len(names):
            raise DataError(BadArgument("inputs", "be one per column; a column has two"))

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        columns: Sequence[str | Column] | Mapping[str, str | Sequence[str]],
        *,
        format: Format | None = None,
        embed: bool = False,
    ) -> ModelScorer:
        """Wrap a model that there is already.

        Parameters
        ----------
        path
            The model's file: .txt of LightGBM, .json or .ubj of XGBoost, .cbm of CatBoost, .onnx,
            or .skops.
        columns
            What the model takes, in its order. Names of columns of numbers; columns as
            :class:`cutscore.detector.Encoding` has them; or a mapping from names to "number",
            "date", "boolean", or the levels of a category in the order of their numbers.
        format
            Which it is, if the name does not end so.
        embed
            Whether to put the model into the detector's file. Otherwise that refers to this file,
            and a file that has changed is refused.

        Examples
        --------
        >>> from cutscore.detector import ModelScorer
        >>> columns = {"age": "number", "colour": ["blue", "red"]}
        >>> ModelScorer.from_file("model.txt", columns)  # doctest: +SKIP
        ModelScorer of LightGBM in model.txt: age, colour
        """
        name = format or _format_of(path)
        if name not in MODELS:
            raise DataError(BadArgument("format", f"be one of {', '.join(MODELS)}", name))
        source = ModelFile.of(path)
        model = EmbeddedModel.of(source.read()) if embed else source
        if isinstance(columns, Mapping):
            inputs = [_column(name, kind) for name, kind in columns.items()]
        else:
            inputs = [_column(c, "number") if isinstance(c, str) else c for c in columns]
        profiled = not any(isinstance(c, str) for c in columns)
        scorer = cls(name, tuple(inputs), model, profiled)  # type: ignore[arg-type]
        known = scorer.loaded.names
        for k, column in enumerate(scorer.columns):
            if column in known and known[k] != column:
                place = known.index(column) + 1
                raise DataError(ColumnsMoved(column, k + 1, place, tuple(known)))
        return scorer

    def moved(self, start: str, to: str) -> ModelScorer:
        if isinstance(self.model, EmbeddedModel):
            return self
        return replace(self, model=self.model.moved(start, to))

    @property
    def columns(self) -> list[str]:
        return [column.name for column in self.inputs]

    @derived
    def loaded(self) -> Model:
        """The model in memory, which takes as many columns as there are."""
        flags = np.array([isinstance(c, CategoryColumn) for c in self.inputs], np.bool_)
        model = _model_class(self.format)(self.model.read(), flags)
        width = model.features
        if width is not None and width != len(self.inputs):
            of = "feature of the model"
            raise DataError(LengthsDiffer("column", of, len(self.inputs), width))
        of_model = model.categories
        for k, column in enumerate(self.inputs):
            if of_model is not None and (k in of_model) != flags[k]:
                raise DataError(CategoriesDiffer(column.name, k in of_model))
        return model

    def scored(
        self,
        data: TableLike,
        keep: Sequence[str] = (),
        *,
        explain: bool = False,
        seen: Novelty | None = None,
    ) -> Iterator[Scored]:
        model = self.loaded
        seen = seen if self.profiled else None
        for batch, values in read_columns(data, self.inputs, keep, seen):
            X = matrix_of(self.inputs, values)
            score = model.scores(X)
            if score.shape != (len(X),):
                raise DataError(ScoresUnusable(model.name, f"the shape is {score.shape}"))
            score = score.astype(np.float64)
            if not np.isfinite(score).all():
                raise DataError(ScoresUnusable(model.name, "some scores are not finite"))
            why = self._why(model, X, values) if explain else None
            yield Scored(batch, score, why)

    def _why(self, model: Model, X: Floats, values: Sequence[NDArray[Any]]) -> Contributions | None:
        found = model.contributions(X)
        if found is None:
            return None
        names: list[str] = []
        labels = []
        for column, has in zip(self.inputs, values, strict=True):
            if isinstance(column, CategoryColumn):
                labels.append(len(names) + has)
                names += column.states
            else:
                labels.append(len(names) + np.isnan(has))
                names += [column.name, f"{column.name} is missing"]
        return Contributions(np.ascontiguousarray(found.T), np.stack(labels), names)

    def facts(self) -> list[tuple[str, str]]:
        names = ", ".join(self.columns[:5]) + (", …" if len(self.inputs) > 5 else "")
        return [
            ("columns", f"{len(self.inputs):,}: {names}"),
            ("model", f"{_model_class(self.format).name}, {self.model.words}"),
        ]

    def __repr__(self) -> str:
        names = ", ".join(self.columns)
        return f"ModelScorer of {_model_class(self.format).name} {self.model.words}: {names}"


def embedded(scorer: Scorer) -> Scorer:
    """The same scorer, with its model inside of it."""
    if not isinstance(scorer, ModelScorer) or isinstance(scorer.model, EmbeddedModel):
        return scorer
    return replace(scorer, model=EmbeddedModel.of(scorer.model.read()))


def matrix_of(columns: Sequence[Column], values: Sequence[NDArray[Any]]) -> Floats:
    """What rows have in each column, as models take it: one row each.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.detector import CategoryColumn, NumberColumn
    >>> from cutscore.detector.scorers.model import matrix_of
    >>> colour = CategoryColumn("colour", ("red", "blue"), (0.6, 0.4))
    >>> columns = NumberColumn("age", 40.0, 9.0), colour
    >>> matrix_of(columns, [np.array([30.0, np.nan, 50.0]), np.array([1, 2, 3])]).tolist()
    [[30.0, 1.0], [nan, nan], [50.0, nan]]
    """
    out = np.empty((len(values[0]), len(columns)))
    for k, (column, has) in enumerate(zip(columns, values, strict=True)):
        out[:, k] = has
        if isinstance(column, CategoryColumn):
            known = len(column.levels) + (column.other > 0)
            out[has >= known, k] = np.nan
    return out


def _model_class(name: str) -> type[Model]:
    found: type[Model] = find(MODELS[name].model)
    return found


def _format_of(path: str | os.PathLike[str]) -> str:
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    for name, one in MODELS.items():
        if suffix in one.suffixes:
            return name
    ends = ", ".join(end for one in MODELS.values() for end in one.suffixes)
    hint = "Pass the format."
    raise DataError(BadArgument("path", f"end in one of {ends}", os.fspath(path), hint))


def _column(name: str, kind: str | Sequence[str]) -> Column:
    """A column of a model of whose training rows nothing is known."""
    if kind == "boolean":
        return CategoryColumn(name, ("false", "true"), (0.0, 0.0), kind="boolean")
    if kind in ("number", "date"):
        return NumberColumn(name, 0.0, 1.0, kind=kind)  # type: ignore[arg-type]
    if isinstance(kind, str):
        rule = "map names to 'number', 'date', 'boolean' or a list of levels"
        raise DataError(BadArgument("columns", rule, kind))
    levels = tuple(map(str, kind))
    return CategoryColumn(name, levels, (0.0,) * len(levels))
