"""Text to tokens, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tapestry.core.errors import Span
from tapestry.query.limits import BIDI

_TOKEN = re.compile(
    r"""
      (?P<space>  (?: \s | --[^\n]* )+ )
    | (?P<text>   '[^']*(?:''[^']*)*' )
    | (?P<quoted> "[^"]*(?:""[^"]*)*" )
    | (?P<number> (?: [0-9]+(?:\.[0-9]+)? | \.[0-9]+ ) (?:[eE][+-]?[0-9]+)? )
    | (?P<name>   [^\W\d]\w* )
    | (?P<symbol> <> | != | <= | >= | [=<>+\-*(),.{}:;] )
    """,
    re.VERBOSE,
)

_ADVICE = {
    "'": ("This text is not closed.", "Close it with a single quote; double one inside it."),
    '"': ("This name is not closed.", "Close it with a double quote."),
    "‘": ("This is no plain quote.", "Write texts between straight single quotes: '…'."),
    "’": ("This is no plain quote.", "Write texts between straight single quotes: '…'."),
    "“": ("This is no plain quote.", "Write texts between straight single quotes: '…'."),
    "”": ("This is no plain quote.", "Write texts between straight single quotes: '…'."),
    "|": ("Texts cannot be joined.", "Compare the columns one by one."),
    "/": ("Division is not part of the language.", "Multiply the other side instead."),
}


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text.

    ``kind`` is name, quoted, text, number, symbol, end or wrong.  ``value`` is what it
    stands for (a text without its quotes; of a wrong token, what is wrong); ``word`` is a
    name in capitals, a symbol as it is, else "".
    """

    kind: str
    value: str
    word: str
    span: Span
    hint: str | None = None


def tokens_of(text: str) -> Iterator[Token]:
    """Yield the tokens, the last of kind end; after a wrong one no others follow.

    >>> [token.value for token in tokens_of("m.size >= 10 -- big")]
    ['m', '.', 'size', '>=', '10', '']
    """
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            yield _wrong(text, at)
            break
        kind, value, span = str(match.lastgroup), match[0], Span(at, match.end())
        at = match.end()
        hidden = BIDI.search(value) if kind in ("space", "quoted") else None
        if hidden:
            yield _wrong(text, span.start + hidden.start())
            break
        if kind == "space":
            continue
        word = value.upper() if kind == "name" else value if kind == "symbol" else ""
        if kind in ("text", "quoted"):
            quote = value[0]
            value = value[1:-1].replace(quote * 2, quote)
        yield Token(kind, value, "<>" if word == "!=" else word, span)
    yield Token("end", "", "", Span(len(text), len(text)))


def _wrong(text: str, at: int) -> Token:
    character = text[at]
    if BIDI.match(character):
        message = f"There is a mark here that changes the order of text (U+{ord(character):04X})."
        return Token("wrong", message, "", Span(at, at + 1), "Remove it.")
    message, hint = _ADVICE.get(character, (f"“{character}” cannot stand here.", None))
    end = len(text) if character in "'\"" else at + 1
    return Token("wrong", message, "", Span(at, end), hint)
