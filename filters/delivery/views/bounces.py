"""The address that a mail server posts bounces to."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from filters.delivery.mail.bounces import may_post, take
from tapestry.deliver.mail.bounces import LONGEST

KINDS = ("message/rfc822", "text/plain")


@login_not_required
@csrf_exempt  # the token in the address is the permission; it is in no cookie
@require_POST
def bounces(request: HttpRequest, token: str) -> HttpResponse:
    """Take a bounce, the bytes of one message (RFC 5322), and say whether it counts.

    Of a long one the beginning is read.
    """
    if not may_post(token):
        raise Http404("There is no such page.")
    if request.content_type not in KINDS:
        return _said(f"Post the bytes of one message, as {' or '.join(KINDS)}.", 415)
    address = take(request.read(LONGEST))
    if address is None:
        return _said("This is no report that mail of this site failed for good: nothing changed.")
    if not address.problem:
        return _said(f"It is noted: mail to {address.email} came back.")
    return _said(f"Nothing more is sent to {address.email}.")


def _said(words: str, status: int = 200) -> HttpResponse:
    return HttpResponse(f"{words}\n", status=status, content_type="text/plain; charset=utf-8")
