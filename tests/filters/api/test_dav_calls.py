"""Calls about address books on a server, from adding one to removing it."""

from __future__ import annotations

from typing import Any

import pytest

from filters.people.models import User
from filters.sources import tasks
from filters.sources.models import Source
from tests.filters.api.test_more_calls import Programs
from tests.support.servers.dav import BOOK, PASSWORD, USER, Radicale

pytestmark = pytest.mark.live


def test_an_address_book_is_added_chosen_read_and_removed(
    alice: User, program: Programs, radicale: Radicale
) -> None:
    path, call = radicale.make("friends", BOOK), program(alice)
    radicale.put(
        "friends/a.vcf", "BEGIN:VCARD\nVERSION:4.0\nFN:A\nUID:a\nEMAIL:a@x.org\nEND:VCARD\n"
    )
    server: dict[str, Any] = {"kind": "carddav", "host": "127.0.0.1", "port": radicale.port}
    server |= {"security": "none", "user": USER, "secret": PASSWORD}
    call("POST", "sources", status=422, audience="public", **server)
    key = call("POST", "sources", status=202, **server)["stored"]
    shown = call("GET", f"sources/{key}")
    assert (shown["kind"], shown["path"], shown["audience"]) == ("carddav", "", "user:alice")
    listed = call("POST", f"sources/{key}/folders", folders=["*"], status=202)
    assert [(offer["name"], offer["title"]) for offer in listed["offers"]] == [
        ("*", ""),
        (path, "Friends"),
    ]
    call("PUT", f"sources/{key}/folders", folders=["*"])
    call("PUT", f"sources/{key}/acts", status=404, may_act=True, syncs_flags=False)
    tasks.pull_source(Source.objects.get().pk)
    assert call("GET", f"sources/{key}")["error"] == "" and call("GET", "contacts") == ["a@x.org"]
    call("DELETE", f"sources/{key}", status=204)
    assert call("GET", "contacts") == []
