"""An address book: its page, and the filters that speak of it."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.inbox.lists.explanation import EvidenceRow
from filters.inbox.lists.sentences import sentences
from filters.inbox.models import Match
from filters.people.membership.export.archive import write
from filters.people.models import User
from filters.reading import address_book
from filters.reading.annotations.outbox import append_outbox
from filters.runs import rounds
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.clock import DAY, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.forget.forget import forget
from tapestry.tables.write.append import append_messages

SignIn = Callable[[User], Client]

CARDS = b"""BEGIN:VCARD\r
VERSION:3.0\r
N:Jones;Ann;;;\r
item1.EMAIL;type=INTERNET;type=HOME:Ann@\r
 X.org\r
PHOTO;ENCODING=b:AAAA\r
 EMAIL:no@x.org\r
END:VCARD\r
BEGIN:VCARD\r
VERSION:4.0\r
FN:Bill\r
EMAIL;TYPE="work:main":mailto:bill@x.org\r
EMAIL:\r
END:VCARD\r
"""


def arrive(tables: Tables, *senders: str, audience: str = "public") -> None:
    mail = [Message(f"{sender}-{audience}", sender=sender, audience=audience) for sender in senders]
    append_messages(tables, DjangoClock(), mail)


def seen(user: User, name: str) -> set[str]:
    rows = Match.objects.in_list(user, Filter.objects.get(owner=user, name=name))
    return {msgid.partition("-")[0] for msgid in rows.values_list("msgid", flat=True)}


def run(tables: Tables) -> None:
    append_outbox(tables)
    rounds.run_round()


def upload(client: Client, raw: bytes, **given: str) -> int:
    file = SimpleUploadedFile("contacts.vcf", raw)
    return client.post("/contacts/", {"file": file, "act": "add", **given}).status_code


@pytest.mark.usefixtures("engine")
def test_a_file_of_contacts_is_what_filters_mean_by_it(
    tables: Tables, alice: User, bob: User, as_user: SignIn
) -> None:
    friends = "from somebody in my address book"
    lifecycle.install(alice, friends, name="known", existing=True)
    lifecycle.install(alice, friends, name="live", existing=True, mode="live")
    lifecycle.install(alice, "not from contacts", name="strangers", existing=True, mode="live")
    lifecycle.install(bob, friends, name="bobs", existing=True)
    arrive(tables, "ann@x.org", "eve@x.org")
    run(tables)
    assert seen(alice, "known") == seen(alice, "live") == set()
    assert seen(alice, "strangers") == {"ann@x.org", "eve@x.org"}
    client = as_user(alice)
    assert upload(client, CARDS) == 302
    run(tables)
    assert seen(alice, "known") == seen(alice, "live") == {"ann@x.org"}, "old mail matches from now"
    assert seen(alice, "strangers") == {"eve@x.org"}
    arrive(tables, "bill@x.org", "no@x.org")
    run(tables)
    assert seen(alice, "known") == seen(alice, "live") == {"ann@x.org", "bill@x.org"}
    client.post("/contacts/", {"address": "ann@x.org", "act": "remove"})
    run(tables)
    assert seen(alice, "known") == {"ann@x.org", "bill@x.org"}, "what matched was true then"
    assert seen(alice, "live") == {"bill@x.org"}
    assert seen(alice, "strangers") == {"ann@x.org", "eve@x.org", "no@x.org"}
    assert seen(bob, "bobs") == set(), "nobody's address book is another's"


@pytest.mark.usefixtures("engine")
def test_a_shared_filter_tells_nobody_whose_mail_its_owner_knows(
    tables: Tables, alice: User, bob: User
) -> None:
    lifecycle.install(alice, "from contacts", name="known", visibility="shared")
    lifecycle.install(bob, "in alice's known", name="hers", existing=True)
    address_book.add(alice, ["ann@x.org"])
    address_book.add(bob, ["eve@x.org"])
    arrive(tables, "ann@x.org", "eve@x.org")
    run(tables)
    assert (seen(alice, "known"), seen(bob, "hers")) == ({"ann@x.org"}, set())


def test_the_page_shows_each_person_their_own(
    tables: Tables, alice: User, bob: User, as_user: SignIn
) -> None:
    hers, his = as_user(alice), as_user(bob)
    given = {"addresses": "Ann <Ann@x.org>, bill@x.org; ann@x.org", "act": "add"}
    assert "2 addresses added." in hers.post("/contacts/", given, follow=True).content.decode()
    append_outbox(tables)
    assert hers.get("/contacts/").context["contacts"] == ["ann@x.org", "bill@x.org"]
    assert his.get("/contacts/").context["contacts"] == []
    his.post("/contacts/", {"address": "ann@x.org", "act": "remove"})
    append_outbox(tables)
    assert list(address_book.contacts_of(alice)) == ["ann@x.org", "bill@x.org"]
    page = hers.post("/contacts/", {"address": "ann@x.org", "act": "remove"}, follow=True)
    assert "1 address taken out." in page.content.decode()
    assert page.context["contacts"] == ["bill@x.org"]
    assert (address_book.add(alice, ["ann@x.org"]), address_book.add(alice, ["ann@x.org"])) == (
        1,
        0,
    )


@pytest.mark.parametrize(
    ("raw", "typed", "sentence"),
    [
        (b"no card", "", "There is no contact in this file."),
        (b"BEGIN:VCARD\nEND:VCARD", "", "Choose a file with addresses, or write some."),
        (b"", "", "Choose a file with addresses, or write some."),
        (CARDS, "ann", "“ann” is not an address that mail can be sent to."),
    ],
)
def test_what_has_no_address_is_refused_in_a_sentence(
    tables: Tables, alice: User, as_user: SignIn, raw: bytes, typed: str, sentence: str
) -> None:
    given = {"addresses": typed, "act": "add"}
    if raw:
        given["file"] = SimpleUploadedFile("contacts.vcf", raw)
    answer = as_user(alice).post("/contacts/", given)
    assert answer.status_code == 400
    assert sentence in answer.content.decode()
    assert not address_book.contacts_of(alice)


def test_a_match_says_when_its_sender_came_into_the_book() -> None:
    row: EvidenceRow = {"what": "contact", "who": "alice", "value": "ann@x.org", "msgid": "m"}
    row |= {"audience": "user:alice", "at": 0}
    said = "ann@x.org came into the address book on 1 January 1970"
    assert (sentences([row], ["user:alice"]), sentences([row], ["public"])) == ([said], [])


def test_a_book_has_a_limit_and_only_addresses(
    tables: Tables, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(address_book, "MOST", 2)
    address_book.add(alice, ["ann@x.org", "bill@x.org"])
    for refused in ("eve@x.org", "eve"):
        with pytest.raises(TapestryError):
            address_book.add(alice, [refused])
    assert address_book.remove(alice, ["bill@x.org", "eve@x.org"]) == 1
    assert address_book.add(alice, ["eve@x.org"]) == 1


def test_contacts_go_with_a_person_but_not_with_age(
    tables: Tables, alice: User, tmp_path: Path
) -> None:
    address_book.add(alice, ["ann@x.org", "bill@x.org"])
    append_outbox(tables)
    address_book.remove(alice, ["bill@x.org"])
    append_outbox(tables)
    clock = DjangoClock()
    forget(tables, clock, "user:alice", before=wall_clock() + DAY)
    assert list(address_book.contacts_of(alice)) == ["ann@x.org"]
    write(alice, tmp_path / "export.zip")
    with zipfile.ZipFile(tmp_path / "export.zip") as archive:
        rows = list(map(json.loads, archive.read("annotations.jsonl").splitlines()))
    assert ("contact", "ann@x.org") in [(row["kind"], row["value"]) for row in rows]
    forget(tables, clock, "user:alice")
    assert not address_book.contacts_of(alice)
