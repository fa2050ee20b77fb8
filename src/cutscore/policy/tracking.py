"""Policies and summaries in MLflow: metrics with their intervals, and files as artefacts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING

from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import LibraryMissing
from cutscore.policy.groups import thresholds_text

if TYPE_CHECKING:
    from cutscore.policy.artefact import Policy

# Value, low end and high end; an end may not be known.
Estimates = Mapping[str, tuple[float, float | None, float | None]]


def log_policy(policy: Policy, prefix: str = "") -> None:
    """Write a policy to the active run: its promises as metrics, the file and the card."""
    log(
        {name: (e.value, e.low, e.high) for name, e in policy.promises.items()},
        {
            "rule": policy.rule,
            "threshold": ", ".join(map(repr, policy.cuts.thresholds))
            or thresholds_text(policy.cuts.groups),
            "aim": policy.objective_words,
            "prior": repr(policy.prior),
            "feasible": str(policy.feasible),
            "evidence": repr(policy.evidence),
            "digest": policy.provenance.digest,
        },
        {"policy.json": policy.to_json() + "\n", "policy.md": policy.export("card")},
        prefix,
    )


def log(
    estimates: Estimates, params: Mapping[str, str], files: Mapping[str, str], prefix: str = ""
) -> None:
    """Write to the active run of MLflow; one is begun if there is none.

    Parameters
    ----------
    estimates
        Metrics by name: ``recall`` becomes ``recall``, ``recall_low`` and ``recall_high``.
    params, files
        Text of parameters, and of artefacts by their names.
    prefix
        In front of all names.
    """
    try:
        import mlflow
    except ImportError:
        raise DataError(LibraryMissing("logging to MLflow", "mlflow", "mlflow")) from None
    metrics = {
        _name(f"{prefix}{name}{end}"): float(value)
        for name, three in estimates.items()
        for end, value in zip(("", "_low", "_high"), three, strict=True)
        if value is not None and isfinite(value)
    }
    mlflow.log_metrics(metrics)
    mlflow.log_params({_name(prefix + name): value for name, value in params.items()})
    for name, text in files.items():
        mlflow.log_text(text, prefix + name)


def _name(text: str) -> str:
    """A name that MLflow takes."""
    return re.sub(r"[^\w\-. /]", "_", text)
