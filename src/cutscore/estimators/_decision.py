"""DecisionClassifier: any binary classifier of scikit-learn, with the best threshold for an aim."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from math import inf, isinf, nan
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import (
    GroupShuffleSplit,
    StratifiedGroupKFold,
    StratifiedShuffleSplit,
    check_cv,
)
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    check_is_fitted,
)

from cutscore.calibration import calibrate
from cutscore.calibration.inverse import lowest_score
from cutscore.comparison.row_costs import choose_by_row
from cutscore.comparison.rows import encode_values, units
from cutscore.core.errors import CutscoreError, DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.types import GoalFunction, Label, MatrixLike
from cutscore.decision.choice import Stability, choose
from cutscore.estimators._base import LogOdds, check_held_out_once, names_positive, two_classes
from cutscore.estimators._cross_fit import (
    RESPONSES,
    ClassifierWrapper,
    CrossFitter,
    Split,
    calibrate_scores,
    check_classes,
    responses_for,
    weight_params,
)
from cutscore.estimators._types import Classifier, Folds
from cutscore.measures.aim import LABELS, Aim, as_aim
from cutscore.measures.costs import Costs
from cutscore.measures.prior import log_odds
from cutscore.policy import Labels, Policy, Provenance
from cutscore.sweeps.sweep import Floats, Sweep, sweep


class DecisionClassifier(LogOdds, ClassifierWrapper):
    """Any binary classifier of scikit-learn, with the best threshold for costs or a measure.

    The classifier is cross-fitted, so that every row has a score from a fit that did not see it. On
    these scores the threshold is chosen by an exact search over all cuts, under limits if there
    are some. The final classifier is fitted to all rows. What was chosen, and what it was
    chosen on, is a :class:`cutscore.Policy` that can be saved, checked and revised.

    Parameters
    ----------
    estimator : classifier, optional
        A classifier with ``decision_function`` or ``predict_proba``. Default :class:`Logistic`.
    aim : Aim, Costs, str or callable, optional
        What the threshold is chosen for, as for :func:`cutscore.choose`; an :class:`cutscore.Aim`
        has limits, a prior and a confidence as well. Without one the more probable class is
        predicted, as by classifiers of scikit-learn. Costs may differ by row, as in
        ``Costs(fp=4, fn="0.8*amount")``: the columns that they name are those of X, or ``amount``
        of ``fit`` and ``predict``.
    cv : int, float, splitter, iterable or "prefit", default 5
        A number of folds, a splitter, or pairs of indices that hold out each row once; a float is
        the share of rows in a single held-out set. With ``groups``, numbers keep each cluster
        together; a splitter has to do so by itself, as ``GroupKFold`` does. ``"prefit"``: the
        estimator is fitted already, and all rows are used to choose; they should be rows it has not
        seen. A ``FrozenEstimator`` is always taken so.
    calibration : str, default "auto"
        How scores become probabilities, as for :func:`cutscore.calibrate`; ``"platt"`` and
        ``"beta"`` use smoothed targets. Where the probability would fall as the score rises, since
        the scores are worse than chance, it is isotonic.
    pos_label : label, optional
        The positive class. Labels 0/1, False/True and -1/1 need none; aims that treat the two
        classes alike need none either.
    threshold : float, optional
        Flag from this score on, instead of choosing. The policy still has the evidence.
    response_method : {"auto", "decision_function", "predict_proba"}, default "auto"
        Which score is taken. ``"auto"``: ``decision_function`` if there is one, except for
        ``calibration="beta"``.
    refit : bool, default True
        Whether the final classifier is fitted to all rows. False is for a single held-out set: the
        classifier is the one that was fitted to the other rows.
    n_jobs : int, optional
        Number of folds that are fitted in parallel.
    random_state : int, optional
        Random seed of the split, if ``cv`` is a float.

    Attributes
    ----------
    policy_ : Policy
        The decision with its evidence.
    threshold_ : float
        A row is positive iff its score is at least this.
    estimator_ : classifier
        The fitted classifier.
    thresholds_by_fold_ : ndarray of shape (n_folds,)
        The threshold that each fold alone would choose; nan where it has one class.
    classes_ : ndarray of shape (2,)
        The labels, as scikit-learn sorts them.

    Examples
    --------
    >>> import cutscore as cs
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cutscore.estimators import DecisionClassifier
    >>> X, y = make_classification(2000, weights=[0.9], flip_y=0.1, random_state=0)
    >>> model = DecisionClassifier(LogisticRegression(), aim=cs.Costs(fp=1, fn=10)).fit(X, y)
    >>> round(model.threshold_, 2), int(model.predict(X).sum())
    (-1.27, 224)
    >>> revised = model.revised(costs=cs.Costs(fp=1, fn=15))  # nothing is fitted again
    >>> int(revised.predict(X).sum())
    638
    """

    def __init__(  # noqa: PLR0913 - the options of users
        self,
        estimator: Classifier | None = None,
        *,
        aim: Aim | Costs | GoalFunction | str | None = None,
        cv: Folds | float = 5,
        calibration: str = "auto",
        pos_label: Label | None = None,
        threshold: float | None = None,
        response_method: str = "auto",
        refit: bool = True,
        n_jobs: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.aim = aim
        self.cv = cv
        self.calibration = calibration
        self.pos_label = pos_label
        self.threshold = threshold
        self.response_method = response_method
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        amount: ArrayLike | None = None,
        **params: object,
    ) -> Self:
        """Cross-fit the classifier, choose the threshold, and fit the classifier to all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights count as numbers of rows. A classifier that does not take them is fitted
            without, with a warning; the choice always uses them.
        groups : array-like of shape (n_samples,), optional
            Cluster ids (patient, user), where rows of one cluster are correlated. Folds keep
            clusters together, intervals are over clusters, and limits with a confidence hold for
            them.
        amount : array-like of shape (n_samples,), optional
            The column ``amount`` that costs of each row name, if X does not have it.
        **params
            Further arguments of the classifier's ``fit``, or what scikit-learn's metadata routing
            hands to it and to the splitter.
        """
        X, y, groups, amount = indexable(X, y, groups, amount)
        if not _num_samples(X):
            raise ValueError("DecisionClassifier needs rows; X has 0 sample(s).")
        if groups is not None:  # a missing one, by its own name and row
            encode_values(groups, "groups", np.ones(_num_samples(X), np.bool_))
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, X)
        labels, self.classes_, last = two_classes("DecisionClassifier", y, weight)
        aim = as_aim(Costs(fp=1, fn=1) if self.aim is None else self.aim)
        aim.needs_one_cut(LABELS, _HINT)
        costs = None if aim.costs is None or not aim.costs.by_row else aim.costs
        columns = None if costs is None else _columns(costs, X, amount)
        if costs is None and amount is not None:
            params["amount"] = amount  # the classifier's own
        positive = self._positive(aim)
        is_positive = last if positive == self.classes_[-1] else ~last
        estimator, prefit = self._inner(), self._prefit
        routed = self._route(estimator, weight, groups, params)
        if "amount" in params and "amount" not in routed.estimator.fit:
            raise TypeError("unexpected argument amount: neither costs nor the classifier use it")
        fitter = CrossFitter(
            estimator, self.classes_, positive, self._responses(), routed.estimator.fit
        )
        if prefit:
            check_is_fitted(estimator)
            check_classes(estimator, self.classes_)
            self.estimator_ = estimator
            held_out = [np.arange(_num_samples(X))]
            scores = [fitter.scores(estimator, X)]
        else:
            splits = self._splits(X, labels, groups, routed.splitter.split)
            held_out = [test for _, test in splits]
            scores = fitter.held_out_scores(X, labels, splits, self.n_jobs)
            self.estimator_ = fitter.fit(X, labels, None if self.refit else splits[0][0])
        self._adopt_features(self.estimator_)
        rows = np.concatenate(held_out)
        every = np.concatenate(scores)
        if columns is not None:
            choice = _RowChoice(aim, is_positive, weight, columns, groups)
            self.policy_ = self._row_policy(choice, every, rows, positive, len(held_out))
            self.thresholds_by_fold_ = np.array(
                [choice.threshold(*fold) for fold in zip(scores, held_out, strict=True)]
            )
            return self
        if groups is not None:
            clusters = np.asarray(_safe_indexing(groups, rows))
            w = None if weight is None else weight[rows]
            aim = replace(aim, units=units(is_positive[rows], every, clusters, weight=w))
        s = _sweep(is_positive, every, weight, rows)
        self.policy_ = self._policy(s, aim, positive, len(held_out))
        on_rows = aim.on_rows
        self.thresholds_by_fold_ = np.array(
            [
                _threshold(_sweep(is_positive, some, weight, at), on_rows)
                for some, at in zip(scores, held_out, strict=True)
            ]
        )
        return self

    @property
    def threshold_(self) -> float:
        """The score from which on rows are positive."""
        check_is_fitted(self)
        return self.policy_.threshold

    @property
    def stability_(self) -> Stability:
        """How far the threshold moves on bootstrap samples of the out-of-fold scores."""
        check_is_fitted(self)
        return self.policy_.point.stability()

    def revised(self, **changes: object) -> Self:
        """The same fitted classifier with a revised policy: nothing is fitted again.

        Parameters
        ----------
        **changes
            As for :meth:`cutscore.Policy.revised`: costs, maximize, subject_to, prior, confidence,
            threshold.
        """
        check_is_fitted(self)
        out = copy.copy(self)
        out.policy_ = self.policy_.revised(**changes)  # type: ignore[arg-type]
        out.policy_.aim.needs_one_cut(LABELS, _HINT)
        out.aim = out.policy_.aim
        out.threshold = out.policy_.threshold if out.policy_.given else None
        return out

    def scores(self, X: MatrixLike) -> Floats:
        """The scores that the threshold applies to, higher for the positive class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        """
        check_is_fitted(self)
        positive = self.policy_.labels.positive
        fitter = CrossFitter(self.estimator_, self.classes_, positive, self._responses(), {})
        return fitter.scores(self.estimator_, X)

    def decision_function(self, X: MatrixLike, amount: ArrayLike | None = None) -> Floats:
        """How far each score is above the threshold; rows are in the order of their scores. Where
        costs differ by row it is the gap between the odds of a row and its costs, as logarithms.

        As everywhere in scikit-learn, the sign is the decision for the second of ``classes_``. A
        threshold of ±inf decides alike about all rows, so scores are mapped monotonically to one
        side of 0.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        amount : array-like of shape (n_samples,), optional
            As for :meth:`fit`.
        """
        scores, columns = self.scores(X), self._row_columns(X, amount)
        scores = scores if columns is None else self.policy_.row_gaps(scores, columns)
        above = _above(scores, self.threshold_)
        return above if self._positive_is_last else -above

    def log_odds(self, X: MatrixLike) -> Floats:
        """Calibrated log posterior odds of the positive class: LLR + ln clr at the prior.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        """
        check_is_fitted(self)
        return self.policy_.llr(self.scores(X)) + log_odds(self.policy_.prior)

    def _log_odds(self, X: MatrixLike) -> Floats:
        odds = self.log_odds(X)
        return odds if self._positive_is_last else -odds

    def predict(self, X: MatrixLike, amount: ArrayLike | None = None) -> NDArray[Any]:
        """The positive label iff the score is at least the threshold.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        amount : array-like of shape (n_samples,), optional
            As for :meth:`fit`.
        """
        check_is_fitted(self)
        flagged = self.policy_.decide(self.scores(X), columns=self._row_columns(X, amount))
        last = flagged if self._positive_is_last else ~flagged
        return np.asarray(self.classes_[last.astype(np.intp)])

    def _row_columns(self, X: MatrixLike, amount: ArrayLike | None) -> dict[str, ArrayLike] | None:
        """The columns that costs of each row are computed from; None if costs are the same."""
        check_is_fitted(self)
        costs = self.policy_.aim.costs
        return _columns(costs, X, amount) if costs is not None and costs.by_row else None

    @property
    def _positive_is_last(self) -> bool:
        check_is_fitted(self)
        return bool(self.policy_.labels.positive == self.classes_[-1])

    @property
    def _prefit(self) -> bool:
        by_name = isinstance(self.cv, str) and self.cv == "prefit"
        return by_name or isinstance(self.estimator, FrozenEstimator)

    def _responses(self) -> Sequence[str]:
        if self.response_method == "auto":
            return responses_for(self.calibration)
        if self.response_method not in RESPONSES:
            rule = "be auto, decision_function or predict_proba"
            raise DataError(BadArgument("response_method", rule, self.response_method))
        return (self.response_method,)

    def _positive(self, aim: Aim) -> Any:
        """The positive class; an error if the aim needs one and nobody has named it."""
        names = self.classes_.tolist()
        if self.pos_label is not None:
            if self.pos_label not in names:
                rule = f"be one of the classes, {names[0]!r} and {names[1]!r}"
                raise DataError(BadArgument("pos_label", rule, self.pos_label))
            return self.pos_label
        if not names_positive(self.classes_) and not aim.symmetric:
            rule = f"name one of the classes, {names[0]!r} or {names[1]!r}, for {aim.words}"
            raise DataError(BadArgument("pos_label", rule, None))
        return names[-1]

    def _splits(
        self,
        X: MatrixLike,
        y: NDArray[Any],
        groups: ArrayLike | None,
        split_params: dict[str, Any],
    ) -> Sequence[Split]:
        own: Any = None
        if isinstance(self.cv, Real) and 0 < self.cv < 1:
            held_out = StratifiedShuffleSplit if groups is None else GroupShuffleSplit
            own = held_out(1, test_size=self.cv, random_state=self.random_state)
        elif isinstance(self.cv, Integral) and groups is not None:
            own = StratifiedGroupKFold(int(self.cv))  # rows of one cluster stay together
        if own is None:
            splits = list(check_cv(self.cv, y, classifier=True).split(X, y, **split_params))
        else:
            splits = list(own.split(X, y, groups))
        if len(splits) > 1:
            check_held_out_once(splits, len(y))
            if not self.refit:
                raise DataError(BadArgument("refit", "be True where cv has several folds", False))
        return splits

    def _route(
        self,
        estimator: Classifier,
        weight: Floats | None,
        groups: ArrayLike | None,
        params: dict[str, Any],
    ) -> Any:
        """Arguments of the classifier's ``fit`` and of the splitter's ``split``."""
        from sklearn import get_config
        from sklearn.utils import Bunch

        given = {k: v for k, v in (("sample_weight", weight), ("groups", groups)) if v is not None}
        if get_config()["enable_metadata_routing"]:
            return process_routing(self, "fit", **params, **given)
        used = None if self._prefit else weight
        to_fit = params | weight_params(estimator, used, stacklevel=3)
        to_split = {} if groups is None else {"groups": groups}
        return Bunch(estimator=Bunch(fit=to_fit), splitter=Bunch(split=to_split))

    def _row_policy(
        self,
        choice: _RowChoice,
        scores: Floats,
        rows: NDArray[np.intp],
        positive: bool | float | str,
        folds: int,
    ) -> Policy:
        """The policy by the costs of each row."""
        y, options = choice.of(rows)
        calibrator = calibrate_scores(sweep(y, scores, options["weight"]), self.calibration)
        return Policy.choose_by_row(
            *(y, scores, choice.aim),
            **options,
            calibrator=calibrator if calibrator.monotone else "isotonic",
            threshold=self.threshold,
            labels=self._labels(positive),
            provenance=self._provenance(folds),
        )

    def _labels(self, positive: bool | float | str) -> Labels:
        return Labels(positive, next(one for one in self.classes_.tolist() if one != positive))

    def _provenance(self, folds: int) -> Provenance:
        name = type(self.estimator_).__name__
        return Provenance(
            f"{name}, held out" if folds == 1 else f"{name}, out-of-fold in {folds} folds"
        )

    def _policy(self, s: Sweep, aim: Aim, positive: bool | float | str, folds: int) -> Policy:
        calibrator = calibrate_scores(s, self.calibration)
        if not calibrator.monotone:
            calibrator = calibrate(s, "isotonic")
        threshold = self.threshold
        if threshold is None and self.aim is None:
            # A probability above ½, by more than rounding: at ½ itself argmax takes the first.
            threshold = lowest_score(calibrator, 1e-12 - log_odds(s.prevalence))
        return Policy.choose(
            s,
            aim,
            calibrator=calibrator,
            threshold=threshold,
            labels=self._labels(positive),
            provenance=self._provenance(folds),
        )

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata the classifier and the splitter ask for."""
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                estimator=self._inner(),
                method_mapping=MethodMapping().add(caller="fit", callee="fit"),
            )
            .add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


