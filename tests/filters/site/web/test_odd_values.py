"""Odd values in every parameter of every address: a sentence, never a defect."""

from __future__ import annotations

import re
from itertools import cycle
from pathlib import Path

import pytest
from django.conf import settings
from django.db import DataError, transaction
from django.test import Client, RequestFactory

from filters.delivery.models import Destination
from filters.people.models import User
from filters.site.web.wsgi_request import Request
from filters.sources.models import Trial

READ = re.compile(r"""(?:GET|POST|data)(?:\.get(?:list)?\(|\[)f?"([\w-]+)""")
FIELD = re.compile(r"^    (\w+) = (?:forms\.|\w+Field\()", re.MULTILINE)
INPUT = re.compile(r"""name="([\w-]+)["{]""")
OF_ADMIN = {"_selected_action", "action", "select_across", "index", "post", "o", "p", "e"}

HUGE = "99999999999999999999"
VALUES = {
    "too large": [HUGE],
    "odd": ["-1", f"-{HUGE}", "٣", "1\0", "½", "1e400", "[]", "9" * 5_000, "0001-01-01"],
}

DETACHING = ("/filter/jones/resume/", "/filter/jones/delete/", "/source/1/delete/")
"""These ask the clock, which nothing else may surround: here each request is taken back."""


def _parameters() -> list[str]:
    """Return the names of all that forms and queries send, as code and templates have them."""
    files = Path(settings.BASE, "filters").rglob("*.py")
    code = "\n".join(file.read_text() for file in files)
    pages = Path(settings.BASE, "templates").rglob("*.html")
    inputs = "\n".join(page.read_text() for page in pages)
    return sorted({*READ.findall(code), *FIELD.findall(code), *INPUT.findall(inputs), *OF_ADMIN})


@pytest.mark.parametrize(
    ("kind", "share"),
    [
        pytest.param("too large", 1, id="too large"),
        pytest.param("odd", 3, id="odd, some"),
        pytest.param("odd", 1, id="odd", marks=pytest.mark.long),
    ],
)
def test_no_value_of_a_parameter_is_a_defect(
    addresses: dict[str, str], browsers: dict[str, Client], kind: str, share: int
) -> None:
    """They are sent to each so-manieth address."""
    Trial.objects.all().delete()  # of which nobody asked anything
    sent = dict(zip(_parameters(), cycle(VALUES[kind]), strict=False))
    assert {"filters", "destinations", "weight", "selection", "weeks"} <= sent.keys()
    defects = []
    for route, address in list(addresses.items())[::share]:
        browser = browsers["staff" if route.startswith(("admin/", "operator/")) else "alice"]
        path = address.partition("?")[0]
        for method in (browser.get, browser.post):
            if path in DETACHING and method == browser.post:
                continue
            with transaction.atomic():
                answer = method(path, sent)
                transaction.set_rollback(True)
            if answer.status_code >= 500 and answer.status_code != 503:
                defects.append(f"{answer.status_code}: {method.__name__} {path}")
    assert not defects


@pytest.mark.sqlite  # PostgreSQL compares it, and the form says that there is no such choice
@pytest.mark.parametrize("htmx", [{}, {"HX-Request": "true"}])
@pytest.mark.parametrize("page", ["/delivery/new/webhook/", "/delivery/1/edit/", "/filters/new/"])
@pytest.mark.parametrize("number", [HUGE, f"-{HUGE}"])
def test_a_number_too_large_for_the_database_is_a_sentence(
    alice: User, client: Client, page: str, number: str, htmx: dict[str, str]
) -> None:
    Destination.objects.create(pk=1, owner=alice, kind="webhook", name="hook")
    client.force_login(alice)
    sent = {"filters": number, "destinations": number, "text": "from Jones"}
    answer = client.post(page, sent, headers=htmx)
    assert answer.status_code == 400
    assert "A number is too large for anything here." in answer.content.decode()
    # A page that asks for a part of itself shows the sentence, and not nothing.
    assert answer.headers.get("HX-Reselect") == ("unset" if htmx else None)


def test_a_number_too_large_for_postgresql_is_a_sentence(
    alice: User, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    from psycopg.errors import NumericValueOutOfRange

    def refuse(*_: object) -> None:
        raise DataError("bigint out of range") from NumericValueOutOfRange()

    monkeypatch.setattr("filters.inbox.triage.views.acts.named_targets", refuse)
    client.force_login(alice)
    assert client.post("/triage/do/star/", {"id": "x"}).status_code == 400


@pytest.mark.parametrize("page", ["delivery/{}/", "source/{}/", "mail/{}/", "trial/{}/"])
def test_nothing_has_a_key_too_large_for_the_database(
    alice: User, client: Client, page: str
) -> None:
    client.force_login(alice)
    assert client.get(f"/{page.format(HUGE)}").status_code == 404


@pytest.mark.parametrize(
    "kind",
    [
        "multipart/form-data; boundary*=utf-99''x",
        "multipart/form-data; boundary=x; charset=rot13",
        "application/x-www-form-urlencoded; charset=rot13",
        "application/x-www-form-urlencoded; charset=nonsense",
        "application/x-www-form-urlencoded; charset=utf-16",
    ],
)
def test_no_kind_of_content_is_a_defect(db: None, kind: str) -> None:
    from tapestry.wsgi import application

    body = b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n--x--\r\n"
    asked = RequestFactory().generic("POST", "/sign-in/", body).environ | {"CONTENT_TYPE": kind}
    statuses: list[str] = []
    answer = application(asked, lambda status, *_: statuses.append(status))
    assert b"".join(answer) and statuses[0][0] == "4"


@pytest.mark.parametrize("kind", ["", "text/plain; charset=zlib", "text/plain; charset=hex"])
def test_no_address_is_a_defect_before_the_middleware(db: None, kind: str) -> None:
    from tapestry.wsgi import application

    asked = RequestFactory().get("/sign-in/?" + "a&" * 1001).environ | {"CONTENT_TYPE": kind}
    statuses: list[str] = []
    answer = application(asked, lambda status, *_: statuses.append(status))
    assert b"".join(answer) and statuses[0][0] == "4"
    asked["QUERY_STRING"] = "a=%C3%A4"
    assert Request(asked).GET["a"] == "ä"


def test_a_length_of_very_many_digits_is_too_much(client: Client, db: None) -> None:
    kind = "application/x-www-form-urlencoded"
    answer = client.generic("POST", "/sign-in/", b"x", kind, CONTENT_LENGTH="9" * 5_000)
    assert answer.status_code == 413
