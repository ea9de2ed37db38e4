r"""Text with marks of Markdown as HTML, for a letter that is sent as both.

    text ─ CommonMark, tables, ~~struck~~ ─ the sanitiser of what is read ─> a preview, a part

A line ends where its writer ended it, as in mail.  The words of others are no Markdown: quoted
lines, and a message that is sent on, look as they did.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import groupby
from typing import Any

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock

from filters.reading.rendering.html import sanitized
from filters.reading.rendering.links import FINDER, linked
from filters.reading.rendering.links import LONGEST as LONGEST_LINE
from filters.reading.rendering.text import text_html
from tapestry.compose.flowed import SIGNATURE, quote_depth
from tapestry.compose.quoting import FORWARDED

LONGEST, MOST_MARKS = 100_000, 5_000
"""Characters of a text that is formatted, and signs that may be marks; else it is as typed."""

_MARKS = "*_`[]<~|&"
_WITHIN = ["paragraph", "reference", "blockquote", "list"]
_QUOTE = '<blockquote style="margin:0 0 0 .5em;padding-left:.8em;border-left:2px solid #bbb">'


def formatted_html(text: str) -> SafeString:
    r"""Return a text with marks of Markdown as HTML that is safe in a page.

    >>> formatted_html("**Noon**\nor one?\n> a *b*")
    '<p><strong>Noon</strong><br>\nor one?</p>\n<blockquote>a *b*</blockquote>\n'
    """
    if len(text) > LONGEST or sum(map(text.count, _MARKS)) > MOST_MARKS:
        return mark_safe(f"<p>{_lines(text.split(chr(10)))}</p>")  # each line is escaped
    return mark_safe(sanitized(_markdown().render(text)))


def text_as_it_looks(text: str, *, is_formatted: bool) -> SafeString:
    """Return the text of a letter as HTML that is safe in a page: formatted, or as it is read."""
    return formatted_html(text) if is_formatted else text_html(text)


def html_part(text: str) -> str:
    """Return a text with marks of Markdown as the document that is sent beside it."""
    html = formatted_html(text).replace("<blockquote>", _QUOTE)
    return (
        f'<!doctype html>\n<html><head><meta charset="utf-8"></head><body>\n{html}</body></html>\n'
    )


@cache
def _markdown() -> MarkdownIt:
    options = {"html": False, "breaks": True, "linkify": True}
    markdown = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    markdown.core.ruler.enable("linkify")
    # Dashes below a line are no heading's, they separate a signature; pictures are files.
    markdown.disable(["lheading", "image", "html_block", "html_inline"])
    rules = markdown.block.ruler
    rules.at("blockquote", _quotation, {"alt": _WITHIN})
    rules.before("blockquote", "signature", _signature, {"alt": _WITHIN})
    rules.before("blockquote", "forwarded", _forwarded, {"alt": ["paragraph"]})
    finder: Any = _Finder()
    markdown.linkify = finder
    return markdown


class _Finder:
    """A finder of addresses that leaves out lines too long: its time is not linear in a line."""

    def pretest(self, text: str) -> bool:
        return bool("@" in text or ":" in text)

    def test(self, text: str) -> bool:
        return len(text) <= LONGEST_LINE and bool(FINDER.test(text))

    def match(self, text: str) -> Any:
        return FINDER.match(text)


def _quotation(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Take the lines that are quoted, to whatever depth, as they are."""
    lines = [_line(state, line)]
    if not lines[0].startswith(">") or silent:
        return lines[0].startswith(">")
    for at in range(line + 1, end):
        if not _line(state, at).startswith(">"):
            break
        lines.append(_line(state, at))
    return _taken(state, line, len(lines), _quoted(lines))


def _signature(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Have a paragraph or list end where a signature begins, which is a paragraph itself."""
    return silent and _line(state, line) == SIGNATURE


def _forwarded(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Take a message that is sent on, to the end of the text, as it is."""
    lines = [_line(state, line)]
    if lines[0] != FORWARDED or silent:
        return lines[0] == FORWARDED
    lines += (state.src[state.bMarks[at] : state.eMarks[at]] for at in range(line + 1, end))
    return _taken(state, line, len(lines), f"<p>{_lines(lines)}</p>\n")


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _taken(state: StateBlock, line: int, count: int, html: str) -> bool:
    """Have so many lines be HTML that is written already."""
    state.push("html_block", "", 0).content = html
    state.line = line + count
    return True


def _quoted(lines: Iterable[str]) -> str:
    html, depth = "", 0
    for (now, _), group in groupby(map(quote_depth, lines), key=lambda found: (found[0], "")):
        html += "<blockquote>" * (now - depth) + "</blockquote>" * (depth - now)
        html += _lines(text for _, text in group)
        depth = now
    return f"{html}{'</blockquote>' * depth}\n"


def _lines(lines: Iterable[str]) -> str:
    return "<br>\n".join(linked(line).replace("  ", " \N{NO-BREAK SPACE}") for line in lines)