_HINT = "Use policy_.revised(costs=...) and its decide(model.scores(X))."


def _columns(costs: Costs, X: MatrixLike, amount: ArrayLike | None) -> dict[str, ArrayLike]:
    """The columns that costs name: those of X, or ``amount``."""
    names = list(getattr(X, "columns", ()))
    given: dict[str, ArrayLike] = {} if amount is None else {"amount": amount}
    frame: Any = X
    found = given | {name: frame[name] for name in costs.columns if name in names}
    absent = [name for name in costs.columns if name not in found]
    if absent:
        rule = f"name columns of X, or amount, which fit and predict take; not {absent[0]!r}"
        raise DataError(BadArgument("aim", rule, repr(costs), subject="costs of each row"))
    return found


class _RowChoice(NamedTuple):
    """What is chosen by the costs of each row, on some of the rows or all."""

    aim: Aim
    positive: NDArray[np.bool_]
    weight: Floats | None
    columns: dict[str, ArrayLike]
    groups: ArrayLike | None

    def of(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.bool_], dict[str, Any]]:
        """Labels and options of these rows."""
        return self.positive[rows], {
            "columns": {name: np.asarray(c)[rows] for name, c in self.columns.items()},
            "weight": None if self.weight is None else self.weight[rows],
            "unit": None if self.groups is None else np.asarray(_safe_indexing(self.groups, rows)),
        }

    def threshold(self, scores: Floats, rows: NDArray[np.intp]) -> float:
        """The threshold of one fold alone; nan if it has one class."""
        y, options = self.of(rows)
        try:
            return choose_by_row(y, scores, self.aim.on_rows, **options).threshold
        except CutscoreError:
            return nan


def _sweep(
    positive: NDArray[np.bool_], scores: Floats, weight: Floats | None, rows: NDArray[np.intp]
) -> Sweep:
    w = None if weight is None else weight[rows]
    return sweep(positive[rows], scores, w, squares=w is not None)


def _threshold(s: Sweep, aim: Aim) -> float:
    try:
        return choose(s, aim).threshold
    except CutscoreError:  # a fold of one class
        return nan


def _above(scores: Floats, threshold: float) -> Floats:
    if not isinf(threshold):
        return scores - threshold
    return np.asarray(
        np.clip(scores / (1 + np.abs(scores)), -1, 1) - (1 if threshold == inf else -1)
    )
