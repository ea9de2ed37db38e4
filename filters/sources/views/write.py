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
from filters.sources.delivery_folders import delivery_parents
from filters.sources.forms import FIELDS, FoldersForm, SourceForm
from filters.sources.tasks import pull_soon
from filters.sources.views.sources import PATIENCE, source_of, try_out
from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.ingest.nntp.wildmat import is_pattern
from tapestry.ingest.session import open_session
from tapestry.ingest.stream import ListedFolder

SHOWN = 300
"""Groups that are shown of those that patterns stand for."""

_OUTCOME = ("error", "hint", "failures", "due_at")


@sensitive_post_parameters("secret", "client_secret")
@require_http_methods(["GET", "POST"])
def write(request: PersonRequest, pk: int | None = None) -> HttpResponse:
    """Describe a source, or change one; try it, and keep it.

    A new source is pulled once folders are chosen.  The secret of a source that is changed stays,
    unseen, where none is given.
    """
    kind = request.POST.get("kind") or request.GET.get("kind")
    kind = kind if kind in Source.Kind.values else str(Source.Kind.IMAP)
    stored = Source(owner=request.user, kind=kind) if pk is None else source_of(request, pk)
    data = request.POST if request.method == "POST" else None
    form = SourceForm(data, source=stored)
    if not form.is_valid():
        return _page(request, form, stored)
    given = form.cleaned_data
    for name in FIELDS:
        setattr(stored, name, given.get(name, ""))
    names = [*FIELDS, *_OUTCOME]
    secret_given = _keep_secrets(stored, given)
    if secret_given:
        names += SECRETS
    try:
        try_out(account_of(stored, edited=secret_given))
    except TapestryError as error:
        form.add_error(None, f"{error.message} {error.hint or ''}")
        return _page(request, form, stored)
    stored.error, stored.hint, stored.failures, stored.due_at = "", "", 0, wall_clock()
    if stored.pk is None:
        stored.save()
    else:  # other fields may have been changed meanwhile
        changes = {name: getattr(stored, name) for name in names}
        if not Source.objects.filter(pk=stored.pk).update(**changes):
            raise Http404
        stored.refresh_from_db()
    if not stored.folder_patterns:
        return redirect("source-folders", stored.pk)
    messages.success(request, "That is stored, and the server lets you in.")
    pull_soon(stored.pk)
    return redirect(stored)


@require_http_methods(["GET", "POST"])
def folders(request: PersonRequest, pk: int) -> HttpResponse:
    """Choose the folders of a mailbox, or groups by name and pattern."""
    chosen = source_of(request, pk)
    if request.method == "GET":
        initial = {"folders": "\n".join(chosen.folder_patterns)}
        form = FoldersForm(kind=chosen.kind, initial=initial)
        return _choose(request, chosen, form, chosen.folder_patterns)
    ticked = request.POST.getlist("folder")
    form = FoldersForm(request.POST, kind=chosen.kind, ticked=ticked)
    if not form.is_valid() or "show" in request.POST:
        return _choose(request, chosen, form, form.cleaned_data.get("folders", ticked))
    Source.objects.filter(pk=chosen.pk).update(
        folder_patterns=form.cleaned_data["folders"], active=True, due_at=wall_clock(), failures=0
    )
    pull_soon(chosen.pk)
    messages.success(request, "What is there comes in now; this page says how far it is.")
    return redirect(chosen)


def _keep_secrets(stored: Source, given: dict[str, Any]) -> bool:
    """Put the secrets that were given into the source; return whether there were any."""
    client_secret = given.get("client_secret", "")
    if not given["user"]:
        keep_secret(stored, "")
        return True
    if not (given["secret"] or client_secret):
        return False
    try:
        before = read_secret(stored)
    except TapestryError:
        before = {}  # the key to it is lost
    secret = given["secret"] or before.get("secret", "")
    keep_secret(stored, secret, client_secret or before.get("client_secret", ""))
    return True


def _page(request: PersonRequest, form: SourceForm, source: Source) -> HttpResponse:
    context = {"form": form, "source": source, "kinds": Source.Kind.choices}
    status = 400 if form.errors else 200
    return render(request, "filters/sources/write.html", context, status=status)


def _choose(
    request: PersonRequest, source: Source, form: FoldersForm, named: list[str]
) -> HttpResponse:
    offers: list[ListedFolder] = []
    error: TapestryError | None = None
    try:
        account = account_of(source)
        # A news server need not be asked for names alone.
        if not source.is_news or any(map(is_pattern, named)):
            with open_session(account, PATIENCE) as session:
                asked = named if source.is_news else ["*"]
                offers = session.list_folders(asked, delivery_parents(source))
    except TapestryError as failure:
        error = failure
    listed = {offer.name for offer in offers}
    context: dict[str, Any] = {
        "source": source,
        "form": form,
        "ticked": named or ["INBOX"],
        "others": [name for name in named if name not in listed],
        "offers": offers[:SHOWN],
        "more": max(0, len(offers) - SHOWN),
        "error": error,
    }
    status = 400 if form.errors else 200
    return render(request, "filters/sources/folders.html", context, status=status)
