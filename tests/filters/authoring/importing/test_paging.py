"""A file of many filters: offered page by page, and gone on with when it is imported again."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from filters.authoring import lifecycle
from filters.authoring.importing import imports
from filters.authoring.importing.entries import MOST_ENTRIES, Clause, Entry, UnreadableFileError
from filters.authoring.importing.files import LARGEST, LARGEST_OWN, read_file
from filters.authoring.importing.gmail.filters import translated
from filters.authoring.importing.paging import (
    LONGEST_PAGE,
    LONGEST_REST,
    first_page,
    in_order,
    pack,
    unpack,
)
from filters.authoring.models import Filter
from filters.people.models import User
from tapestry.query.context import Context
from tests.support.formats.gmail_file import FEED

SignIn = Callable[[User], Client]

pytestmark = pytest.mark.usefixtures("worker")


def own_file(*texts: str, start: int = 0) -> bytes:
    return "".join(
        f'[[filter]]\ntitle = "F {number}"\nname = "f-{number}"\ntext = "{text}"\n'
        for number, text in enumerate(texts, start)
    ).encode()


def offered(client: Client, raw: bytes) -> str:
    file = SimpleUploadedFile("filters.toml", raw)
    answer = client.post("/filters/import/", {"file": file}, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def create(client: Client, page: str) -> str:
    fields = dict(re.findall(r'name="(rest|(?:entry|title)-\d+)" value="([^"]*)"', page))
    ticked = re.findall(r'name="create" value="(\d+)" checked', page)
    sent: dict[str, Any] = {name: unescape(value) for name, value in fields.items()}
    answer = client.post("/filters/import/create/", sent | {"create": ticked}, follow=True)
    return answer.content.decode()


def titles(page: str) -> list[str]:
    return re.findall(r'name="title-\d+" value="F (\d+)"', page)


class TestPages:
    @pytest.fixture(autouse=True)
    def two_at_a_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(imports, "MOST_ENTRIES", 2)

    def test_all_filters_of_a_file_are_offered(self, alice: User, as_user: SignIn) -> None:
        client = as_user(alice)
        page = offered(client, own_file(*(f"from x{number}" for number in range(5))))
        assert titles(page) == ["0", "1"] and "3 more filters of the file follow" in page
        page = create(client, page)
        assert titles(page) == ["2", "3"] and "2 filters created." in page
        page = create(client, page.replace(" checked", "", 1))  # one of them is not wanted
        assert titles(page) == ["4"] and "continue" not in page
        assert "created. Its matches will appear here." in create(client, page)
        assert {made.name for made in alice.filters.all()} == {"f-0", "f-1", "f-3", "f-4"}

    def test_the_same_file_again_goes_on_with_the_rest(self, alice: User, as_user: SignIn) -> None:
        client = as_user(alice)
        raw = own_file(*(f"from x{number}" for number in range(5)))
        create(client, offered(client, raw))
        page = offered(client, raw)
        assert titles(page) == ["2", "3"] and page.count(" checked") == 2
        page = create(client, create(client, page))
        assert titles(page) == ["1"] and " checked" not in page
        assert "You have this filter already." in page
        assert alice.filters.count() == 5

    def test_what_cannot_be_created_is_shown_with_the_next_ones(
        self, alice: User, as_user: SignIn
    ) -> None:
        client = as_user(alice)
        page = offered(client, own_file("from x", "from y", "from z"))
        lifecycle.install(alice, "from elsewhere", name="f-1")
        page = create(client, page)
        assert titles(page) == ["1", "2"] and "You already have a filter of that short name" in page

    def test_a_filter_is_offered_after_those_it_refers_to(
        self, alice: User, as_user: SignIn
    ) -> None:
        client = as_user(alice)
        raw = own_file("in filter f-3", "in filter f-0 and from y", "from z", "from x")
        page = offered(client, raw)
        assert titles(page) == ["2", "3"]
        assert "2 filters created." in create(client, create(client, page))
        assert alice.filters.count() == 4


def test_a_filter_from_elsewhere_that_is_here_is_not_ticked(alice: User, as_user: SignIn) -> None:
    client = as_user(alice)
    entry = "<entry><apps:property name='from' value='a@x.org'/></entry>"
    raw = (FEED % entry).encode()
    create(client, offered(client, raw))
    page = offered(client, raw)
    assert "You have this filter already." in page and " checked" not in page


@pytest.mark.parametrize("count", [104, pytest.param(250, marks=pytest.mark.long)])
def test_filters_of_gmail_are_translated_page_by_page(
    alice: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    read: list[Entry] = []

    def counted(entry: Entry, context: Context) -> Entry:
        read.append(entry)
        return translated(entry, context)

    monkeypatch.setattr(imports, "translated", counted)
    names = [f"a{number}@x.org" for number in range(count)]
    entries = (f"<entry><apps:property name='from' value='{name}'/></entry>" for name in names)
    client = as_user(alice)
    page = offered(client, (FEED % "".join(entries)).encode())
    assert len(read) == page.count(" checked") == MOST_ENTRIES
    assert f"{count - MOST_ENTRIES} more filters" in page
    for _ in range(-(-count // MOST_ENTRIES)):
        page = create(client, page)
    assert len(read) == count and not any(entry.text for entry in read)
    assert {made.text for made in alice.filters.all()} == {f"from {name}" for name in names}


def test_a_filter_whose_short_name_is_taken_is_given_another(alice: User, as_user: SignIn) -> None:
    lifecycle.install(alice, "from elsewhere", name="f-0")
    client = as_user(alice)
    page = offered(client, own_file("from x"))
    assert "You have another filter of this short name" in page and " checked" not in page
    create(client, page.replace('name="create" value="1"', 'name="create" value="1" checked'))
    assert [(made.name, made.text) for made in alice.filters.order_by("pk")] == [
        ("f-0", "from elsewhere"),
        ("f-0-2", "from x"),
    ]


def test_what_is_no_filter_is_shown_and_cannot_be_ticked(alice: User, as_user: SignIn) -> None:
    page = offered(as_user(alice), own_file("in filter nowhere", "x" * 70_000))
    assert page.count(" disabled") == 2 and "in filter nowhere" in page
    assert "longer than 64 KiB" in page and len(page) < 70_000


def test_a_circle_of_filters_is_offered_as_it_is(alice: User) -> None:
    entries = read_file(own_file("in filter f-1", "in f-0", "from x and in comp.x"))
    assert in_order(alice, entries) == entries


def test_what_waits_returns_to_its_person_alone(alice: User, bob: User) -> None:
    clauses = (Clause("from: x", "from x"), Clause("do", problem="No.", is_action=True))
    entries = [Entry("T é", "from x", clauses, False, {"name": "t"}), Entry("", "")]
    packed = pack(alice, entries)
    assert unpack(alice, packed) == entries
    assert unpack(bob, packed) == unpack(alice, packed + "x") == unpack(alice, "") == []
    assert pack(alice, []) == ""


def test_a_page_has_room_in_its_form(alice: User, as_user: SignIn) -> None:
    """What waits has no room here, as it is random, and is left to be imported again."""
    letters = random.Random(1)
    texts = ["".join(letters.choices("abcdefghéß日本", k=50_000)) for _ in range(45)]
    raw = own_file(*(f"about {text}" for text in texts))
    assert LARGEST < len(raw) < LARGEST_OWN
    entries = read_file(raw)
    assert sum(len(entry.text.encode()) for entry in entries[: first_page(entries)]) < LONGEST_PAGE
    page = offered(as_user(alice), raw)
    assert 0 < len(titles(page)) < 10
    assert "There is no room here for" in page and "import the file again" in page
    assert len(page.encode()) < LONGEST_REST


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (own_file("x" * LARGEST_OWN), "larger than 8 MB"),
        (own_file(*["from x"] * 5_001), "has 5,001 filters, more than 5,000"),
        ((FEED % ("<entry/>" * 1_001)).encode(), "has 1,001 filters, more than 1,000"),
        (own_file("from x") + b"mode = '" + b"x" * 501 + b"'", "mode has more than 500 characters"),
    ],
)
def test_too_many_or_too_large_is_refused_in_words(raw: bytes, sentence: str) -> None:
    with pytest.raises(UnreadableFileError, match=re.escape(sentence)):
        read_file(raw)


def test_as_many_filters_as_a_person_may_have_are_read(alice: User, as_user: SignIn) -> None:
    page = offered(as_user(alice), own_file(*[f"from x{number}" for number in range(5_000)]))
    assert len(titles(page)) == MOST_ENTRIES and "4,900 more filters" in page
    assert page.count("<input") < 1_000 and len(page.encode()) < LONGEST_REST
    assert not Filter.objects.exists()
