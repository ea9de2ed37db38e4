"""A message of the outbox: its draft, or how sending it stands."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from filters.compose.drafting.formatting import text_as_it_looks
from filters.compose.models import OutgoingMessage
from filters.compose.sending import outbox
from filters.compose.tasks import send_soon
from filters.compose.views.write import editor
from filters.inbox.triage.snoozing import read_moment
from filters.people.requests import PersonRequest, errors_told
from filters.site.work.crypto import arrival_tokens
from tapestry.core.clock import SECOND, wall_clock


def message_of(request: PersonRequest, uid: uuid.UUID) -> OutgoingMessage:
    """Return a message of the person who asks; 404 for those of others."""
    rows = OutgoingMessage.objects.defer("raw").select_related("owner")
    return get_object_or_404(rows, owner=request.user, uid=uid)


@require_safe
def outgoing(request: PersonRequest, uid: uuid.UUID) -> HttpResponse:
    """Show a draft in the editor, and what was sent off with how it stands."""
    row = message_of(request, uid)
    if row.is_draft:
        return editor(request, row)
    text = text_as_it_looks(row.body, is_formatted=row.formatted)
    context = _context(row) | {"text": text}
    return render(request, "compose/outgoing.html", context)


@require_safe
def state(request: PersonRequest, uid: uuid.UUID) -> HttpResponse:
    """Show how sending a message stands: its page asks while it is under way."""
    return render(request, "compose/_state.html", _context(message_of(request, uid)))


@require_POST
def undo(request: PersonRequest, uid: uuid.UUID) -> HttpResponse:
    """Make a draft again of what was sent off, if nobody has got it yet."""
    row = message_of(request, uid)
    if not row.is_draft and not outbox.undo(row):
        messages.error(request, "It is too late: it has been sent.", extra_tags="bad")
    return redirect(row)


@require_POST
def later(request: PersonRequest, uid: uuid.UUID) -> HttpResponse:
    """Have what waits for its time sent at another, or now."""
    row = message_of(request, uid)
    act, _, name = request.POST.get("do", "").partition(":")
    with errors_told(request):
        chosen = request.POST.get("chosen", "")
        send_at = None if act == "send" else read_moment(request.user, name, chosen)
        if not outbox.reschedule(row, send_at):
            messages.error(request, "It is too late: it is being sent.", extra_tags="bad")
        elif send_at is None:
            send_soon(row.pk)
    return redirect(row)


@require_POST
def again(request: PersonRequest, uid: uuid.UUID) -> HttpResponse:
    """Try again to send what was refused."""
    row = message_of(request, uid)
    with errors_told(request):
        if outbox.send_again(row):
            send_soon(row.pk, 0)
    return redirect(row)


def _context(row: OutgoingMessage) -> dict[str, object]:
    left = (row.due_at or 0) - wall_clock()
    is_undoable = row.state == row.State.QUEUED and not (row.sent_at or row.posted_at)
    return {
        "row": row,
        "seconds": max(0, -(-left // SECOND)),
        "is_undoable": is_undoable and not row.holder,
        "is_waiting": row.failures > 0 and left > 0,
        "audience": f"user:{row.owner.get_username()}",
        "token": arrival_tokens.of_letter(row.pk),
    }
