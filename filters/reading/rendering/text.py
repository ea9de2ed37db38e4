"""The text of a message as HTML: reflowed, quotations folded, the signature dimmed, links."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from filters.reading.rendering.blocks import Block, Paragraph, Quotation, Signature, blocks_of
from filters.reading.rendering.lines import Format, lines_of
from filters.reading.rendering.links import linked
from filters.reading.rendering.paragraphs import Kind

SHORTEST_FOLDED = 6
"""Lines of a quotation that is folded; a shorter one is what an answer between is about."""

COLOURS = 3
"""Depths of quotation that have a colour of their own."""

_FOLDED = (
    '<details class="quote q{}"><summary>{} <span class="tone">{}</span></summary>'
    "<blockquote>{}</blockquote></details>"
)
_OPEN = '<div class="quote q{}">{}<blockquote>{}</blockquote></div>'


def text_html(body: str | None, text_format: Format = "fixed") -> SafeString:
    r"""Return a body as HTML.

    >>> text_html("Hello,\n\n> Shall we?\n\nYes.")
    '<p>Hello,</p><div class="quote q1"><blockquote><p>Shall we?</p></blockquote></div><p>Yes.</p>'
    """
    lines = lines_of(body or "", text_format)
    return _html(blocks_of(lines, may_join=text_format == "fixed"))


def _html(blocks: Iterable[Block]) -> SafeString:
    return mark_safe("".join(map(_block, blocks)))  # each is safe


def _block(block: Block) -> SafeString:
    match block:
        case Paragraph():
            return _paragraph(block)
        case Quotation():
            return _quotation(block)
        case Signature():
            return format_html('<p class="lines signature">{}</p>', _lines(block.lines))


def _paragraph(paragraph: Paragraph) -> SafeString:
    if paragraph.kind is Kind.FIXED:
        return format_html('<pre tabindex="0">{}</pre>', _lines(paragraph.lines))
    if paragraph.kind is Kind.PROSE:
        return format_html("<p>{}</p>", linked(" ".join(map(str.strip, paragraph.lines))))
    name = "" if len(paragraph.lines) == 1 else ' class="lines"'
    return format_html("<p{}>{}</p>", mark_safe(name), _lines(paragraph.lines))


def _quotation(quotation: Quotation) -> SafeString:
    depth = min(quotation.depth, COLOURS)
    inner = _html(quotation.blocks)
    if quotation.length < SHORTEST_FOLDED:
        before = format_html_join(
            "", '<p class="lines attribution">{}</p>', _attribution(quotation)
        )
        return format_html(_OPEN, depth, before, inner)
    words = linked(" ".join(map(str.strip, quotation.attribution))) or "Quoted text"
    return format_html(_FOLDED, depth, words, f"{quotation.length} lines", inner)


def _attribution(quotation: Quotation) -> list[tuple[SafeString]]:
    return [(_lines(quotation.attribution),)] if quotation.attribution else []


def _lines(lines: Sequence[str]) -> SafeString:
    return linked("\n".join(line.rstrip() for line in lines))
