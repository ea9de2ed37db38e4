"""Forms that are too large: one sentence, and nothing is changed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from filters.authoring.models import Filter
from filters.delivery.mail.bounces import post_url
from filters.people.models import User
from filters.site.launch import web_server
from filters.site.web import headers

SignIn = Callable[[User], Client]

MIB = 1024 * 1024
URLENCODED = "application/x-www-form-urlencoded"
NOTHING = "Nothing was changed: go back, and send less at once."

TOO_MUCH: dict[str, tuple[Callable[[], dict[str, Any]], str]] = {
    "bytes": (lambda: {"text": "x" * 2 * MIB}, "A form may have at most 2 MiB."),
    "a file": (lambda: {"f": _file(3 * MIB)}, "A form may have at most 2 MiB."),
    "fields": (
        lambda: {f"f{n}": "x" for n in range(1010)},
        "A form may have at most 1,000 fields.",
    ),
    "files": (lambda: {"f": [_file(1) for _ in range(11)]}, "A form may have at most 10 files."),
}
PAGES = ("/sign-in/", "/me/", "/filters/new/", "/sources/new/", "/message/annotate/", "/admin/")


def _file(size: int) -> SimpleUploadedFile:
    return SimpleUploadedFile("f", b"x" * size)


@pytest.mark.parametrize(
    ("address", "what"),
    [
        pytest.param(*case, marks=[pytest.mark.long] * ("bytes" not in case and "/me/" not in case))
        for case in product(PAGES, TOO_MUCH)
    ],
)
def test_too_much_is_refused_with_a_sentence(alice: User, address: str, what: str) -> None:
    given, sentence = TOO_MUCH[what]
    for user in (None, alice):
        client = Client(enforce_csrf_checks=True)
        if user:
            client.force_login(user)
        client.get("/me/" if user else "/sign-in/")
        kept = User.objects.values().get()
        response = client.post(address, given())
        assert response.status_code == 413
        page = " ".join(response.content.decode().split())
        assert f"<p>{sentence} {NOTHING}</p>" in page
        assert response["Content-Security-Policy"] == headers.POLICY
        assert User.objects.values().get() == kept and not Filter.objects.exists()


@pytest.mark.parametrize("what", ["bytes", "fields"])
def test_a_form_without_files_is_bounded(alice: User, as_user: SignIn, what: str) -> None:
    given, sentence = TOO_MUCH[what]
    for headers_of_page in ({}, {"HX-Request": "true"}):
        response = as_user(alice).post(
            "/filters/understand/",
            urlencode(given()),
            content_type=URLENCODED,
            headers=headers_of_page,
        )
        assert response.status_code == 413
        page = response.content.decode()
        assert sentence in page
        assert page.startswith('<p class="banner bad"') is bool(headers_of_page)


def test_a_form_of_usual_size_is_taken(alice: User, as_user: SignIn) -> None:
    given = urlencode({"text": "by jones " * 100} | {f"f{n}": "x" for n in range(900)})
    response = as_user(alice).post("/filters/understand/", given, content_type=URLENCODED)
    assert response.status_code == 200


def test_a_request_that_is_wrong_otherwise_is_still_400(client: Client, db: None) -> None:
    response = client.post("/sign-in/", b"--x", content_type="multipart/form-data; x")
    assert response.status_code == 400
    assert "That request could not be understood" in response.content.decode()


def test_a_bounce_may_be_as_long_as_the_web_server_takes(client: Client, db: None) -> None:
    most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    assert most is not None and most < web_server.LONGEST_BODY
    long = b"Subject: no report\r\n\r\n" + b"x" * (web_server.LONGEST_BODY - 100)
    address = "/" + post_url().split("/", 3)[3]
    response = client.post(address, long, content_type="message/rfc822")
    assert response.status_code == 200 and b"no report" in response.content
