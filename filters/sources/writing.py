"""What the worker does for the pages of sources: try an account, store a source, list folders."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict
from django.urls import reverse

from filters.people import people
from filters.people.models import User
from filters.site.work.queues.queue import PULL_DUE, run_soon
from filters.sources.accounts.credentials import SECRETS, account_of, keep_secret, read_secret
from filters.sources.accounts.trials import LIMIT, PATIENCE, Answer
from filters.sources.both_ways.acting import locate_anew
from filters.sources.both_ways.delivery_folders import delivery_parents
from filters.sources.forms import FIELDS, SourceForm
from filters.sources.models import Source
from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.ingest.session import open_session
from tapestry.servers.account import Account

SHOWN = 300
"""Folders or groups that are shown of those that there are."""

_OUTCOME = ("error", "hint", "failures", "due_at")
_CONTENT = ("host", "port", "path", "user", "audience")


def try_out(account: Account) -> None:
    """Authenticate and disconnect.  Raises TapestryError if that fails."""
    with open_session(account, PATIENCE, LIMIT):
        pass


def test(owner: User, question: dict[str, Any]) -> Answer:
    """Try the account of a stored source."""
    source = _source(owner, question["source"])
    try_out(account_of(source))
    return {"said": f"{source.host} answers and lets you in."}


def folders(owner: User, question: dict[str, Any]) -> Answer:
    """List the folders of a mailbox, or the groups that names and patterns stand for."""
    source = _source(owner, question["source"])
    asked = question["named"] if source.is_news else ["*"]
    with open_session(account_of(source), PATIENCE, LIMIT) as session:
        offers = session.list_folders(asked, delivery_parents(source))
    return {
        "url": reverse("source-folders", args=[source.pk]),
        "offers": [(offer.name, offer.messages, offer.title) for offer in offers[:SHOWN]],
        "more": max(0, len(offers) - SHOWN),
        "named": question["named"],
    }


def write(owner: User, question: dict[str, Any]) -> Answer:
    """Try what a person wrote into the form of a source, and store it.

    A new source is pulled once folders are chosen.  The secret of a source that is changed stays
    where none is given.
    """
    key = question["source"]
    stored = Source(owner=owner, kind=question["kind"]) if key is None else _source(owner, key)
    form = SourceForm(QueryDict(question["data"]), source=stored)
    changed = TapestryError("Something has changed in the meantime.", hint="Check the form again.")
    if not form.is_valid():
        raise changed
    given = form.cleaned_data
    names = [*FIELDS, *_OUTCOME]  # others may be chosen while it is tried
    if any(getattr(stored, name) != given.get(name) for name in ("host", "user")):
        # That was allowed for another mailbox.
        stored.may_act, stored.syncs_flags, stored.flags_state = False, False, {}
        names += ["may_act", "syncs_flags", "flags_state"]
    if any(getattr(stored, name) != given.get(name, "") for name in _CONTENT):
        stored.complete_until = None
        names.append("complete_until")
    for name in FIELDS:
        setattr(stored, name, given.get(name, ""))
    secret_given = _keep_secrets(stored, given)
    if secret_given:
        names += SECRETS
    try_out(account_of(stored, edited=secret_given))
    stored.error, stored.hint, stored.failures, stored.due_at = "", "", 0, wall_clock()
    if stored.pk is None:
        if stored.audience not in people.publishable(owner):  # the trial took a while
            raise changed
        stored.save()
    else:  # other fields may have been changed meanwhile
        changes = {name: getattr(stored, name) for name in names}
        if not Source.objects.filter(pk=stored.pk).update(**changes):
            raise TapestryError("The source has been deleted in the meantime.")
        stored.refresh_from_db()
        stored.folders.update(mark="")  # of an account that may be another
        locate_anew(stored)
    if not stored.folder_patterns:
        return {"url": reverse("source-folders", args=[stored.pk]), "stored": stored.pk}
    run_soon(PULL_DUE)
    said = "That is stored, and the server lets you in."
    return {"url": stored.get_absolute_url(), "said": said, "stored": stored.pk}


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


def _source(owner: User, key: int) -> Source:
    source = Source.objects.filter(owner=owner, pk=key).first()
    if source is None:
        raise TapestryError("The source has been deleted in the meantime.")
    return source
