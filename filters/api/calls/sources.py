"""Calls about sources: where the caller's mail comes from, and what of it is read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal

from django.http import Http404
from ninja import Field, Router, Schema, Status

from filters.api.authentication import PersonalToken
from filters.api.calls.trials import TrialOut, trial_out
from filters.api.given import checked, form_data, own
from filters.api.schemas import moment
from filters.people.requests import PersonRequest
from filters.site.work.crypto import opaque_keys
from filters.sources import changes
from filters.sources.accounts import trials
from filters.sources.forms import FIELDS, FoldersForm, SourceForm
from filters.sources.models import Source

router = Router(tags=["sources"])
READ, WRITE = PersonalToken("read"), PersonalToken("sources")

Folders = list[str]


class SourceChange(Schema):
    """Where a source is, as whom one logs in, and who may see its mail; what is left out stays.

    ``path`` is where address books or calendars are, if they are not to be found.  ``secret`` is
    stored encrypted, and in no answer.  ``every``: seconds between two looks.
    """

    host: str | None = None
    port: int | None = None
    security: str | None = None
    path: str | None = None
    user: str | None = None
    secret: str | None = None
    method: str | None = None
    token_url: str | None = None
    client_id: str | None = None
    client_secret: str | None = None
    audience: str | None = None
    every: int | None = None


class SourceIn(SourceChange):
    """A new source; its mail is for the caller alone unless an ``audience`` is named."""

    kind: Literal["imap", "nntp", "carddav", "caldav"] = "imap"
    host: str = Field(min_length=1)


class FoldersIn(Schema):
    """Names of folders, names and patterns of newsgroups, or paths; ``*`` is all of these."""

    folders: Folders = Field(min_length=1, max_length=1000)


class AllowedIn(Schema):
    """Whether filters may act in a mailbox, and whether read, starred and tags travel there."""

    may_act: bool
    syncs_flags: bool


class SourceOut(Schema):
    """A source of the caller's.  ``error`` says why it was not pulled; it is empty if it was."""

    key: str
    kind: str
    host: str
    port: int
    security: str
    path: str
    user: str
    method: str
    audience: str
    every: int
    folders: Folders
    active: bool
    may_act: bool
    syncs_flags: bool
    pulled_at: datetime | None
    error: str


@router.get("/sources", auth=READ, response=list[SourceOut])
def list_sources(request: PersonRequest) -> list[SourceOut]:
    """List the caller's sources, of which there are at most 50."""
    return [_shown(source) for source in Source.objects.filter(owner=request.user)]


@router.post("/sources", auth=WRITE, response={202: TrialOut})
def add_source(request: PersonRequest, given: SourceIn) -> Status[TrialOut]:
    """Have a source tried, and stored if its server lets one in; then its folders are chosen."""
    source = Source(owner=request.user, kind=given.kind)
    return _tried(source, {"audience": f"user:{request.user.get_username()}"}, given)


@router.get("/sources/{key}", auth=READ, response=SourceOut)
def show_source(request: PersonRequest, key: str) -> SourceOut:
    """Show a source, and how it is doing."""
    return _shown(own(Source, request.user, key))


@router.patch("/sources/{key}", auth=WRITE, response={202: TrialOut})
def change_source(request: PersonRequest, key: str, given: SourceChange) -> Status[TrialOut]:
    """Have a changed source tried, and stored if its server lets one in."""
    source = own(Source, request.user, key)
    return _tried(source, {name: getattr(source, name) for name in FIELDS}, given)


@router.delete("/sources/{key}", auth=WRITE, response={204: None})
def remove_source(request: PersonRequest, key: str) -> Status[None]:
    """Remove a source; mail that came from it stays, its contacts and meetings do not."""
    changes.remove(own(Source, request.user, key))
    return Status(204, None)


@router.post("/sources/{key}/test", auth=WRITE, response={202: TrialOut})
def test_source(request: PersonRequest, key: str) -> Status[TrialOut]:
    """Have the connection of a source tried."""
    return Status(202, trial_out(changes.test(own(Source, request.user, key))))


@router.post("/sources/{key}/folders", auth=WRITE, response={202: TrialOut})
def ask_folders(request: PersonRequest, key: str, given: FoldersIn) -> Status[TrialOut]:
    """Have the folders of a mailbox listed, or the groups that names and patterns stand for."""
    source = own(Source, request.user, key)
    trial = changes.list_folders(source, _folders(source, given))
    return Status(202, TrialOut(trial="", is_done=True) if trial is None else trial_out(trial))


@router.put("/sources/{key}/folders", auth=WRITE, response=SourceOut)
def choose_folders(request: PersonRequest, key: str, given: FoldersIn) -> SourceOut:
    """Read these folders of a mailbox, or these groups, from now on."""
    source = own(Source, request.user, key)
    changes.choose_folders(source, _folders(source, given))
    return _anew(source)


@router.post("/sources/{key}/pause", auth=WRITE, response=SourceOut)
def pause_source(request: PersonRequest, key: str) -> SourceOut:
    """Stop pulling a source; once resumed it goes on from where it stopped."""
    return _after(changes.pause, request, key)


@router.post("/sources/{key}/resume", auth=WRITE, response=SourceOut)
def resume_source(request: PersonRequest, key: str) -> SourceOut:
    """Pull a source again, and at once."""
    return _after(changes.resume, request, key)


@router.post("/sources/{key}/pull", auth=WRITE, response=SourceOut)
def pull_source(request: PersonRequest, key: str) -> SourceOut:
    """Pull a source at once."""
    return _after(changes.pull_now, request, key)


@router.put("/sources/{key}/acts", auth=WRITE, response=SourceOut)
def allow_acts(request: PersonRequest, key: str, given: AllowedIn) -> SourceOut:
    """Let filters act in a mailbox, and flags travel there, or no more; 404 for others."""
    source = own(Source, request.user, key)
    if not source.is_mailbox:
        raise Http404
    changes.allow_acts(source, may_act=given.may_act, syncs_flags=given.syncs_flags)
    return _anew(source)


def _tried(source: Source, stored: dict[str, Any], given: SourceChange) -> Status[TrialOut]:
    data = form_data(stored | given.dict(exclude_unset=True, exclude={"kind"}))
    data.setdefault("security", "tls")
    data.setdefault("every", "60")
    checked(SourceForm(data, source=source))
    trial = trials.begin(source.owner, *changes.question_of(source, data))
    return Status(202, trial_out(trial))


def _folders(source: Source, given: FoldersIn) -> Folders:
    data = {"folders": "\n".join(given.folders)}
    folders: Folders = checked(FoldersForm(data, kind=source.kind)).cleaned_data["folders"]
    return folders


def _after(act: Callable[[Source], object], request: PersonRequest, key: str) -> SourceOut:
    """Do something with a source; return how it is then."""
    source = own(Source, request.user, key)
    act(source)
    return _anew(source)


def _anew(source: Source) -> SourceOut:
    source.refresh_from_db()
    return _shown(source)


def _shown(source: Source) -> SourceOut:
    return SourceOut(
        key=opaque_keys.encrypt(source.pk),
        folders=source.folder_patterns,
        pulled_at=moment(source.pulled_at),
        error=f"{source.error} {source.hint}".strip(),
        **{name: getattr(source, name) for name in SHOWN},
    )


SHOWN = (
    *("kind", "host", "port", "security", "path", "user", "method", "audience", "every", "active"),
    *("may_act", "syncs_flags"),
)
"""Fields of a source that answers have as they are stored."""
