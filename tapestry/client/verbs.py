"""The verbs of the command line: what each asks of a site, and yields to be printed."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from typing import Any

from tapestry.client.site import Site, path_of

Row = dict[str, Any]
Verb = Callable[[Site, Namespace], Iterator[Row]]

PAGE = 50
"""Messages of a page of what was found, as the API has them."""

LOOK = 2.0
"""Seconds between two looks for what is new."""


def ask(site: Site, given: Namespace) -> Iterator[Row]:
    """Find messages, the newest first, as the search box does."""
    here, found = site.asked("searches", {"text": given.text})
    most = found["count"] if given.limit is None else min(given.limit, found["count"])
    for page in range(1, -(-most // PAGE) + 1):
        lines = found if page == 1 else site.get(here, page=page)
        yield from lines["messages"][: most - (page - 1) * PAGE]


def filters(site: Site, given: Namespace) -> Iterator[Row]:
    """List your filters."""
    after: str | None = ""
    while after is not None:
        page = site.get("filters", after=after, limit=100)
        yield from page
        after = page[-1]["name"] if len(page) == 100 else None


def add(site: Site, given: Namespace) -> Iterator[Row]:
    """Create a filter; with --dry-run, say how it is understood and how much it would find."""
    if given.dry_run:
        understood = site.post("understand", {"text": given.text})
        _, found = site.asked("previews", {"text": given.text, "live": given.live})
        yield {**understood, "count": found["count"]}
        return
    content = {
        "text": given.text,
        "name": given.name,
        "mode": "live" if given.live else "keep",
        "existing": not given.from_now,
    }
    yield site.post("filters", content)


def pause(site: Site, given: Namespace) -> Iterator[Row]:
    """Stop a filter for a while."""
    yield site.patch(path_of("filters", given.name), {"active": False})


def resume(site: Site, given: Namespace) -> Iterator[Row]:
    """Let a filter run again, from where it stopped."""
    yield site.patch(path_of("filters", given.name), {"active": True})


def delete(site: Site, given: Namespace) -> Iterator[Row]:
    """Delete a filter and its list."""
    site.delete(path_of("filters", given.name))
    yield from ()


def matches(site: Site, given: Namespace) -> Iterator[Row]:
    """Print what came into a filter's list, and left it, after a cursor; --follow waits for more.

    The last row of a page has the cursor after it: begin there the next time.
    """
    cursor = given.since
    while True:
        page = site.get(path_of("filters", given.name, "matches"), after=cursor, limit=100)
        *rest, last = page["matches"] or [None]
        yield from rest
        if last is not None:
            yield {**last, "cursor": page["next"]}
        cursor = page["next"]
        if page["is_end"] and not given.follow:
            return
        if page["is_end"]:
            time.sleep(LOOK)


def message(site: Site, given: Namespace) -> Iterator[Row]:
    """Show a message."""
    yield site.get("message", id=given.id)


def why(site: Site, given: Namespace) -> Iterator[Row]:
    """Say why a message is, or is not, in a filter: part by part."""
    yield site.asked("whys", {}, filter=given.name, id=given.id)[1]


def vote(site: Site, given: Namespace) -> Iterator[Row]:
    """Vote for a message, against it, or take the vote back."""
    number = {"for": 1, "against": -1, "none": 0}[given.vote]
    yield site.post("annotations", {"id": given.id, "kind": "vote", "number": number})


def tag(site: Site, given: Namespace) -> Iterator[Row]:
    """Tag a message, or take a tag back."""
    word = {"take_back" if given.take_back else "value": given.word}
    yield site.post("annotations", {"id": given.id, "kind": "tag", **word})


def act(site: Site, given: Namespace) -> Iterator[Row]:
    """Do with messages what the lists offer: done, inbox, star, read, mute, and back."""
    content = {"action": given.action, "messages": [{"id": msgid} for msgid in given.ids]}
    yield site.post("acts", content)


def mcp(site: Site, given: Namespace) -> Iterator[Row]:
    """Serve an assistant on stdin and stdout (Model Context Protocol)."""
    from tapestry.client.assistant import server_of  # it takes two seconds to import

    server_of(site).run()
    yield from ()
