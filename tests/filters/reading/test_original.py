"""A message as it came: shown and given to those who may see it, and harmless."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from tapestry.tables.delta.log import Tables
from tests.support.intake import ingest

SignIn = Callable[[User], Client]

RAW = (
    b"From: Mary <mary@example.org>\nSubject: caf\xe9 <script>alert(1)</script>\n"
    b"Message-ID: <a/../b@example.org>\nDate: no day\n\nText\0with <b>everything</b>\n"
)


@pytest.fixture
def letter(db: None, tables: Tables, tmp_path) -> Tables:
    path = tmp_path / "letter.eml"
    path.write_bytes(RAW)
    ingest(str(path), tables, DjangoClock(), "user:alice")
    return tables


def test_it_is_shown_as_text_with_what_could_not_be_read(letter, alice, as_user: SignIn) -> None:
    page = as_user(alice).get("/message/original/", {"id": "a/../b@example.org"}).content.decode()
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page
    assert "unreadable date" in page
    shown = as_user(alice).get("/message/", {"id": "a/../b@example.org"}).content.decode()
    assert "unreadable date" in shown and "/message/original/file/?id=a%2F..%2Fb" in shown


def test_the_file_is_what_came_byte_by_byte(letter, alice, as_user: SignIn) -> None:
    answer = as_user(alice).get("/message/original/file/", {"id": "a/../b@example.org"})
    assert answer.content == RAW
    assert answer["Content-Type"] == "message/rfc822"
    assert answer["Content-Disposition"] == 'attachment; filename="a-..-b-example.org.eml"'
    assert answer["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("page", ["/message/original/", "/message/original/file/"])
def test_others_do_not_learn_that_it_is_there(letter, carol, as_user: SignIn, page: str) -> None:
    assert as_user(carol).get(page, {"id": "a/../b@example.org"}).status_code == 404
    assert Client().get(page, {"id": "a/../b@example.org"}).status_code == 302


def test_mail_without_an_original_says_nothing_of_one(mail, alice, as_user: SignIn) -> None:
    page = as_user(alice).get("/message/", {"id": "plan@example.org"}).content.decode()
    assert "Original message" not in page
    answer = as_user(alice).get("/message/original/", {"id": "plan@example.org"})
    assert answer.status_code == 404
