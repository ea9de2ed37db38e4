"""Adding a source and changing one: where, as whom, for whom; then which folders or groups."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from filters.accounts.requests import PersonRequest
from filters.models.source import Source
from filters.sources.credentials import SECRETS, account_of, keep_secret, read_secret
from filters.sources.forms import FoldersForm, SourceForm
from filters.sources.tasks import pull_soon
from filters.sources.trial import list_folders, try_out
from filters.sources.views.sources import mine
from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.ingest.account import Account
from tapestry.ingest.nntp.wildmat import is_pattern
from tapestry.ingest.stream import ListedFolder

SHOWN = 300
"""Of the groups that patterns stand for."""

_FIELDS = (
    "host",
    "port",
    "security",
    "user",
    "method",
    "token_url",
    "client_id",
    "audience",
    "every",
)
_STANDING = ("error", "hint", "failures", "due_at")


@sensitive_post_parameters("secret", "client_secret")
@require_http_methods(["GET", "POST"])
def new(request: PersonRequest) -> HttpResponse:
    """Describe a source, try it, and keep it; it is pulled once folders are chosen."""
    kind = request.POST.get("kind") or request.GET.get("kind")
    kind = kind if kind in Source.Kind.values else str(Source.Kind.IMAP)
    made = Source(owner=request.user, kind=kind)
    if request.method == "GET":
        return _page(request, SourceForm(owner=request.user, kind=kind), made)
    return _store(request, SourceForm(request.POST, owner=request.user, kind=kind), made)


@sensitive_post_parameters("secret", "client_secret")
@require_http_methods(["GET", "POST"])
def edit(request: PersonRequest, pk: int) -> HttpResponse:
    """Change a source; its secret stays, unseen, where none is given."""
    changed = mine(request, pk)
    if request.method == "GET":
        form = SourceForm(owner=request.user, kind=changed.kind, was=changed)
        form.initial = {name: getattr(changed, name) for name in _FIELDS}
        return _page(request, form, changed)
    form = SourceForm(request.POST, owner=request.user, kind=changed.kind, was=mine(request, pk))
    return _store(request, form, changed)


@require_http_methods(["GET", "POST"])
def folders(request: PersonRequest, pk: int) -> HttpResponse:
    """Choose the folders of a mailbox, or groups by name and pattern."""
    chosen = mine(request, pk)
    if request.method == "GET":
        form = FoldersForm(kind=chosen.kind)
        form.initial = {"folders": "\n".join(chosen.folder_patterns)}
        return _choose(request, chosen, form, chosen.folder_patterns)
    ticked = request.POST.getlist("folder")
    form = FoldersForm(request.POST, kind=chosen.kind, ticked=ticked)
    if not form.is_valid() or "show" in request.POST:
        named = form.cleaned_data.get("folders", ticked)
        return _choose(request, chosen, form, named, status=400 if form.errors else 200)
    Source.objects.filter(pk=chosen.pk).update(
        folder_patterns=form.cleaned_data["folders"], active=True, due_at=wall_clock(), failures=0
    )
    pull_soon(chosen.pk)
    messages.success(request, "What is there comes in now; this page says how far it is.")
    return redirect(chosen)


def _store(request: PersonRequest, form: SourceForm, stored: Source) -> HttpResponse:
    if not form.is_valid():
        return _page(request, form, stored)
    given = form.cleaned_data
    for name in _FIELDS:
        setattr(stored, name, given.get(name, ""))
    names = [*_FIELDS, *_STANDING]
    secret_given = _keep_secrets(stored, given)
    if secret_given:
        names += SECRETS
    try:
        try_out(account_of(stored, edited=secret_given))
    except TapestryError as error:
        form.add_error(None, f"{error.message} {error.hint or ''}")
        return _page(request, form, stored)
    stored.error, stored.hint, stored.failures, stored.due_at = "", "", 0, wall_clock()
    _save(stored, names)
    if not stored.folder_patterns:
        return redirect("source-places", stored.pk)
    messages.success(request, "That is stored, and the server lets you in.")
    pull_soon(stored.pk)
    return redirect(stored)


def _save(stored: Source, names: list[str]) -> None:
    """Store a new source, or only these fields of one: others may have been changed meanwhile."""
    if stored.pk is None:
        stored.save()
        return
    changes = {name: getattr(stored, name) for name in names}
    if not Source.objects.filter(pk=stored.pk).update(**changes):
        raise Http404
    stored.refresh_from_db()


def _keep_secrets(stored: Source, given: dict[str, Any]) -> bool:
    """Put what was given into the source; what was not stays.  Return whether something was."""
    program = given.get("client_secret", "")
    if not given["user"]:
        keep_secret(stored, "")
        return True
    if not (given["secret"] or program):
        return False
    try:
        before = read_secret(stored)
    except TapestryError:
        before = {}  # the key to it is lost
    secret = given["secret"] or before.get("secret", "")
    keep_secret(stored, secret, program or before.get("client_secret", ""))
    return True


def _page(request: PersonRequest, form: SourceForm, source: Source) -> HttpResponse:
    context = {"form": form, "source": source, "kinds": Source.Kind.choices}
    status = 400 if form.errors else 200
    return render(request, "filters/sources/write.html", context, status=status)


def _choose(
    request: PersonRequest, source: Source, form: FoldersForm, named: list[str], status: int = 200
) -> HttpResponse:
    found: list[ListedFolder] = []
    error: TapestryError | None = None
    try:
        found = _offered(account_of(source), source, named)
    except TapestryError as failure:
        error = failure
    listed = {offer.name for offer in found}
    context: dict[str, Any] = {
        "source": source,
        "form": form,
        "ticked": named or ["INBOX"],
        "others": [name for name in named if name not in listed],
        "offers": found[:SHOWN],
        "more": max(0, len(found) - SHOWN),
        "error": error,
    }
    return render(request, "filters/sources/folders.html", context, status=status)


def _offered(account: Account, source: Source, named: list[str]) -> list[ListedFolder]:
    if not source.is_news:
        return list_folders(account)
    # One's own names alone need no question; patterns are shown with what they stand for.
    return list_folders(account, named) if any(map(is_pattern, named)) else []
