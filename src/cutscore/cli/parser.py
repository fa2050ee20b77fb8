"""What can be asked on the command line. Standard library only: ``--help`` should be quick."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from itertools import takewhile
from typing import Any, NoReturn

from cutscore import __version__
from cutscore.cli import print_text
from cutscore.core.errors import UsageError
from cutscore.core.findings import BadArgument, either
from cutscore.core.findings.command import Usage
from cutscore.core.parameters import (
    AIM,
    ENGINE,
    LEARNING,
    PARAMETERS,
    ROLES,
    TABLE,
    Parameter,
)
from cutscore.training.registry import LEARNERS

Groups = dict[str, tuple[Parameter, ...]]


@dataclass(frozen=True)
class Command:
    """A command: what its help says of it, and its parameters, grouped by title."""

    name: str
    usage: str
    text: str
    """What it does."""
    more: str
    example: str
    groups: Groups
    required: tuple[str, ...] = ()
    output: str | None = None
    """Where the output goes if nothing is said."""


def _of(*names: str, **helps: str) -> tuple[Parameter, ...]:
    """Parameters by name; of some with another help."""
    return tuple(PARAMETERS[n].but(help=helps.get(n, PARAMETERS[n].help)) for n in names)


def _table(what: str) -> tuple[Parameter, ...]:
    text = (
        f"{what}: CSV, Parquet, Arrow, JSON Lines, …; several files, a quoted glob pattern, a "
        "folder of Parquet files, or - for standard input"
    )
    return tuple(one.but(help=text) if one.name == "paths" else one for one in TABLE)


_OUTPUT = ("report", "title", "json", "quiet")
_MODEL = "file to write the model to, such as model.json"
_POLICY = "file to write the policy to, such as policy.json"
_NEW = "file to write, such as new.json"
_STORED = "Default: as stored in MODEL"
_CLUSTER = PARAMETERS["unit"].help
_LEARNERS = ("auto", *LEARNERS)
_LEARNER = LEARNING[0].but(
    help=f"{either(_LEARNERS[1:], show=str)}; auto compares several", choices=_LEARNERS
)


def _rows(scores: str, *more: str) -> tuple[Parameter, ...]:
    helps = {
        "scores": scores,
        "unit": f"{_CLUSTER}; intervals allow for correlation within clusters",
    }
    return _of("label", "positive", "scores", "reverse", "weight", *more, **helps)


COMMANDS = (
    Command(
        "fit",
        "FILE --target NAME [options]",
        "train a classifier on a table",
        "Learners are compared by cross-validation. The model is a readable JSON file with the "
        "columns, their weights, the calibration and the threshold.",
        "cutscore fit loans.csv --target defaulted --cost fp=1,fn=20 -o model.json --report "
        "report.html",
        {
            "table": _table("training rows"),
            "columns": tuple(
                one.but(help=f"{_CLUSTER}; rows with the same id stay in one fold")
                if one.name == "unit"
                else one
                for one in (*ROLES, LEARNING[3])
            ),
            "objective": AIM,
            "learning": (_LEARNER, *LEARNING[1:3]),
            "output": _of("output", *_OUTPUT, output=_MODEL),
            "large tables": ENGINE,
        },
        ("paths", "target"),
    ),
    Command(
        "evaluate",
        "FILE [--label NAME] [--score NAME] [options]",
        "evaluate scores: AUC, calibration and the best threshold",
        "Reports confidence intervals, for one score or for several scores on the same rows.",
        "cutscore evaluate scores.parquet --label y --score s --cost fp=1,fn=20 --report "
        "report.html",
        {
            "table": _table("labels and scores"),
            "columns": _rows("score column; repeat to compare several", "group", "unit"),
            "objective": AIM,
            "output": _of(*_OUTPUT, "point"),
            "large tables": ENGINE,
        },
        ("paths",),
    ),
    Command(
        "choose",
        "FILE [--label NAME] [--score NAME] (--cost fp=1,fn=20 | --maximize MEASURE) [options]",
        "find the best threshold for a score",
        "The search is exact and covers all thresholds. With -o, the decision is saved as a "
        "policy: the threshold, the calibration and the evidence behind them. The exit code is 3 "
        "if no threshold meets the limits.",
        "cutscore choose scores.parquet --label y --score s --cost fp=1,fn=25 -o policy.json",
        {
            "table": _table("labels and a score"),
            "columns": _rows(PARAMETERS["scores"].help, "normal", "period", "exposure"),
            "objective": AIM,
            "groups": _of("each", "thresholds", "gap", "small"),
            "output": _of("output", "evidence", "json", "quiet", output=_POLICY),
            "large tables": ENGINE,
        },
        ("paths",),
    ),
    Command(
        "compare",
        "FILE [--label NAME] [--score NAME --score NAME] [options]",
        "compare two scores on the same rows",
        "Uses paired tests: DeLong's test for the AUC and a bootstrap test for costs.",
        "cutscore compare scores.parquet --label y --score old --score new",
        {
            "table": _table("labels and both scores"),
            "columns": _rows("score column; give this option twice", "unit"),
            "costs": _of(
                "costs",
                "prior",
                costs="also compare the costs at the best thresholds, given the cost of a false "
                "alarm (fp) and of a miss (fn)",
            ),
            "output": _of("json", "quiet"),
        },
        ("paths",),
    ),
    Command(
        "apply",
        "MODEL FILE [options]",
        "apply a model or a policy to new rows",
        "A model adds the columns score, llr (log-likelihood ratio), probability, decision and "
        "why. A policy reads the score from the table and adds only llr, probability and "
        "decision. All three are empty if the score is missing.",
        "cutscore apply model.json new.csv -o decided.parquet",
        {
            "model": _of("model"),
            "table": _table("new rows"),
            "output": _of(
                "output",
                "keep",
                "reasons",
                "quiet",
                output="file to write; its extension determines the format. Default: CSV on "
                "standard output",
                keep="input column to keep; repeatable. Default: all",
            ),
        },
        ("model", "paths"),
        "-",
    ),
    Command(
        "revise",
        "MODEL [--cost fp=1,fn=50] [--prior SHARE] [--subject-to LIMIT] [options]",
        "choose a new threshold for new costs, limits or prevalence",
        "Nothing is refitted: the new threshold is chosen on the evidence stored in MODEL. "
        "Anything you don't specify keeps its current value. Without -o, the change is shown but "
        "not saved.",
        "cutscore revise policy.json --cost fp=1,fn=50 -o revised.json",
        {
            "model": _of("model"),
            "changes": _of(
                *("costs", "maximize", "subject_to", "prior", "confidence"),
                *("threshold", "drop_limits", "gap"),
                gap=f"{PARAMETERS['gap'].help.partition(': ')[2]}. {_STORED}",
                costs=f"{PARAMETERS['costs'].help}. {_STORED}",
                subject_to=f"{PARAMETERS['subject_to'].help}. If MODEL has groups, it applies to "
                f"each. {_STORED}",
                prior=PARAMETERS["prior"].help.replace("Default: as in the table", _STORED),
                confidence=f"{PARAMETERS['confidence'].help}. {_STORED}",
            ),
            "output": _of("output", "json", "quiet", output=_NEW),
        },
        ("model",),
    ),
    Command(
        "check",
        "MODEL FILE [options]",
        "compare expected with observed performance on labelled rows",
        "Shows each expected value next to the observed one, with confidence intervals and a test "
        "for a difference. The exit code is 3 if a limit is violated.",
        "cutscore check policy.json labelled.csv",
        {
            "model": _of("model"),
            "table": _table("labelled rows"),
            "columns": _of(
                *("label", "positive", "weight", "period", "exposure"),
                label=f"label column. {_STORED}",
                period=f"{PARAMETERS['period'].help}. {_STORED}",
                positive=f"label of the positive class. {_STORED}",
            ),
            "output": _of("json", "quiet"),
        },
        ("model", "paths"),
    ),
    Command(
        "report",
        "MODEL [-o report.html] [options]",
        "write a report on a model or a policy",
        "Shows curves, confidence intervals and the threshold, computed from the evidence stored "
        "in MODEL. No rows are needed.",
        "cutscore report policy.json -o report.html",
        {
            "model": _of("model"),
            "output": _of(
                *("output", "title", "json", "quiet"),
                output="HTML page to write, such as report.html",
            ),
        },
        ("model",),
    ),
    Command(
        "merge",
        "MODEL MODEL ... -o FILE [options]",
        "combine the evidence from several policies or models",
        "The files, for example from several sites, must have the same objective, limits and "
        "prior. A new threshold is chosen on the combined evidence.",
        "cutscore merge north.json south.json -o all.json",
        {
            "models": _of("models"),
            "output": _of("output", "json", "quiet", output=_NEW),
        },
        ("models",),
    ),
    Command(
        "export",
        "MODEL --to FORMAT [options]",
        "export a model or policy as SQL, ONNX, Python, scikit-learn or a model card",
        "",
        "cutscore export policy.json --to sql --table payments --keep id -o decide.sql",
        {
            "model": _of("model"),
            "output": _of(
                *("to", "output", "table", "dialect", "keep", "float32"),
                output="file to write. Default: standard output",
                keep="SQL: input column to include in the result, such as a key; repeatable",
            ),
        },
        ("model", "to"),
        "-",
    ),
    Command(
        "demo",
        "[options]",
        "run a demonstration on simulated card payments",
        "Trains a classifier, applies it to new payments, and writes an HTML report.",
        "cutscore demo -o demo && xdg-open demo/report.html",
        {
            "output": (
                PARAMETERS["output"].but(help="output folder", metavar="FOLDER", default="demo"),
            )
        },
    ),
    Command(
        "explain",
        "[CODE]",
        "explain the code shown in an error or a warning",
        "Without a code, lists all codes.",
        "cutscore explain column-missing",
        {"code": _of("code")},
    ),
    Command(
        "completion",
        "SHELL",
        "print a shell completion script",
        "",
        'eval "$(cutscore completion bash)"',
        {"shell": _of("shell")},
        ("shell",),
    ),
)

EXIT_CODES = """\
exit codes:
  0    success
  1    failure: a file or its rows could not be used
  2    invalid command line
  3    completed, but a limit is violated or cannot be met
  130  interrupted
  143  terminated

