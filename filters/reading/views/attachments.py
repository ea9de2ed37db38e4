"""Attachments: given as files, or shown where that is safe: pictures, text, attached mail."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from filters.people.requests import PersonRequest
from filters.reading.rendering.attachments import LARGEST_PREVIEW, name_of, picture_kind
from filters.reading.rendering.letter import read_letter
from filters.reading.views.originals import find_original
from tapestry.ingest.parse import parse
from tapestry.mime.sections import Section, sections

SHOWN = 256 * 1024
"""Bytes of a text that its page shows; the file has all of them."""

POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'"


@require_safe
def attachment(request: PersonRequest) -> HttpResponse:
    """Give the part that ``part`` names, by its section number, as a file."""
    raw, section, _ = _find(request)
    name = name_of(section)
    response = HttpResponse(section.content(raw), content_type="application/octet-stream")
    response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    return _harmless(response)


@require_safe
def picture(request: PersonRequest) -> HttpResponse:
    """Give a picture to the page that shows it; of anything else there is none."""
    raw, section, _ = _find(request)
    kind = picture_kind(section, raw)
    if kind is None or section.size(raw) > LARGEST_PREVIEW:
        raise Http404("That is no picture that a page may show.")
    return _harmless(HttpResponse(section.content(raw), content_type=kind))


@require_safe
def view(request: PersonRequest) -> HttpResponse:
    """Show an attachment on a page of its own: a text, or a message that is attached."""
    raw, section, audience = _find(request)
    size = section.size(raw)
    context: dict[str, Any] = {
        "msgid": request.GET.get("id", ""),
        "audience": audience,
        "number": section.number,
        "name": name_of(section),
        "size": size,
    }
    if section.kind == "message/rfc822":
        inner = section.content(raw)
        message = parse(inner).message
        context |= {"m": message, "letter": read_letter(message.body, inner)}
        return render(request, "reading/rendering/mail.html", context)
    if not section.kind.startswith("text/"):
        raise Http404("A page does not show attachments of this kind.")
    context |= {"text": section.text(raw, SHOWN), "is_cut": size > SHOWN}
    return render(request, "reading/rendering/attached_text.html", context)


def _find(request: PersonRequest) -> tuple[bytes, Section, str]:
    """Return the original, the part of it that is asked for, and the audience of the copy."""
    stored, audience = find_original(request)
    number = request.GET.get("part", "")
    for section in sections(stored.raw):
        if section.number == number and not section.is_multipart:
            return stored.raw, section, audience
    raise Http404("This message has no such part.")


def _harmless(response: HttpResponse) -> HttpResponse:
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = POLICY
    return response
