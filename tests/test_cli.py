"""The command line, run as a person would."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import cutscore
from cutscore.cli import main

ROOT = Path(__file__).parent.parent


def command(
    *arguments: str, cwd: Path, env: dict[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cutscore", *arguments],
        cwd=cwd,
        check=False,
        encoding="utf-8",
        env={"PYTHONUTF8": "1"} if env is None else env,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )


@pytest.mark.slow
def test_the_demo_leaves_a_report_and_its_tables(tmp_path):
    done = command("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "demo" / "report.html").read_text("utf-8")
    assert "Card payments: which ones to hold?" in page
    assert not re.search(r"""(src|href)=["'](?!#|data:)""", page)  # nothing is fetched
    assert (tmp_path / "demo" / "payments.csv").read_text().count("\n") == 12_001
    assert (tmp_path / "demo" / "decided.csv").read_text().count("\n") == 1_001


def test_version_and_help(capsys):
    for arguments, expected in (
        (["--version"], cutscore.__version__),
        (["demo", "--help"], "example:"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 0
        assert expected in capsys.readouterr().out


def test_help_needs_neither_numpy_nor_matplotlib():
    code = (
        "import sys\nfrom cutscore.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "assert not {'numpy', 'matplotlib', 'cutscore.core._native'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_what_can_not_be_written_is_said_in_one_sentence(tmp_path, capsys):
    (tmp_path / "file").write_text("mine")
    assert main(["demo", "-o", str(tmp_path / "file")]) == 1
    out = capsys.readouterr()
    assert out.out == ""
    assert "[file-unwritable]" in out.err
    assert out.err.count("\n") == 1
    assert (tmp_path / "file").read_text() == "mine"


def test_unknown_words_exit_with_2(capsys):
    for words, said in (
        (["decide"], "there is no command 'decide'. The commands are fit, evaluate, choose, "),
        (["evalute", "t.csv"], "there is no command 'evalute'. Did you mean evaluate?"),
        (["fit", "--learner", "logistc"], "got 'logistc'. Did you mean logistic?"),
        (["fit", "--learner", "x"], "--learner must be auto, mean-difference, fisher, "),
        (["--quiet"], "a command must come before --quiet"),
        (["demo", "--colour"], "cutscore demo has no option --colour. cutscore demo --help lists"),
        (["fit", "t.csv", "--target", "y", "--exlude=a"], "--exlude. Did you mean --exclude?"),
        # Short for an option is no option, whatever else is missing.
        (["fit", "t.csv", "--targ", "y"], "has no option --targ. Did you mean --target?"),
        (["evaluate", "t.csv", "--for", "csv"], "no option --for. Did you mean --format?"),
        (["evaluate", "t.csv", "--sub=fpr<=1"], "no option --sub. Did you mean --subject-to?"),
        (["evaluate", "t.csv", "--co", "1"], "--co. Did you mean --cost or --confidence?"),
        (["fit", "t.csv", "--label", "y"], "fit has no option --label. Did you mean --target?"),
        (["choose", "t.csv", "--target", "y"], "no option --target. Did you mean --label?"),
        (["fit", "t.csv", "--measure", "f1"], "no option --measure. Did you mean --maximize?"),
        (
            ["apply", "m.json", "t.csv", "--target", "y"],
            "has no option --target. fit has this option.",
        ),
        (
            ["revise", "m.json", "--unit", "u"],
            "fit, evaluate, choose, compare and check have this option.",
        ),
        (["--vers"], "a command must come before --vers"),
        (["demo", "-x"], "cutscore demo has no option -x. cutscore demo --help lists the"),
        (["demo", "again"], "unexpected argument 'again'"),
        (["export", "m.json", "--to", "pmml"], "python, sklearn or card, got 'pmml'."),
        (["export", "m.json"], "--to FORMAT is missing. Usage: cutscore export MODEL --to FORMAT"),
        (["fit", "t.csv"], "--target NAME is missing. Usage: cutscore fit FILE --target NAME"),
        (["evaluate"], "FILE is missing. Usage: cutscore evaluate FILE [--label NAME]"),
        (["apply"], "MODEL is missing."),
        (["fit", "t.csv", "--target", "y", "--folds", "x"], "--folds must be an integer, got"),
        (["fit", "t.csv", "--target"], "--target needs a value, NAME"),
        (["evaluate", "t.csv", "--json=1"], "--json takes no value"),
    ):
        assert main(words) == 2
        out, err = capsys.readouterr()
        assert err.startswith("cutscore: ")
        assert err.count("\n") == 1
        assert re.search(r"\[(usage|bad-argument)\]$", err)
        assert said in err
        assert "--json" in str(words) or out == ""


def test_wrong_words_are_findings_in_json(capsys):
    for words, code, parameter in (
        (["fit", "t.csv", "--target", "y", "--folds", "x", "--json"], "bad-argument", "folds"),
        (["evaluate", "t.csv", "--colour", "--json"], "usage", None),
    ):
        assert main(words) == 2
        error = json.loads(capsys.readouterr().out)["error"]
        assert error["code"] == code
        assert error["fields"].get("parameter") == parameter


def test_options_are_those_of_aim_and_roles():
    """One declaration a field: what Python takes, the command takes."""
    from dataclasses import fields
    from inspect import signature

    from cutscore.cli.parser import COMMANDS as KNOWN
    from cutscore.core.parameters import AIM, ROLES
    from cutscore.measures.aim import AimOptions
    from cutscore.tables.roles import Roles
    from cutscore.training.registry import LEARNERS

    asked = list(signature(cutscore.Aim.asked).parameters)
    assert [*AimOptions.__annotations__] == asked
    assert [*(one.name for one in AIM), "level"] == asked
    assert {one.name for one in ROLES} == {f.name for f in fields(Roles)}
    fit = {one.name: one for group in KNOWN[0].groups.values() for one in group}
    assert {one.name for one in (*AIM, *ROLES)} <= set(fit)
    assert fit["learner"].choices == ("auto", *LEARNERS)


def test_a_report_has_the_title_that_was_given(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("y,s\n1,3\n0,1\n1,2\n0,2\n")
    words = ["evaluate", "t.csv", "--label", "y", "--score", "s", "--title", "Mine & yours"]
    assert main([*words, "--report", "r.html"]) == 0
    assert "Mine &amp; yours" in (tmp_path / "r.html").read_text("utf-8")
    assert main(words) == 2
    assert "Add --report, or drop --title" in capsys.readouterr().err


def test_alone_it_lists_the_commands(capsys):
    with pytest.raises(SystemExit) as stop:
        main([])
    assert stop.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    for name in COMMANDS:  # with what it does, on one line
        assert re.search(rf"^    {name} +\w+ \w+", err, re.M), name


def test_what_to_aim_at_is_said_alike(capsys):
    groups = {}
    for name in ("fit", "evaluate", "choose"):
        with pytest.raises(SystemExit):
            main([name, "--help"])
        groups[name] = re.search(r"objective:\n(.*?)\n\n", capsys.readouterr().out, re.S)[1]
    assert "--maximize MEASURE" in groups["fit"]
    assert len({" ".join(text.split()) for text in groups.values()}) == 1


def test_names_of_several_words_are_quoted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{'not yet' if k % 3 else 'yes'},{k * 7 % 30}\n" for k in range(60))
    (tmp_path / "t.csv").write_text("is fraud,s\n" + rows)
    for words in (["evaluate", "t.csv", "--label"], ["fit", "t.csv", "--target"]):
        more = ["--score", "s"] if words[0] == "evaluate" else ["--learner", "fisher"]
        assert main([*words, "is fraud", "--positive", "not yet", "-q", *more]) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert "; positive class: 'is fraud' = 'not yet' " in said


@pytest.mark.slow
def test_a_disk_that_is_full_costs_nothing_that_was_there(tmp_path):
    resource = pytest.importorskip("resource")
    folder = tmp_path / "demo"
    folder.mkdir()
    for name in ("scores.csv", "report.html"):
        (folder / name).write_text("mine")
    # Files of more than 50,000 bytes can't be written: like ENOSPC, an error without a file name.
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (50_000, 50_000))
    # Python would leave half a .pyc file behind there.
    env = {"PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = command("demo", cwd=tmp_path, preexec_fn=limit, env=env)
    assert done.returncode == 1
    assert done.stderr.startswith("cutscore: demo/payments.csv can't be written: ")
    assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "scores.csv"]
    assert {path.read_text() for path in folder.iterdir()} == {"mine"}


@pytest.mark.slow
def test_a_terminal_that_knows_ascii_only(tmp_path):
    (tmp_path / "s.csv").write_text("y,Größe\n1,3\n0,1\n1,2\n0,2\n", encoding="utf-8")
    words = ("evaluate", "s.csv", "--label", "y", "--score", "Größe")
    done = command(*words, cwd=tmp_path, env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"})
    assert done.returncode == 0, done.stderr
    assert "Gr??e" in done.stdout


# What docs/howto/command.md shows, what --help gives as examples, --json, --quiet, completion.

PAGE = ROOT / "docs" / "howto" / "command.md"


@pytest.fixture(scope="module")
def loans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the table that the page makes, a model of it, and `cutscore` in the PATH."""
    folder = tmp_path_factory.mktemp("page")
    made = re.search(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    assert made is not None
    subprocess.run([sys.executable, "-c", made[1]], cwd=folder, check=True)
    return folder


def shell(line: str, cwd: Path) -> str:
    """What a line prints on a terminal of 80 columns, errors included.

    One command needs no process of its own; bash runs pipes, other programs and the like.
    """
    unquoted = re.sub(r"'[^']*'|\"[^\"]*\"", "", line)
    alone = line.startswith("cutscore ") and not re.search(r"[|;&<>$*]", unquoted)
    said = in_process(shlex.split(line)[1:], cwd) if alone else by_bash(line, cwd)
    return said.rstrip() + "\n" if said.strip() else ""


def in_process(words: list[str], cwd: Path) -> str:
    with (
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) as out,
        chdir(cwd),
        redirect_stdout(out),
        redirect_stderr(out),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("COLUMNS", "80")
        with suppress(SystemExit):
            main(words)
        out.seek(0)
        return out.read()


def by_bash(line: str, cwd: Path) -> str:
    bin = cwd / "bin"
    if not bin.exists():
        bin.mkdir()
        (bin / "cutscore").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cutscore "$@"\n')
        (bin / "cutscore").chmod(0o755)
    path = f"{bin}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=cwd,
        check=False,
        encoding="utf-8",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={"PATH": path, "PYTHONUTF8": "1", "COLUMNS": "80"},
    )
    return done.stdout


def console(text: str) -> list[tuple[str, str]]:
    """The commands of a page, each with its output."""
    out = []
    for block in re.findall(r"```console\n(.*?)```", text, re.S):
        for piece in re.split(r"^\$ ", block, flags=re.M)[1:]:
            line, _, printed = piece.partition("\n")
            out.append((line, printed))
    return out


@pytest.mark.slow
def test_the_page_shows_what_commands_print(loans):
    pytest.importorskip("duckdb")
    shown = console(PAGE.read_text("utf-8"))
    assert len(shown) >= 10
    for line, printed in shown:
        assert shell(line, loans) == printed, line


COMMANDS = ("fit", "evaluate", "choose", "compare", "apply", "revise", "check", "report", "merge")
COMMANDS += ("export", "demo", "completion")


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_that_runs(name, tmp_path, capsys, monkeypatch):
    import random
    import shlex

    from cutscore.tables import write_table

    with pytest.raises(SystemExit) as stop:
        main([name, "--help"])
    assert stop.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    example = text.partition("example: ")[2].split(" && ")[0]
    draw = random.Random(1).random
    y = [int(draw() < 0.4) for _ in range(200)]
    table = {
        "y": y,
        "defaulted": y,
        "income": [draw() + one for one in y],
        "s": [draw() + 2 * one for one in y],
        "old": [draw() for _ in y],
        "new": [draw() + one for one in y],
    }
    monkeypatch.chdir(tmp_path)
    for file in ("loans.csv", "scores.csv", "scores.parquet", "new.csv", "labelled.csv"):
        write_table(file, table)
    assert main(["fit", "loans.csv", "--target", "defaulted", "-o", "model.json", "-q"]) == 0
    if name != "choose":
        chosen = ["--label", "y", "--score", "s", "--cost", "fp=1,fn=25", "-q"]
        for file in ("policy", "north", "south"):  # each of other rows
            table["s"] = [score + draw() for score in table["s"]]
            write_table(f"{file}.csv", table)
            assert main(["choose", f"{file}.csv", *chosen, "-o", f"{file}.json"]) == 0
    capsys.readouterr()
    if name == "completion":
        example = example.removeprefix('eval "$(').removesuffix(')"')
    words = shlex.split(example)
    assert words[:2] == ["cutscore", name]
    assert main(words[1:]) == 0
    if "-o" in words:
        assert Path(words[words.index("-o") + 1]).exists()


def parsed(text: str) -> dict[str, Any]:
    def refuse(token: str) -> None:
        raise AssertionError(token)

    out: dict[str, Any] = json.loads(text, parse_constant=refuse)
    return out


def test_json_keeps_to_its_schemas(loans, capsys, monkeypatch):
    monkeypatch.chdir(loans)
    base = ["loans.csv", "--label", "defaulted", "--score", "old_score", "--json", "--quiet"]
    estimate = {"value", "low", "high", "level"}
    assert main(["choose", *base, "--maximize", "f1", "--subject-to", "recall >= 0.2"]) == 0
    choice = parsed(capsys.readouterr().out)
    assert set(choice) == {
        *("schema", "score", "feasible", "threshold", "flags", "objective", "value", "limits"),
        *("verdict", "expected", "baseline", "confusion", "text"),
    }
    assert choice["schema"] == "cutscore.choice/1"
    assert set(choice["expected"]) == estimate
    assert choice["expected"]["low"] < choice["expected"]["value"] < choice["value"]
    assert choice["limits"][0]["holds"] is True
    assert set(choice["confusion"]) == {"tp", "fp", "fn", "tn"}
    # A threshold that JSON has no number for.
    assert main(["choose", *base, "--cost", "fp=1,fn=0"]) == 0
    nothing = parsed(capsys.readouterr().out)
    assert (nothing["flags"], nothing["threshold"]) == ("nothing", None)
    for more in ([], ["--cost", "fp=1,fn=3"]):
        assert main(["compare", *base, "--score", "debt", *more]) == 0
        found = parsed(capsys.readouterr().out)
        assert set(found) == {
            *("schema", "a", "b", "statistic", "method", "values", "difference", "z", "p_value"),
            *("df", "powerless", "costs", "text"),
        }
        assert found["schema"] == "cutscore.comparison/1"
        assert set(found["difference"]) == estimate
        assert (found["costs"] is None) == (not more)
    keys = {
        *("schema", "version", "source", "label", "rows", "asked", "scores", "differences"),
        *("digest", "baselines", "groups", "warnings", "learners", "training", "weights"),
        "importances",
        "group_results",
        "period_limits",
        "row_costs",
    }
    assert main(["evaluate", *base, "--group", "region"]) == 0
    out = capsys.readouterr()
    assert out.err == ""
    summary = parsed(out.out)
    assert set(summary) == keys
    assert summary["schema"] == "cutscore.summary/1"
    assert main(["fit", "loans.csv", "--target", "defaulted", "--json", "--quiet"]) == 0
    out = capsys.readouterr()
    assert out.err == ""
    fitted = parsed(out.out)
    assert set(fitted) == keys
    assert {row["name"] for row in fitted["learners"]["rows"]} >= {"logistic", "structural"}


def test_columns_found_by_name_are_said_unless_quiet(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("label;score\n1;3\n0;2\n1;1\n0;0\n")
    words = ["choose", "t.csv", "--maximize", "f1"]
    assert main(words) == 0
    said = capsys.readouterr().err.splitlines()
    assert said[1:] == [
        "cutscore: using column 'label' as the label.",
        "cutscore: using column 'score' as the score.",
    ]
    assert main([*words, "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_completion_in_a_real_bash(capsys):
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out

    def completed(*words: str) -> set[str]:
        listed = " ".join(f"'{w}'" for w in words)
        code = (
            f"{script}\nCOMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; _cutscore\n"
            'printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(["bash", "-c", code], check=True, capture_output=True, text=True)
        assert done.stderr == ""
        return set(done.stdout.split())

    assert completed("cutscore", "") >= set(COMMANDS)
    assert completed("cutscore", "ev") == {"evaluate"}
    assert completed("cutscore", "fit", "--le") == {"--learner"}
    assert completed("cutscore", "fit", "--learner", "lo") == {"logistic"}
    assert completed("cutscore", "export", "m.json", "--to", "") == {
        *("sql", "onnx", "python", "sklearn", "card")
    }
    assert completed("cutscore", "completion", "f") == {"fish"}
    for shell_name in ("zsh", "fish"):
        assert main(["completion", shell_name]) == 0
        text = capsys.readouterr().out
        assert all(name in text for name in COMMANDS)


@pytest.mark.slow
def test_globs_sqlite_and_the_standard_input_are_one_table(tmp_path, monkeypatch, capsys):
    import sqlite3

    monkeypatch.chdir(tmp_path)
    rows = [(k % 2, k * 7 % 10 + 3 * (k % 2)) for k in range(40)]
    text = "y,s\n" + "".join(f"{y},{s}\n" for y, s in rows)
    (tmp_path / "a-1.csv").write_text("y,s\n" + "".join(f"{y},{s}\n" for y, s in rows[:15]))
    (tmp_path / "a-2.csv").write_text("y,s\n" + "".join(f"{y},{s}\n" for y, s in rows[15:]))
    (tmp_path / "whole.csv").write_text(text)
    with sqlite3.connect(tmp_path / "d.sqlite") as base:
        base.execute("create table t (y, s)")
        base.executemany("insert into t values (?, ?)", rows)
    base.close()
    columns = ["--label", "y", "--score", "s", "--json"]
    found = []
    for words in (
        ["whole.csv"],
        ["a-*.csv"],
        ["a-1.csv", "a-2.csv"],
        ["d.sqlite", "--sql", "select s, y from t"],
    ):
        assert main(["evaluate", *words, *columns]) == 0
        found.append(parsed(capsys.readouterr().out) | {"source": ""})
    done = command("evaluate", "-", *columns, cwd=tmp_path, input=text)
    assert done.returncode == 0, done.stderr
    found.append(parsed(done.stdout) | {"source": ""})
    assert all(one == found[0] for one in found)


@pytest.fixture
def made_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table with a key, a date and a category, and a model of it, in the working folder."""
    import random

    draw = random.Random(3).random
    lines = ["id,y,x,city,day"]
    for k in range(200):
        y = int(draw() < 0.4)
        city = "rome" if draw() < 0.5 else "oslo"
        lines.append(f"k{k},{y},{draw() + y},{city},2024-01-{k % 28 + 1:02}")
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    words = ["fit", "t.csv", "--target", "y", "--learner", "fisher", "-q", "-o", "m.json"]
    assert main(words) == 0


@pytest.mark.usefixtures("made_model")
def test_a_key_is_kept_in_sql(capsys):
    capsys.readouterr()
    words = ["export", "m.json", "--keep", "id", "--keep", "city"]
    assert main([*words, "--to", "sql", "--dialect", "duckdb"]) == 0
    assert 'SELECT "id", "city", "score"' in capsys.readouterr().out
    assert main([*words, "--to", "card"]) == 2
    assert "--keep applies only to --to sql" in capsys.readouterr().err


@pytest.mark.usefixtures("made_model")
def test_values_that_training_never_had_are_counted(capsys, tmp_path):
    new = "id,x,city,day\n" + "a,1,bonn,2024-01-02\n" * 20 + "b,,rome,2024-01-02\n"
    (tmp_path / "new.csv").write_text(new)
    capsys.readouterr()
    assert main(["apply", "m.json", "new.csv", "-o", "out.csv"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert said[:2] == [
        "cutscore: 20 of 21 rows (95.2 %) have a value of 'city' not seen in training, "
        "such as 'bonn'.",
        "cutscore: 1 of 21 rows (4.76 %) has no value for 'x', which was never missing in "
        "training.",
    ]
    assert main(["apply", "m.json", "t.csv", "-o", "out.csv"]) == 0
    assert "training" not in capsys.readouterr().err
    assert main(["apply", "m.json", "new.csv", "-o", "out.csv", "-q"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("made_model")
def test_a_report_shows_the_command_that_made_it(tmp_path):
    limit = "false alarm rate <= 10 %"
    fit = ["fit", "t.csv", "--target", "y", "--learner", "fisher", "--maximize", "recall"]
    evaluate = ["evaluate", "t.csv", "--label", "y", "--score", "x", "--maximize", "recall"]
    for words in (fit, evaluate):
        assert main([*words, "--subject-to", limit, "-q", "--report", "r.html"]) == 0
        shown = re.search("<code>(cutscore .*?)</code>", (tmp_path / "r.html").read_text("utf-8"))
        assert shown is not None
        typed = shlex.split(unescape(re.sub("<[^>]*>", "", shown[1])))
        assert typed == ["cutscore", *words, "--subject-to", limit, "-q", "--report", "r.html"]


@pytest.mark.usefixtures("made_model")
def test_a_fit_that_writes_nothing_says_so(capsys):
    words = ["fit", "t.csv", "--target", "y", "--learner", "fisher"]
    said = "cutscore: nothing was saved; to save, add -o model.json.\n"
    assert main(words) == 0
    assert capsys.readouterr().err.endswith(said)
    assert main([*words, "-o", "other.json"]) == 0
    assert said not in capsys.readouterr().err


@pytest.mark.usefixtures("made_model")
def test_groups_and_intervals_of_rows(capsys):
    words = ["evaluate", "t.csv", "--label", "y", "--score", "x"]
    assert main([*words, "--group", "city"]) == 0
    said = capsys.readouterr().err
    assert "Confidence intervals assume independent rows, except those for group averages." in said
    assert "If rows with the same 'city' are correlated" in said
    assert main(words) == 0
    assert "intervals" not in capsys.readouterr().err


@pytest.mark.usefixtures("made_model")
def test_shares_in_percent_and_errors_in_options(capsys):
    words = ["choose", "t.csv", "--label", "y", "--score", "x", "--cost", "fp=1,fn=3", "--json"]
    capsys.readouterr()
    printed = []
    for prior in ("0.007", "0.7 %", "0.7%"):
        assert main([*words, "--prior", prior]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] == printed[2]
    for wrong in ("2 %%", "x", "% 2"):
        assert main([*words, "--prior", wrong]) == 2
        assert "must be a share, such as 0.02 or '2 %'" in capsys.readouterr().err
    assert main(["export", "m.json", "--to", "sql"]) == 1
    assert "--dialect must be duckdb or sqlite" in capsys.readouterr().err
    limits = ["--subject-to", "precision >= 0.5", "--confidence", "90 %", "--weight", "x"]
    assert main([*words, *limits]) == 1
    assert json.loads(capsys.readouterr().out)["schema"] == "cutscore.error/1"
