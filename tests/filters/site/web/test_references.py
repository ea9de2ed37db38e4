"""What a page refers to by an id is on the page: labels, descriptions, and what is controlled.

And each error and help text of a form is referred to: who hears a field hears them with it.
"""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from django.test import Client
from django.urls import resolve

from filters.delivery.ways.table import WAYS
from filters.sources.models import Trial
from tests.support.answers.crawled import Crawled, answer_to

ASKING_THE_CLOCK = {"filter/<slug:name>/resume/", "filter/<slug:name>/delete/"}
"""Nothing else may surround what these do, and here each request is taken back."""

NOTES = ("_error", "_helptext")
"""Ends of the ids of what a form says of a field."""

REFERENCES = ("aria-describedby", "aria-labelledby", "aria-controls", "aria-owns", "for", "list")

WRONG = {
    "nothing": {},
    "nonsense": dict.fromkeys(
        (
            *(
                "text",
                "name",
                "title",
                "timeliness",
                "until",
                "mail",
                "mode",
                "visibility",
                "weight",
            ),
            *("email", "url", "address", "host", "port", "user", "security", "folder", "audience"),
            *("time_zone", "aliases", "quiet_from", "quiet_to", "holiday_until", "username"),
            *("old_password", "new_password1", "new_password2", "password1", "password2", "code"),
            *("to", "cc", "bcc", "subject", "body", "version", "uid", "filters", "destinations"),
            *("value", "number", "every", "at", "days", "form", "folders", "secret", "q"),
        ),
        "<\u202e!" + "x" * 300,
    ),
}


class Ids(HTMLParser):
    """Collects the ids of a page, and those that it refers to."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.known: list[str] = []
        self.named: set[tuple[str, str]] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id":
                self.known.append(value or "")
            elif name in REFERENCES:
                self.named |= {(name, part) for part in (value or "").split()}

    def faults(self) -> set[str]:
        """Return what is referred to and is not there, what is there twice, or for no field."""
        missing = {f"{name}={value}" for name, value in self.named if value not in self.known}
        described = {value for name, value in self.named if name == "aria-describedby"}
        loose = {key for key in self.known if key.endswith(NOTES) and key not in described}
        twice = {f"twice: {key}" for key in self.known if self.known.count(key) > 1}
        return missing | twice | {f"of no field: {key}" for key in loose}


def _kinds() -> dict[str, str]:
    """Return the addresses of pages that differ by a kind."""
    kinds = {f"new {kind}": f"/delivery/new/{kind}/" for kind, way in WAYS.items() if not way.page}
    return kinds | {
        f"source {kind}": f"/sources/new/?kind={kind}" for kind in ("imap", "nntp", "archive")
    }


def _pages(addresses: dict[str, str]) -> dict[str, str]:
    """Return the addresses of all pages of our own, and of those that differ by a kind."""
    return _kinds() | {
        route: address for route, address in addresses.items() if not route.startswith("admin/")
    }


@pytest.mark.parametrize("sent", [None, *WRONG])
def test_what_a_page_refers_to_is_on_it(
    addresses: dict[str, str], browsers: dict[str, Client], crawled: Crawled, sent: str | None
) -> None:
    Trial.objects.all().delete()
    kinds, faults, forms = _kinds(), {}, 0
    method = "get" if sent is None else "post"
    given = () if sent is None else (WRONG[sent],)
    for route, address in _pages(addresses).items():
        if sent is not None and route in ASKING_THE_CLOCK:
            continue
        is_open = getattr(resolve(address.partition("?")[0]).func, "login_required", True) is False
        people = ["staff" if route.startswith("operator/") else "alice"]
        for who in people + ["stranger"] * is_open:
            if sent == "nonsense" or route in kinds or who == "staff":
                answer = answer_to(browsers[who], method, address, *given)
            else:
                answer = crawled(who, method)[route]
            page = answer.page
            if "<html" in page:
                forms += "<label" in page
                if found := Ids(page).faults():
                    faults[f"{route} to {who}: {answer.status}"] = found
    assert not faults
    assert forms > 20
