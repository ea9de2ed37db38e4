"""Non-interference: what a person sees is the same, whatever private mail others have."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import transaction
from django.test import Client

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.authoring.tasks import preview_for
from filters.inbox.models import Match
from filters.people.models import User
from filters.runs import rounds
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.parts import services
from tapestry.core.clock import HOUR
from tapestry.core.message import Annotation, Message
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import append_annotations, append_messages
from tests.support.processes.process_memory import forget_names

SignIn = Callable[[User], Client]
World = dict[str, object]

SECRET = "SECRET"
THEIRS = ("user:alice", "group:parc")
AUDIENCES = ("public", "public", "user:carol", *THEIRS)
MSGIDS = [f"m{n}@x" for n in range(6)]
STEPS = 16
FIRST = ("public", "user:carol")
"""Audiences of the first steps, which are mail: whatever the seed, carol has something to see."""

TEXTS = (
    "two hours old with no reply",
    "with no reply for two hours",
    "replied to",
    "with more than 1 replies",
    "about plan",
    "from boss@example.org",
    "with a score above 0",
    "voted for by more than one person",
    "among the top 2 by votes",
    "starting a thread of more than 1",
    "tagged hot",
    "replies to boss@example.org",
    "newer than 2 hours",
    "m IN TOP 2 BY COUNT(r: r.inreplyto = m.msgid)",
    "COUNT(r: r.inreplyto = m.msgid AND NOT EXISTS (s: s.inreplyto = r.msgid)) > 0",
    "AVG(a.number IN annotations: a.msgid = m.msgid) > 0",
    "m.msgid IN (SELECT r.inreplyto FROM messages r)",
    "EXISTS (r: r.msgid = m.inreplyto AND r.subject HAS 'plan')",
)

SOME = TEXTS[1::3]
"""Of the time, the body, votes, tags, a top and a subquery: the filters of the short run."""


def pages(texts: int) -> list[str]:
    """Return the addresses of what carol is shown, who has so many texts as filters."""
    return [
        *("/", "/filters/", "/sources/", "/sidebar/"),
        "/filters/complete/?text=from&at=4&all",
        "/filters/complete/?text=in%20alice's%20&at=11&all",
        *(f"/in/{mode}{n}/" for n in range(texts) for mode in ("keep", "live")),
        *(f"/in/live{n}/gone/" for n in range(texts)),
        *(
            f"/message/{page}?id={msgid}{copy}"
            for msgid in MSGIDS
            for page in ("", "original/", "original/file/")
            for copy in ("", "&in=user:alice", "&in=group:parc")
        ),
    ]


PASSING = re.compile(
    r'csrfmiddlewaretoken" value="\w+"|x-csrftoken": "\w+"|seen=\w+'
    r"|just now|\d+ (?:min|h|d)(?: ago)?"
)
"""What differs from one request, or world, to the next without telling anything."""


@contextmanager
def world_of_its_own() -> Iterator[None]:
    before = transaction.savepoint()
    yield
    transaction.savepoint_rollback(before)


def person(name: str) -> User:
    return User.objects.create_user(name, f"{name}@example.org", "secret")


def happen(seed: int, secrets: bool) -> None:
    """Let mail, votes and rounds come as the seed says, with or without what is not carol's."""
    chance = random.Random(seed)
    tables = services.tables()
    for step in range(STEPS):
        at = 1_900_000_000_000_000 + step * HOUR // 3
        audience, msgid = chance.choice(AUDIENCES), chance.choice(MSGIDS)
        subject, parent = chance.choice(["plan", "lunch"]), chance.choice([None, *MSGIDS])
        kind, number = chance.choice(["vote", "vote", "tag"]), chance.choice([1.0, 1.0, -1.0])
        is_mail, is_round = chance.random() < 0.6, chance.random() < 0.6
        if step < len(FIRST):
            audience, is_mail = FIRST[step], True
        theirs = audience in THEIRS
        words = f"{subject} {SECRET}" if theirs else subject
        if is_mail and (secrets or not theirs):
            new = Message(
                msgid,
                sender="boss@example.org",
                subject=words,
                body=words,
                inreplyto=parent,
                audience=audience,
            )
            kept = [Original(words.encode())]
            append_messages(tables, DjangoClock(), [new], now=lambda at=at: at, originals=kept)
        elif secrets or not theirs:
            value = f"hot {SECRET}" if theirs and kind == "tag" else "hot"
            said = Annotation(
                f"a{step}", msgid, f"v{step % 3}", kind, value, number, audience=audience
            )
            append_annotations(tables, DjangoClock(), [said], now=lambda at=at: at)
        if is_round:
            rounds.run_round(at + HOUR // 6)
    for hours in (STEPS // 3 + 1, STEPS // 3 + 3):
        rounds.run_round(1_900_000_000_000_000 + hours * HOUR)


def world(seed: int, texts: Sequence[str], secrets: bool, as_user: SignIn) -> World:
    """Return all that carol is shown, and what her filters have found, in a world."""
    forget_names()
    alice, carol = person("alice"), person("carol")
    alice.groups.add(Group.objects.create(name="parc"))
    for n, text in enumerate(texts):
        lifecycle.install(carol, text, name=f"keep{n}")
        lifecycle.install(carol, text, name=f"live{n}", mode="live")
        if n % 3 == 0:
            shared = "shared" if n % 2 else "private"
            lifecycle.install(alice, text, name=f"hers{n}", visibility=shared)
    happen(seed, secrets)
    client = as_user(carol)
    shown: World = {
        page: PASSING.sub("", client.get(page).content.decode()) for page in pages(len(texts))
    }
    for text in texts:
        for mode in Filter.Mode.values:
            shown[f"{text}, {mode}"] = preview_for(carol, text, mode)
    matches = Match.objects.filter(filter__owner=carol).order_by("filter__name", "msgid")
    shown["matches"] = [
        (
            one.filter.name,
            one.msgid,
            one.audience,
            one.matched_at,
            one.retracted_at,
            one.evidence_rows,
        )
        for one in matches
    ]
    assert len(matches) > 10, "there is something to be seen"
    return shown


@pytest.mark.parametrize(
    ("seed", "texts"),
    [
        pytest.param(0, SOME, id="some"),
        *(pytest.param(n, TEXTS, id=f"{n}", marks=pytest.mark.long) for n in range(12)),
    ],
)
def test_what_others_have_changes_nothing_of_what_one_sees(
    db: None,
    engine: None,
    settings: Any,
    tmp_path: Path,
    as_user: SignIn,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
    texts: Sequence[str],
) -> None:
    from tests.support.engines.sqlite_engine import engine_of

    engine_on = engine_of()
    monkeypatch.setattr(services, "engine_on", engine_on)
    worlds = []
    for secrets in (True, False):
        settings.DATA = tmp_path / str(secrets)
        with world_of_its_own():
            worlds.append(world(seed, texts, secrets, as_user))
    with_secrets, without = worlds
    assert SECRET not in str(with_secrets)
    for what, seen in without.items():
        assert with_secrets[what] == seen, what
