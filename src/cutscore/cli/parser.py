"""What can be asked on the command line. Standard library only: ``--help`` should be quick."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import takewhile
from typing import Any, NoReturn

from cutscore import __version__
from cutscore.training.learners import LEARNERS

_LEARNERS = ("auto", *LEARNERS)
_FORMS = {
    "sql": "a query",
    "onnx": "an ONNX file",
    "sklearn": "a Python module for scikit-learn",
    "markdown": "a model card",
}


def parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """What was asked; where it can't be understood this says so and exits, with 2."""
    top, commands = _parsers()
    words = sys.argv[1:] if argv is None else list(argv)
    if not words or words[0].startswith("-"):
        _, unknown = top.parse_known_args(words)
        if unknown:
            top.error(f"there must be a command before {unknown[0]}")
        top.print_help(sys.stderr)
        top.exit(2)
    if words[0] not in commands:
        top.error(f"there is no command {words[0]!r}; {_near(words[0], commands)}")
    made = commands[words[0]]
    given, words = words, [words[0], *_marked(words[1:], _options(made))]
    # First: an option that was meant to be another may be why that one is missing.
    for word in takewhile("--".__ne__, words[1:]):
        name = word.partition("=")[0]
        if name.startswith("--") and " " not in name and name not in _options(made):
            _unknown(made, name, commands)
    # Files may stand before, after and between the options.
    arguments, unknown = made.parse_known_intermixed_args(words[1:])
    if unknown:
        _unknown(made, unknown[0].partition("=")[0], commands)
    arguments.words = given
    return arguments


def _marked(words: Sequence[str], options: Sequence[str]) -> list[str]:
    """The same, with the values of --missing such that argparse takes them: it takes -9999 and -n/a
    for options, and drops what is nothing but two dashes."""
    out: list[str] = []
    rest = list(words)
    while rest and rest[0] != "--" and "--missing" in options:
        word = rest.pop(0)
        if word.startswith("--missing="):
            word = word.replace("=", "==", 1)
        elif word == "--missing" and rest and rest[0].partition("=")[0] not in options:
            word = f"--missing=={rest.pop(0)}"
        out.append(word)
    return out + rest


def _near(word: str, known: Iterable[str]) -> str:
    """What was meant, or all that could be."""
    names = list(known)
    near = get_close_matches(word, names, 1, 0.7)
    return f"did you mean {near[0]}?" if near else f"it must be {_or(names)}"


def _or(names: Sequence[str], last: str = "or") -> str:
    return f" {last} ".join(filter(None, (", ".join(names[:-1]), names[-1])))


# What options are called elsewhere.
_ALSO = {"--label": "--target", "--target": "--label", "--group": "--unit"}
_ALSO |= {"--measure": "--maximize", "--metric": "--maximize", "--objective": "--maximize"}


def _options(made: argparse.ArgumentParser) -> list[str]:
    return [option for action in made._actions for option in action.option_strings]


def _unknown(
    made: argparse.ArgumentParser, name: str, commands: Mapping[str, argparse.ArgumentParser]
) -> NoReturn:
    if not name.startswith("-"):
        made.error(f"{name!r} is one word too many")
    options = _options(made)
    elsewhere = [command for command, one in commands.items() if name in _options(one)]
    near = (
        [option for option in options if option == _ALSO.get(name)]
        or [option for option in options if name.startswith("--") and option.startswith(name)]
        or ([] if elsewhere else get_close_matches(name, options, 1, 0.7))
    )
    if elsewhere and not near:
        those = f"{_or(elsewhere, 'and')} {'has' if len(elsewhere) == 1 else 'have'} it"
        made.error(f"it has no option {name}; {those}")
    hint = f"did you mean {_or(near)}?" if near else f"{made.prog} --help lists those it has"
    made.error(f"there is no option {name}; {hint}")


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    return _parsers()[0]


