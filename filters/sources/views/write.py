"""Adding a source and changing one: where, as whom, for whom; then which folders or groups.

What needs the server is done by the worker (``accounts.trials``); the page waits for it.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.debug import sensitive_post_parameters

from filters.people.requests import PersonRequest, form_methods, form_page
from filters.sources import changes
from filters.sources.accounts import trials
from filters.sources.forms import FoldersForm, SourceForm
from filters.sources.models import Source, Trial
from filters.sources.views.server_form import server_page
from filters.sources.views.sources import source_of
from tapestry.core.errors import TapestryError
from tapestry.ingest.dav import ALL


@sensitive_post_parameters("secret", "client_secret")
@form_methods
def write(request: PersonRequest, pk: int | None = None) -> HttpResponse:
    """Describe a source, or change one; the worker tries it, and stores it if that goes well."""
    kind = request.POST.get("kind") or request.GET.get("kind")
    kind = kind if kind in Source.Kind.values else str(Source.Kind.IMAP)
    stored = Source(owner=request.user, kind=kind) if pk is None else source_of(request, pk)
    return server_page(
        request,
        "sources/write.html",
        "imap" if pk is None and stored.is_mailbox else None,
        lambda data, suggested: SourceForm(data, source=stored, suggested=suggested),
        lambda _: changes.question_of(stored, request.POST),
        source=stored,
        kinds=Source.Kind.choices,
    )


@form_methods
def folders(request: PersonRequest, pk: int) -> HttpResponse:
    """Choose the folders of a mailbox, or groups by name and pattern."""
    chosen = source_of(request, pk)
    listing = _listing(request, chosen)
    if request.method != "POST":
        named = listing.answer["named"] if listing else chosen.folder_patterns
        form = FoldersForm(kind=chosen.kind, initial={"folders": "\n".join(named)})
        return _choose(request, chosen, form, named, listing or _list(chosen, named))
    ticked = request.POST.getlist("folder")
    form = FoldersForm(request.POST, kind=chosen.kind, ticked=ticked)
    if not form.is_valid():
        sound = form.sound_ticks()
        return _choose(request, chosen, form, sound, listing or _list(chosen, sound))
    named = form.cleaned_data["folders"]
    if "show" in request.POST:
        return _choose(request, chosen, form, named, _list(chosen, named))
    changes.choose_folders(chosen, named)
    messages.success(request, "Reading has begun; this page shows how far it is.")
    return redirect(chosen)


def _listing(request: PersonRequest, source: Source) -> Trial | None:
    """Return the listing of a source that the address of the page names."""
    listed = trials.named(request.user, request.GET.get("trial", ""), f"folders:{source.pk}")
    return listed if listed is not None and "offers" in listed.answer else None


def _list(source: Source, named: list[str]) -> Trial | TapestryError | None:
    """Have the worker list what there is; return why not if that cannot begin."""
    try:
        return changes.list_folders(source, named)
    except TapestryError as error:
        return error


def _choose(
    request: PersonRequest,
    source: Source,
    form: FoldersForm,
    named: list[str],
    listing: Trial | TapestryError | None,
) -> HttpResponse:
    error = listing if isinstance(listing, TapestryError) else None
    trial = listing if isinstance(listing, Trial) else None
    answer = trial.answer if trial else {}
    offers = answer.get("offers", [])
    listed = {name for name, *_ in offers}
    context: dict[str, Any] = {
        "source": source,
        "ticked": named or ["INBOX" if source.is_mailbox else ALL],
        "others": [name for name in named if name not in listed],
        "offers": [{"name": name, "messages": n, "title": title} for name, n, title in offers],
        "more": answer.get("more", 0),
        "trial": trial if trial and "offers" not in answer else None,
        "error": error,
    }
    return form_page(request, "sources/folders.html", form, **context)
