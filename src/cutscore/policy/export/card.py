"""A policy as a card in Markdown: what it decides, what to expect of it, and its limits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cutscore.decision.words import natural
from cutscore.measures.confusion import Confusion
from cutscore.measures.costs import Costs, cost_text
from cutscore.measures.triage import Triage
from cutscore.policy.words import promise_name, promise_text

if TYPE_CHECKING:
    from cutscore.policy.artefact import Policy


def to_card(policy: Policy, *, title: str | None = None) -> str:
    """A model card in Markdown. Names from the data are shown as text, whatever they contain.

    Parameters
    ----------
    policy
        The policy.
    title
        The heading. Default: "Policy for column = label".

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.policy import Labels
    >>> s = cs.sweep([1, 0, 1, 0], [4, 3, 2, 1])
    >>> p = cs.Policy.choose(s, "f1", calibrator=cs.Affine(1.0, 2.5), labels=Labels(1, 0, "ill"))
    >>> print(p.export("card").splitlines()[0])
    # Policy for 'ill' = 1
    """
    from cutscore.policy.file import FORMAT

    p = policy
    head = title or (f"Policy for {p.labels.words}" if p.labels.words else "Policy")
    parts = [
        f"# {text(head)}",
        _what(p),
        _expectations(p),
        *_groups(p),
        _evidence(p),
        _limits(p),
        f"Made by {text(p.provenance.library)}; format {FORMAT}.",
    ]
    return "\n\n".join(parts) + "\n"


def text(value: object) -> str:
    """Escape Markdown and HTML, and join lines.

    Only what would be markup is escaped, for those who read the source.
    """
    one = "".join(c if c.isprintable() else "\ufffd" for c in re.sub(r"\s+", " ", str(value)))
    marked = _MARKUP.sub(lambda found: _HTML.get(found[0]) or rf"\{found[0]}", one)
    return _BEGINS.sub(lambda found: rf"{found[0][:-1]}\{found[0][-1]}", marked)


_HTML = {"&": "&amp;", "<": "&lt;"}
_MARKUP = re.compile(
    r"[\\`*{}\[\]|~$]"  # anywhere; parentheses and ! mean something beside brackets only
    r"|(?<![^\W_])_|_(?![^\W_])"  # emphasis neither begins nor ends inside a word
    r"|<(?!=?\s)"  # before a blank, < and <= open no tag
    r"|&(?=#?\w+;)"  # an entity
    r"|(?<!\S)#"  # of a heading, at its beginning or end
)
# Quotes, lists and rules are what they are by how a line begins.
_BEGINS = re.compile(r"^ ?(?:\d{1,9}[.)](?= |$)|[-+](?=[ +-]|$)|>)")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; cells are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def total(x: float) -> str:
    """Counts in full; weights with five digits."""
    return f"{x:,.0f}" if x == round(x) else f"{float(f'{x:.5g}'):,.10g}"


def costs_in_words(costs: Costs) -> str:
    """Costs and benefits in a sentence."""
    miss, alarm = cost_text(costs.fn), cost_text(costs.fp)
    words = [f"{alarm} per false positive, {miss} per false negative"]
    words += [f"{costs.review:.6g} per review"] if costs.review is not None else []
    words += [f"{costs.review_miss:.6g} more per reviewed positive"] if costs.review_miss else []
    words += [f"a benefit of {costs.tp:.6g} per true positive"] if costs.tp else []
    words += [f"a benefit of {costs.tn:.6g} per true negative"] if costs.tn else []
    return ", ".join(words)


def objective_in_words(p: Policy) -> str:
    """What the threshold was chosen for, in a sentence."""
    a = p.aim
    several = p.three_way or p.cuts.groups
    what, was, verb = ("thresholds", "were", "") if several else ("threshold", "was", "s")
    if p.given:
        return f"The {what} {was} set manually."
    does = f"minimise{verb}" if a.goal.better < 0 else f"maximise{verb}"
    aim = f"{does} {a.goal.name}"
    limits = (*a.limit_texts, *(() if p.groups is None else p.groups.limit_texts))
    if limits:
        aim += f" subject to {' and '.join(limits)}"
    if a.confidence:
        aim += f" at {100 * a.confidence:g} % confidence"
    return f"The {what} {aim}{f': {costs_in_words(a.costs)}' if a.costs else ''}."


def _what(p: Policy) -> str:
    failed = "" if p.feasible else " **No threshold meets these limits; this one is the closest.**"
    rule = f"The rule is to **{text(p.rule)}**. {text(objective_in_words(p))}{failed}"
    if p.calibrator is None:
        return f"{rule}\n\nAll rows of the evidence are normal: no probabilities are known."
    calibration = repr(p.calibrator).partition("\n")[0]
    return (
        f"{rule}\n\n"
        f"Scores become log-likelihood ratios: {text(calibration)}. Probabilities assume a "
        f"prevalence of {100 * p.prior:.4g} %."
    )


def _expectations(p: Policy) -> str:
    lines = ["## Expected performance"]
    known = [p.promises.get(name) for name in ("recall", "fpr")]
    if known[0] is not None and known[1] is not None and not p.three_way:
        recall, fpr = known[0].value, known[1].value
        words = natural(Confusion(recall, fpr, 1 - recall, 1 - fpr), p.prior)
        lines.append(f"Expected {words}.")
    if p.promises:
        rows = [[text(promise_name(name)), promise_text(name, e)] for name, e in p.promises.items()]
        lines.append(table(["expected on new data", ""], rows))
    c = p.confusion
    rows = [["flagged", total(c.tp), total(c.fp)], ["not flagged", total(c.fn), total(c.tn)]]
    if isinstance(c, Triage):
        reviewed = ["reviewed", total(c.reviewed_pos), total(c.reviewed_neg)]
        rows = [["blocked", *rows[0][1:]], reviewed, ["passed", *rows[1][1:]]]
    lines.append("On the evidence:\n\n" + table(["", "positive", "negative"], rows))
    return "\n\n".join(lines)


def _groups(p: Policy) -> list[str]:
    """What the thresholds do in each group."""
    if p.groups is None:
        return []
    rows = []
    for name, evidence in p.groups.evidence.items():
        (threshold,) = p.cuts.groups.get(name, p.cuts.thresholds)
        promises, s = p.groups.promises.get(name, {}), evidence.sweep
        rates = (promise_text(rate, promises.get(rate)) for rate in ("recall", "fpr"))
        rows.append([text(name), repr(threshold), *rates, total(s.P), total(s.N)])
    head = ["threshold", "expected recall", "expected FPR", "positive", "negative"]
    lines = ["## Groups", table([text(p.groups.column), *head], rows)]
    if p.groups.pooled:
        names = ", ".join(p.groups.pooled)
        lines.append(f"Too small to be tested alone, and tested together: {text(names)}.")
    return ["\n\n".join(lines)]


def _evidence(p: Policy) -> str:
    s, made = p.sweep, p.provenance
    lines = [
        "## Evidence",
        f"{text(p.evidence)}; {total(s.P)} positive ({100 * s.prevalence:.3g} %), {total(s.N)} "
        f"negative. Scores: {text(made.scores)}.",
    ]
    if made.digest:
        lines.append(f"SHA-256 of the rows: `{re.sub('[^0-9A-Za-z:]', '', made.digest)}`.")
    done = [
        f"{name}: {text(v)}" for name, v in (("command", made.command), ("time", made.time)) if v
    ]
    return "\n\n".join([*lines, *done])


def _limits(p: Policy) -> str:
    lines = [
        "## Limitations",
        "",
        "- These estimates apply to cases similar to the evidence, scored by the same model.",
    ]
    if p.calibrator is None:
        return "\n".join([*lines, "- There were no positives: how many are caught is not known."])
    lines.append("- If the prevalence differs, pass the prior that applies.")
    if p.sweep.P < 100:
        lines.append("- There were few positives: recall and precision are uncertain.")
    return "\n".join(lines)
