"""Trials: a server that a caller names is tried by the worker, and asked about until it is."""

from __future__ import annotations

from django.http import Http404
from ninja import Router, Schema

from filters.api.authentication import PersonalToken
from filters.api.given import decrypted
from filters.people.requests import PersonRequest
from filters.site.work.crypto import opaque_keys
from filters.sources.accounts import trials
from filters.sources.models import Trial

router = Router(tags=["sources"])


class OfferOut(Schema):
    """A folder or newsgroup; ``messages`` is null if the server did not count.

    An address book or calendar has a ``title``, if its server says so.
    """

    name: str
    messages: int | None
    title: str


class TrialOut(Schema):
    """A connection that is tried: ask its ``trial`` again until it ``is_done``.

    ``error`` says why it failed.  ``stored`` is the key of what was stored, ``offers`` the folders
    that were asked for, of which there are ``more``.
    """

    trial: str
    is_done: bool
    error: str = ""
    stored: str = ""
    offers: list[OfferOut] = []
    more: int = 0


@router.get("/trials/{key}", auth=PersonalToken("read"), response=TrialOut)
def show_trial(request: PersonRequest, key: str) -> TrialOut:
    """Show how a trial stands."""
    trial = trials.followed(request.user, decrypted(key))
    if trial is None:
        raise Http404
    return trial_out(trial)


def trial_out(trial: Trial) -> TrialOut:
    """Return how a trial stands, for who began it."""
    answer = trial.answer
    stored = answer.get("stored")
    return TrialOut(
        trial=opaque_keys.encrypt(trial.pk),
        is_done=trial.ended_at is not None,
        error=f"{trial.error} {trial.hint}".strip(),
        stored="" if stored is None else opaque_keys.encrypt(stored),
        offers=[
            OfferOut(name=name, messages=messages, title=title)
            for name, messages, title in answer.get("offers", [])
        ],
        more=answer.get("more", 0),
    )