example: cutscore evaluate scores.csv --label y --score s --report report.html"""


# ---------------------------------------------------------------------------------------- parsing


def parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """What was asked, under the names of parameters; a usage error where it can't be understood."""
    top, commands = _parsers()
    words = sys.argv[1:] if argv is None else list(argv)
    if not words or words[0].startswith("-"):
        _, unknown = top.parse_known_args(words)
        if unknown:
            raise UsageError(Usage(f"a command must come before {unknown[0]}"))
        top.print_help(sys.stderr)
        top.exit(2)
    name = words[0]
    if name not in commands:
        raise UsageError(Usage(f"there is no command {name!r}", _near(name, commands)))
    made, options = commands[name], _options(commands[name])
    # First: an option that was meant to be another may be why that one is missing.
    for word in takewhile("--".__ne__, marked := _mark(words[1:], options)):
        option = word.partition("=")[0]
        if option.startswith("--") and " " not in option and option not in options:
            _unknown(name, option, commands)
    try:
        # Files may stand before, after and between the options.
        arguments, unknown = made.parse_known_intermixed_args(marked)
    except argparse.ArgumentError as error:
        option = error.argument_name or ""
        action = next(a for a in made._actions if "/".join(a.option_strings) == option)
        rule = "takes no value" if action.nargs == 0 else f"needs a value, {action.metavar}"
        raise UsageError(Usage(f"{action.option_strings[-1]} {rule}")) from None
    if unknown:
        _unknown(name, unknown[0], commands)
    arguments.words = words
    return _check(arguments, next(one for one in COMMANDS if one.name == name))


