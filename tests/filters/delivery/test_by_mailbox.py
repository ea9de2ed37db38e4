"""Mailboxes as destinations: real Dovecot, real originals, renamed filters, and crashes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from filters.authoring.models import Filter
from filters.delivery import samples, sending
from filters.delivery.batches import batches_of
from filters.delivery.dispatch import claims, holder
from filters.delivery.models import Delivery, Destination
from filters.delivery.ways import mailbox as by_mailbox
from filters.inbox.models import Match
from filters.people.models import User
from filters.runs.models import SetAside
from filters.runs.store.filter_store import DjangoClock
from filters.runs.store.release import release
from filters.site.work.crypto.encryption import encrypt
from filters.site.work.parts import services
from tapestry.core.clock import wall_clock
from tapestry.core.message import Message
from tapestry.deliver.ways import mailbox as way
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import append_messages
from tests.support.delivery.recorded_way import Store
from tests.support.servers.dovecot import PASSWORD, USER, Dovecot

pytestmark = pytest.mark.live

Keep = Callable[..., None]
Subjects = Callable[[str], list[str]]


@pytest.fixture
def box(alice: User, dovecot: Dovecot, request: pytest.FixtureRequest) -> Destination:
    """A mailbox of alice, with a parent folder for this test alone."""
    settings = {
        "host": "127.0.0.1",
        "port": dovecot.port,
        "security": "none",
        "user": USER,
        "parent": request.node.name[:60],
    }
    return Destination.objects.create(
        owner=alice,
        kind="mailbox",
        name="box",
        settings=settings,
        secret=encrypt(PASSWORD, services.data()),
    )


@pytest.fixture
def keep(jones: Filter, store: Store, tables: Tables) -> Keep:
    """Return a function that stores messages with their originals, and matches of them."""

    def kept(*numbers: int, filter_: Filter = jones) -> None:
        names = [f"{number}@x.org" for number in numbers]
        originals = [Original(_raw(number)) for number in numbers]
        append_messages(
            tables, DjangoClock(), [Message(name) for name in names], originals=originals
        )
        for name in names:
            store(filter_, name)

    return kept


@pytest.fixture
def subjects(dovecot: Dovecot, box: Destination) -> Subjects:
    """Return a function that gives the subjects in a folder below the parent."""

    def read(folder: str) -> list[str]:
        with dovecot.session() as client:
            name = f"{box.settings['parent']}/{folder}"
            if not client.folder_exists(name):
                return ["there is no such folder"]
            client.select_folder(name, readonly=True)
            fetched = client.fetch(client.search(), ["BODY.PEEK[]"])
            raws = [attributes[b"BODY[]"] for _, attributes in sorted(fetched.items())]
            assert all(raw.endswith(b"Hello\r\n") for raw in raws)
            return [raw.partition(b"Subject: ")[2][:1].decode() for raw in raws]

    return read


def _raw(number: int) -> bytes:
    return f"Message-ID: <{number}@x.org>\r\nSubject: {number}\r\n\r\nHello\r\n".encode()


def turn() -> None:
    release()
    Destination.objects.filter(due_at__isnull=False).update(due_at=wall_clock())
    sending.deliver(["mailbox"], 1)


def answer() -> str:
    newest = Delivery.objects.first()
    assert newest is not None
    return newest.answer


def test_the_originals_are_in_the_folder_of_the_filter(
    box: Destination, keep: Keep, subjects: Subjects, dovecot: Dovecot
) -> None:
    keep(1, 2)
    Match.objects.filter(msgid="2@x.org").update(read_at=wall_clock())
    turn()
    assert subjects("jones") == ["1", "2"]
    assert answer() == "2 messages were put in."
    with dovecot.session() as client:
        client.select_folder(f"{box.settings['parent']}/jones", readonly=True)
        assert client.search("SEEN") == [2]
    turn()
    keep(3)
    turn()
    assert subjects("jones") == ["1", "2", "3"]


def test_a_message_without_a_kept_original_is_left_out_and_named(
    jones: Filter, store: Store, box: Destination, keep: Keep, subjects: Subjects
) -> None:
    store(jones, "gone@x.org")
    keep(1)
    turn()
    assert subjects("jones") == ["1"]
    assert answer() == (
        "1 message was put in. 1 message was left out. “About gone@x.org”: Its original is no "
        "longer stored."
    )
    box.refresh_from_db()
    assert box.cursor == box.latest == 2


def test_after_a_crash_what_was_confirmed_is_not_put_in_again(
    box: Destination,
    keep: Keep,
    subjects: Subjects,
    dovecot: Dovecot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Killed after the second of three APPENDs: the first was confirmed, the second was not."""

    class EndOfProcessError(BaseException):
        pass

    advance, calls = claims.advance, []

    def end(destination: Destination, sequence: int) -> bool:
        calls.append(sequence)
        if len(calls) == 2:
            raise EndOfProcessError
        return advance(destination, sequence)

    keep(1, 2, 3)
    with monkeypatch.context() as patch:
        patch.setattr(claims, "advance", end)
        with pytest.raises(EndOfProcessError):
            turn()
    assert subjects("jones") == ["1", "2"]
    with dovecot.session() as client:
        client.select_folder(f"{box.settings['parent']}/jones")
        client.delete_messages([1])
        client.expunge()
    Destination.objects.update(holder="", due_at=wall_clock())  # as claims.free_abandoned does
    turn()
    assert subjects("jones") == ["2", "3"], "what was deleted stays deleted"


