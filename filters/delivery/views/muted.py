"""The threads that a person has muted: nothing of them is sent, until they are unmuted."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.db import transaction
from django.db.models import Max
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from filters.inbox.models import Card, Mute, lift_mutes
from filters.people.models import User
from filters.people.requests import PersonRequest

SHOWN = 50
"""Muted threads that the page of destinations shows, the newest first."""


@dataclass(frozen=True, slots=True)
class MutedThread:
    """A muted thread: the key of its newest mute, and the subject of a message that is seen."""

    key: int
    subject: str


def muted_threads(owner: User) -> list[MutedThread]:
    """Return the threads that a person has muted, the newest first."""
    by_root = Mute.objects.filter(owner=owner).values_list("root").annotate(newest=Max("pk"))
    threads = dict(by_root.order_by("-newest")[:SHOWN])
    cards = Card.objects.visible_to(owner).filter(root__in=threads)
    subjects: dict[str, str] = {}
    for root, subject in cards.order_by("ts").values_list("root", "subject"):
        subjects[root] = subjects.get(root) or subject
    return [MutedThread(key, subjects.get(root, "")) for root, key in threads.items()]


@require_POST
def unmute(request: PersonRequest, pk: int) -> HttpResponse:
    """Send what comes of a muted thread again."""
    mute = get_object_or_404(Mute, owner=request.user, pk=pk)
    with transaction.atomic():
        lift_mutes(Mute.objects.filter(owner=request.user, root=mute.root))
    messages.success(request, "The thread is no longer muted.")
    return redirect("destinations")
