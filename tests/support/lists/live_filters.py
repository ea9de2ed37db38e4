"""Live filters, mail and votes for them, and what they hold."""

from __future__ import annotations

from django.utils import timezone

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.inbox.models import Match
from filters.people.models import User
from filters.runs import rounds
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.message import Annotation, Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_annotations, append_messages

SCORE = "SUM(a.number IN annotations: a.msgid = m.msgid AND a.kind = 'vote') > 0"


def arrive(tables: Tables, name: str, parent: str | None = None, **more: str) -> str:
    """A message arrives, an answer to a parent if one is named; return its Message-ID."""
    msgid = f"{name}@example.org"
    answered = f"{parent}@example.org" if parent else None
    new = Message(msgid, subject=name, sender=f"{name}@x.org", inreplyto=answered, **more)
    append_messages(tables, DjangoClock(), [new])
    return msgid


def vote(
    tables: Tables, voter: str, name: str, number: float = 1.0, audience: str = "public"
) -> None:
    msgid = f"{name}@example.org"
    annid = f"{voter}.{number}.{name}"
    new = Annotation(annid, msgid, voter, "vote", None, number, audience)
    append_annotations(tables, DjangoClock(), [new])


def unfold() -> None:
    """Have the inbox show each message that filters found in mail of before."""
    Filter.objects.update(folds_before=None, updated=timezone.now())


def install(owner: User, text: str, name: str = "f", **options: object) -> Filter:
    made = lifecycle.install(owner, text, name=name, mode=Filter.Mode.LIVE, **options)
    unfold()
    made.refresh_from_db()
    return made


def run(*names: str) -> None:
    """Let time pass: one run."""
    rounds.run_round()


def listed(user: User, *, gone: bool = False) -> set[str]:
    """Return what a user's list holds, or what has left it, by the names of the messages."""
    found = Match.objects.visible_to(user, retracted=gone).values_list("msgid", flat=True)
    return {msgid.partition("@")[0] for msgid in found}


def left(user: User) -> set[str]:
    return listed(user, gone=True)


def match(name: str) -> Match:
    return Match.objects.get(msgid=f"{name}@example.org")