def test_a_worker_that_has_lost_its_claim_stops(
    box: Destination, keep: Keep, subjects: Subjects
) -> None:
    keep(1, 2)
    release()
    with holder.claiming() as name:
        [claim] = claims.claim(name, [box.pk])
    Destination.objects.update(holder="of another")
    outcome = by_mailbox.send(claim.destination, batches_of([claim])[claim.destination.pk])
    assert (outcome.state, outcome.answer) == ("retry", "Another worker has taken over.")
    assert subjects("jones") == ["1"], "the other finds it there"


def test_a_renamed_filter_has_its_folder_renamed(
    jones: Filter, box: Destination, keep: Keep, subjects: Subjects
) -> None:
    keep(1)
    turn()
    Filter.objects.filter(pk=jones.pk).update(name="smith")
    turn()
    assert subjects("jones") == ["1"], "nothing was delivered since"
    keep(2)
    turn()
    assert subjects("smith") == ["1", "2"]
    assert subjects("jones") == ["there is no such folder"]
    box.refresh_from_db()
    assert box.settings["folders"] == {str(jones.pk): "smith"}


def test_a_folder_that_a_sample_has_made_is_renamed(
    jones: Filter, box: Destination, keep: Keep, subjects: Subjects
) -> None:
    keep(1)
    release()
    assert by_mailbox.send(box, samples.sample(box, samples.new_key())).state == "delivered"
    Filter.objects.filter(pk=jones.pk).update(name="smith")
    keep(2)
    turn()
    assert subjects("smith") == ["1", "2"]
    assert subjects("jones") == ["there is no such folder"]


def test_a_name_that_another_filter_has_given_up_is_free(
    alice: User, jones: Filter, box: Destination, keep: Keep, subjects: Subjects
) -> None:
    other = Filter.objects.create(owner=alice, name="other", text="x")
    keep(1)
    keep(2, filter_=other)
    turn()
    Filter.objects.filter(pk=jones.pk).update(name="jones-old")
    Filter.objects.filter(pk=other.pk).update(name="jones")
    keep(3, filter_=other)
    turn()
    assert (subjects("jones-old"), subjects("jones")) == (["1"], ["2", "3"])


def test_filters_that_exchange_their_names_still_get_what_comes(
    alice: User, jones: Filter, box: Destination, keep: Keep, subjects: Subjects
) -> None:
    other = Filter.objects.create(owner=alice, name="other", text="x")
    keep(1)
    keep(2, filter_=other)
    turn()
    for key, name in ((jones.pk, "third"), (other.pk, "jones"), (jones.pk, "other")):
        Filter.objects.filter(pk=key).update(name=name)
    keep(3)
    turn()
    assert (subjects("jones"), subjects("other")) == (["1"], ["2", "3"])


def test_the_folder_of_a_deleted_filter_stays(
    alice: User, jones: Filter, box: Destination, keep: Keep, subjects: Subjects
) -> None:
    keep(1)
    turn()
    jones.delete()
    other = Filter.objects.create(owner=alice, name="other", text="x")
    keep(2, filter_=other)
    turn()
    assert (subjects("jones"), subjects("other")) == (["1"], ["2"])
    box.refresh_from_db()
    assert box.settings["folders"] == {str(other.pk): "other"}


def test_settings_that_were_edited_meanwhile_stay(
    box: Destination, keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(1)
    release()
    with holder.claiming() as name:
        [claim] = claims.claim(name, [box.pk])
    Destination.objects.update(settings=box.settings | {"more": "new"})
    assert (
        by_mailbox.send(claim.destination, batches_of([claim])[claim.destination.pk]).state
        == "delivered"
    )
    box.refresh_from_db()
    assert (box.settings["more"], list(box.settings["folders"].values())) == ("new", ["jones"])


def test_a_refused_login_turns_it_off_and_says_why(box: Destination, keep: Keep) -> None:
    keep(1)
    Destination.objects.update(secret=encrypt("wrong", services.data()))
    turn()
    box.refresh_from_db()
    assert (box.active, box.cursor) == (False, 0)
    assert "refused the user name or password" in box.error


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"host": ""}, "No mail server is given"),
        ({"parent": "inbox"}, "need a parent folder of their own"),
    ],
)
def test_settings_that_cannot_be_used_are_said(
    box: Destination, keep: Keep, changed: dict[str, Any], words: str
) -> None:
    keep(1)
    Destination.objects.update(settings=box.settings | changed)
    turn()
    box.refresh_from_db()
    assert words in box.error
    assert box.cursor == 0


def test_a_preview_says_in_which_folder_each_message_would_be(
    jones: Filter, store: Store, box: Destination
) -> None:
    store(jones, "a@x.org")
    left = store(jones, "b@x.org")
    Match.objects.filter(pk=left.pk).update(retracted_at=wall_clock())
    release()
    with holder.claiming() as name:
        [claim] = claims.claim(name, [box.pk])
    parent = box.settings["parent"]
    assert by_mailbox.preview(
        box, batches_of([claim])[claim.destination.pk]
    ).content.splitlines() == [
        f"{parent}/jones: About a@x.org, from Joe",
        f"{parent}/jones/{way.LEFT}: About b@x.org, from Joe",
    ]


def test_two_destinations_of_one_mailbox_take_turns(
    box: Destination, keep: Keep, subjects: Subjects
) -> None:
    other = Destination.objects.create(
        owner=box.owner, kind=box.kind, name="other", settings=box.settings, secret=box.secret
    )
    keep(1)
    with by_mailbox._alone(other):
        turn()
        assert subjects("jones") == ["there is no such folder"]
    box.refresh_from_db()
    assert box.error == "" and not box.failures and box.due_at is not None
    assert not Delivery.objects.exists() and not SetAside.objects.exists()
    turn()
    turn()
    assert subjects("jones") == ["1"]
    assert set(Destination.objects.values_list("due_at", "failures")) == {(None, 0)}
