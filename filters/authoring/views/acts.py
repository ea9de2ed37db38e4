"""The log of what a filter has done with what it found, and undoing it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.contrib.humanize.templatetags.humanize import intcomma
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from filters.authoring.acts import done_words
from filters.authoring.models import Filter
from filters.inbox.models import Card, Match
from filters.people import people
from filters.people.models import User
from filters.people.requests import PersonRequest
from filters.runs.store.acts import stands, undo
from filters.sources.models import MailboxAct

PAGE = 50

_BECAME = {
    Match.STANDS: "",
    Match.LEFT: "; undone as it left the list",
    Match.OWN: "; undone or changed by you",
}


@dataclass(frozen=True, slots=True)
class Line:
    """A message on which a filter acted, when, what it did, and whether any of that stands."""

    card: Card
    at: int
    words: str
    stands: bool


@require_http_methods(["GET", "HEAD", "POST"])
def acts(request: PersonRequest, name: str) -> HttpResponse:
    """Show on which messages a filter acted, the last first; undo it for ``id``, or for ``all``."""
    filter_ = get_object_or_404(Filter, owner=request.user, name=name)
    found = acted_on(request.user, filter_)
    is_named = "all" in request.POST or bool(request.POST.get("id"))
    if request.method == "POST" and is_named:
        return _undo(request, filter_, found)
    if request.method == "POST":
        messages.error(request, "Say for which message to undo it.")
    ordered = found.order_by("-acted_at", "-pk").select_related("card")
    page = Paginator(ordered, PAGE).get_page(request.GET.get("page"))
    context = {
        "filter": filter_,
        "page": page,
        "lines": _lines(filter_, list(page)),
        "standing": found.filter(stands()).count(),
    }
    status = 400 if request.method == "POST" else 200
    return render(request, "authoring/acts.html", context, status=status)


def acted_on(user: User, filter_: Filter) -> QuerySet[Match]:
    """Return the matches on which a filter acted, of messages that its owner may see."""
    visible = Match.objects.filter(filter=filter_, audience__in=people.audiences(user))
    return visible.filter(acted_at__isnull=False, card__isnull=False)


def _undo(request: PersonRequest, filter_: Filter, found: QuerySet[Match]) -> HttpResponse:
    if "all" not in request.POST:
        found = found.filter(msgid=request.POST["id"])
        if not found.exists():
            raise Http404("The filter has done nothing with that message.")
    count = undo(request.user, found)
    words = f"{intcomma(count)} message{'' if count == 1 else 's'}" if count else "nothing"
    messages.success(request, f"Undone for {words}. What you have changed since stays.")
    page = request.POST.get("page", "")
    return redirect(f"{request.path}?page={page}" if page.isdecimal() else request.path)


def _lines(filter_: Filter, matches: Sequence[Match]) -> list[Line]:
    msgids = [match.msgid for match in matches]
    in_mailbox = MailboxAct.objects.filter(filter=filter_, msgid__in=msgids)
    outcomes = {act.msgid: _outcome(act) for act in in_mailbox}
    return [_line(match, outcomes.get(match.msgid, "")) for match in matches]


def _outcome(act: MailboxAct) -> str:
    """Say what is not as asked in a mailbox."""
    return act.outcome if act.ended_at is not None else "The mailbox is still to be told."


def _line(match: Match, outcome: str) -> Line:
    assert match.card is not None and match.acted_at is not None
    words = [
        f"{done_words(names, 'it')}{_BECAME[how]}"
        for how in _BECAME
        if (names := [name for name, became in match.acts.items() if became == how])
    ]
    stands_still = Match.STANDS in match.acts.values()
    return Line(
        match.card, match.acted_at, ". ".join([*words, *filter(None, [outcome])]), stands_still
    )
