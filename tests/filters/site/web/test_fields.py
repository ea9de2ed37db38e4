"""Errors and help texts of forms are tied to their fields: who hears a field, hears them."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client

NONSENSE: dict[str, str] = {
    **{"aliases": "nobody", "time_zone": "Nowhere", "timeliness": "soon", "quiet_from": "x"},
    **{"text": "zzz from", "title": "\n", "name": "No name!", "until": "x", "address": "x"},
    **{"email": "x", "username": "x" * 200, "to": "x", "cc": "x", "sender": "x", "url": "x"},
    **{"host": "", "port": "x", "every": "0", "user": "x" * 300, "folders": "\n", "folder": "/"},
    **{"weight": "99", "security": "x", "method": "x", "filters": "x", "destinations": "x"},
    **{"old_password": "x", "new_password1": "x", "new_password2": "y", "password": "x"},
}
"""A value for each field that no form takes."""


class Described(HTMLParser):
    """What a page has: elements that describe fields, and which of them a field names."""

    def __init__(self) -> None:
        super().__init__()
        self.described: set[str] = set()
        self.notes: set[str] = set()
        self.invalid_without_note: list[dict[str, str | None]] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("id") or ""
        self.ids.add(name)
        if name.endswith(("_error", "_helptext")):
            self.notes.add(name)
        by = (given.get("aria-describedby") or "").split()
        self.described.update(by)
        if given.get("aria-invalid") == "true" and not by:
            self.invalid_without_note.append(given)


@pytest.mark.parametrize("how", ["get", "post"])
def test_each_is_named_by_its_field(
    addresses: dict[str, str], browsers: dict[str, Client], how: str
) -> None:
    seen, wrong = 0, {}
    for route, address in addresses.items():
        if route.startswith("admin/"):
            continue
        answer: Any = (
            browsers["alice"].get(address)
            if how == "get"
            else browsers["alice"].post(address, NONSENSE)
        )
        if not answer.headers.get("Content-Type", "").startswith("text/html"):
            continue
        page = Described()
        page.feed(answer.content.decode())
        seen += len(page.notes)
        loose = page.notes - page.described
        nowhere = {name for name in page.described if name not in page.ids}
        if loose or nowhere or page.invalid_without_note:
            wrong[route] = (loose, nowhere, page.invalid_without_note)
    assert seen > 8
    assert wrong == {}
