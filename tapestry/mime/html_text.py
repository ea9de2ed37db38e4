"""The text that a reader sees in HTML, in time linear in the input.

The standard library's parser keeps no tree and no stack of open elements.  Libraries that do
take quadratic time for nested elements: for half a megabyte of ``<div>``, or of ``<b>`` and
unmatched end tags, lexbor and libxml2 need minutes.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

LONGEST = 512 * 1024
"""Characters of HTML that are read."""

_HIDDEN = {"script", "style", "head", "title", "template", "noscript"}
_BLOCKS = {
    "address", "article", "aside", "blockquote", "br", "center", "dd", "div", "dl", "dt",
    "fieldset", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr",
    "li", "main", "nav", "ol", "p", "pre", "section", "table", "tr", "ul",
}  # fmt: skip
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_UNREAD = re.compile(r"<(script|style)\b[^<>]*>.*?(?:</\1\b[^<>]*>|\Z)", re.DOTALL | re.IGNORECASE)
_DECLARATION = re.compile(r"<[!?][^<>]*>")
_STRAY = re.compile(r"<(?![A-Za-z/][^<>]*>)")
_SPACES = re.compile(r"[^\S\n]+")
_BLANKS = re.compile(r"\n{3,}")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._hidden: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "body":
            self._hidden = None  # whatever the head left open
        elif tag in _HIDDEN and self._hidden is None:
            self._hidden = tag
        if tag in _BLOCKS:
            self.pieces.append("\n")
        elif tag in ("td", "th"):
            self.pieces.append(" ")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._hidden:
            self._hidden = None
        if tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if self._hidden is None:
            self.pieces.append(data.replace("\r", " ").replace("\n", " "))


def html_text(html: str) -> str:
    r"""Return the text of HTML: no tags, scripts or styles, entities decoded, blocks on lines.

    >>> html_text("<style>p {}</style><p>Caf&eacute;<br>au lait</p>")
    'Café\nau lait'
    """
    reader = _Reader()
    reader.feed(tamed(html[:LONGEST]))
    reader.close()
    text = _SPACES.sub(" ", "".join(reader.pieces))
    lines = "\n".join(line.strip() for line in text.split("\n"))
    return _BLANKS.sub("\n\n", lines).strip()


def tamed(html: str) -> str:
    """Return HTML in which every ``<`` opens a tag that ends before the next ``<``.

    The standard library's parser searches the rest of the text for the end of each unclosed
    comment, declaration, script or tag: half a megabyte of ``<a`` would take minutes.
    """
    html = _UNREAD.sub(" ", _COMMENT.sub("", html))
    return _STRAY.sub("&lt;", _DECLARATION.sub("", html))
