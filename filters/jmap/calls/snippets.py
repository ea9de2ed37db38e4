"""SearchSnippet/get: where the words of a filter are in subjects and texts (RFC 8621, 5)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

from filters.jmap.arguments import SnippetGet
from filters.jmap.calls.columns import columns_of
from filters.jmap.calls.queries import emails_of, read_filter
from filters.jmap.calls.texts import folded, words_of
from filters.jmap.models import JmapAccount, JmapRecord
from filters.jmap.objects import check_count, id_of, records_of
from filters.jmap.protocol import Arguments

AROUND = 80
"""Characters before the first word that is found, of those that are shown."""

LONGEST = 200
"""Characters of a text that are shown: with marks at most 255 bytes (RFC 8621, 5), or fewer."""

_BYTES = 255

COLUMNS = {"subject": ("text", "subject"), "body": ("text", "body")}
"""The conditions of which the words are looked for in a column."""


def snippet_get(account: JmapAccount, given: SnippetGet) -> Arguments:
    """Return subjects and pieces of texts in which the words of a filter are marked."""
    check_count(given.email_ids, "maxObjectsInGet")
    if given.filter is not None:
        read_filter(account, emails_of(account).none(), given.filter)
    words = {
        column: [word for text in _texts(given.filter, names) for word in words_of(text)]
        for column, names in COLUMNS.items()
    }
    records = records_of(account, JmapRecord.EMAIL, given.email_ids)
    texts = dict(columns_of(account, list(records.values()), list(COLUMNS)))
    missing = [text for text in given.email_ids if text not in records]
    return {
        "accountId": id_of(account),
        "list": [
            {
                "emailId": text,
                "subject": marked(subject or "", words["subject"], whole=True),
                "preview": marked(body or "", words["body"]),
            }
            for text, record in records.items()
            for subject, body in [texts.get(record.pk, ("", ""))]
        ],
        "notFound": missing or None,
    }


def marked(text: str, words: Iterable[str], *, whole: bool = False) -> str | None:
    """Return a text as HTML in which words are marked; None if it has none of them.

    It begins shortly before the first, unless it is to be ``whole``.

    >>> marked("A plan & more", ["plan"])
    'A <mark>plan</mark> &amp; more'
    """
    text = " ".join(text.split())
    same = folded(text)
    same = same if len(same) == len(text) else text.casefold()
    pattern = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    found = list(re.finditer(pattern, same)) if pattern and len(same) == len(text) else []
    if not found:
        return None
    at = 0 if whole else max(0, found[0].start() - AROUND)
    parts, size, until = list[str](), 0, len(text) if whole else at + LONGEST
    for match in [*found, None]:
        begin, end = match.span() if match else (until, until)
        pieces = [(text[at : min(begin, until)], "{}"), (text[begin:end], "<mark>{}</mark>")]
        for piece, form in pieces if begin < until else pieces[:1]:
            shown = form.format(escape(piece, quote=False)) if piece else ""
            room = _BYTES - size
            if not whole and len(shown.encode()) > room:
                return "".join(parts) + _cut(piece, room) * (form == "{}")
            parts.append(shown)
            size += len(shown.encode())
        at = max(at, end)
    return "".join(parts)


def _cut(text: str, room: int) -> str:
    """Return as much of a text as HTML as there is room for."""
    while text and len(escape(text, quote=False).encode()) > room:
        text = text[:-1]
    return escape(text, quote=False)


def _texts(condition: Mapping[str, Any] | None, names: Iterable[str]) -> Iterator[str]:
    """Yield the texts of some conditions that a filter has, outside of NOT."""
    if condition is None or condition.get("operator") == "NOT":
        return
    for part in condition.get("conditions", ()):
        yield from _texts(part, names)
    yield from (condition[name] for name in names if name in condition)