def _parsers() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The parser of all commands, and those of each."""
    top = argparse.ArgumentParser(
        prog="cutscore",
        usage="cutscore COMMAND [options]",
        description="From scores to decisions. cutscore COMMAND --help says more, with an example.",
        epilog="example: cutscore evaluate scores.csv --label y --score s --report report.html",
        formatter_class=_Help,
        add_help=False,
        allow_abbrev=False,
    )
    commands = top.add_subparsers(
        dest="command", title="commands", metavar="COMMAND", prog="cutscore"
    )
    more = top.add_argument_group("options")  # after the commands, which people look for
    more.add_argument("-h", "--help", action="help", help="show this and exit")
    more.add_argument(
        "--version", action="version", version=f"cutscore {__version__}", help="show it and exit"
    )
    for add in (_fit, _evaluate, _choose, _compare, _apply, _revise, _export, _demo):
        add(commands)
    for add in (_explain, _completion):
        add(commands)
    return top, commands.choices


class _Help(argparse.HelpFormatter):
    """Names and what they do on one line: argparse forgets that those of commands are indented."""

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        for one in self._iter_indented_subactions(action):
            length = len(self._format_action_invocation(one)) + self._current_indent
            self._action_max_length = max(self._action_max_length, length)


def _command(  # noqa: PLR0913, PLR0917 - what there is to say of a command
    commands: Any, name: str, usage: str, text: str, more: str, example: str
) -> Any:
    made = commands.add_parser(
        name,
        usage=f"cutscore {name} {usage}",
        help=text,
        description=f"{text[0].upper()}{text[1:]}. {more}",
        epilog=f"example: {example}",
        # What is short for one option today may be short for two tomorrow.
        allow_abbrev=False,
    )
    made.set_defaults(command=name, module=name)
    return made


def _source(made: Any, what: str) -> None:
    where = made.add_argument_group("the table")
    where.add_argument(
        "paths",
        nargs="*",
        metavar="FILE",
        help=f"{what}: CSV, TSV, Parquet, Arrow, ORC, JSON lines or libsvm; a pattern in quotes, a "
        "folder of Parquet files, several of them, or - for the standard input",
    )
    where.add_argument(
        "--format",
        metavar="NAME",
        help="csv, tsv, parquet, arrow, jsonl, libsvm or orc, if neither extension nor content "
        "tells",
    )
    where.add_argument("--separator", metavar="CHAR", help="between the columns of CSV")
    where.add_argument(
        "--decimal",
        metavar="CHAR",
        default=".",
        help="of numbers in CSV: a point, or a comma if they are written as 12,5",
    )
    where.add_argument(
        "--missing",
        action="append",
        default=[],
        type=lambda text: text.removeprefix("="),  # see _marked
        metavar="VALUE",
        help="what stands for a missing value in CSV, besides nothing, NA, NaN and null: - "
        "or ? or -9999. Give it for each",
    )
    where.add_argument(
        "--no-header", action="store_true", help="columns of CSV have no names: c1, c2, …"
    )
    where.add_argument(
        "--sql",
        metavar="QUERY",
        help="take the rows of a query: over a file of SQLite or DuckDB, or over other files, "
        "which are called data",
    )


def _share(text: str) -> float:
    """0.02, or 2 %."""
    number, percent, rest = text.strip().partition("%")
    try:
        if rest:
            raise ValueError
        # As it is written: 0.7 / 100 is another float than 0.007.
        return float(f"{number.strip()}e-2") if percent else float(number)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"it must be a share, such as 0.02 or '2 %'; it is {text!r}."
        ) from None


def _point(text: str) -> tuple[str, tuple[float, float]]:
    """NAME=FPR,TPR."""
    name, _, rates = text.rpartition("=")
    fpr, _, tpr = rates.partition(",")
    try:
        point = _share(fpr), _share(tpr)
    except argparse.ArgumentTypeError:
        point = -1.0, -1.0
    if not (name.strip() and all(0 <= rate <= 1 for rate in point)):
        raise argparse.ArgumentTypeError(
            "it must be a name, a false alarm rate and a recall, rates from 0 to 1, such as "
            f"'old rule=0.1,0.6'; it is {text!r}."
        )
    return name.strip(), point


def _output(made: Any, *, model: bool = False, report: bool = False) -> Any:
    how = made.add_argument_group("output")
    if model:
        how.add_argument("-o", "--output", metavar="MODEL", help="where the model goes: model.json")
    if report:
        how.add_argument("--report", metavar="PAGE", help="write a page to look at: report.html")
    how.add_argument("--json", action="store_true", help="print JSON, for machines")
    how.add_argument("-q", "--quiet", action="store_true", help="no progress, no remarks")
    return how


_UNIT = "whose rows are not independent: a patient, a user"


def _rows(made: Any, scores: str, group: str | None = None, unit: str | None = None) -> None:
    columns = made.add_argument_group("columns")
    columns.add_argument("--label", metavar="NAME", help="which class a row is of")
    columns.add_argument(
        "--positive", metavar="VALUE", help="the label to detect; not needed for 0/1 and -1/1"
    )
    columns.add_argument("--score", action="append", metavar="NAME", help=scores)
    columns.add_argument(
        "--reverse",
        action="append",
        default=[],
        metavar="NAME",
        help="of this score low means positive, as of credit scores: flag up to a threshold",
    )
    columns.add_argument("--weight", metavar="NAME", help="how much a row counts")
    if group:
        columns.add_argument("--group", metavar="NAME", help=group)
    if unit:
        columns.add_argument("--unit", metavar="NAME", help=unit)


def _engine(made: Any) -> None:
    large = made.add_argument_group("large tables")
    large.add_argument(
        "--engine",
        choices=("auto", "memory", "arrow", "spark"),
        default="auto",
        help="where the work is done: in memory, batch by batch within a limit of it, or on a "
        "cluster. Default: auto, one of the first two by the size of the table",
    )
    large.add_argument(
        "--memory-limit",
        metavar="SIZE",
        help="of arrow, such as 2GB; beyond, a temporary file is used. Default: half of what is "
        "free",
    )
    large.add_argument(
        "--master",
        metavar="URL",
        help="of spark: local[4], spark://host:7077, yarn, … Default: all CPUs of this machine",
    )
    large.add_argument(
        "--deadline",
        type=float,
        default=60,
        metavar="SECONDS",
        help="of spark: give up if nobody has taken up work by then. Default: 60",
    )


def _aim(made: Any) -> None:
    aim = made.add_argument_group("what to aim at")
    aim.add_argument(
        "--cost",
        metavar="fp=1,fn=20",
        help="what a false alarm and a miss cost; also tp and tn, which are benefits",
    )
    aim.add_argument(
        "--maximize",
        metavar="MEASURE",
        help="f1, f2, balanced, youden, mcc, recall, precision, accuracy, … instead of costs",
    )
    aim.add_argument(
        "--subject-to",
        action="append",
        default=[],
        metavar="LIMIT",
        help="such as 'precision >= 0.9', 'false alarm rate <= 0.1 %%' or 'flagged <= 500', of the "
        "rows of this table; again for each limit",
    )
    aim.add_argument(
        "--prior",
        type=_share,
        metavar="SHARE",
        help="the share of positives where decisions are made, if it is another than in the rows",
    )
    aim.add_argument(
        "--confidence",
        type=_share,
        metavar="LEVEL",
        help="limits hold for new rows with this confidence, such as 0.95",
    )


def _fit(commands: Any) -> None:
    made = _command(
        commands,
        "fit",
        "FILE --target NAME [options]",
        "learn a detector from a table",
        "Learners are compared on rows they were not fitted to; the model is a readable JSON file "
        "with the columns, weights in their units, calibration and threshold.",
        "cutscore fit loans.csv --target defaulted --cost fp=1,fn=20 -o model.json --report "
        "report.html",
    )
    _source(made, "the rows to learn from")
    columns = made.add_argument_group("columns")
    columns.add_argument("--target", required=True, metavar="NAME", help="the column of labels")
    columns.add_argument(
        "--positive", metavar="VALUE", help="the label to detect; not needed for 0/1 and -1/1"
    )
    columns.add_argument(
        "--column",
        action="append",
        metavar="NAME",
        help="use this one, and no others unnamed; again for each",
    )
    columns.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="NAME",
        help="don't use this one; again for each",
    )
    columns.add_argument(
        "--category",
        action="append",
        default=[],
        metavar="NAME",
        help="numbers that are names rather than amounts",
    )
    columns.add_argument(
        "--number",
        action="append",
        default=[],
        metavar="NAME",
        help="amounts that look like running numbers or codes",
    )
    columns.add_argument(
        "--max-categories",
        type=int,
        default=50,
        metavar="N",
        help="levels of a category at the most; the rest is 'other'. Default: 50",
    )
    columns.add_argument("--weight", metavar="NAME", help="how much a row counts")
    columns.add_argument(
        "--unit", metavar="NAME", help=f"{_UNIT}; all rows of one are in the same fold"
    )
    _aim(made)
    how = made.add_argument_group("learning")
    how.add_argument(
        "--learner",
        type=_learner,
        choices=_LEARNERS,
        default="auto",
        metavar="NAME",
        help=f"{_or(_LEARNERS[1:])}. Default: auto, compares several",
    )
    how.add_argument(
        "--folds",
        type=int,
        default=5,
        metavar="N",
        help="parts of the rows, each scored by lines fitted to the others. Default: 5",
    )
    how.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the dice that deal the rows"
    )
    _output(made, model=True, report=True)
    _engine(made)


def _learner(text: str) -> str:
    if text not in _LEARNERS:
        hint = _near(text, _LEARNERS)
        raise argparse.ArgumentTypeError(f"there is no learner {text!r}; {hint}")
    return text


def _evaluate(commands: Any) -> None:
    made = _command(
        commands,
        "evaluate",
        "FILE --label NAME --score NAME [options]",
        "say how good scores are",
        "AUC, precision, calibration and the best threshold, with intervals, for one score or "
        "several of the same rows.",
        "cutscore evaluate scores.parquet --label y --score s --cost fp=1,fn=20 --report "
        "report.html",
    )
    _source(made, "labels and scores")
    _rows(
        made,
        "the score of a row; again for each, to compare them",
        "the AUC inside groups of rows as well",
        f"{_UNIT}; for intervals of AUCs",
    )
    _aim(made)
    _output(made, report=True).add_argument(
        "--point",
        action="append",
        default=[],
        type=_point,
        metavar="NAME=FPR,TPR",
        help="a rule without a score: its false alarm rate and recall, for the ROC figure of the "
        "page; again for each",
    )
    _engine(made)


def _choose(commands: Any) -> None:
    made = _command(
        commands,
        "choose",
        "FILE --label NAME --score NAME (--cost fp=1,fn=20 | --maximize MEASURE) [options]",
        "find the best threshold there is",
        "Exact over all cuts of the scores. The exit code is 3 if none meets the limits.",
        "cutscore choose scores.csv --label y --score s --maximize recall --subject-to "
        "'precision >= 0.9' --confidence 0.95",
    )
    _source(made, "labels and scores")
    _rows(made, "the score of a row")
    _aim(made)
    _output(made)
    _engine(made)


def _compare(commands: Any) -> None:
    made = _command(
        commands,
        "compare",
        "FILE --label NAME --score NAME --score NAME [options]",
        "compare two scores of the same rows",
        "Paired: DeLong's method for the AUC, the bootstrap for costs.",
        "cutscore compare scores.parquet --label y --score old --score new",
    )
    _source(made, "labels and both scores")
    _rows(made, "a score; give it twice", unit=_UNIT)
    aim = made.add_argument_group("costs")
    aim.add_argument("--cost", metavar="fp=1,fn=20", help="compare what the best cuts cost as well")
    aim.add_argument(
        "--prior",
        type=_share,
        metavar="SHARE",
        help="for --cost: the share of positives where decisions are made, if it is another than "
        "in the rows",
    )
    _output(made)


def _apply(commands: Any) -> None:
    made = _command(
        commands,
        "apply",
        "MODEL FILE [options]",
        "decide about new rows",
        "Adds score, llr, probability, decision and why to the columns of the table.",
        "cutscore apply model.json new.csv -o decided.parquet",
    )
    made.add_argument("model", metavar="MODEL", help="what cutscore fit wrote")
    _source(made, "the rows to decide about")
    how = made.add_argument_group("output")
    how.add_argument(
        "-o",
        "--output",
        default="-",
        metavar="TABLE",
        help="where the rows go: decided.csv, decided.parquet, … Default: CSV on the standard "
        "output",
    )
    how.add_argument(
        "--keep",
        action="append",
        metavar="NAME",
        help="keep this column, and no others unnamed; again for each. Default: all",
    )
    how.add_argument(
        "--reasons", type=int, default=3, metavar="N", help="how many of them why has. Default: 3"
    )
    how.add_argument("-q", "--quiet", action="store_true", help="no progress, no remarks")


def _revise(commands: Any) -> None:
    made = _command(
        commands,
        "revise",
        "MODEL [--cost fp=1,fn=50] [--prior SHARE] [--threshold SCORE] [options]",
        "move a model's threshold: costs or the prior have changed",
        "Nothing is learned again. The threshold follows from the calibration, and what is known "
        "of its consequences is said. Without -o nothing is written.",
        "cutscore revise model.json --cost fp=1,fn=50 -o dearer.json",
    )
    # Its own are -1e-05 and -inf too, which are taken for options otherwise.
    made._negative_number_matcher = re.compile(r"-(\d|\.\d|inf$)")
    made.add_argument("model", metavar="MODEL", help="what cutscore fit wrote")
    made.add_argument("paths", nargs="*", help=argparse.SUPPRESS)  # to say what is one too many
    what = made.add_argument_group("what has changed")
    what.add_argument(
        "--cost",
        metavar="fp=1,fn=50",
        help="what a false alarm and a miss cost; also tp and tn, which are benefits. Default: as "
        "in the model",
    )
    what.add_argument(
        "--prior",
        type=_share,
        metavar="SHARE",
        help="the share of positives where decisions are made. Default: as in the model",
    )
    what.add_argument(
        "--threshold",
        type=float,
        metavar="SCORE",
        help="flag from this score on, such as cutscore choose found on rows of today; instead of "
        "what follows from costs and prior",
    )
    what.add_argument(
        "--drop-limits",
        action="store_true",
        help="let go of the limits that the model was fitted under, which costs don't know",
    )
    _output(made, model=True)


def _export(commands: Any) -> None:
    made = _command(
        commands,
        "export",
        "MODEL --to FORM [options]",
        "take a model elsewhere",
        "As a query, an ONNX file, a Python module for scikit-learn, or a model card.",
        "cutscore export model.json --to sql --table payments --keep id -o score.sql",
    )
    made.add_argument("model", metavar="MODEL", help="what cutscore fit wrote")
    made.add_argument(
        "--to", required=True, type=_form, choices=tuple(_FORMS), metavar="FORM", help=_forms()
    )
    made.add_argument(
        "--table", default="data", metavar="NAME", help="of sql: that of the rows. Default: data"
    )
    made.add_argument(
        "--dialect",
        choices=("standard", "duckdb", "sqlite"),
        default="standard",
        help="of sql. Default: standard",
    )
    made.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="NAME",
        help="of sql: a column to put in front, such as the key of the rows; again for each",
    )
    made.add_argument(
        "--float32", action="store_true", help="of onnx: single precision, for small devices"
    )
    made.add_argument(
        "-o",
        "--output",
        default="-",
        metavar="FILE",
        help="where it goes. Default: the standard output",
    )


def _forms() -> str:
    return _or([f"{name} ({words})" for name, words in _FORMS.items()])


def _form(text: str) -> str:
    if text not in _FORMS:
        raise argparse.ArgumentTypeError(f"it must be {_forms()}; it is {text!r}.")
    return text


def _demo(commands: Any) -> None:
    made = _command(
        commands,
        "demo",
        "[options]",
        "go through it all on made-up payments",
        "Learns a detector, decides about new payments, and leaves a report to look at.",
        "cutscore demo -o demo && xdg-open demo/report.html",
    )
    made.add_argument(
        "-o", "--output", default="demo", metavar="FOLDER", help="where it goes. Default: demo"
    )


def _explain(commands: Any) -> None:
    made = _command(
        commands,
        "explain",
        "[CODE]",
        "say what the code of a message means",
        "Without a code it lists all of them.",
        "cutscore explain column-missing",
    )
    made.add_argument("code", nargs="?", metavar="CODE", help="the code, as --json prints it")


def _completion(commands: Any) -> None:
    made = _command(
        commands,
        "completion",
        "SHELL",
        "print what makes a shell complete commands and options",
        "",
        'eval "$(cutscore completion bash)"',
    )
    made.add_argument(
        "shell", choices=("bash", "zsh", "fish"), metavar="SHELL", help="bash, zsh or fish"
    )