def _check(arguments: argparse.Namespace, command: Command) -> argparse.Namespace:
    """The same, if nothing is missing and values are what they should be."""
    for one in (one for group in command.groups.values() for one in group):
        value = getattr(arguments, one.name)
        if value is None or one.kind == "text":
            continue
        read = partial(_READERS[one.kind], one)
        given = [read(text) for text in value] if one.many else read(value)
        setattr(arguments, one.name, given)
    for name in command.required:
        one = PARAMETERS[name]
        by_query = name == "paths" and getattr(arguments, "sql", None)
        if not getattr(arguments, name) and not by_query:
            what = one.flag if one.flag == one.metavar else f"{one.flag} {one.metavar}"
            usage = f"Usage: cutscore {command.name} {command.usage}."
            raise UsageError(Usage(f"{what} is missing", usage))
    return arguments


def _mark(words: Sequence[str], options: Sequence[str]) -> list[str]:
    """The same, with the values of --missing such that argparse takes them: it takes -n/a for an
    option, and drops what is nothing but two dashes."""
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
    if near:
        return f"Did you mean {near[0]}?"
    return f"The commands are {either(names, 'and', show=str)}."


# What options are called elsewhere.
_ALSO = {"--label": "--target", "--target": "--label", "--group": "--unit"}
_ALSO |= {"--measure": "--maximize", "--metric": "--maximize", "--objective": "--maximize"}


