"""A place among the tokens of a text, and the errors of what stands there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tapestry.core.errors import Span
from tapestry.query.limits import MAX_NESTING, too_deep
from tapestry.query.tql.lexer import Token, tokens_of
from tapestry.query.tree.parsed import MisreadError

Item = TypeVar("Item")

SHARE = "Write SHARE(r AMONG r.inreplyto = m.msgid: r.size > 1000) > 0.5."

_HINTS = {
    "a value": "Write a column such as m.subject, or a constant such as 'spark', 5 or 2 weeks.",
    "a condition": "Write one such as m.subject LIKE '%spark%'.",
    "the end of the filter": "Join conditions with AND or OR.",
    "“)”": "Close the parenthesis.",
    "“:” and a condition, or “)”": "Write MAX(r.size: r.inreplyto = m.msgid).",
    "“BY” and an aggregate": "Write m IN TOP 10 BY COUNT(r: r.inreplyto = m.msgid).",
    "a whole number": "Write a number such as 10.",
    "“:” and a condition": "Write EXISTS (r: r.inreplyto = m.msgid).",
    "“AMONG” and a condition": SHARE,
    "“:” and a test": SHARE,
    "“LIKE”, “HAS”, “IN” or “BETWEEN”": "Write m.subject NOT LIKE '%spark%'.",
    "“AND” and the upper bound": "Write m.size BETWEEN 1000 AND 2000.",
}


class TokenStream:
    """Tokens and a place among them; ``scopes`` are the variables visible here."""

    def __init__(self, text: str, depth: int = 0) -> None:
        self.tokens = tokens_of(text)
        self.at = 0
        self.depth = depth
        self.scopes: list[set[str]] = []

    def ahead(self, count: int) -> Token:
        """Return the token so many places after the next; at the end, the last."""
        place = self.at + count
        return self.tokens[place] if place < len(self.tokens) else self.tokens[-1]

    @property
    def token(self) -> Token:
        """Return the next token."""
        return self.tokens[self.at]

    @property
    def after(self) -> Token:
        """Return the token after the next."""
        return self.ahead(1)

    def take(self) -> Token:
        """Return the next token and step over it."""
        token = self.tokens[self.at]
        if token.kind == "wrong":
            raise self.unexpected("")
        if token.kind != "end":
            self.at += 1
        return token

    def accept(self, *words: str) -> bool:
        """Step over these words if they come next."""
        for count, word in enumerate(words):
            if self.ahead(count).word != word:
                return False
        self.at += len(words)
        return True

    def listed(self, read: Callable[[], Item]) -> list[Item]:
        """Read one item or several, with commas between them."""
        items = [read()]
        while self.accept(","):
            items.append(read())
        return items

    def expect(self, word: str, what: str | None = None) -> Token:
        """Step over a word that must come next."""
        if self.token.word != word:
            raise self.unexpected(what or f"“{word}”")
        return self.take()

    def since(self, start: int) -> Span:
        """Return the span from an offset to the end of the token last taken."""
        end = self.tokens[self.at - 1].end if self.at else start
        return Span(start, max(start, end))

    def unexpected(self, expected: str, hint: str | None = None) -> MisreadError:
        """Return the error of a text that does not go on as the grammar demands."""
        token = self.token
        hint = hint or _HINTS.get(expected)
        if token.kind == "wrong":
            return MisreadError(token.value, token.span, token.hint)
        if token.word == "/":
            message, hint = (
                "Division is not part of the language.",
                "Multiply the other side instead.",
            )
            return MisreadError(message, token.span, hint)
        if token.kind == "end":
            return MisreadError(f"The filter ends where {expected} is expected.", token.span, hint)
        shown = token.value if len(token.value) <= 40 else token.value[:40] + "…"
        if token.kind == "text":
            shown = f"'{shown}'"
        return MisreadError(f"“{shown}” stands where {expected} is expected.", token.span, hint)

    def enter(self) -> None:
        """Go one level of nesting deeper; ``depth`` is lowered by whoever entered."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise too_deep(self.token.span)

    def visible(self, name: str) -> bool:
        """Return whether a variable of this name is known here."""
        return any(name.lower() in scope for scope in self.scopes)
