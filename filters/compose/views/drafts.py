"""The list of what a person writes and has sent from here; deleting one."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from filters.compose.drafting.drafts import delete as delete_draft
from filters.compose.models import OutgoingMessage
from filters.compose.sending.outbox import MOST_SCHEDULED
from filters.compose.views.outgoing import message_of
from filters.people.requests import PersonRequest

State = OutgoingMessage.State

SHOWN = 50
"""Messages of each kind that are listed."""


@require_safe
def drafts(request: PersonRequest) -> HttpResponse:
    """List drafts, what is being sent or waits for its time, and what was sent lately."""
    rows = OutgoingMessage.objects.filter(owner=request.user).defer("raw", "body")
    waiting = rows.filter(state__in=(State.QUEUED, State.REFUSED))[: SHOWN + MOST_SCHEDULED]
    context = {
        "drafts": rows.filter(state=State.DRAFT)[:500],
        "scheduled": sorted((r for r in waiting if r.is_scheduled), key=lambda r: r.send_at or 0),
        "waiting": [row for row in waiting if not row.is_scheduled][:SHOWN],
        "sent": rows.filter(state=State.SENT)[:SHOWN],
    }
    return render(request, "compose/drafts.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: PersonRequest, uid: uuid.UUID) -> HttpResponse:
    """Ask, then delete a draft, or a message that was refused."""
    doomed = message_of(request, uid)
    if doomed.state in (State.QUEUED, State.SENT):
        return redirect(doomed)
    if request.method == "POST":
        if delete_draft(doomed):
            messages.success(request, "The draft is deleted.")
        return redirect("drafts")
    return render(request, "compose/delete.html", {"draft": doomed})
