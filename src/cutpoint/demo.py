"""The demonstration: a made-up detector, from its scores to a report, in a second or two."""

from __future__ import annotations

import csv
import os
import random
from base64 import b64encode
from contextlib import suppress
from html import escape
from io import BytesIO, StringIO
from pathlib import Path
from statistics import NormalDist
from typing import Any

from cutpoint import plot
from cutpoint._sweep import Sweep, sweep
from cutpoint.areas import average_precision, equal_error_rate, kolmogorov_smirnov, partial_auc
from cutpoint.decision import OperatingPoint, choose
from cutpoint.inference import auc_interval
from cutpoint.objectives import Costs

_TITLE = "A made-up detector: 10,000 card payments, about one in fifty of them fraud"
_BUDGETS = (0.001, 0.01, 0.05, 0.2)


def payments(n: int = 10_000, share: float = 0.02) -> tuple[list[int], list[float]]:
    """Labels and scores of card payments, some of them fraud: the same on every machine."""
    uniform = random.Random(20)  # whose random() is promised to stay the same, unlike gauss()
    honest, fraud = NormalDist(-2.0, 1.0), NormalDist(0.4, 1.3)
    y = [int(uniform.random() < share) for _ in range(n)]
    score = [(fraud if label else honest).inv_cdf(uniform.random() or 0.5) for label in y]
    return y, [round(x, 3) for x in score]


def run(folder: Path) -> str:
    """Write the scores, a picture and a report to a folder; return what to print."""
    folder.mkdir(parents=True, exist_ok=True)
    y, score = payments()
    table = StringIO(newline="")
    csv.writer(table).writerows([("fraud", "score"), *zip(y, score, strict=True)])
    s = sweep(y, score)
    picture = _picture(s)
    measures, cuts, decisions = _measures(s), _cuts(s), _decisions(s)
    files = {
        "scores.csv": table.getvalue().encode(),
        "curves.png": picture,
        "report.html": _page(s, measures, cuts, decisions, picture).encode(),
    }
    for name, content in files.items():
        _write(folder / name, content)
    return "\n".join(
        [
            _TITLE,
            "",
            repr(s),
            "",
            *(f"  {name:<30}  {value}" for name, value in measures),
            "",
            "If you flag the scores       you catch   false alarms   precision",
            *("  {:<26}{:>10}{:>15}{:>12}".format(*cut) for cut in cuts),
            "",
            *(
                line
                for aim, point in decisions
                for line in (f"{aim}:", *(f"  {told}" for told in repr(point).splitlines()), "")
            ),
            "Wrote " + ", ".join(str(folder / name) for name in files),
        ]
    )


def _write(path: Path, content: bytes) -> None:
    """Write aside and rename: what was there before survives a full disk."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        aside.write_bytes(content)
        os.replace(aside, path)
    except OSError as error:  # which does not know the file if the disk is full
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)


def _measures(s: Sweep) -> list[tuple[str, str]]:
    interval = auc_interval(s)
    return [
        ("AUC (exact)", f"{s.auc:.4f}  95 %: {interval.low:.4f} to {interval.high:.4f}"),
        ("AUC where FPR <= 1 %, McClish", f"{partial_auc(s, max_fpr=0.01, standardized=True):.4f}"),
        ("average precision", f"{average_precision(s):.4f}"),
        ("Kolmogorov–Smirnov", f"{kolmogorov_smirnov(s):.4f}"),
        ("equal error rate", f"{equal_error_rate(s):.4f}"),
    ]


def _cuts(s: Sweep) -> list[tuple[str, str, str, str]]:
    """The lowest threshold that keeps the false alarm rate within each of a few budgets."""
    cuts = []
    for budget in _BUDGETS:
        k = int((s.fp <= budget * s.N).sum()) - 1
        c = s.at(s.threshold[k])
        cuts.append(
            (
                f">= {s.threshold[k]:g}  (FPR <= {100 * budget:g} %)",
                f"{c.tp} of {s.P}",
                f"{c.fp} of {s.N}",
                f"{100 * c.precision:.1f} %",
            )
        )
    return cuts


def _decisions(s: Sweep) -> list[tuple[str, OperatingPoint]]:
    return [
        ("A missed fraud costs 50, a false alarm 1", choose(s, Costs(fp=1, fn=50))),
        (
            "The most fraud caught with at most 1 % false alarms, guaranteed for new payments",
            choose(s, "recall", subject_to="fpr <= 0.01", confidence=0.95),
        ),
    ]


def _picture(s: Sweep) -> bytes:
    out = BytesIO()
    plot.overview(s).savefig(out, format="png", dpi=110)
    return out.getvalue()


def _page(
    s: Sweep,
    measures: list[tuple[str, str]],
    cuts: list[tuple[str, str, str, str]],
    decisions: list[tuple[str, OperatingPoint]],
    picture: bytes,
) -> str:
    def table(head: tuple[str, ...], rows: list[Any]) -> str:
        return (
            "<table><tr>"
            + "".join(f"<th>{escape(name)}</th>" for name in head)
            + "</tr>"
            + "".join(
                "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
                for row in rows
            )
            + "</table>"
        )

    told = "".join(
        f"<h2>{escape(aim)}</h2><p class='told'>{escape(repr(point))}</p>"
        for aim, point in decisions
    )
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>cutpoint: {escape(_TITLE)}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; background: #fff }}
h1 {{ font-size: 1.5rem; margin: 0 }} h2 {{ font-size: 1.1rem; margin: 2rem 0 0 }}
.told {{ white-space: pre-line }} p {{ color: #555; margin: .3rem 0 1.5rem }}
img {{ width: 100% }}
.tables {{ display: flex; flex-wrap: wrap; gap: 1rem 4rem; margin-top: 1.5rem }}
table {{ border-collapse: collapse; align-self: start; font-variant-numeric: tabular-nums }}
td, th {{ padding: .25rem 0 .25rem 1.6rem; text-align: right; border-bottom: 1px solid #ddd }}
td:first-child, th:first-child {{ text-align: left; padding-left: 0 }}
th {{ border-bottom: 2px solid #888 }}
</style>
<h1>{escape(_TITLE)}</h1>
<p>{escape(repr(s))}</p>
<img alt="ROC, precision–recall, gain, DET and lift curves, and the scores of either class"
 src="data:image/png;base64,{b64encode(picture).decode("ascii")}">
<div class="tables">
{table(("flag the scores", "you catch", "false alarms", "precision"), cuts)}
{table(("measure", "value"), measures)}
</div>
{told}
</html>
"""
