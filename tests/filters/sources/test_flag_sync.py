"""Read and starred are the same here and in a real mailbox, whoever changed them, and killed."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from imapclient import IMAPClient

from filters.authoring.models import Filter
from filters.inbox.lists.cards import CopyKey, ensure_cards
from filters.inbox.models import Card, Match, MessageState, TriageStep
from filters.inbox.triage import steps
from filters.inbox.triage.actions import ACTIONS
from filters.people.models import User
from filters.reading.annotations import opinions
from filters.reading.annotations.changes import said_by
from filters.reading.annotations.outbox import KEPT, append_outbox, prune
from filters.reading.models import OutboxAnnotation
from filters.sources.both_ways import acting, flag_sync, tag_sync
from filters.sources.models import Source, SyncedFlags
from filters.sources.pull import pulling
from tapestry.core.annotations import standing
from tapestry.core.clock import MINUTE, wall_clock
from tapestry.deliver.imap.flag_changes import Flags, merged
from tapestry.identity.content import is_copy
from tapestry.tables.delta.log import Tables
from tests.support.people.own_mailbox import Killer, come, content, mail, mailbox_of
from tests.support.servers.dovecot import Dovecot

pytestmark = pytest.mark.live

NAMES = ("lunch", "plan", "tea", "vote")

TAGS = ("Later", "todo")

STEPS = (
    (tag_sync, "tell"),
    (IMAPClient, "add_flags"),
    (IMAPClient, "remove_flags"),
    (flag_sync, "act"),
)


def find(owner: User, tables: Tables, *names: str) -> None:
    """Have a filter of a person find messages."""
    made, _ = Filter.objects.get_or_create(owner=owner, name="f", text="…", tql="…")
    now = wall_clock()
    ensure_cards(tables, [CopyKey(f"{name}@x.org", "user:alice") for name in names])
    for name in names:
        card = Card.objects.get(msgid=f"{name}@x.org")
        at = {"matched_at": now, "stored_at": now, "shown_at": now}
        Match.objects.create(filter=made, msgid=card.msgid, audience="user:alice", card=card, **at)


def here(owner: User, name: str) -> Flags:
    msgid = f"{name}@x.org"
    starred = MessageState.objects.filter(owner=owner, msgid=msgid, starred_at__isnull=False)
    seen = Match.objects.get(filter__owner=owner, msgid=msgid).read_at is not None
    tags = [row.value or "" for row in standing(said_by(owner, msgid)) if row.kind == "tag"]
    return Flags(seen, starred.exists(), frozenset(tags))


def there(dovecot: Dovecot, name: str) -> Flags:
    return Flags.of(flag.encode() for flag in content(dovecot)[name][1])


def change_here(owner: User, name: str, to: Flags) -> None:
    target = [steps.Target(f"{name}@x.org", "user:alice", f"{name}@x.org")]
    for action in ("read" if to.seen else "unread", "star" if to.flagged else "unstar"):
        steps.act(owner, ACTIONS[action], target)
    for tag in TAGS:
        is_set = tag in to.keywords
        given = {"value": tag, "take_back": ""} if is_set else {"value": "", "take_back": tag}
        kind = {"kind": "tag", "number": None, "private": True}
        opinions.keep(owner, f"{name}@x.org", "user:alice", given | kind)


def change_there(dovecot: Dovecot, name: str, to: Flags) -> None:
    with dovecot.session() as client:
        client.select_folder(content(dovecot)[name][0])
        uids = client.search(["SUBJECT", name])
        tags = [(tag, tag in to.keywords) for tag in TAGS]
        for flag, is_set in (("\\Seen", to.seen), ("\\Flagged", to.flagged), *tags):
            (client.add_flags if is_set else client.remove_flags)(uids, [flag])


def move_there(dovecot: Dovecot, name: str) -> None:
    """Move a message to the other folder of its mailbox."""
    folder = content(dovecot)[name][0]
    with dovecot.session() as client:
        client.select_folder(folder)
        client.move(client.search(["SUBJECT", name]), "Done" if folder == "INBOX" else "INBOX")


def renumber_there(dovecot: Dovecot) -> None:
    """Give another UIDVALIDITY to a folder, and with it another UID to each of its messages."""
    with dovecot.session() as client:
        client.create_folder("New")
        client.select_folder("Done")
        if uids := client.search():
            client.move(uids, "New")
        client.unselect_folder()
        client.delete_folder("Done")
        client.rename_folder("New", "Done")


def synchronise() -> None:
    Source.objects.update(flags_due_at=0, acts_due_at=0)
    (key,) = acting.due()
    acting.act_in(Source.objects.get(pk=key))
    assert Source.objects.get().acts_error == "" and acting.due() == []


def test_what_was_read_there_stays_so_when_a_filter_finds_it(
    alice: User, dovecot: Dovecot, tables: Tables
) -> None:
    source = mailbox_of(alice, dovecot, syncs_flags=True)
    come(dovecot, source, "late")
    ensure_cards(tables, [CopyKey("late@x.org", "user:alice")])
    change_there(dovecot, "late", Flags(seen=True, flagged=False))
    synchronise()
    find(alice, tables, "late")
    synchronise()
    assert there(dovecot, "late").seen and not here(alice, "late").seen
    change_here(alice, "late", Flags(seen=True, flagged=False))
    change_here(alice, "late", Flags(seen=False, flagged=False))
    synchronise()
    assert not there(dovecot, "late").seen


@pytest.mark.parametrize("has_condstore", [True, False])
def test_both_sides_become_what_either_changed(
    alice: User,
    dovecot: Dovecot,
    tables: Tables,
    monkeypatch: pytest.MonkeyPatch,
    has_condstore: bool,
) -> None:
    source, lots = mailbox_of(alice, dovecot, syncs_flags=True), Random(int(has_condstore))
    with dovecot.session() as client:
        if not client.folder_exists("Done"):
            client.create_folder("Done")
    Source.objects.update(folder_patterns=["Done", "INBOX"])
    names = [f"{name}-{has_condstore}" for name in NAMES]
    come(dovecot, source, *names)
    find(alice, tables, *names)
    real = IMAPClient.has_capability
    monkeypatch.setattr(
        IMAPClient,
        "has_capability",
        lambda self, name: (has_condstore or name != "CONDSTORE") and real(self, name),
    )
    killer, base = Killer(monkeypatch, *STEPS), Counter[tuple[str, str]]()

    def draw(now: Flags) -> Flags:
        if lots.random() < 0.5:
            return now
        tags = frozenset(tag for tag in TAGS if lots.random() < 0.5)
        return Flags(lots.random() < 0.5, lots.random() < 0.5, tags)

    for turn in range(8):
        for name in names:
            change_here(alice, name, draw(here(alice, name)))
            change_there(dovecot, name, draw(there(dovecot, name)))
            if lots.random() < 0.3:
                move_there(dovecot, name)
            mine, other = here(alice, name), there(dovecot, name)
            for flag in ("seen", "flagged"):
                sides = getattr(mine, flag), getattr(other, flag)
                base[name, flag] = merged(bool(base[name, flag]), *sides)
            for tag in TAGS:
                sides = tag in mine.keywords, tag in other.keywords
                base[name, tag] = merged(bool(base[name, tag]), *sides)
        if turn % 3 == 2:
            renumber_there(dovecot)
        killer.killed_once(turn % 4, synchronise)
        for name in names:
            tags = frozenset(tag for tag in TAGS if base[name, tag])
            wanted = Flags(bool(base[name, "seen"]), bool(base[name, "flagged"]), tags)
            assert here(alice, name) == there(dovecot, name) == wanted, (turn, name)
        killer.steps.clear()
        made = TriageStep.objects.count()
        synchronise()
        assert not killer.steps and TriageStep.objects.count() == made, (
            "nothing goes back and forth"
        )


def test_a_tag_given_while_a_mailbox_was_paused_for_long_becomes_a_keyword(
    alice: User, dovecot: Dovecot, tables: Tables
) -> None:
    source = mailbox_of(alice, dovecot, syncs_flags=True)
    come(dovecot, source, "paused")
    find(alice, tables, "paused")
    synchronise()
    change_here(alice, "paused", Flags(keywords=frozenset({"todo"})))
    append_outbox(tables)
    OutboxAnnotation.objects.update(appended_at=wall_clock() - KEPT - MINUTE)
    assert prune() and not OutboxAnnotation.objects.exists()
    (state,) = Source.objects.get().flags_state.values()
    long_ago = {"INBOX": [*state[:2], state[2] - KEPT - MINUTE]}
    Source.objects.update(flags_state=long_ago)
    synchronise()
    assert there(dovecot, "paused").keywords == {"todo"}


def test_keywords_of_programs_and_tags_that_are_none_do_not_travel(
    alice: User, dovecot: Dovecot, tables: Tables
) -> None:
    source = mailbox_of(alice, dovecot, syncs_flags=True)
    come(dovecot, source, "mixed")
    find(alice, tables, "mixed")
    ours = {"Zürich", "to do", "$mine", "early", "a*b"}
    for tag in sorted(ours):
        given = {"kind": "tag", "value": tag, "take_back": "", "number": None, "private": True}
        opinions.keep(alice, "mixed@x.org", "user:alice", given)
    append_outbox(tables)
    theirs = {"$Forwarded", "NonJunk", "$label1", "Work"}
    with dovecot.session() as client:
        client.select_folder("INBOX")
        client.add_flags(client.search(["SUBJECT", "mixed"]), sorted(theirs))
    synchronise()
    assert here(alice, "mixed").keywords == ours | {"Work"}
    assert content(dovecot)["mixed"][1] == theirs | {"early"}
    said = standing(said_by(alice, "mixed@x.org"))
    assert {row.audience for row in said} == {"user:alice"}


@pytest.mark.parametrize("name", ["late-pull", "pulled"])
def test_flags_do_not_travel_to_other_words_under_a_message_id(
    alice: User, dovecot: Dovecot, tables: Tables, name: str
) -> None:
    source = mailbox_of(alice, dovecot, syncs_flags=True)
    come(dovecot, source, name)
    find(alice, tables, name)
    change_here(alice, name, Flags(seen=True, keywords=frozenset({"todo"})))
    synchronise()
    raw, old = mail(name), f"Subject: {name}".encode()
    copy = raw.replace(old, f"Subject: [copy] {name}".encode())
    dovecot.put("INBOX", raw.replace(old, f"Subject: forged {name}".encode()), copy)
    if name == "pulled":
        pulling.pull(source)
    synchronise()
    assert there(dovecot, f"forged {name}") == Flags()
    assert there(dovecot, f"[copy] {name}") == there(dovecot, name) != Flags()
    pulling.pull(source)
    synchronise()
    keys = SyncedFlags.objects.filter(msgid__startswith=f"{name}@").values_list("msgid", flat=True)
    assert sorted(map(is_copy, keys)) == [False, False, True], "it has flags of its own"


def test_what_nobody_allowed_or_found_stays_and_a_snoozed_message_is_unread(
    alice: User, dovecot: Dovecot, tables: Tables
) -> None:
    source = mailbox_of(alice, dovecot)
    come(dovecot, source, "quiet", "later", "unfound")
    find(alice, tables, "quiet", "later")
    change_there(dovecot, "quiet", Flags(seen=True, flagged=True))
    assert acting.due() == [] and here(alice, "quiet") == Flags()
    Source.objects.update(syncs_flags=True)
    synchronise()
    assert here(alice, "quiet") == Flags(seen=True, flagged=True)
    assert there(dovecot, "unfound") == Flags()
    target = [steps.Target("later@x.org", "user:alice", "later@x.org")]
    steps.act(alice, ACTIONS["snooze"], target, wall_clock() * 2)
    change_there(dovecot, "later", Flags(seen=True))
    synchronise()
    assert here(alice, "later") == Flags() and there(dovecot, "later") == Flags(seen=True)
