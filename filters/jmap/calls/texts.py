"""Words that a query looks for in texts, without accents and capitals (RFC 8621, 4.4.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from tapestry.core.accents import fold_accents


def words_of(text: str) -> list[str]:
    """Return what must all be in a text: words, and what stands between quotation marks."""
    return [folded(word.strip('"')) for word in re.findall(r'"[^"]*"|[^\s"]+', text)]


def has_words(words: Iterable[str], values: Iterable[Any]) -> bool:
    """Tell whether all words are in some of the values, each a text or several, or in both."""
    texts = [value if isinstance(value, str) else " ".join(value or ()) for value in values]
    text = folded("\n".join(texts))
    return all(word in text for word in words)


def folded(text: str) -> str:
    """Return a text without accents and capitals."""
    return fold_accents(text).casefold()
