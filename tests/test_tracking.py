"""Policies and summaries in MLflow, in a store of files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cutscore as cs
from cutscore.policy import Policy
from cutscore.report import summarise
from raising import finding

pytestmark = pytest.mark.slow


def rows() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.random(500) < 0.3
    return y, rng.standard_normal(500) + 1.5 * y


@pytest.fixture
def mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    module = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    module.set_tracking_uri((tmp_path / "store").as_uri())
    return module


def _read(mlflow: Any, run: Any, name: str) -> str:
    path = mlflow.artifacts.download_artifacts(run_id=run.info.run_id, artifact_path=name)
    return Path(path).read_text(encoding="utf-8")


def test_a_policy(mlflow: Any) -> None:
    p = Policy.choose(cs.sweep(*rows()), "precision@20 %")
    with mlflow.start_run() as run:
        p.log(prefix="fraud.")
    data = mlflow.get_run(run.info.run_id).data
    recall = p.promises["recall"]
    found = [data.metrics[f"fraud.recall{end}"] for end in ("", "_low", "_high")]
    assert found == [recall.value, recall.low, recall.high]
    assert "fraud.precision_20 _" in data.metrics
    assert data.params["fraud.threshold"] == repr(p.threshold)
    assert Policy.from_json(_read(mlflow, run, "fraud.policy.json")).to_json() == p.to_json()
    assert _read(mlflow, run, "fraud.policy.md") == p.export("card")


def test_a_summary(mlflow: Any) -> None:
    y, x = rows()
    summary = summarise(y, {"a": x, "b": np.round(x)}, costs=cs.Costs(fp=1, fn=3))
    with mlflow.start_run() as run:
        summary.log()
    data = mlflow.get_run(run.info.run_id).data
    for one in summary.scores:
        assert data.metrics[f"{one.name}.auc"] == one.auc.value
        assert data.metrics[f"{one.name}.auc_low"] == one.auc.interval.low
        assert data.params[f"{one.name}.threshold"] == repr(one.point.threshold)
    assert "<html" in _read(mlflow, run, "report.html")


def test_without_mlflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "mlflow", None)
    with finding("library-missing", library="mlflow"):
        Policy.choose(cs.sweep(*rows()), "f1").log()
