"""A site that carol, dave and strangers see, with or without what is not theirs to see.

Both are built from the same steps, in the same order; secrets come between them, so that they take
keys of the database, lie in the same files, and share Message-IDs with what is public.  All that is
secret says so.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from django.contrib.auth.models import Group

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.compose.models import OutgoingMessage
from filters.delivery.models import Address, Destination, Feed
from filters.delivery.ways.table import WAYS
from filters.inbox.models import Mute
from filters.people.models import User
from filters.reading.annotations.outbox import annotate
from filters.runs import rounds
from filters.runs.models import Import
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.crypto import encryption
from filters.site.work.parts import services
from filters.sources.models import Source, Trial
from tapestry.core.clock import HOUR, MINUTE, SECOND
from tapestry.core.message import Annotation, Message
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import append_annotations, append_messages
from tapestry.tables.write.compact import compact
from tests.support.delivery.turn import turn
from tests.support.delivery.ways import is_mail

SECRET = "SECRET"
BEGIN = 1_900_000_000_000_000

PRIVATE = ("user:alice", "group:parc")
"""Audiences of what is secret."""

FILTERS = {
    "plans": "about plan",
    "silent": "with no reply for two hours",
    "answered": "replied to",
    "top": "among the top 2 by votes",
    "hot": "tagged hot",
}
"""Of carol and dave, each kept and live."""

HOOK_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLFSw"

UNREACHED = ("mailbox", "push")
"""Ways whose servers are not here: they are off, and what they would send is compared."""

Now = Callable[[], int]


@dataclass(frozen=True)
class Site:
    """The people who look at a site, and the keys of what is theirs."""

    carol: User
    dave: User
    keys: dict[str, dict[str, str]]


def build(secrets: bool, hook: str, wait: Callable[[int], int]) -> Site:
    """Let a site happen; ``wait`` moves the clock on and returns the instant.

    ``hook`` is the address of a server for webhooks.
    """
    alice = _person("alice", "parc")
    if secrets:
        _hide_people()
    carol, dave = _person("carol"), _person("dave", "staff")
    _own_things(alice, hook, "shared", visibility="shared")
    keys = {}
    for owner in (carol, dave):
        if secrets and owner is carol:
            _own_things(alice, hook, f"{SECRET.lower()}", visibility="private")
        keys[owner.username] = _own_things(owner, hook, "", visibility="private")
    for step, (public, secret) in enumerate(zip(_public(), _secrets(), strict=True)):
        at = wait(20 * MINUTE)
        both = [*secret[: len(secret) // 2], *public, *secret[len(secret) // 2 :]]
        _append([row for row in both if secrets or row in public], at)
        if secrets:
            annotate(alice, "plan@x", "public", "tag", value=f"hot {SECRET}", private=True)
        if step % 3 == 2:
            compact(services.tables(), keep_hours=0)
        rounds.run_round(wait(MINUTE))
        wait(MINUTE)
        turn()
    rounds.run_round(wait(4 * HOUR))
    wait(MINUTE)
    turn()
    wait(MINUTE)
    return Site(carol, dave, keys)


def _person(name: str, *groups: str) -> User:
    made = User.objects.create_user(name, f"{name}@example.org", "secret")
    made.groups.set([Group.objects.get_or_create(name=group)[0] for group in groups])
    return made


def _hide_people() -> None:
    """Make people and groups whose names begin as those of others do."""
    for name in ("carol-secret", "dave2", "carolina"):
        _person(name, f"{SECRET}-{name}")


def _own_things(owner: User, hook: str, prefix: str, *, visibility: str) -> dict[str, str]:
    """Store filters and all else that a person can have; return the keys for addresses."""
    found = {}
    for name, text in FILTERS.items():
        for mode in ("keep", "live"):
            full = f"{prefix}{mode}-{name}"
            lifecycle.install(owner, text, name=full, mode=mode, visibility=visibility)
    if prefix == "shared":
        return {}
    name = f"{prefix or owner.username}"
    source, _ = Source.objects.get_or_create(
        owner=owner, kind="imap", host=f"{name}.example.org", port=993, security="tls",
        user=name, active=True, audience=f"user:{owner.username}", due_at=BEGIN + 99 * HOUR,
        folder_patterns=["INBOX"],
    )  # fmt: skip
    trial = Trial.objects.create(owner=owner, subject="test:1", asked_at=1, ended_at=2)
    address = Address.objects.create(owner=owner, email=f"{name}@example.net", confirmed_at=1)
    for kind in WAYS:
        settings = {"url": f"{hook}/{name}"} if "url" in WAYS[kind].form.base_fields else {}
        found[kind] = Destination.objects.create(
            owner=owner, kind=kind, name=f"{name} {kind}", settings=settings,
            address=address if is_mail(kind) else None,
            uid=_uid(f"{name} {kind}"), active=kind not in UNREACHED,
            secret=encryption.encrypt(HOOK_SECRET, services.data()) if settings else "",
        )  # fmt: skip
    plans = Filter.objects.get(owner=owner, name=f"{prefix}keep-plans")
    for filter_ in (None, plans):
        label = f"{name}-{'all' if filter_ is None else 'plans'}"
        if not Feed.objects.filter(owner=owner, filter=filter_).exists():
            made = Feed.objects.create(
                owner=owner, filter=filter_, token=f"of-{label}", uid=_uid(label)
            )
    mute = Mute.objects.create(owner=owner, root=f"muted-{name}")
    draft = OutgoingMessage.objects.create(
        owner=owner, uid=_uid(f"{name} draft"), subject=f"{name} draft", changed_at=BEGIN
    )
    return {
        "draft": str(draft.uid),
        "source": str(source.pk),
        "trial": str(trial.pk),
        "mute": str(mute.pk),
        "feed": str(made.pk),
        "address": str(address.pk),
        **{kind: str(row.pk) for kind, row in found.items()},
    }


def _uid(name: str) -> uuid.UUID:
    return uuid.uuid5(uuid.NAMESPACE_URL, name)


def _append(rows: list[Message | Annotation], at: int) -> None:
    tables, clock = services.tables(), DjangoClock()
    letters = [row for row in rows if isinstance(row, Message)]
    said = [row for row in rows if isinstance(row, Annotation)]
    originals = [Original(f"Subject: {row.subject}\r\n\r\n{row.body}".encode()) for row in letters]
    append_messages(tables, clock, letters, now=lambda: at, originals=originals)
    append_annotations(tables, clock, said, now=lambda: at + SECOND)  # no instant is taken
    if any(row.list == "archive.x" for row in letters):
        Import.objects.get_or_create(ts=at, defaults={"name": "archive"})


def _public() -> Iterator[list[Message | Annotation]]:
    """Yield, step by step, what comes for everybody, for carol and for dave's group."""
    plan = Message(
        "plan@x", sender="boss@x.org", sender_name="Boss", subject="The plan", body="plan",
        newsgroups=("comp.plans",), list="plans.x.org",
    )  # fmt: skip
    yield [plan, replace(plan, msgid="lunch@x", subject="Lunch", body="lunch")]
    yield [
        replace(plan, msgid="for-carol@x", subject="A plan for you", audience="user:carol"),
        replace(plan, msgid="for-staff@x", subject="A plan for staff", audience="group:staff"),
        Annotation("v1", "plan@x", "erin", "vote", None, 1.0),
    ]
    reply = replace(plan, msgid="reply@x", subject="Re: The plan", inreplyto="plan@x")
    yield [replace(reply, sender="ann@x.org", references=("plan@x",), sender_name="Ann")]
    yield [
        Annotation("t1", "lunch@x", "erin", "tag", "hot"),
        Annotation("v2", "lunch@x", "ann", "vote", None, 1.0, "user:carol"),
        replace(reply, msgid="plan@x", subject="Your plan", inreplyto=None, audience="user:carol"),
    ]
    yield [Annotation("v3", "plan@x", "ann", "vote", None, -1.0)]
    yield [replace(reply, msgid="last@x", subject="The last plan", inreplyto="reply@x")]


