"""HTML as it comes to HTML whose tags are few, known, balanced, and not nested deep.

The sanitiser keeps a tree: for HTML made to cost hours its time is quadratic, as that of browsers.
What this gives it is linear in what came, and each tag has its end.
"""

from __future__ import annotations

from html import escape
from html.parser import HTMLParser

from tapestry.mime.html_text import LONGEST, tamed

DEEPEST = 60
"""Elements within elements; further tags are left out, and their text stays."""

MOST_TAGS = 20_000
"""Tags that are read; of what follows the text stays."""

MOST_SIGNS = 50_000
"""Signs of text that must be written as entities; what follows them is left out."""

LONGEST_VALUE = 4096
"""Characters of an attribute that is kept, but for a picture's."""

VOID = frozenset({"br", "hr", "img", "wbr", "col"})

INLINE = frozenset(
    {
        "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em", "font", "i",
        "ins", "kbd", "label", "mark", "nobr", "q", "s", "samp", "small", "span", "strike",
        "strong", "sub", "sup", "tt", "u", "var",
    }
)  # fmt: skip

BLOCKS = frozenset(
    {
        "address", "article", "aside", "blockquote", "center", "dd", "div", "dl", "dt",
        "figcaption", "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "li",
        "main", "nav", "ol", "p", "pre", "section", "table", "ul",
    }
)  # fmt: skip

OF_TABLES = frozenset({"caption", "colgroup", "tbody", "td", "tfoot", "th", "thead", "tr"})

TAGS = VOID | INLINE | BLOCKS | OF_TABLES

_HIDDEN = frozenset({"script", "style", "title", "template", "noscript"})

_CONTROLS = frozenset({"button", "select", "textarea"})
"""Of forms, which are left out: their words say nothing without what they were pressed for."""

_ENDS = {
    "li": ({"li"}, {"ul", "ol"}),
    "dt": ({"dt", "dd"}, {"dl"}),
    "dd": ({"dt", "dd"}, {"dl"}),
    "td": ({"td", "th"}, {"tr", "table"}),
    "th": ({"td", "th"}, {"tr", "table"}),
    "tr": ({"tr"}, {"table"}),
    "tbody": ({"thead", "tbody", "tfoot", "colgroup"}, {"table"}),
    "thead": ({"thead", "tbody", "tfoot", "colgroup"}, {"table"}),
    "tfoot": ({"thead", "tbody", "tfoot", "colgroup"}, {"table"}),
    "a": ({"a"}, {"table", "td", "th"}),
}
"""Elements that a tag ends although they have no end tag, and those that it does not look past."""

_CONTAINERS = OF_TABLES | {"table", "div", "li", "blockquote", "center", "dd"}


class _Balancer(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.open: list[str] = []
        self._tags = self._signs = 0
        self._hidden: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "body":
            self._hidden = None  # whatever the head left open
        elif self._hidden is None and (tag in _HIDDEN or self._is_control(tag)):
            self._hidden = tag
        if tag not in TAGS or self._hidden is not None or self._tags >= MOST_TAGS:
            return
        self._imply_ends(tag)
        if tag not in VOID and len(self.open) >= DEEPEST:
            return
        self._tags += 1
        given = "".join(
            f' {name}="{escape(value)}"'
            for name, value in attrs
            if value is not None and name.isascii() and name.isalpha() and _is_short(tag, value)
        )
        self.pieces.append(f"<{tag}{given}>")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)  # <div/> opens a div

    def handle_endtag(self, tag: str) -> None:
        # A control that has no end ends with what is around it.
        is_around = self._hidden in _CONTROLS and (tag == "form" or tag in self.open)
        if tag == self._hidden or is_around:
            self._hidden = None
        if self._hidden is None and tag in self.open:
            self._close(tag)

    def _is_control(self, tag: str) -> bool:
        """Tell whether a tag begins a control of a form; one within a link is what is pressed."""
        return tag in _CONTROLS and "a" not in self.open

    def handle_data(self, data: str) -> None:
        self._signs += sum(map(data.count, "&<>"))
        if self._hidden is None and self._signs <= MOST_SIGNS:
            self.pieces.append(escape(data, quote=False))

    def finish(self) -> str:
        while self.open:
            self.pieces.append(f"</{self.open.pop()}>")
        return "".join(self.pieces)

    def _imply_ends(self, tag: str) -> None:
        if tag in BLOCKS:
            self._end_one({"p"}, _CONTAINERS)
        if tag in _ENDS:
            self._end_one(*_ENDS[tag])

    def _end_one(self, ended: frozenset[str] | set[str], beyond: frozenset[str] | set[str]) -> None:
        for name in reversed(self.open):
            if name in ended:
                self._close(name)
                return
            if name in beyond:
                return

    def _close(self, tag: str) -> None:
        while self.open:
            name = self.open.pop()
            self.pieces.append(f"</{name}>")
            if name == tag:
                return


def _is_short(tag: str, value: str) -> bool:
    return len(value) <= LONGEST_VALUE or (tag == "img" and value.startswith("data:image/"))


def balanced(html: str) -> str:
    """Return HTML of known tags, each with its end; what is no such tag is text or left out.

    >>> balanced("<p>One<p><b>Two</p><blink>&lt;x</blink><script>3</script>")
    '<p>One</p><p><b>Two</b></p>&lt;x '
    >>> balanced('<form>Vote<button>Yes</button></form><a href="x"><button>Open</button></a>')
    'Vote<a href="x">Open</a>'
    """
    balancer = _Balancer()
    balancer.feed(tamed(html[:LONGEST]))
    balancer.close()
    return balancer.finish()
