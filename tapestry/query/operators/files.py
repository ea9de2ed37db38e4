"""Operators for attached files: ``filename:report.pdf``, ``has:pdf``, ``mimetype:image/*``."""

from __future__ import annotations

import re

from tapestry.core.errors import Span
from tapestry.query.limits import LETTER
from tapestry.query.phrases.filetypes import FILE_TYPES, file_type
from tapestry.query.phrases.nodes import Phrase, PhraseNode, Refused, Words
from tapestry.query.phrases.wildcards import of_regex

_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]+/(?:[a-z0-9!#$&^_.+-]+|\*)?", re.IGNORECASE)
_WILDCARD = re.compile(r"[*?]|\A/.*/\Z", re.DOTALL)
_BEGINNING = re.compile(r"[\w.-]*\w\*")
_BY_MEDIA_TYPE = {kind.media_type: name for name, kind in FILE_TYPES.items() if kind.media_type}


def attached_file(name: str, value: str, span: Span) -> PhraseNode | None:
    """Return what ``filename:`` means: words of a name, its form, or its kind for ``*.pdf``.

    So it does with the kind alone where a program says so: ``filename:pdf`` of Gmail.

    >>> attached_file("filename", "report.pdf", Span(0, 9)).words.text
    'report.pdf'
    """
    ending = value.removeprefix("*").removeprefix(".")
    if value[:1] in "*." or name in ("filename", "att"):
        known = file_of_type(ending, span)
        if known:
            return known
    if _WILDCARD.search(ending) and not _BEGINNING.fullmatch(ending):
        is_regex = len(value) > 1 and value[0] == value[-1] == "/"
        form = of_regex(value[1:-1]) if is_regex else value
        if form is not None:
            return Phrase("with_an_attachment_named_like", span, words=Words(form, span))
        words = " ".join(re.findall(r"\w{2,}", ending)) or "report"
        hint = f"Write “with an attachment named like *{words}*”."
        return Refused("This regular expression cannot be asked for.", span, hint)
    if not LETTER.search(ending):
        return None
    return Phrase("with_an_attachment_named", span, words=Words(ending, span))


def file_of_type(value: str, span: Span) -> PhraseNode | None:
    """Return the phrase of a kind of files, such as ``pdf`` or ``images``; None of another word."""
    kind = file_type(value)
    return Phrase("with_attached", span, words=Words(kind, span)) if kind else None


def of_media_type(_: str, value: str, span: Span) -> PhraseNode | None:
    """Return what a media type means: ``image/*``, or a kind of files such as ``pdf``."""
    value = value.lower()
    if not _MEDIA_TYPE.fullmatch(value):
        return file_of_type(value, span)
    value += "*" if value.endswith("/") else ""
    if value.endswith("/*") and value in _BY_MEDIA_TYPE:
        return Phrase("with_attached", span, words=Words(_BY_MEDIA_TYPE[value], span))
    return Phrase("with_attachments_of_type", span, words=Words(value, span))
