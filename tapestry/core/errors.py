"""One error for everything a person can get wrong."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range ``[start, end)`` of character offsets into a filter's text."""

    start: int
    end: int


@dataclass(eq=False, repr=False)
class TapestryError(Exception):
    """A fault (``message``, a sentence), its place, and what to do instead (``hint``).

    ``span`` is the place in ``text``, if the error is about a filter.
    """

    message: str
    span: Span | None = None
    hint: str | None = None
    text: str | None = None

    def __post_init__(self) -> None:
        super().__init__(self.message)

    @property
    def offset(self) -> int | None:
        """Return the character offset of the place, or None where there is none."""
        return None if self.span is None else self.span.start

    @property
    def sentences(self) -> str:
        """The fault and what to do instead, in one line."""
        return f"{self.message} {self.hint or ''}".strip()

    def render(self) -> str:
        """Return the error for a terminal: sentence, line and column, caret, hint.

        >>> print(TapestryError("Unknown.", Span(5, 8), "Try “from”.", "mail frm joe").render())
        Unknown. (line 1, column 6)
          mail frm joe
               ^^^
        Try “from”.
        """
        lines = [self.message]
        if self.span is not None and self.text is not None:
            start = min(self.span.start, len(self.text))
            before = self.text[:start]
            row, column = before.count("\n") + 1, start - (before.rfind("\n") + 1)
            line = self.text.split("\n")[row - 1]
            shown_from = max(0, column - 60)
            width = max(1, min(self.span.end, start - column + len(line)) - start)
            shown = line[shown_from : shown_from + 120].replace("\t", " ")
            lines[0] += f" (line {row}, column {column + 1})"
            caret = "^" * max(1, min(width, len(shown) - (column - shown_from)))
            lines += ["  " + shown, "  " + " " * (column - shown_from) + caret]
        if self.hint:
            lines.append(self.hint)
        return "\n".join(lines)


class OwnFaultError(TapestryError):
    """An unforeseen error, as a sentence: whatever it happened to is tried again later."""