def _secrets() -> Iterator[list[Message | Annotation]]:
    """Yield, step by step, what comes for alice and her group."""
    base = Message(
        "hidden@x", sender="boss-secret@x.org", sender_name=f"Boss {SECRET}",
        subject=f"The plan {SECRET}", body=f"plan {SECRET}", newsgroups=("comp.plans.secret",),
        list="plans-secret.x.org", audience=PRIVATE[0],
    )  # fmt: skip
    for step in range(6):
        rows: list[Message | Annotation] = []
        for audience in PRIVATE:
            own = f"{step}-{audience[:4]}"
            rows += [
                replace(base, msgid=f"hidden-{own}@x", audience=audience),
                *(
                    replace(base, msgid=f"to-{to[:-2]}-{own}@x", inreplyto=to, audience=audience)
                    for to in ("plan@x", "lunch@x", "last@x", "reply@x", "for-carol@x")
                ),
                *(
                    replace(base, msgid=copied, audience=audience, inreplyto="lunch@x")
                    for copied in ("plan@x", "lunch@x", "reply@x", "last@x", "for-carol@x")
                ),
                *(
                    Annotation(f"{kind}-{on}-{own}", on, f"u-{SECRET}", kind, value, 1.0, audience)
                    for on in ("plan@x", "lunch@x", "last@x")
                    for kind, value in (("vote", None), ("tag", "hot"), ("tag2", f"hot {SECRET}"))
                ),
                Annotation(f"s-{own}", "plan@x", "erin", "tag", f"hottest {SECRET}", 1.0, audience),
            ]
        yield rows
