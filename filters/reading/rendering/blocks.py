"""Lines to blocks: paragraphs, quotations within quotations, and the signature."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from filters.reading.rendering.lines import SIGNATURE, Line
from filters.reading.rendering.paragraphs import Kind, is_of_patch, is_patch, kind_of

LONGEST_SIGNATURE = 15
"""Lines of a signature that begins with two hyphens and no blank, or of the footer of a list."""

_ATTRIBUTION_END = re.compile(
    r"(?:wrote|writes|said|schrieb|schreibt|écrit|escribió|scritto|skrev|schreef)\b[^.!?]{0,60}:\s*$"
)
_ATTRIBUTION_BEGIN = re.compile(r"\s*(?:On|In|At|Am|Le|El|Il|Op|Den|Quoting|Thus)\s")
LONGEST_ATTRIBUTION = 3
"""Lines of “On … wrote:”."""

_ORIGINAL = re.compile(r"\s*-{2,}\s*(?:Original Message|Ursprüngliche Nachricht)\s*-{2,}\s*$", re.I)
_FOOTER = re.compile(r"[_=*-]{30,}\s*$")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines of one paragraph; ``kind`` says how they are shown."""

    kind: Kind
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Quotation:
    """What is quoted, with the lines before it that say of whom; ``depth`` counts from 1."""

    depth: int
    attribution: tuple[str, ...]
    blocks: tuple[Block, ...]
    length: int


@dataclass(frozen=True, slots=True)
class Signature:
    """The lines of a signature, or of the footer of a list."""

    lines: tuple[str, ...]


Block = Paragraph | Quotation | Signature


def blocks_of(lines: Sequence[Line], *, may_join: bool = True) -> tuple[Block, ...]:
    """Return the blocks of a body; each line is in one of them, blank ones aside.

    ``may_join``: lines of prose may have been wrapped, as they are not in format=flowed.
    """
    return _blocks(lines, 0, may_join=may_join)


def _blocks(lines: Sequence[Line], depth: int, *, may_join: bool) -> tuple[Block, ...]:
    blocks: list[Block] = []
    at = 0
    while at < len(lines):
        begin = at
        is_deeper = lines[at].depth > depth
        if is_deeper:
            while at < len(lines) and lines[at].depth > depth:
                at += 1
            inner = lines[begin:at]
            attribution = _take_attribution(blocks, may_join=may_join)
            quoted = _blocks(inner, depth + 1, may_join=may_join)
            blocks.append(Quotation(depth + 1, attribution, quoted, _length(inner)))
            continue
        while at < len(lines) and lines[at].depth <= depth:
            at += 1
        own = [line.text for line in lines[begin:at]]
        is_last = at == len(lines)
        blocks += _own_blocks(own, depth, is_last=is_last, may_join=may_join)
    return tuple(blocks)


def _length(lines: Sequence[Line]) -> int:
    return sum(bool(line.text.strip()) for line in lines)


def _own_blocks(lines: Sequence[str], depth: int, *, is_last: bool, may_join: bool) -> list[Block]:
    """Return the blocks of lines of one depth, with what Outlook quotes, and the signature."""
    for at, line in enumerate(lines):
        if _ORIGINAL.match(line) and is_last:
            before = _own_blocks(lines[:at], depth, is_last=True, may_join=may_join)
            quoted = _paragraphs(lines[at + 1 :], may_join=may_join)
            length = sum(bool(line.strip()) for line in lines[at + 1 :])
            return [*before, Quotation(depth + 1, (line,), tuple(quoted), length)]
        if depth == 0 and _begins_signature(lines, at, is_last=is_last):
            before = _paragraphs(lines[:at], may_join=may_join)
            rest = tuple(lines[at:])
            kept, attribution = (rest, ()) if is_last else _split_attribution(rest)
            after = _paragraphs(attribution, may_join=may_join)
            return [*before, Signature(kept), *after]
    return _paragraphs(lines, may_join=may_join)


def _begins_signature(lines: Sequence[str], at: int, *, is_last: bool) -> bool:
    line = lines[at]
    if line == SIGNATURE:
        return True
    is_short = is_last and len(lines) - at <= LONGEST_SIGNATURE
    return is_short and (line.rstrip() == "--" or _FOOTER.match(line) is not None) and at > 0


def _paragraphs(lines: Sequence[str], *, may_join: bool) -> list[Block]:
    blocks: list[Block] = []
    for paragraph, in_patch in _runs(lines):
        kind = Kind.FIXED if in_patch else kind_of(paragraph, may_join=may_join)
        last = blocks[-1] if blocks else None
        if kind is Kind.FIXED and isinstance(last, Paragraph) and last.kind is Kind.FIXED:
            blocks[-1] = Paragraph(kind, (*last.lines, "", *paragraph))
        else:
            blocks.append(Paragraph(kind, tuple(paragraph)))
    return blocks


def _runs(lines: Sequence[str]) -> list[tuple[list[str], bool]]:
    """Return the runs of lines between blank ones, and whether each belongs to a patch."""
    runs: list[tuple[list[str], bool]] = []
    run: list[str] = []
    in_patch = False
    for line in lines:
        begins = is_patch(line)
        ends = in_patch and not is_of_patch(line)
        if run and (not line.strip() or ends or (begins and not in_patch)):
            runs.append((run, in_patch))
            run = []
        in_patch = (in_patch and not ends) or begins
        if line.strip():
            run.append(line)
    if run:
        runs.append((run, in_patch))
    return runs


def _take_attribution(blocks: list[Block], *, may_join: bool) -> tuple[str, ...]:
    """Take the lines that say who is quoted from the end of the blocks."""
    if not blocks or not isinstance(blocks[-1], Paragraph):
        return ()
    last = blocks[-1]
    rest, attribution = _split_attribution(last.lines)
    if not attribution:
        return ()
    blocks.pop()
    if rest:
        blocks.append(Paragraph(kind_of(rest, may_join=may_join), rest))
    return attribution


def _split_attribution(lines: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if not lines or not _ATTRIBUTION_END.search(lines[-1][-200:]):
        return lines, ()
    for count in range(1, LONGEST_ATTRIBUTION + 1):
        if count <= len(lines) and _ATTRIBUTION_BEGIN.match(lines[-count]):
            return lines[:-count], lines[-count:]
    return lines[:-1], lines[-1:]
