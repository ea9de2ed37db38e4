"""Parts of the message page that are asked for alone: a letter, a text, the frame, the standing."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from filters.inbox.lists import listing
from filters.people.requests import PersonRequest, local_path, wants_fragment
from filters.reading import reading
from filters.reading.annotations.forms import ticked
from filters.reading.letters import choose_text, letter_of, standing_mark
from filters.reading.rendering.html import policy
from filters.reading.rendering.letter import html_document
from filters.reading.views.originals import find_original
from filters.site.templatetags.mail import message_address
from filters.site.templatetags.reading import TYPE_COOKIE
from tapestry.tables.read.messages import read_copy

YEAR = 365 * 24 * 3600


@require_safe
def letter(request: PersonRequest) -> HttpResponse:
    """Unfold a message of a conversation, and mark it read; ``as`` is html or text.

    ``part=text`` gives its text alone.  Without htmx it is the page of the message.
    """
    msgid = request.GET.get("id", "")
    for copy in reading.find(request.user, msgid, request.GET.get("in"))[:1]:
        row = read_copy(msgid, copy)
        if row is None:
            break
        if not wants_fragment(request):
            return redirect(message_address(msgid, copy.audience))
        context = {"m": row.message, "letter": letter_of(row.message, copy), "copy": copy}
        if request.GET.get("part") == "text":
            return render(request, "reading/rendering/_text.html", context)
        news = request.method == "GET" and listing.mark_read(request.user, msgid)
        response = render(request, "reading/rendering/_letter.html", context)
        if news:
            response["HX-Trigger-After-Settle"] = "read"
        return response
    raise Http404("There is no such message, or you may not see it.")


@require_safe
def html(request: PersonRequest) -> HttpResponse:
    """Give the HTML of a message to the frame of its page; it runs nothing there.

    Pictures of other sites are loaded if ``pictures`` is ``remote``; those sites are not told
    what page shows them.
    """
    has_remote = request.GET.get("pictures") == "remote"
    stored, _ = find_original(request)
    document = html_document(stored.raw, has_remote=has_remote)
    if document is None:
        raise Http404("This message has no HTML.")
    response = HttpResponse(document)
    response["Content-Security-Policy"] = policy(has_remote=has_remote)
    response["X-Frame-Options"] = "SAMEORIGIN"
    response["Referrer-Policy"] = "no-referrer"
    return response


@require_POST
def show_as(request: PersonRequest) -> HttpResponse:
    """Show a message ``as`` html or text from now on, and so what else its sender sends."""
    msgid, audience = request.POST.get("id", ""), request.POST.get("in")
    for copy in reading.find(request.user, msgid, audience)[:1]:
        row = read_copy(msgid, copy)
        if row is None:
            break
        sender, as_text = (row.message.sender or "").lower(), request.POST.get("as") == "text"
        choose_text(request.user, sender, as_text=as_text)
        if not wants_fragment(request):
            return redirect(message_address(msgid, copy.audience))
        context = {"m": row.message, "letter": letter_of(row.message, copy), "copy": copy}
        return render(request, "reading/rendering/_text.html", context | {"alone": True})
    raise Http404("There is no such message, or you may not see it.")


@require_safe
def standing(request: PersonRequest) -> HttpResponse:
    """Show the votes and tags of a message again; 204 while they are as when ``seen``.

    ``private``: the forms in which “only for me” is ticked stay so.
    """
    msgid, audience = request.GET.get("id", ""), request.GET.get("in")
    visible = reading.find(request.user, msgid, audience)
    if not visible:
        raise Http404("There is no such message, or you may not see it.")
    mark = standing_mark(request.user, reading.summary_of(request.user, msgid))
    if mark == request.GET.get("seen"):
        return HttpResponse(status=204)  # The message itself was not read: most polls end here.
    shown = reading.read_first(request.user, msgid, visible)
    if not wants_fragment(request) or shown is None:
        return redirect(message_address(msgid, audience))
    return render(
        request,
        "reading/rendering/_standing.html",
        {"reading": shown, "ticked": ticked(request.GET)},
    )


@require_POST
def typeface(request: PersonRequest) -> HttpResponse:
    """Keep in a cookie whether texts are shown in letters of equal width, and go back."""
    back = local_path(request.POST.get("next", ""), "inbox")
    response = HttpResponse(status=204) if request.htmx else redirect(back)
    wanted = "mono" if request.POST.get("type") == "mono" else "proportional"
    response.set_cookie(
        TYPE_COOKIE,
        wanted,
        max_age=YEAR,
        httponly=True,
        samesite="Lax",
        secure=bool(settings.SESSION_COOKIE_SECURE),
    )
    return response
