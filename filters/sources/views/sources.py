"""The sources of a person: how each is doing, pausing, resuming, trying, deleting them."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from filters.authoring.models import Filter
from filters.people.requests import PersonRequest, errors_told, form_methods, wants_fragment
from filters.runs.models import SetAside
from filters.site.work import set_aside
from filters.site.work.crypto import arrival_tokens
from filters.sources import changes
from filters.sources.accounts import trials
from filters.sources.forms import MOST_FOLDERS
from filters.sources.models import Source
from filters.sources.pull.sync_state import StoredSyncStates
from filters.sources.schedule import LISTENING
from tapestry.core.clock import wall_clock

SHOWN = 20
"""Pulls that the page of a source shows."""


@require_safe
def sources(request: PersonRequest) -> HttpResponse:
    context = {"sources": Source.objects.filter(owner=request.user)}
    return render(request, "sources/sources.html", context)


@require_safe
def source(request: PersonRequest, pk: int) -> HttpResponse:
    """Show how a source is doing: its folders or groups, and what came when."""
    shown = source_of(request, pk)
    unavailable = StoredSyncStates.of(shown).unavailable()
    context: dict[str, object] = {
        "source": shown,
        "folders": [
            (folder, unavailable.get(folder.name, 0))
            for folder in shown.folders.order_by("name")[:MOST_FOLDERS]
        ],
        "pulls": shown.pulls.all()[:SHOWN],
        "has_mail": shown.pulls.filter(added__gt=0).exists(),
        "has_filters": Filter.objects.filter(owner=request.user).exists(),
        "not_watched": set_aside.reason_of(SetAside.Kind.SOURCE, f"{shown.pk}/{LISTENING}"),
    }
    if wants_fragment(request):
        return render(request, "sources/_source.html", context)
    context["token"] = arrival_tokens.of_pull(shown.pk, wall_clock())
    context["trial"] = trials.latest(request.user, f"test:{shown.pk}")
    return render(request, "sources/source.html", context)


@require_POST
def test(request: PersonRequest, pk: int) -> HttpResponse:
    """Have the worker try the connection; the page of the source says how it went."""
    tried = source_of(request, pk)
    with errors_told(request):
        changes.test(tried)
    return redirect(tried)


@require_POST
def pause(request: PersonRequest, pk: int) -> HttpResponse:
    """Stop pulling a source; once resumed it goes on from where it stopped."""
    paused = source_of(request, pk)
    changes.pause(paused)
    return redirect(paused)


@require_POST
def resume(request: PersonRequest, pk: int) -> HttpResponse:
    """Pull a source again, and at once."""
    resumed = source_of(request, pk)
    changes.resume(resumed)
    return redirect(resumed)


@require_POST
def allow_acts(request: PersonRequest, pk: int) -> HttpResponse:
    """Let the filters of its owner act in a mailbox, and flags travel there; or no more."""
    mailbox = source_of(request, pk)
    if not mailbox.is_mailbox:
        raise Http404("Filters act in mailboxes alone.")
    given = {name: request.POST.get(name) == "on" for name in ("may_act", "syncs_flags")}
    changes.allow_acts(mailbox, **given)
    acts = "Your filters may act in it" if given["may_act"] else "No filter acts in it"
    flags = "kept the same" if given["syncs_flags"] else "not taken over"
    messages.success(request, f"{acts}. Read, starred and tags are {flags} here and there.")
    return redirect(mailbox)


@require_POST
def pull_now(request: PersonRequest, pk: int) -> HttpResponse:
    pulled = source_of(request, pk)
    changes.pull_now(pulled)
    return redirect(pulled)


@form_methods
def delete(request: PersonRequest, pk: int) -> HttpResponse:
    """Ask, then delete a source; the messages that came from it stay."""
    doomed = source_of(request, pk)
    if request.method == "POST":
        stays = "Its mail stays." if doomed.has_mail else f"Its {doomed.content} went with it."
        messages.success(request, f"{doomed} was removed. {stays}")
        changes.remove(doomed)
        return redirect("sources")
    return render(request, "sources/delete.html", {"source": doomed})


def source_of(request: PersonRequest, pk: int) -> Source:
    """Return a source of the person who asks; 404 for those of others."""
    return get_object_or_404(Source, owner=request.user, pk=pk)