def _options(made: argparse.ArgumentParser) -> list[str]:
    return [option for action in made._actions for option in action.option_strings]


def _unknown(command: str, name: str, commands: Mapping[str, argparse.ArgumentParser]) -> NoReturn:
    if not name.startswith("-"):
        raise UsageError(Usage(f"unexpected argument {name!r}"))
    name, options = name.partition("=")[0], _options(commands[command])
    elsewhere = [other for other, one in commands.items() if name in _options(one)]
    near = (
        [option for option in options if option == _ALSO.get(name)]
        or [option for option in options if name.startswith("--") and option.startswith(name)]
        or ([] if elsewhere else get_close_matches(name, options, 1, 0.7))
    )
    hint = f"cutscore {command} --help lists the options."
    if near:
        hint = f"Did you mean {either(near, show=str)}?"
    elif elsewhere:
        verb = "has" if len(elsewhere) == 1 else "have"
        hint = f"{either(elsewhere, 'and', show=str)} {verb} this option."
    raise UsageError(Usage(f"cutscore {command} has no option {name}", hint))


# ------------------------------------------------------------------------------ values of options


def _number(one: Parameter, text: str, make: Callable[[str], Any] = float) -> Any:
    try:
        return make(text)
    except ValueError:
        rule = "be an integer" if make is int else "be a number"
        raise UsageError(BadArgument(one.name, rule, text)) from None


def _share(one: Parameter, text: str) -> float:
    """0.02, or 2 %."""
    number, percent, rest = text.strip().partition("%")
    try:
        if rest:
            raise ValueError
        # As it is written: 0.7 / 100 is another float than 0.007.
        return float(f"{number.strip()}e-2") if percent else float(number)
    except ValueError:
        rule = "be a share, such as 0.02 or '2 %'"
        raise UsageError(BadArgument(one.name, rule, text)) from None


def _thresholds(one: Parameter, text: str) -> Any:
    """SCORE, or REVIEW,BLOCK."""
    review, comma, block = text.partition(",")
    return (_number(one, review), _number(one, block)) if comma else _number(one, text)


def _point(one: Parameter, text: str) -> tuple[str, tuple[float, float]]:
    """NAME=FPR,TPR."""
    name, _, rates = text.rpartition("=")
    fpr, _, tpr = rates.partition(",")
    try:
        point = _share(one, fpr), _share(one, tpr)
    except UsageError:
        point = -1.0, -1.0
    if not (name.strip() and all(0 <= rate <= 1 for rate in point)):
        rule = "be a name, a false positive rate and a recall, such as 'old rule=0.1,0.6'"
        raise UsageError(BadArgument(one.name, rule, text))
    return name.strip(), point


def _choice(one: Parameter, text: str) -> str:
    if text not in one.choices:
        near = get_close_matches(text, one.choices, 1, 0.7)
        hint = f"Did you mean {near[0]}?" if near else ""
        rule = f"be {either(one.choices, show=str)}"
        raise UsageError(BadArgument(one.name, rule, text, hint))
    return text


