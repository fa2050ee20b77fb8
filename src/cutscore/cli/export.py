"""cutscore export."""

from __future__ import annotations

import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

from cutscore.cli import shared
from cutscore.core.errors import DataError, UsageError
from cutscore.core.findings.base import spelled
from cutscore.core.findings.command import Usage
from cutscore.core.findings.models import ScorerUnfit
from cutscore.core.terminal import neutral
from cutscore.detector import Detector
from cutscore.detector.export import to_markdown, to_onnx, to_python, to_sql
from cutscore.detector.scorers.column import ColumnScorer
from cutscore.detector.scorers.model import embedded
from cutscore.measures.aim import LABELS

_MODULE = '''"""A detector for scikit-learn, written by cutscore export. Needs cutscore[sklearn].

    from {name} import load
    load().predict(frame)
"""

from cutscore.detector import Detector
from cutscore.detector.export import to_sklearn

MODEL = {model!r}


def load():
    return to_sklearn(Detector.from_json(MODEL))
'''


def run(arguments: Namespace) -> tuple[str, int]:
    """A model in another form."""
    if arguments.keep and arguments.to != "sql":
        raise UsageError(Usage("--keep applies only to --to sql", f"This is --to {arguments.to}."))
    shared.check_outputs(arguments)
    detector = Detector.load(arguments.model)
    content: str | bytes
    if arguments.to == "onnx":
        if arguments.output == "-" and (sys.stdout.isatty() or not hasattr(sys.stdout, "buffer")):
            raise UsageError(Usage("an ONNX file is binary", "Use -o model.onnx."))
        model = to_onnx(detector, dtype="float32" if arguments.float32 else "float64")
        content = model.SerializeToString()
    elif arguments.to == "sql":
        content = to_sql(detector, arguments.table, dialect=arguments.dialect, keep=arguments.keep)
    elif arguments.to == "python":
        content = to_python(detector)
    elif arguments.to == "sklearn":
        if isinstance(detector.scorer, ColumnScorer):
            raise DataError(ScorerUnfit(detector.scorer.kind, "a scikit-learn classifier"))
        name = Path(arguments.output).stem
        name = name if name.isidentifier() else "this_file"
        detector.policy.aim.needs_one_cut(LABELS)
        detector = replace(detector, scorer=embedded(detector.scorer))
        content = _MODULE.format(name=name, model=detector.to_json()).rstrip()
    else:
        content = to_markdown(detector)
    if arguments.output == "-":
        if isinstance(content, str):
            return neutral(content) if sys.stdout.isatty() else content, 0
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return "", 0
    shared.write_files({arguments.output: content + "\n" if isinstance(content, str) else content})
    return f"Wrote {spelled(arguments.output)}", 0
