"""Text from strangers on a terminal."""

from __future__ import annotations

import re

# Control characters but tab and line feed, marks that change the direction of text, and halves of
# pairs, which no terminal has.
_UNSAFE = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def neutral(text: str) -> str:
    """Text without what a terminal would act on: sequences that move the cursor, set the title or
    hide what stands there.

    Examples
    --------
    >>> from cutscore.core.terminal import neutral
    >>> neutral("a\\x1b[2J, b")
    'a\ufffd[2J, b'
    """
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text)
