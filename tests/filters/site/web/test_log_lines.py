"""The log has no token that lets its reader in, and one line for each request that is refused."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import resolve

from filters.people.models import User
from filters.site.web.log_lines import LONGEST_REFUSAL, Lines, without_tokens

TOKEN = "a-Token:of_somebody"


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What the handler of the site writes meanwhile."""
    (lines,) = {
        handler.formatter
        for handler in logging.getLogger().handlers
        if isinstance(handler.formatter, Lines)
    }
    handler = logging.StreamHandler(io.StringIO())
    handler.setFormatter(lines)
    logging.getLogger().addHandler(handler)
    yield handler.stream
    logging.getLogger().removeHandler(handler)


def _with_tokens(addresses: dict[str, str]) -> dict[str, tuple[str, list[str]]]:
    """Return the addresses that work without signing in, for their parameters let somebody in.

    Those of the operator ask for the staff in their own way.
    """
    found = {}
    for route, address in addresses.items():
        match = resolve(address.partition("?")[0])
        given = [str(value) for value in match.captured_kwargs.values()]
        is_open = getattr(match.func, "login_required", True) is False
        is_open &= not route.startswith(("operator/", "api/"))
        if given and (is_open or "token" in match.captured_kwargs):
            found[route] = address, given
    return found


def test_each_address_with_a_token_is_known_to_the_log(addresses: dict[str, str]) -> None:
    found = _with_tokens(addresses)
    assert {"confirm/<str:token>/", "forgot/<str:key>/<str:token>/"} <= set(found)
    for route, (address, given) in found.items():
        for spelt in (address, f"/{address}", address.upper(), address[1:], address.rstrip("/")):
            line = without_tokens(f"Not Found: {spelt}")
            assert line.startswith("Not Found: "), route
            assert not [part for part in given if part.casefold() in line.casefold()], route


def test_whatever_a_link_is_answered_its_token_is_not_written(
    addresses: dict[str, str], client: Client, written: io.StringIO
) -> None:
    strict = Client(enforce_csrf_checks=True)
    client.raise_request_exception = strict.raise_request_exception = False
    statuses = set()
    for address, given in _with_tokens(addresses).values():
        for browser in (client, strict):
            for at in (address, address + "x", f"{address}x/", address.replace("/", "/ ", 2)):
                link = f"https://elsewhere.example{address}"
                for method in (browser.get, browser.post, browser.put):
                    answer: Any = method(at, headers={"Referer": link}, secure=True)
                    statuses.add(answer.status_code)
        lines = written.getvalue()
        assert not [part for part in given if len(part) > 5 and part in lines], address
    assert statuses >= {200, 403, 404, 405} and "Method Not Allowed (PUT): /confirm/…" in lines


def test_a_defect_behind_a_link_is_traced_without_its_token(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch, written: io.StringIO
) -> None:
    def defect(token: str) -> None:
        raise ZeroDivisionError(f"at {{'path': 'confirm/{token}/'}}")

    monkeypatch.setattr("filters.delivery.contents.links.address_of", defect)
    client.raise_request_exception = False
    assert client.get(f"/confirm/{TOKEN}/").status_code == 500
    lines = written.getvalue()
    assert TOKEN not in lines and "Traceback" in lines and "ZeroDivisionError" in lines


def test_the_lines_of_the_web_server_have_no_tokens(written: io.StringIO) -> None:
    logging.getLogger("waitress").error("Exception while serving %s", f"/act/vote/{TOKEN}/")
    assert "serving /act/…" in written.getvalue() and TOKEN not in written.getvalue()


@pytest.mark.parametrize("host", ["evil.example", "a" * 30_000, "x\u00e9.example", "a b"])
def test_a_forged_host_is_a_line_in_the_log_and_a_sentence(
    client: Client, db: None, written: io.StringIO, host: str
) -> None:
    answer = client.get("/sign-in/", headers={"Host": host})
    assert answer.status_code == 400
    assert "It does not answer to the name in your address" in answer.content.decode()
    (line,) = written.getvalue().splitlines()
    assert "Invalid HTTP_HOST header" in line and len(line) <= LONGEST_REFUSAL


def test_a_form_that_cannot_be_read_is_a_line(
    alice: User, as_user: Callable[[User], Client], written: io.StringIO
) -> None:
    answer = as_user(alice).post("/compose/save/", b"--x", content_type="multipart/form-data; x")
    assert answer.status_code == 400
    assert len(written.getvalue().splitlines()) == 1
