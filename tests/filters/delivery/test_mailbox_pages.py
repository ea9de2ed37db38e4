"""The form of a mailbox: tried with the server, its password stored encrypted and never shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from filters.delivery.models import Destination
from filters.delivery.ways.mailbox import account_of
from filters.people.models import User
from filters.site.work.crypto.encryption import decrypt
from filters.sources.accounts.credentials import keep_secret
from filters.sources.both_ways.delivery_folders import delivery_parents
from filters.sources.models import Source
from tapestry.core.errors import TapestryError
from tests.support.delivery.recorded_way import Recorder, change_way
from tests.support.servers.dovecot import PASSWORD, USER, Dovecot

SignIn = Callable[[User], Client]

pytestmark = pytest.mark.live

NEW = "/delivery/new/mailbox/"


@pytest.fixture
def client(alice: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch) -> Client:
    recorder = Recorder()
    change_way(monkeypatch, "mailbox", send=recorder.send, preview=recorder.preview)
    return as_user(alice)


@pytest.fixture
def source(alice: User, dovecot: Dovecot, data: Path) -> Source:
    place = {"kind": "imap", "host": "127.0.0.1", "port": dovecot.port, "security": "none"}
    source = Source(owner=alice, user=USER, audience="user:alice", **place)
    keep_secret(source, PASSWORD)
    source.save()
    return source


def described(server: Dovecot, **other: Any) -> dict[str, Any]:
    return {
        "host": "127.0.0.1",
        "port": server.port,
        "security": "none",
        "user": USER,
        "secret": PASSWORD,
        "parent": "Tapestry",
        "which": "all",
        **other,
    }


def test_a_mailbox_is_tried_and_stored(client: Client, dovecot: Dovecot, data: Path) -> None:
    assert 'value="Tapestry"' in client.get(NEW).content.decode()
    assert client.post(NEW, described(dovecot, parent="/Found/")).status_code == 302
    made = Destination.objects.get()
    assert made.settings == {
        "host": "127.0.0.1",
        "port": dovecot.port,
        "security": "none",
        "user": USER,
        "parent": "Found",
    }
    assert PASSWORD not in made.secret and decrypt(made.secret, data) == PASSWORD
    assert made.name == f"Mailbox of {USER}"
    page = client.get(made.get_absolute_url()).content.decode()
    assert f"Found of {USER} at 127.0.0.1" in page and PASSWORD not in page


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"secret": "guess-7391"}, "refused the user name or password"),
        ({"secret": ""}, "Give the password."),
        ({"host": "imap://x"}, "Give the name of the server alone"),
        ({"host": "imap.example.org"}, "A password is sent over TLS only"),
        ({"user": ""}, "Give the name with which you log in"),
        ({"parent": "//"}, "Give the folder a name"),
        ({"parent": "a\x00b"}, "Null characters are not allowed"),
        ({"port": "70000"}, "less than or equal to 65535"),
    ],
)
def test_what_does_not_work_is_said_and_nothing_is_stored(
    client: Client, dovecot: Dovecot, change: dict[str, Any], words: str
) -> None:
    response = client.post(NEW, described(dovecot, **change))
    page = response.content.decode()
    assert response.status_code == 400 and words in page
    assert "guess-7391" not in page
    assert not Destination.objects.exists()


def test_the_password_stays_where_none_is_given_and_goes_nowhere_else(
    client: Client, dovecot: Dovecot, data: Path
) -> None:
    client.post(NEW, described(dovecot))
    made = Destination.objects.get()
    edit = f"/delivery/{made.pk}/edit/"
    page = client.get(edit).content.decode()
    assert "It is stored" in page and PASSWORD not in page and made.secret not in page
    changed = described(dovecot, secret="", parent="Other", name="mine")
    assert client.post(edit, changed).status_code == 302
    made.refresh_from_db()
    assert made.settings["parent"] == "Other" and decrypt(made.secret, data) == PASSWORD
    elsewhere = client.post(edit, described(dovecot, secret="", user="eve"))
    assert elsewhere.status_code == 400
    assert "Give the password again" in elsewhere.content.decode()


def test_the_mailbox_of_a_source_needs_no_password_again(
    client: Client, source: Source, bob: User, as_user: SignIn
) -> None:
    """It is logged in to as the source is, whatever of that changes."""
    assert f'<option value="{source.pk}" selected>' in client.get(NEW).content.decode()
    assert "id_source" not in as_user(bob).get(NEW).content.decode()
    given = {"source": source.pk, "parent": "Tapestry", "which": "all"}
    assert client.post(NEW, given).status_code == 302
    made = Destination.objects.get()
    assert (made.source, made.secret) == (source, "")
    assert made.name == f"Mailbox of {USER}" and account_of(made).secret == PASSWORD
    keep_secret(source, "another")
    source.user = "moved"
    source.save()
    changed = Destination.objects.get()
    assert (account_of(changed).user, account_of(changed).secret) == ("moved", "another")
    assert delivery_parents(source) == ["Tapestry"], "what it holds is not read as new mail"
    source.delete()
    with pytest.raises(TapestryError, match="is deleted"):
        account_of(Destination.objects.get())
    page = client.post(f"{made.get_absolute_url()}edit/", given | {"source": ""})
    assert page.status_code == 400 and page.context["form"].errors.keys() >= {"host"}


def test_nobody_delivers_by_the_source_of_another(
    client: Client, source: Source, bob: User, as_user: SignIn
) -> None:
    given = {"source": source.pk, "parent": "Tapestry", "which": "all"}
    assert as_user(bob).post(NEW, given).status_code == 400
    Source.objects.create(
        owner=bob, kind="imap", host="b.example.org", port=993, user="bob", audience="user:bob"
    )
    page = as_user(bob).post(NEW, given)
    assert page.status_code == 400 and not Destination.objects.exists()
    assert "127.0.0.1" not in page.content.decode()
