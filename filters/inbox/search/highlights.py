"""The words that a search looks for, marked where a line shows them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from tapestry.core.accents import fold_accents
from tapestry.core.schema import Type
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import children

Highlights = Mapping[str, re.Pattern[str]]
"""What to mark in each column of messages that is searched for words."""

_WORD = re.compile(r"[^\W_]+")


def highlights(text: str, context: Context) -> Highlights:
    """Return what to mark of the messages that a filter finds: the words that it looks for in them.

    Those of filters of others that it refers to are not shown to who asks.

    >>> found = highlights("about index and not mentioning lock", Context())
    >>> highlight("Index, unlocked", found["subject"])
    '<mark>Index</mark>, unlocked'
    """
    words: dict[str, list[str]] = defaultdict(list)
    checked = read(text, replace(context, by_name=True))
    for has in _wanted(checked.condition):
        if isinstance(has.term, n.Column) and has.term.var == checked.var:
            words[has.term.name].append(str(has.words.value))
    return {column: pattern for column in words if (pattern := _pattern(words[column]))}


def highlight(text: str, pattern: re.Pattern[str] | None) -> SafeString:
    """Return a text as HTML, what the pattern finds in it marked.

    >>> highlight("a < b", re.compile("b")), highlight("Herr Pöhl", re.compile("pohl", re.I))
    ('a &lt; <mark>b</mark>', 'Herr <mark>Pöhl</mark>')
    """
    if pattern is None:
        return format_html("{}", text)
    plain, places = _without_accents(text)
    pieces = []
    last = 0
    for found in pattern.finditer(plain):
        start, end = places[found.start()], places[found.end()]
        pieces.append((text[last:start], text[start:end]))
        last = end
    return format_html("{}{}", format_html_join("", "{}<mark>{}</mark>", pieces), text[last:])


def _without_accents(text: str) -> tuple[str, list[int]]:
    """Return a text without accents, and where each letter of it begins, and the end, in both."""
    if text.isascii():
        return text, [*range(len(text) + 1)]
    letters = [(letter, place) for place, sign in enumerate(text) for letter in fold_accents(sign)]
    return "".join(letter for letter, _ in letters), [*(at for _, at in letters), len(text)]


def _wanted(node: n.Node) -> Iterator[n.Has]:
    """Yield the searches for words that a message may meet, not those that it may not."""
    if isinstance(node, n.Has) and node.words.type is Type.TEXT:
        yield node
    elif not isinstance(node, n.Not):
        for child in children(node):
            if isinstance(child, n.Node):
                yield from _wanted(child)


def _pattern(texts: Sequence[str]) -> re.Pattern[str] | None:
    """Return the pattern of words as HAS compares them, in a text without accents.

    They stand in order, in any case, and are whole.

    >>> bool(_pattern(["c++ plan"]).search("the C, Plan")), _pattern(["--"])
    (True, None)
    """
    found = (_WORD.findall(fold_accents(text)) for text in texts)
    runs = [r"[\W_]+".join(map(re.escape, words)) for words in found if words]
    if not runs:
        return None
    longest_first = "|".join(sorted(set(runs), key=len, reverse=True))
    return re.compile(rf"(?<![^\W_])(?:{longest_first})(?![^\W_])", re.IGNORECASE)
