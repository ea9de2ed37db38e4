"""One match that cannot be written costs no other, in whatever carries many."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from filters.authoring.models import Filter
from filters.delivery import batches
from filters.delivery.models import Address, Delivery, Destination, Feed
from filters.delivery.ways import digest as by_digest
from filters.delivery.ways import push as by_push
from filters.delivery.ways.composing import composed
from filters.inbox.models import Match
from filters.people.models import User
from filters.runs.models import SetAside
from filters.runs.store.release import release
from filters.site.work.crypto import encryption
from filters.site.work.parts import services
from tapestry.deliver.batch import Batch, DeliveredMatch
from tapestry.deliver.http.signature import make_secret
from tapestry.deliver.ways import digest, feed, push, webhook
from tests.support.delivery.recorded_way import Recorder, Store
from tests.support.delivery.turn import fresh, turn
from tests.support.faults.set_asides import Planted
from tests.support.servers.http_recorder import LOOPBACK, Reply, recording_server

FOUND = tuple(
    DeliveredMatch(n, "insert", 1, "jones", "", msgid, "public", f"About {msgid}", "", "", 0, 0)
    for n, msgid in enumerate(("one", "bad", "two"))
)
SAID = "keeps 1 message from being shown here"


def break_for_bad(monkeypatch: pytest.MonkeyPatch, room: Any, name: str) -> None:
    """Have a function of a room raise what nobody foresaw of the message ``bad``."""
    real = getattr(room, name)

    def broken(*arguments: Any) -> Any:
        if any(getattr(argument, "msgid", "") == "bad" for argument in arguments):
            raise KeyError("nobody foresaw this")
        return real(*arguments)

    monkeypatch.setattr(room, name, broken)


def test_a_webhook_is_sent_the_others_once_and_its_answer_counts(
    jones: Filter, hook: Destination, store: Store, settings: Any, data: Any,
    set_asides: Planted, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    set_asides.expect()
    break_for_bad(monkeypatch, webhook, "document_of")
    settings.PRIVATE_HOSTS = LOOPBACK
    for msgid in ("one", "bad", "two"):
        store(jones, msgid)
    with recording_server(Reply(204)) as server:
        hook.settings = {"url": server.url("/")}
        hook.secret = encryption.encrypt(make_secret(), services.data())
        hook.save()
        turn()
        turn()
        (request,) = server.requests
    assert b'"one"' in request.body and b'"two"' in request.body and b'"bad"' not in request.body
    delivery = Delivery.objects.get()
    assert delivery.answer.startswith("204 ") and SAID in delivery.answer
    assert (fresh(hook).error, hook.due_at) == ("", None)
    row = SetAside.objects.get()
    assert (row.kind, row.key) == ("message", "bad/webhook")


def test_a_match_whose_reason_cannot_be_said_comes_without_it(
    jones: Filter, hook: Destination, store: Store, way: Recorder,
    set_asides: Planted, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    set_asides.expect()
    sentences = batches.sentences

    def broken(evidence: Any, audiences: Any) -> Any:
        return {}["nobody foresaw this"] if evidence else sentences(evidence, audiences)

    monkeypatch.setattr(batches, "sentences", broken)
    store(jones, "one")
    bad = store(jones, "bad")
    Match.objects.filter(pk=bad.pk).update(evidence_rows=[["x"]], explanation="It is new.")
    turn()
    assert way.delivered == [("insert", "one"), ("insert", "bad")]
    assert way.batches[0].matches[1].explanation == "It is new."
    assert SetAside.objects.get().key == "bad/explanation"


def test_a_digest_shows_the_others_and_says_how_many_it_does_not(
    alice: User, data: Any, set_asides: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_asides.expect()
    break_for_bad(monkeypatch, digest, "_row")
    address = Address.objects.create(owner=alice, email="al@example.org", confirmed_at=1)
    to = Destination.objects.create(owner=alice, kind="digest", name="d", address=address)
    raw = by_digest.write(to, address, Batch("d1", 0, 9, FOUND))
    assert raw is not None and SAID.encode() in raw.replace(b"\r\n", b" ").replace(b"\n", b" ")
    assert b"About one" in raw and b"About two" in raw
    with pytest.raises(KeyError):  # left out, it would not come again
        by_digest.write(to, address, Batch("d1", 0, 9, FOUND[1:2]))
    assert [row.key for row in SetAside.objects.all()] == ["bad/digest"]


def test_a_notification_is_of_the_others(
    db: None, set_asides: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_asides.expect()
    break_for_bad(monkeypatch, push, "_line")
    assert by_push._writable(Batch("d1", 0, 9, FOUND), 7).matches == (FOUND[0], FOUND[2])


def test_a_feed_has_the_others_and_is_read_again(
    alice: User, jones: Filter, store: Store, set_asides: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_asides.expect()
    address = Feed.objects.create(owner=alice, filter=jones).get_absolute_url()
    for msgid in ("one", "bad", "two"):
        store(jones, msgid)
    release()
    with monkeypatch.context() as patched:
        break_for_bad(patched, feed, "_add_entry")
        response = Client().get(address)
    assert response.status_code == 200 and SAID.encode() in response.content
    assert b"About one" in response.content and b"About two" in response.content
    assert "ETag" not in response and "Last-Modified" not in response
    assert b"About bad" in Client().get(address).content


@pytest.mark.parametrize(("guilty", "alone"), [(("one", "bad", "two"), 1), ((), 2)])
def test_what_is_not_for_a_message_is_no_messages_fault(
    db: None, guilty: tuple[str, ...], alone: int
) -> None:
    """Where none can be written, or each can by itself, the error is that of the whole."""

    def compose(matches: tuple[DeliveredMatch, ...], _left_out: int) -> int:
        if len(matches) > alone or {match.msgid for match in matches} & set(guilty):
            raise KeyError("nobody foresaw this")
        return len(matches)

    with pytest.raises(KeyError):
        composed(FOUND, "digest", compose)
    assert not SetAside.objects.exists()
