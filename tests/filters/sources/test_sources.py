"""Sources on their pages: adding, choosing, pausing, and that secrets stay secret."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.test import Client

from filters.people.models import User
from filters.sources import changes, tasks, writing
from filters.sources.accounts.credentials import account_of
from filters.sources.models import Folder, Pull, Source
from filters.sources.pull import pulling
from filters.sources.schedule import account_lock, due, make_due
from filters.sources.writing import try_out
from tapestry.core.clock import HOUR, MINUTE, wall_clock
from tapestry.servers.account import Account
from tapestry.tables.delta.log import Tables
from tests.support.people.publishers import let_publish
from tests.support.servers.dovecot import PASSWORD, USER, Dovecot

SignIn = Callable[[User], Client]

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def server(dovecot: Dovecot) -> Dovecot:
    dovecot.put("INBOX", *map(mail, range(3)))
    dovecot.put("Lists", mail(7))
    return dovecot


def mail(n: int) -> bytes:
    return (
        f"Message-ID: <{n}@x.org>\r\nFrom: joe@x.org\r\nSubject: number {n}\r\n\r\nHi\r\n".encode()
    )


def described(server: Dovecot, **other: Any) -> dict[str, Any]:
    return {
        "kind": "imap",
        "host": "127.0.0.1",
        "port": server.port,
        "security": "none",
        "user": USER,
        "method": "password",
        "secret": PASSWORD,
        "audience": "user:alice",
        "every": 60,
        **other,
    }


@pytest.fixture
def source(server: Dovecot, alice: User, as_user: SignIn) -> Source:
    client = as_user(alice)
    response = client.post("/sources/new/", described(server))
    assert response.status_code == 302, response.content.decode()
    made = Source.objects.get()
    assert response["Location"] == f"/source/{made.pk}/places/"
    response = client.post(f"/source/{made.pk}/places/", {"folder": ["INBOX", "Lists"]})
    assert response["Location"] == f"/source/{made.pk}/"
    made.refresh_from_db()
    return made


def pull(source: Source) -> None:
    tasks.pull_source(source.pk)
    source.refresh_from_db()


def msgids(tables: Tables) -> list[str]:
    return sorted(tables.open("messages").to_pyarrow_table().column("msgid").to_pylist())


def test_a_source_is_added_tried_chosen_from_and_pulled(
    source: Source, alice: User, as_user: SignIn, tables: Tables
) -> None:
    assert source.active and due() == [source.pk]
    pull(source)
    rows = tables.open("messages").to_pyarrow_table().to_pylist()
    assert sorted(row["msgid"] for row in rows) == ["0@x.org", "1@x.org", "2@x.org", "7@x.org"]
    assert {row["audience"] for row in rows} == {"user:alice"}
    assert due() == [] and source.due_at > wall_clock() + MINUTE // 2
    Source.objects.update(due_at=wall_clock() + HOUR)  # the clock is set back by an hour
    assert due() == [source.pk]
    Source.objects.update(failures=3)
    assert due() == []
    page = as_user(alice).get(f"/source/{source.pk}/").content.decode()
    assert "INBOX" in page and "Lists" in page and "last checked just now" in page
    assert "connection security: " in page
    assert [(p.read, p.added) for p in Folder.objects.all()] == [(3, 3), (1, 1)]
    assert [(p.read, p.added, p.error) for p in Pull.objects.all()] == [(4, 4, "")]


def test_a_pull_that_brings_nothing_is_not_recorded(source: Source) -> None:
    pull(source)
    pull(source)
    assert Pull.objects.count() == 1


def test_the_folders_of_the_server_are_offered(
    source: Source, alice: User, as_user: SignIn
) -> None:
    page = as_user(alice).get(f"/source/{source.pk}/places/").content.decode()
    assert 'value="INBOX" checked' in page and 'value="Lists" checked' in page


def test_a_wrong_password_is_said_in_words_and_nothing_is_kept(
    server: Dovecot, alice: User, as_user: SignIn
) -> None:
    response = as_user(alice).post("/sources/new/", described(server, secret="guess-7391"))
    page = response.content.decode()
    assert response.status_code == 400
    assert "refused the user name or password" in page
    assert "guess-7391" not in page
    assert not Source.objects.exists()


def test_the_password_is_encrypted_and_never_shown(
    source: Source, alice: User, as_user: SignIn, data: Path
) -> None:
    assert PASSWORD not in source.secret
    key = data / "source.key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert PASSWORD.encode() in Fernet(key.read_bytes()).decrypt(source.secret.encode())
    for page in ("", "edit/", "places/", "delete/"):
        answer = as_user(alice).get(f"/source/{source.pk}/{page}").content.decode()
        assert PASSWORD not in answer and source.secret not in answer


def test_a_stored_password_stays_where_it_was_given_for(
    source: Source, server: Dovecot, alice: User, as_user: SignIn
) -> None:
    client = as_user(alice)
    response = client.post(
        f"/source/{source.pk}/edit/", described(server, secret="", host="localhost")
    )
    assert response.status_code == 400
    assert "Give the password again" in response.content.decode()
    response = client.post(f"/source/{source.pk}/edit/", described(server, secret="", every=300))
    assert response.status_code == 302
    source.refresh_from_db()
    assert (source.every, source.host) == (300, "127.0.0.1")
    pull(source)
    assert source.error == ""


def test_mail_is_read_again_for_another_audience_and_the_page_says_so(
    source: Source, server: Dovecot, alice: User, as_user: SignIn, tables: Tables
) -> None:
    pull(source)
    let_publish(alice)
    client, address = as_user(alice), f"/source/{source.pk}/edit/"
    assert "is read again for the others" in client.get(address).content.decode()
    assert "is read again" not in client.get("/sources/new/").content.decode()
    client.post(address, described(server, secret="", audience="group:parc"))
    pull(source)
    rows = tables.open("messages").to_pyarrow_table().column("audience").to_pylist()
    assert sorted(rows) == ["group:parc"] * 4 + ["user:alice"] * 4


def test_what_is_changed_while_an_edit_is_tried_stays(
    source: Source, server: Dovecot, alice: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    Source.objects.update(may_act=True, syncs_flags=True, complete_until=1)

    def meanwhile(account: Account) -> None:
        changes.choose_folders(source, ["Lists"])
        changes.pause(source)
        changes.allow_acts(source, may_act=False, syncs_flags=False)
        try_out(account)

    monkeypatch.setattr(writing, "try_out", meanwhile)
    as_user(alice).post(f"/source/{source.pk}/edit/", described(server, every=300))
    source.refresh_from_db()
    assert (source.every, source.active, source.folder_patterns) == (300, False, ["Lists"])
    assert source.complete_until is None, "of the folder that was chosen nobody has looked"
    assert not source.may_act and not source.syncs_flags


def test_what_is_deleted_while_an_edit_is_tried_does_not_come_back(
    source: Source, server: Dovecot, alice: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "try_out", lambda _account: Source.objects.all().delete())
    response = as_user(alice).post(f"/source/{source.pk}/edit/", described(server))
    assert "The source has been deleted in the meantime." in response.content.decode()
    assert not Source.objects.exists()


def test_another_key_is_one_sentence(source: Source, data: Path) -> None:
    (data / "source.key").write_bytes(Fernet.generate_key())
    pull(source)
    assert "the key to it is another by now" in source.error
    assert source.failures == 1 and source.due_at > wall_clock()


def test_a_source_can_be_paused_and_resumed(
    source: Source, alice: User, as_user: SignIn, tables: Tables
) -> None:
    client = as_user(alice)
    client.post(f"/source/{source.pk}/pause/")
    pull(source)
    assert not source.active and due() == [] and msgids(tables) == []
    client.post(f"/source/{source.pk}/resume/")
    pull(source)
    assert source.active and len(msgids(tables)) == 4


def test_a_folder_that_is_gone_is_said_and_the_others_go_on(source: Source, tables: Tables) -> None:
    Source.objects.update(folder_patterns=["Nowhere", "INBOX"])
    source.refresh_from_db()
    pull(source)
    assert "has no mailbox Nowhere" in source.error
    assert len(msgids(tables)) == 3
    assert Folder.objects.get(name="Nowhere").error == source.error


def test_a_server_that_is_away_is_tried_again_after_ever_longer(
    source: Source, alice: User, as_user: SignIn
) -> None:
    Source.objects.update(port=1)
    source.refresh_from_db()
    waits = []
    for _ in range(3):
        began = wall_clock()
        pull(source)
        waits.append((source.due_at - began) // (MINUTE // 2))
    assert source.error == "There is no connection with 127.0.0.1:1."
    assert "TAPESTRY_PRIVATE_HOSTS" in source.hint
    assert (source.failures, waits) == (3, [2, 2, 4])
    assert Pull.objects.count() == 1
    assert source.error in as_user(alice).get("/sources/").content.decode()


def test_mail_goes_only_where_its_owner_may_see_it(
    source: Source, alice: User, tables: Tables
) -> None:
    let_publish(alice)
    Source.objects.update(audience="group:parc")
    source.owner.groups.clear()
    source.refresh_from_db()
    pull(source)
    assert "alice may not bring mail for group:parc any more" in source.error
    assert msgids(tables) == []


def test_the_audience_of_others_cannot_be_chosen(
    server: Dovecot, alice: User, as_user: SignIn
) -> None:
    response = as_user(alice).post("/sources/new/", described(server, audience="user:bob"))
    assert response.status_code == 400 and not Source.objects.exists()


def test_nobody_sees_the_sources_of_others(source: Source, bob: User, as_user: SignIn) -> None:
    client = as_user(bob)
    for act in ("", "edit/", "places/", "delete/"):
        assert client.get(f"/source/{source.pk}/{act}").status_code == 404, act
    assert USER not in client.get("/sources/").content.decode()


def test_nobody_touches_the_sources_of_others(source: Source, bob: User, as_user: SignIn) -> None:
    client = as_user(bob)
    for act in ("test", "look", "pause", "resume", "delete"):
        assert client.post(f"/source/{source.pk}/{act}/").status_code == 404, act
        source.refresh_from_db()
        assert source.active, act


def test_testing_the_connection_says_how_it_went(
    source: Source, alice: User, as_user: SignIn
) -> None:
    client = as_user(alice)
    page = client.post(f"/source/{source.pk}/test/", follow=True).content.decode()
    assert "127.0.0.1 answers and lets you in." in page
    Source.objects.update(port=1)
    page = client.post(f"/source/{source.pk}/test/", follow=True).content.decode()
    assert "There is no connection with 127.0.0.1:1." in page


def test_deleting_a_source_asks_first_and_leaves_its_mail(
    source: Source, alice: User, as_user: SignIn, tables: Tables
) -> None:
    pull(source)
    client = as_user(alice)
    assert (
        "its password is forgotten" in client.get(f"/source/{source.pk}/delete/").content.decode()
    )
    page = client.post(f"/source/{source.pk}/delete/", follow=True).content.decode()
    assert f"{source} was removed. Its mail stays." in page
    assert not Source.objects.exists()
    assert len(msgids(tables)) == 4


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"host": "imap.x.org", "security": "none"}, "A password is sent over TLS only"),
        ({"host": "a b"}, "Give the name of the server alone"),
        ({"host": "https://x.org"}, "Give the name of the server alone"),
        ({"port": "0"}, "greater than or equal to 1"),
        ({"port": "99999"}, "less than or equal to 65535"),
        ({"user": ""}, "Give the name with which you log in"),
        ({"secret": ""}, "Give the password, or the token."),
        ({"secret": "a\r\nb"}, "an invisible character"),
        ({"user": "a\x00b"}, "Null characters are not allowed"),
        ({"token_url": "http://x.org/token"}, "from an https:// address only"),
        ({"security": "rot13"}, "Select a valid choice"),
    ],
)
def test_nonsense_is_refused(
    server: Dovecot, alice: User, as_user: SignIn, wrong: dict[str, str], sentence: str
) -> None:
    response = as_user(alice).post("/sources/new/", described(server, **wrong))
    assert response.status_code == 400
    assert sentence in response.content.decode()
    assert not Source.objects.exists()


def test_nothing_chosen_is_refused(source: Source, alice: User, as_user: SignIn) -> None:
    response = as_user(alice).post(f"/source/{source.pk}/places/", {})
    assert response.status_code == 400
    assert "Choose at least one." in response.content.decode()


def test_a_pull_leaves_the_rest_to_its_next_turn_and_each_folder_has_its_own(
    source: Source, tables: Tables
) -> None:
    looked = []
    for _ in range(2):
        tally = pulling.pull(source, seconds=0.0)
        assert tally is not None
        looked.append(tally.read)
        assert due() == [source.pk]
    assert sorted(looked) == [1, 3]
    assert len(msgids(tables)) == 4
    pull(source)
    assert due() == []


def test_two_do_not_pull_one_source_at_a_time(source: Source) -> None:
    with account_lock(source) as acquired:
        assert acquired and pulling.pull(source) is None
    assert pulling.pull(source) is not None


def test_mail_that_is_heard_of_during_a_pull_is_not_forgotten(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = pulling.pull_account

    def heard_of(*args: Any, **named: Any) -> Iterator[Any]:
        yield from reports(*args, **named)
        make_due(source.pk)

    monkeypatch.setattr(pulling, "pull_account", heard_of)
    pull(source)
    assert due() == [source.pk]


@pytest.mark.parametrize(
    ("mine", "others", "is_pulled"),
    [
        (2, 0, False),
        (1, 1, True),
        *(pytest.param(*case, marks=pytest.mark.long) for case in ((1, 0, True), (0, 3, False))),
    ],
)
def test_some_pulls_run_at_a_time_and_fewer_of_one_person(
    source: Source, tables: Tables, bob: User, mine: int, others: int, is_pulled: bool
) -> None:
    tasks._pulling.update({source.owner_id: mine, bob.pk: others})
    try:
        pull(source)
        assert (len(msgids(tables)), due()) == ((4, []) if is_pulled else (0, [source.pk]))
    finally:
        tasks._pulling.clear()
    pull(source)
    assert len(msgids(tables)) == 4


def test_no_mail_is_pulled_for_a_person_who_may_no_longer_sign_in(
    source: Source, alice: User
) -> None:
    alice.is_active = False
    alice.save()
    assert due() == []


def test_the_key_may_be_given_from_outside(
    server: Dovecot,
    alice: User,
    as_user: SignIn,
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TAPESTRY_SOURCE_KEY", Fernet.generate_key().decode())
    as_user(alice).post("/sources/new/", described(server))
    assert account_of(Source.objects.get()).secret == PASSWORD
    assert not (data / "source.key").exists()
    monkeypatch.setenv("TAPESTRY_SOURCE_KEY", "short")
    response = as_user(alice).post("/sources/new/", described(server))
    assert "is not a key" in response.content.decode()
