"""The threads that a person has muted: nothing of them is sent, until they are unmuted."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.db import transaction
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
    """A muted thread, with the subject of a message of it that its owner may see."""

    mute: Mute
    subject: str


def muted_threads(owner: User) -> list[MutedThread]:
    """Return the threads that a person has muted, the newest first."""
    mutes = list(Mute.objects.filter(owner=owner).order_by("-pk")[:SHOWN])
    cards = Card.objects.visible_to(owner).filter(root__in=[mute.root for mute in mutes])
    subjects: dict[str, str] = {}
    for root, subject in cards.order_by("ts").values_list("root", "subject"):
        subjects[root] = subjects.get(root) or subject
    return [MutedThread(mute, subjects.get(mute.root, "")) for mute in mutes]


@require_POST
def unmute(request: PersonRequest, pk: int) -> HttpResponse:
    """Send what comes of a muted thread again."""
    mute = get_object_or_404(Mute, owner=request.user, pk=pk)
    with transaction.atomic():
        lift_mutes(Mute.objects.filter(pk=mute.pk))
    messages.success(request, "The thread is no longer muted.")
    return redirect("destinations")
