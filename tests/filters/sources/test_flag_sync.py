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
from filters.sources import acting, flag_sync
from filters.sources.models import Source
from tapestry.core.clock import wall_clock
from tapestry.deliver.imap.flag_changes import Flags, merged
from tapestry.tables.delta.log import Tables
from tests.support.own_mailbox import Killer, come, content, mailbox_of
from tests.support.servers.dovecot import Dovecot

pytestmark = pytest.mark.live

NAMES = ("lunch", "plan", "tea", "vote")

STEPS = ((IMAPClient, "add_flags"), (IMAPClient, "remove_flags"), (flag_sync, "act"))


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
    return Flags(seen, starred.exists())


def there(dovecot: Dovecot, name: str) -> Flags:
    return Flags.of(flag.encode() for flag in content(dovecot)[name][1])


def change_here(owner: User, name: str, to: Flags) -> None:
    target = [steps.Target(f"{name}@x.org", "user:alice", f"{name}@x.org")]
    for action in ("read" if to.seen else "unread", "star" if to.flagged else "unstar"):
        steps.act(owner, ACTIONS[action], target)


def change_there(dovecot: Dovecot, name: str, to: Flags) -> None:
    with dovecot.session() as client:
        client.select_folder("INBOX")
        uids = client.search(["SUBJECT", name])
        for flag, is_set in (("\\Seen", to.seen), ("\\Flagged", to.flagged)):
            (client.add_flags if is_set else client.remove_flags)(uids, [flag])


def synchronise() -> None:
    Source.objects.update(flags_due_at=0, acts_due_at=0)
    (key,) = acting.due()
    acting.act_in(Source.objects.get(pk=key))
    assert Source.objects.get().acts_error == "" and acting.due() == []


@pytest.mark.parametrize("has_condstore", [True, False])
def test_both_sides_become_what_either_changed(
    alice: User,
    dovecot: Dovecot,
    tables: Tables,
    monkeypatch: pytest.MonkeyPatch,
    has_condstore: bool,
) -> None:
    source, lots = mailbox_of(alice, dovecot, syncs_flags=True), Random(int(has_condstore))
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
        return Flags(lots.random() < 0.5, lots.random() < 0.5) if lots.random() < 0.5 else now

    for turn in range(8):
        for name in names:
            change_here(alice, name, draw(here(alice, name)))
            change_there(dovecot, name, draw(there(dovecot, name)))
            mine, other = here(alice, name), there(dovecot, name)
            for flag in ("seen", "flagged"):
                sides = getattr(mine, flag), getattr(other, flag)
                base[name, flag] = merged(bool(base[name, flag]), *sides)
        killer.killed_once(turn % 4, synchronise)
        for name in names:
            wanted = Flags(bool(base[name, "seen"]), bool(base[name, "flagged"]))
            assert here(alice, name) == there(dovecot, name) == wanted, (turn, name)
        killer.steps.clear()
        made = TriageStep.objects.count()
        synchronise()
        assert not killer.steps and TriageStep.objects.count() == made, (
            "nothing goes back and forth"
        )


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
