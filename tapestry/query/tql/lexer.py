"""Text to tokens, each with its place."""

from __future__ import annotations

import re
from typing import NamedTuple

from tapestry.core.errors import Span
from tapestry.query.limits import BIDI

_MARKS = BIDI.pattern[1:-1]
_TOKEN = re.compile(
    rf"""
    (?: \s | --[^\n{_MARKS}]* )*+
    (?: (?P<text>   '[^']*(?:''[^']*)*' )
      | (?P<quoted> "[^"{_MARKS}]*(?:""[^"{_MARKS}]*)*" )
      | (?P<number> (?: [0-9]+(?:\.[0-9]+)? | \.[0-9]+ ) (?:[eE][+-]?[0-9]+)? )
      | (?P<name>   [^\W\d]\w* )
      | (?P<symbol> <> | != | <= | >= | [=<>+\-*/(),.{{}}:;] )
      | (?P<end>    \Z )
      | (?P<wrong>  . )
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_MARKED = re.compile(f'"(?:[^"]|"")*?(?=[{_MARKS}])')

_ADVICE = {
    "'": ("This text is not closed.", "Close it with a single quote; double one inside it."),
    '"': ("This name is not closed.", "Close it with a double quote."),
    **dict.fromkeys(
        "‘’“”", ("This is no plain quote.", "Write texts between straight single quotes: '…'.")
    ),
    "|": ("Texts cannot be joined.", "Compare the columns one by one."),
}


class Token(NamedTuple):
    """A piece of text, from the offset ``start`` up to ``end``.

    ``kind`` is name, quoted, text, number, symbol, end or wrong.  ``value`` is what it
    stands for (a text without its quotes; of a wrong token, what is wrong); ``word`` is a
    name in capitals, a symbol as it is, else "".
    """

    kind: str
    value: str
    word: str
    start: int
    end: int
    hint: str | None = None

    @property
    def span(self) -> Span:
        """Return its place."""
        return Span(self.start, self.end)

    @property
    def is_name(self) -> bool:
        """Return whether it can be a name, in double quotes or not."""
        return self.kind in ("name", "quoted")


def tokens_of(text: str) -> list[Token]:
    """Return the tokens, the last of kind end; after a wrong one no others follow.

    >>> [token.value for token in tokens_of("m.size >= 10 -- big")]
    ['m', '.', 'size', '>=', '10', '']
    """
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        group = match.lastindex or 0
        value, word = match[group], ""
        start, end = match.span(group)
        if kind == "name":
            word = value.upper()
        elif kind == "symbol":
            word = "<>" if value == "!=" else value
        elif kind in ("text", "quoted"):
            quote = value[0]
            value = value[1:-1].replace(quote * 2, quote)
        elif kind == "wrong":
            tokens.append(_wrong(text, start))
            break
        tokens.append(Token(kind, value, word, start, end))
        if kind == "end":
            return tokens
    tokens.append(Token("end", "", "", len(text), len(text)))
    return tokens


def _wrong(text: str, at: int) -> Token:
    marked = _MARKED.match(text, at)
    at = marked.end() if marked else at
    character = text[at]
    if BIDI.match(character):
        message = f"There is a mark here that changes the order of text (U+{ord(character):04X})."
        return Token("wrong", message, "", at, at + 1, "Remove it.")
    message, hint = _ADVICE.get(character, (f"“{character}” cannot stand here.", None))
    end = len(text) if character in "'\"" else at + 1
    return Token("wrong", message, "", at, end, hint)
