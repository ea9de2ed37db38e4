"""What is done with messages, one or many, and undone."""

from __future__ import annotations

from uuid import UUID

from django.contrib.humanize.templatetags.humanize import intcomma
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from filters.inbox.models import TriageStep
from filters.inbox.opened import filter_named
from filters.inbox.triage import lists, steps
from filters.inbox.triage.actions import ACTIONS, Action
from filters.inbox.triage.context_processors import selection_of
from filters.inbox.triage.snoozing import read_moment
from filters.inbox.triage.targets import (
    SelectedTargets,
    copies_in,
    in_no_list,
    named_targets,
    unread_targets,
)
from filters.inbox.triage.views.answers import next_address, refused, selected, told
from filters.people.requests import PersonRequest, wants_fragment
from filters.reading import reading
from filters.site.templatetags.mail import time_words
from tapestry.core.errors import TapestryError

MOST = 5000
"""Messages that one form may name; a page of a list has 50 lines, some of many messages."""


@require_POST
def act(request: PersonRequest, action: str) -> HttpResponse:
    """Do an action with the messages that a form names, or with all of a ``selection``.

    The answer offers to undo it: to htmx as a part of the page, else on the page ``next``.  If no
    message is there and the person's to see, it is a 404; bad input is told with 400, to htmx with
    422, as it draws that.
    """
    if action not in ACTIONS:
        raise Http404("There is no such action.")
    chosen = ACTIONS[action]
    try:
        until = _until(request) if action == "snooze" else None
        step, left_out = _step(request, chosen, until)
    except TapestryError as error:
        return refused(request, error.sentences)
    words = chosen.result.format(_messages(step.count), until=time_words(until))
    if left_out:
        words += f" {_others(left_out)} in none of your lists."
    return told(request, words, step=step, hides=chosen.hides)


@require_POST
def mark_all_read(request: PersonRequest) -> HttpResponse:
    """Mark all that is unread in the list of a ``filter``, or in the inbox, as read."""
    filter_ = filter_named(request.user, request.POST.get("filter"))
    read = ACTIONS["read"]
    targets = unread_targets(request.user, filter_)
    if not targets:
        return told(request, "Nothing was unread.")
    step = steps.act(request.user, read, targets)
    return told(request, read.result.format(_messages(step.count)), step=step)


@require_POST
def undo(request: PersonRequest, step: UUID) -> HttpResponse:
    """Undo a step; 404 if it was undone already, is too old, or is somebody else's."""
    undone = steps.undo(request.user, step)
    if undone is None:
        if wants_fragment(request):
            return refused(request, "This can no longer be undone.", status=404)
        raise Http404("This can no longer be undone.")
    return told(request, f"Undone for {_messages(undone.count)}.")


@require_POST
def select(request: PersonRequest) -> HttpResponse:
    """Select all messages of a list as it is now, for actions that follow."""
    name = request.POST.get("list", "")
    filter_ = filter_named(request.user, request.POST.get("filter"))
    if name not in {"inbox", "filter", *lists.SHELVES} or (name == "filter") != bool(filter_):
        raise Http404("There is no such list.")
    selection = lists.select(request.user, lists.cards_in(request.user, name, filter_))
    of_list = {"shelf": lists.SHELVES.get(name), "filter": filter_}
    return selected(request, selection, next_address(request), of_list)


@require_safe
def actions(request: PersonRequest) -> HttpResponse:
    """Show again what can be done with the message ``id``, as it is now."""
    shown = reading.read(request.user, request.GET.get("id", ""), request.GET.get("in"))
    if shown is None:
        raise Http404("There is no such message, or you may not see it.")
    return render(request, "inbox/triage/_actions.html", {"reading": shown})


def _until(request: PersonRequest) -> int:
    name, chosen = request.POST.get("until", ""), request.POST.get("chosen", "")
    return read_moment(request.user, name, chosen)


def _step(request: PersonRequest, action: Action, until: int | None) -> tuple[TriageStep, int]:
    """Do an action; return its step, and how many messages it was not for."""
    user = request.user
    if request.POST.get("selection"):
        selection = selection_of(request)
        if selection is None:
            raise Http404("There is no such selection.")
        targets = SelectedTargets(user, action, selection)
        step = steps.act(user, action, targets, until)
        if targets.left_out and not step.count:
            step.delete()
            raise in_no_list(targets.left_out)
        return step, targets.left_out
    copies = copies_in(request.POST)
    if not copies:
        raise TapestryError("No message is selected.", hint="Select one first.")
    if len(copies) > MOST:
        raise TapestryError(
            "Too many messages are selected.", hint="Select all messages of the list instead."
        )
    found = named_targets(user, action, copies)
    left_out = {copy.msgid for copy in copies} - {target.msgid for target in found}
    return steps.act(user, action, found, until), len(left_out)


def _messages(count: int) -> str:
    return f"{intcomma(count)} message{'' if count == 1 else 's'}"


def _others(count: int) -> str:
    return "1 other message is" if count == 1 else f"{intcomma(count)} other messages are"
