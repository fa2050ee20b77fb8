"""What users give, in Python as parameters and on the command line as options: one declaration
each. Standard library only, since the command lists them before it knows what to do.

The command makes its options of these, and messages name them. ``AIM`` has the arguments of
:meth:`cutscore.Aim.asked` and ``ROLES`` the fields of :class:`cutscore.tables.roles.Roles`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Parameter:
    """A parameter, and the option of the command for it.

    Parameters
    ----------
    name : str
        What it is called in Python.
    help : str
        What it is for, as the command's help says it.
    metavar : str
        What stands for its value in help and messages; empty for a switch.
    kind : str
        How its text is read: "text", "whole", "number", "share", "point",
        "thresholds" or "choice".
    option, short : str
        What it is called on the command line, if not ``--name``, and one letter for it.
    many : bool
        Whether it may be given again.
    default : object
        Its value if it is not given.
    choices : tuple of str
        The values it may have.

    Examples
    --------
    >>> from cutscore.core.parameters import PARAMETERS
    >>> PARAMETERS["costs"].flag, PARAMETERS["subject_to"].flag
    ('--cost', '--subject-to')
    """

    name: str
    help: str
    metavar: str = ""
    kind: str = "text"
    option: str = ""
    short: str = ""
    many: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """What to type: the option, or the word for what stands without one."""
        return self.short or self.option or f"--{self.name.replace('_', '-')}"

    @property
    def flags(self) -> list[str]:
        """All that may be typed for it."""
        return [flag for flag in (self.short, self.option) if flag] or [self.flag]

    def but(self, **changes: object) -> Parameter:
        """The same, for a command that says something else of it."""
        return replace(self, **changes)  # type: ignore[arg-type]


_AGAIN = "; repeatable"

TABLE = (
    Parameter("paths", "table to read", "FILE", option="FILE", many=True),
    Parameter(
        "format",
        "file format, such as csv or parquet. Default: detected from extension or content",
        "NAME",
    ),
    Parameter("separator", "column separator in CSV files. Default: detected", "CHAR"),
    Parameter("decimal", 'decimal mark in CSV files: "." (default) or ","', "CHAR", default="."),
    Parameter(
        "missing",
        "text that marks a missing value in CSV files, such as -9999 or ?, in addition to empty "
        f"cells, NA, NaN and null{_AGAIN}",
        "VALUE",
        many=True,
    ),
    Parameter(
        "header", "CSV files have no header row; columns are called c1, c2, …", option="--no-header"
    ),
    Parameter(
        "sql",
        "SQL query that returns the rows. FILE may be a SQLite or DuckDB database; any other FILE "
        'can be queried as a table named "data"',
        "QUERY",
    ),
)

ROLES = (
    Parameter("target", "label column", "NAME"),
    Parameter(
        "positive", "label of the positive class; not needed for labels 0/1 and -1/1", "VALUE"
    ),
    Parameter("weight", "row weight column", "NAME"),
    Parameter(
        "unit",
        "cluster id column, such as patient or user",
        "NAME",
    ),
    Parameter(
        "columns",
        f"feature column{_AGAIN}. Default: all columns without another role",
        "NAME",
        option="--column",
        many=True,
    ),
    Parameter("exclude", f"column to ignore{_AGAIN}", "NAME", many=True),
    Parameter(
        "categories",
        f"numeric column to treat as categorical{_AGAIN}",
        "NAME",
        option="--category",
        many=True,
    ),
    Parameter(
        "numbers",
        f"column to treat as numeric even if it looks like an identifier{_AGAIN}",
        "NAME",
        option="--number",
        many=True,
    ),
)

SCORES = (
    Parameter("label", "label column. Default: found by name (label, y, target, …)", "NAME"),
    Parameter(
        "scores",
        "score column. Default: found by name (score, prob, …)",
        "NAME",
        option="--score",
        many=True,
    ),
    Parameter(
        "reverse",
        f"score column where low values indicate positives, as with credit scores{_AGAIN}",
        "NAME",
        many=True,
    ),
    Parameter("group", "group column; also report the AUC within each group", "NAME"),
    Parameter("normal", "treat all rows as normal; no label column is needed"),
    Parameter(
        "period",
        "period column, such as a date or an hour, for limits such as 'flagged <= 200 per day'",
        "NAME",
    ),
    Parameter(
        "exposure",
        "number of periods observed, if some of them have no rows",
        "N",
        "whole",
    ),
)

AIM = (
    Parameter(
        "costs",
        "cost of a false alarm (fp) and of a miss (fn); optionally also the benefit of a true "
        "positive (tp) and of a true negative (tn), and the cost of a review (review), which gives "
        "two thresholds: pass, review or block. Columns and formulas of columns may differ "
        "by row: 'fp=2.5,fn=0.8*amount + 15'",
        "fp=1,fn=20",
        option="--cost",
    ),
    Parameter(
        "maximize",
        "measure to optimise instead of costs (minimised if lower is better): f1, f2, balanced, "
        "youden, mcc, recall, precision, accuracy, …",
        "MEASURE",
    ),
    Parameter(
        "subject_to",
        "limit, such as 'precision >= 0.9', 'fpr <= 0.1 %' or 'flagged <= 500'; repeatable. A "
        "limit on reviewed or review_rate gives two thresholds",
        "LIMIT",
        many=True,
    ),
    Parameter(
        "prior",
        "expected prevalence where decisions are made, such as 0.02 or '2 %'. Default: as in the "
        "table",
        "SHARE",
        "share",
    ),
    Parameter(
        "confidence",
        "confidence with which limits must be met on new rows, such as 0.95",
        "LEVEL",
        "share",
    ),
)

LEARNING = (
    Parameter("learner", "learner to fit; auto compares several", "NAME", "choice", default="auto"),
    Parameter("folds", "number of cross-validation folds", "N", "whole", default=5),
    Parameter("seed", "random seed for fold assignment", "N", "whole", default=0),
    Parameter(
        "max_categories",
        "maximum number of levels in a categorical column; the rarest become 'other'",
        "N",
        "whole",
        default=50,
    ),
)

ENGINE = (
    Parameter(
        "engine",
        "memory, arrow (in batches) or spark (on a cluster); auto picks memory or arrow by table "
        "size",
        "NAME",
        "choice",
        default="auto",
        choices=("auto", "memory", "arrow", "spark"),
    ),
    Parameter(
        "memory_limit",
        "memory limit for the arrow engine, such as 2GB; beyond it, temporary files are used. "
        "Default: half of the free memory",
        "SIZE",
    ),
    Parameter(
        "master",
        "Spark master, such as local[4], spark://host:7077 or yarn. Default: local[*]",
        "URL",
    ),
    Parameter("deadline", "seconds to wait for a Spark executor", "SECONDS", "number", default=60),
)

OUTPUT = (
    Parameter("output", "file to write", "FILE", option="--output", short="-o"),
    Parameter("report", "write an HTML report to this file, such as report.html", "PAGE"),
    Parameter("title", "report title", "TEXT"),
    Parameter("json", "print JSON"),
    Parameter("quiet", "suppress progress and notes", short="-q", option="--quiet"),
)

OTHERS = (
    Parameter(
        "model",
        "model file written by cutscore fit, or policy file written by cutscore choose",
        "MODEL",
        option="MODEL",
    ),
    Parameter("models", "model or policy files", "MODEL", option="MODEL", many=True),
    Parameter(
        "point",
        "yes/no classifier to mark in the report's ROC plot, as false positive rate and "
        f"recall{_AGAIN}",
        "NAME=FPR,TPR",
        "point",
        many=True,
    ),
    Parameter(
        "evidence",
        "how much evidence to store in the policy: scores (all), corners (of the ROC curve) or "
        "blocks (at most 50,000 points); auto picks by size",
        "KIND",
        "choice",
        default="auto",
        choices=("auto", "scores", "corners", "blocks"),
    ),
    Parameter("keep", f"input column to keep in the output{_AGAIN}", "NAME", many=True),
    Parameter("reasons", "number of reasons to list in the why column", "N", "whole", default=3),
    Parameter(
        "threshold",
        "set the threshold directly, ignoring costs, limits and prior; for two thresholds, give "
        "REVIEW,BLOCK",
        "SCORE",
        "thresholds",
    ),
    Parameter(
        "each",
        "group column, such as country; limits then apply to each group separately",
        "NAME",
    ),
    Parameter(
        "thresholds",
        "with --each: common (one threshold for all groups) or group (one per group)",
        "KIND",
        "choice",
        default="common",
        choices=("common", "group"),
    ),
    Parameter(
        "gap",
        "with --thresholds group: largest difference in a rate allowed between groups, such as "
        f"'recall <= 5 %' or 'fpr <= 2 %'{_AGAIN}",
        "LIMIT",
        many=True,
    ),
    Parameter(
        "small",
        "with --each and --confidence: pool groups that are too small for a test of their own, or "
        "refuse them",
        "RULE",
        "choice",
        default="pool",
        choices=("pool", "refuse"),
    ),
    Parameter("drop_limits", "drop the limits stored in MODEL"),
    Parameter(
        "to",
        "target format: sql (a query), onnx (an ONNX file), python (a module "
        "without dependencies), sklearn (models only: a module for scikit-learn) or card (a model "
        "card)",
        "FORMAT",
        "choice",
        choices=("sql", "onnx", "python", "sklearn", "card"),
    ),
    Parameter("table", "SQL: name of the input table", "NAME", default="data"),
    Parameter(
        "dialect",
        "SQL: standard, duckdb or sqlite; for policies also postgresql",
        "NAME",
        "choice",
        default="standard",
        choices=("standard", "duckdb", "sqlite", "postgresql"),
    ),
    Parameter("float32", "ONNX: use single precision"),
    Parameter("code", "code shown in brackets in an error or a warning", "CODE", option="CODE"),
    Parameter(
        "shell",
        "bash, zsh or fish",
        "SHELL",
        "choice",
        option="SHELL",
        choices=("bash", "zsh", "fish"),
    ),
)

PARAMETERS = {
    one.name: one
    for group in (TABLE, ROLES, SCORES, AIM, LEARNING, ENGINE, OUTPUT, OTHERS)
    for one in group
}
# Names of columns in Python, of which one is given there.
PARAMETERS["score"] = PARAMETERS["scores"]
PARAMETERS["points"] = PARAMETERS["point"]
PARAMETERS["periods"] = PARAMETERS["period"]
