"""Text from data, made safe for a page: once, here."""

from __future__ import annotations

import re
from html import escape


def clean(text: str) -> str:
    """Text that any file can hold: no lone surrogates, no control signs."""
    whole = str(text).encode("utf-8", "replace").decode("utf-8")
    return "".join(c if c.isprintable() or c in "\n\t " else "\ufffd" for c in whole)


def safe(text: str) -> str:
    return escape(clean(text))


def sentence(text: str) -> str:
    """A sentence with options in it, which are not broken at their hyphens."""
    return re.sub(r"(?<!\S)--[a-z][a-z-]*", r'<span class="option">\g<0></span>', safe(text))


def name_of(text: str) -> str:
    """A name from data: escaped, and kept from turning the words around it."""
    return f"<bdi>{safe(text)}</bdi>"
