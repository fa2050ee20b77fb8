"""Names of scores and measures as reports write them, on the terminal and on the page."""

from __future__ import annotations

from cutscore.measures.registry import MEASURES, WORDS


def shown(name: str, most: int = 40) -> str:
    """A name for one line: no line breaks, no control signs, not too long. Names differ at either
    end, so what is left out is in the middle."""
    line = "".join(c if c.isprintable() else " " for c in name)
    if len(line) <= most:
        return line
    tail = (most - 1) // 2
    return f"{line[: most - 1 - tail]}…{line[len(line) - tail :]}"


def measure_word(name: str) -> str:
    """What learners were compared by."""
    return {"auc": "AUC"}.get(name) or WORDS.get(name) or shown(name)


def word_for(name: str, prior: float | None) -> str:
    """The word for a measure; with the share of positives where that is not the one of the rows
    and the measure depends on it."""
    if prior is None or (name in MEASURES and MEASURES[name].prior_free):
        return WORDS[name]
    return f"{WORDS[name]} at {100 * prior:.3g} % prevalence"
