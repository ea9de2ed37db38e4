"""Key extractors: which tokens the new rows of a table have, for the predicate index to probe with.

A token of an event, the arrival of a row, is a value of a column, a word of it, or a text with
which it begins or ends.  A filter is entered under tokens of its constants; a row that concerns
it has one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

Kind = Literal["always", "any", "is", "has", "starts", "ends"]

LONGEST = 64
"""Characters of a beginning or an end that are looked at."""

_TOKEN = re.compile(r"[a-z0-9]+|[^\x00-\x7f]")


@dataclass(frozen=True, slots=True)
class KeyExtractor:
    """Where tokens come from: a column of the new rows of a table, or of those they lead to.

    ``hop`` is (a column of the new rows, another table, its column that equals that).  Kind
    ``any`` has the one token ``""`` if there is a row, ``always`` even if there is none.  ``by``
    is the column whose instant makes a row one of the window: it arrives, or comes of age.
    """

    table: str
    kind: Kind
    column: str = ""
    hop: tuple[str, str, str] | None = None
    by: str = "ts"

    @property
    def name(self) -> str:
        """Return the extractor as one word, which ``parse`` reads.

        >>> KeyExtractor("messages", "is", "sender", ("inreplyto", "messages", "msgid")).name
        'messages is sender inreplyto messages msgid'
        >>> KeyExtractor("messages", "any", by="received").name
        'messages.received any -'
        """
        table = self.table if self.by == "ts" else f"{self.table}.{self.by}"
        return " ".join([table, self.kind, self.column or "-", *(self.hop or ())])

    @classmethod
    def parse(cls, name: str) -> KeyExtractor:
        """Return the extractor of a name.

        >>> KeyExtractor.parse("annotations any -")
        KeyExtractor(table='annotations', kind='any', column='', hop=None, by='ts')
        """
        source, kind, column, *hop = name.split(" ")
        table, _, by = source.partition(".")
        followed = (hop[0], hop[1], hop[2]) if hop else None
        column = "" if column == "-" else column
        return cls(table, kind, column, followed, by or "ts")  # type: ignore[arg-type]


def extract_tokens(kind: Kind, value: str) -> Iterator[str]:
    """Yield the tokens that a value has for an extractor of a kind.

    >>> sorted(extract_tokens("starts", "Ab"))
    ['a', 'ab']
    """
    match kind:
        case "has":
            yield from tokenize(value)
        case "starts":
            text = fold_case(value)[:LONGEST]
            yield from (text[:end] for end in range(1, len(text) + 1))
        case "ends":
            text = fold_case(value)[-LONGEST:]
            yield from (text[begin:] for begin in range(len(text)))
        case _:
            yield value


def tokenize(text: str) -> list[str]:
    """Return the parts of a text, at least as fine as its words.

    >>> tokenize("Re: naïve Bayes2")
    ['re', 'na', 'ï', 've', 'bayes2']
    """
    return _TOKEN.findall(fold_case(text))


def fold_case(text: str) -> str:
    """Return a text as LIKE and HAS compare it: without case."""
    return text.lower().replace("ς", "σ")


def like_prefix(pattern: str) -> str:
    r"""Return the token of what a LIKE pattern begins with.

    >>> like_prefix("Re: %"), like_prefix(r"10\% off"), like_prefix("%x")
    ('re: ', '10% off', '')
    """
    return fold_case(_literal(re.findall(r"\\.|[^\\]", pattern, re.DOTALL)))[:LONGEST]


def like_suffix(pattern: str) -> str:
    """Return the token of what a LIKE pattern ends with.

    >>> like_suffix("%@PARC.com")
    '@parc.com'
    """
    parts = re.findall(r"\\.|[^\\]", pattern, re.DOTALL)
    return fold_case(_literal(parts[::-1])[::-1])[-LONGEST:]


def _literal(parts: list[str]) -> str:
    """Return the characters before the first wildcard; an escaped character is itself."""
    return "".join(part[-1] for part in takewhile(lambda part: part not in ("%", "_"), parts))