_READERS: dict[str, Callable[[Parameter, Any], Any]] = {
    "whole": partial(_number, make=int),
    "number": _number,
    "share": _share,
    "point": _point,
    "thresholds": _thresholds,
    "choice": _choice,
}


# ----------------------------------------------------------------------------------- the parsers


def _parsers() -> tuple[_Parser, dict[str, _Parser]]:
    """The parser of all commands, and those of each."""
    top = _Parser(
        prog="cutscore",
        usage="cutscore COMMAND [options]",
        description="From scores to decisions. Run cutscore COMMAND --help for options and an "
        "example.",
        epilog=EXIT_CODES,
        formatter_class=_Help,
        add_help=False,
        allow_abbrev=False,
    )
    commands = top.add_subparsers(
        dest="command", title="commands", metavar="COMMAND", prog="cutscore"
    )
    more = top.add_argument_group("options")  # after the commands, which people look for
    more.add_argument("-h", "--help", action="help", help="show this help")
    more.add_argument(
        "--version", action="version", version=f"cutscore {__version__}", help="show the version"
    )
    for command in COMMANDS:
        _add(commands, command)
    return top, commands.choices


class _Parser(argparse.ArgumentParser):
    """One that notices if its help can't be written."""

    def _print_message(self, message: str, file: Any = None) -> None:
        if file is sys.stdout:
            print_text(message.rstrip("\n"))
        else:
            super()._print_message(message, file)


class _Help(argparse.HelpFormatter):
    """Names and what they do on one line: argparse forgets that those of commands are indented.
    Examples and tables are not wrapped: they are to be copied."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        whole = "\n" in text or text.startswith("example: ")
        return text if whole else super()._fill_text(text, width, indent)

    def _format_action(self, action: argparse.Action) -> str:
        if not isinstance(action, argparse._SubParsersAction):
            return super()._format_action(action)
        commands = [self._format_action(one) for one in self._iter_indented_subactions(action)]
        return self._join_parts(commands)

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        for one in self._iter_indented_subactions(action):
            length = len(self._format_action_invocation(one)) + self._current_indent
            self._action_max_length = max(self._action_max_length, length)


def _add(commands: Any, command: Command) -> None:
    made = commands.add_parser(
        command.name,
        usage=f"cutscore {command.name} {command.usage}",
        help=command.text,
        description=f"{command.text[0].upper()}{command.text[1:]}. {command.more}",
        epilog=f"example: {command.example}",
        formatter_class=_Help,
        # What is short for one option today may be short for two tomorrow.
        allow_abbrev=False,
        exit_on_error=False,
        add_help=False,
    )
    # Values may be -1e-05 and -inf too, which are taken for options otherwise.
    made._negative_number_matcher = re.compile(r"-(\d|\.\d|inf$)")
    for title, parameters in command.groups.items():
        group = made.add_argument_group(title)
        for one in parameters:
            _add_option(group, one)
    made.add_argument_group("help").add_argument(
        "-h", "--help", action="help", help="show this help"
    )
    made.set_defaults(command=command.name)
    if command.output:
        made.set_defaults(output=command.output)


def _add_option(group: argparse._ArgumentGroup, one: Parameter) -> None:
    text = one.help.replace("%", "%%")
    if one.default is not None and "(default)" not in text:
        text += f". Default: {one.default}"
    if one.flag == one.metavar:  # a word without an option
        group.add_argument(one.name, nargs="*" if one.many else "?", metavar=one.flag, help=text)
    elif not one.metavar:
        action = "store_false" if one.flag.startswith("--no-") else "store_true"
        group.add_argument(*one.flags, dest=one.name, action=action, help=text)
    else:
        group.add_argument(
            *one.flags,
            dest=one.name,
            action="append" if one.many else "store",
            default=[] if one.many else one.default,
            type=(lambda text: text.removeprefix("=")) if one.name == "missing" else str,
            metavar=one.metavar,
            help=text,
        )
