"""Delivery into a real mailbox that fails: full, cut off, refused; nothing is put in twice."""

from __future__ import annotations

from dataclasses import replace

import pytest
from imapclient import IMAPClient

from tapestry.deliver.batch import Batch
from tapestry.deliver.ways.mailbox import deliver_to_mailbox
from tests.support.people.mailbox_person import Person, account_of, mail
from tests.support.servers.cutting_proxy import CuttingProxy
from tests.support.servers.dovecot import USER, running_dovecot

pytestmark = pytest.mark.live


@pytest.fixture
def person(dovecot, request):
    return Person(dovecot, request.node.name.partition("[")[0][:60])


def test_a_confirmation_that_was_lost_repeats_nothing(person):
    matches = [person.match(n) for n in range(3)]
    person.deliver(*matches)
    person.delivered.clear()
    assert person.deliver(*matches) == ("delivered", ["present"] * 3)
    assert len(person.content()) == 3


def test_a_process_that_ends_before_it_confirms_repeats_nothing(person):
    class EndOfProcessError(BaseException):
        pass

    def end(confirmation):
        raise EndOfProcessError

    matches = [person.match(n) for n in range(2)]
    person.confirm, confirm = end, person.confirm
    with pytest.raises(EndOfProcessError):
        person.deliver(*matches)
    person.confirm = confirm
    assert person.deliver(*matches) == ("delivered", ["present", "appended"])
    assert person.content() == [mail(0), mail(1)]


def test_a_full_mailbox_is_tried_again_and_says_so():
    with running_dovecot(quota="storage=20K") as server:
        person = Person(server, "lunch")
        large = {n: mail(n, "x" * 70 + "\r\n" * 4000) for n in (1, 2, 3)}
        matches = [person.match(n, raw=raw) for n, raw in large.items()]
        assert person.deliver(*matches) == ("retry", ["appended", "appended"])
        assert person.outcome.answer == (
            f"The mailbox of {USER} at 127.0.0.1 is full. Delete something there; what waits is "
            "put in then. 2 messages were put in."
        )
        with server.session() as client:
            client.select_folder(person.folder())
            client.delete_messages([1])
            client.expunge()
        assert person.deliver(*matches) == ("delivered", ["untouched", "present", "appended"])


def test_a_message_that_is_too_large_is_left_out_and_the_others_go_on():
    with running_dovecot(quota="storage=1M") as server:
        person = Person(server, "lunch")
        matches = [
            person.match(1, raw=mail(1, "x" * 60_000)),
            person.match(2),
        ]
        assert person.deliver(*matches) == ("delivered", ["skipped", "appended"])
        assert "“no. 1”: 127.0.0.1 refuses it" in person.outcome.answer
        assert person.content() == [mail(2)]


def test_what_is_no_longer_stored_is_left_out(person):
    gone, there = person.match(1), person.match(2)
    del person.originals["1@x.org"]
    assert person.deliver(gone, there) == ("delivered", ["skipped", "appended"])
    assert person.outcome.answer.endswith("1 message was left out. “no. 1”: Its original is no "
                                          "longer stored.")  # fmt: skip


def test_a_refused_login_and_an_unreachable_server(person):
    right = person.account
    person.account = replace(right, secret="wrong")
    assert person.deliver(person.match(1)) == ("refused", [])
    assert "refused the user name or password" in person.outcome.answer
    person.account = replace(right, port=1)
    assert person.deliver(person.match(1)) == ("retry", [])
    assert "cannot be reached" in person.outcome.answer


def test_an_error_of_the_tables_is_not_blamed_on_the_server(person):
    batch = Batch("key", 0, 1, (person.match(1),))

    def broken(msgid, audience):
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        deliver_to_mailbox(person.account, person.settings, batch, broken, person.confirm)


def test_a_connection_cut_between_append_and_answer_repeats_nothing(dovecot, person):
    proxy = CuttingProxy(dovecot.port)
    try:
        person.account = account_of(proxy.port)
        matches = [person.match(n) for n in range(3)]
        proxy.cut_at = b"APPENDUID"
        assert person.deliver(*matches) == ("retry", [])
        assert person.deliver(*matches) == ("delivered", ["present", "appended", "appended"])
        proxy.cut_at = b"COPYUID"
        assert person.deliver(person.match(0, "delete")) == ("retry", [])
        assert person.deliver(person.match(0, "delete")) == ("delivered", ["untouched"])
    finally:
        proxy.close()
    assert person.content() == [mail(1), mail(2)]
    assert person.content("Left") == [mail(0)]


def test_a_connection_cut_between_store_and_expunge_leaves_nothing_behind(
    dovecot, person, monkeypatch
):
    has_capability = IMAPClient.has_capability
    monkeypatch.setattr(
        IMAPClient,
        "has_capability",
        lambda client, name: name != "MOVE" and has_capability(client, name),
    )
    person.deliver(person.match(1), person.match(2))
    proxy = CuttingProxy(dovecot.port)
    uid_expunge = IMAPClient.uid_expunge

    def hang_up(client, uids):
        monkeypatch.setattr(IMAPClient, "uid_expunge", uid_expunge)
        proxy.hang_up()
        return uid_expunge(client, uids)

    monkeypatch.setattr(IMAPClient, "uid_expunge", hang_up)
    try:
        person.account = account_of(proxy.port)
        assert person.deliver(person.match(1, "delete")) == ("retry", [])
        assert person.content() == [mail(1), mail(2)]
        assert person.deliver(person.match(1, "delete")) == ("delivered", ["moved"])
    finally:
        proxy.close()
    assert (person.content(), person.content("Left")) == ([mail(2)], [mail(1)])


@pytest.mark.parametrize("has_move", [True, False])
def test_a_connection_cut_anywhere_delivers_each_once(dovecot, monkeypatch, has_move):
    has_capability = IMAPClient.has_capability
    monkeypatch.setattr(
        IMAPClient,
        "has_capability",
        lambda client, name: (has_move or name != "MOVE") and has_capability(client, name),
    )
    proxy = CuttingProxy(dovecot.port)
    try:
        total = _cut(dovecot, proxy, f"never {has_move}", [])
        cuts = range(total // 20, total, total // 20)
        assert len(cuts) >= 19
        for cut in cuts:
            _cut(dovecot, proxy, f"at {cut} {has_move}", [cut])
    finally:
        proxy.close()


def _cut(server, proxy, name, cuts):
    """Deliver until all is confirmed, and check it; return the bytes that the server sent."""
    person = Person(server, name, proxy.port)
    changes = [("insert", 1), ("insert", 2), ("delete", 1), ("insert", 3), ("delete", 2)]
    waiting = [person.match(n, op) for op, n in changes]
    proxy.cuts, proxy.passed = cuts, 0
    while waiting:
        _state, done = person.deliver(*waiting)
        del waiting[: len(done)]
    assert (person.content(), person.content("Left")) == ([mail(3)], [mail(1), mail(2)])
    return proxy.passed
