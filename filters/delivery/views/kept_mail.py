"""Pages of the mail that this site wrote to a person: all there is without a mail server."""

from __future__ import annotations

from email import policy
from email.message import EmailMessage
from email.parser import BytesParser

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from filters.delivery.models import KeptMail
from filters.delivery.views.framed import framed_html
from filters.delivery.ways.digest import SHOWN_HEADERS
from filters.people.requests import PersonRequest
from filters.reading.rendering.links import linked
from filters.site.settings.email_url import is_kept_only

SHOWN = 100
"""Mails that the list shows, the newest first."""


@require_safe
def kept_mails(request: PersonRequest) -> HttpResponse:
    """List the mail that was written to the reader."""
    context = {
        "mails": KeptMail.objects.filter(owner=request.user).defer("raw")[:SHOWN],
        "is_kept_only": is_kept_only(),
    }
    return render(request, "delivery/kept_mails.html", context)


@require_safe
def kept_mail(request: PersonRequest, pk: int) -> HttpResponse:
    """Show a mail as its reader's mail program would: its HTML in a frame, else its text."""
    kept, message = _read(request, pk)
    plain = message.get_body(("plain",))
    context = {
        "mail": kept,
        "headers": [(name, str(message[name])) for name in SHOWN_HEADERS if message[name]],
        "has_html": message.get_body(("html",)) is not None,
        "linked": linked(plain.get_content() if plain else ""),
    }
    return render(request, "delivery/kept_mail.html", context)


@require_safe
def kept_mail_html(request: PersonRequest, pk: int) -> HttpResponse:
    """Give the HTML of a mail to the frame of its page."""
    _, message = _read(request, pk)
    html = message.get_body(("html",))
    if html is None:
        raise Http404("This mail has no HTML.")
    return framed_html(html.get_content())


def _read(request: PersonRequest, pk: int) -> tuple[KeptMail, EmailMessage]:
    kept = get_object_or_404(KeptMail, pk=pk, owner=request.user)
    parser = BytesParser(EmailMessage, policy=policy.default)
    return kept, parser.parsebytes(bytes(kept.raw))
