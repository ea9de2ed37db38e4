"""What people see when something goes wrong, and what browsers may load."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable

import pytest
from django.test import Client

from filters.people.models import User
from tapestry.tables.delta.log import Tables

SignIn = Callable[[User], Client]


def test_an_unknown_address_is_answered_kindly(client: Client, db: None) -> None:
    response = client.get("/nothing/here")
    assert response.status_code == 404
    page = response.content.decode()
    assert "There is nothing here" in page
    assert "You are not signed in" in page and 'href="/sign-in/"' in page


def test_a_defect_shows_no_traceback(
    alice: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    def defect(user: User) -> None:
        raise ZeroDivisionError("the secret of the house")

    monkeypatch.setattr("filters.inbox.counts.sidebar", defect)
    client = as_user(alice)
    client.raise_request_exception = False
    response = client.get("/")
    assert response.status_code == 500
    page = response.content.decode()
    assert "Something broke" in page
    assert "secret of the house" not in page and "Traceback" not in page


def test_a_file_that_was_deleted_meanwhile_is_no_defect(
    alice: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(user: User) -> None:
        raise FileNotFoundError("/data/tables/part-1.parquet")

    monkeypatch.setattr("filters.inbox.counts.sidebar", gone)
    response = as_user(alice).get("/")
    assert response.status_code == 503
    page = response.content.decode()
    assert "A file was deleted while it was read." in page and "part-1" not in page


def test_a_broken_table_is_one_clear_sentence(mail: Tables, alice: User, as_user: SignIn) -> None:
    for entry in (mail.root / "messages" / "_delta_log").iterdir():
        entry.write_text("nonsense")
    shutil.rmtree(mail.root / "messages" / "_delta_log_mirror")  # from which it would be mended
    response = as_user(alice).get("/message/", {"id": "plan@example.org"})
    assert response.status_code == 503
    page = response.content.decode()
    assert "is damaged: " in page and "check-data" in page
    assert "Traceback" not in page


def test_a_host_that_is_not_ours_is_refused(client: Client, db: None) -> None:
    response = client.get("/sign-in/", headers={"Host": "evil.example"})
    assert response.status_code == 400


def test_pages_load_and_run_only_our_own_files(client: Client, db: None) -> None:
    response = client.get("/sign-in/")
    assert "script-src 'self'" in response["Content-Security-Policy"]
    assert "unsafe" not in response["Content-Security-Policy"]
    page = response.content.decode()
    assert " style=" not in page and " onclick=" not in page
    tags = re.findall("<script[^>]*>", page)
    assert [tag for tag in tags if 'src="/static/' not in tag] == ['<script type="importmap">']


@pytest.mark.parametrize(
    "path", ["site/site.css", "site/site.js", "site/icon.svg", "django_htmx/htmx-2.min.js"]
)
def test_static_files_need_no_step_before(client: Client, db: None, path: str) -> None:
    assert client.get(f"/static/{path}").status_code == 200


@pytest.mark.parametrize(
    "address",
    [
        "/",
        "/sidebar/",
        "/filters/",
        "/message/?id=secret@example.org",
        "/message/original/file/?id=parc@example.org",
        "/nothing/here",
    ],
)
def test_what_is_shown_to_one_person_is_kept_by_nobody(
    mail: Tables, alice: User, as_user: SignIn, address: str
) -> None:
    assert as_user(alice).get(address).headers["Cache-Control"] == "private, no-store"


def test_what_is_everybodys_may_be_kept(client: Client, alice: User, as_user: SignIn) -> None:
    for browser in (client, as_user(alice)):
        style = browser.get("/static/site/site.css")
        assert style.status_code == 200
        assert "no-store" not in style.headers.get("Cache-Control", "")


def test_a_form_without_its_token_is_answered_kindly(db: None) -> None:
    response = Client(enforce_csrf_checks=True).post("/sign-in/")
    assert response.status_code == 403
    assert "This page has gone stale" in response.content.decode()
