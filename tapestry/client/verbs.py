"""The verbs of the command line: what each asks of a site, and yields to be printed."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from typing import Any

from tapestry.client import save as saving
from tapestry.client.site import REFUSED, CallError, Site, path_of

Row = dict[str, Any]
Verb = Callable[[Site, Namespace], Iterator[Row]]

PAGE = 50
"""Messages of a page of what was found, as the API has them."""

LOOK, WAIT = 2.0, 10
"""Seconds between two looks for what is new; for which the site waits with its answer."""


def ask(site: Site, given: Namespace) -> Iterator[Row]:
    """Find messages, the newest first, as the search box does."""
    here, found = site.asked("searches", {"text": given.text})
    most = found["count"] if given.limit is None else min(given.limit, found["count"])
    for page in range(1, -(-most // PAGE) + 1):
        lines = found if page == 1 else site.get(here, page=page)
        yield from lines["messages"][: most - (page - 1) * PAGE]


def filters(site: Site, given: Namespace) -> Iterator[Row]:
    """List your filters."""
    yield from _all_filters(site)


def _all_filters(site: Site) -> Iterator[Row]:
    after: str | None = ""
    while after is not None:
        page = site.get("filters", after=after, limit=100)
        yield from page
        after = page[-1]["name"] if len(page) == 100 else None


def add(site: Site, given: Namespace) -> Iterator[Row]:
    """Create a filter; with --dry-run, say how it is understood and how much it would find."""
    if given.dry_run:
        understood = site.post("understand", {"text": given.text})
        _, found = site.asked(
            "previews", {"text": given.text, "mode": "live" if given.live else "keep"}
        )
        yield {**understood, "count": found["count"]}
        return
    content = {
        "text": given.text,
        "name": given.name,
        "mode": "live" if given.live else "keep",
        "existing": not given.from_now,
    }
    yield site.post("filters", content)


def watch(site: Site, given: Namespace) -> Iterator[Row]:
    """Keep a filter, and print what it finds, until Ctrl-C; the filter stays.

    One of the same name and text, which was kept before, is gone on with.
    """
    if given.dry_run:
        yield from add(site, given)
        return
    try:
        (kept,) = add(site, given)
    except CallError as error:
        named = {filter_["name"]: filter_ for filter_ in _all_filters(site)}
        kept = named.get(given.name, {})
        if error.code != REFUSED or kept.get("text") != given.text:
            raise
    print(f"Watching {kept['name']}: {kept['phrase'] or kept['tql']}", file=sys.stderr)
    yield from _steps(site, kept["name"], given.since, follow=True)


def pause(site: Site, given: Namespace) -> Iterator[Row]:
    """Stop a filter for a while."""
    yield _activity(site, given, active=False)


def resume(site: Site, given: Namespace) -> Iterator[Row]:
    """Let a filter run again, from where it stopped."""
    yield _activity(site, given, active=True)


def _activity(site: Site, given: Namespace, *, active: bool) -> Row:
    path, change = path_of("filters", given.name), {"active": active}
    answer: Row = site.get(path) | change if given.dry_run else site.patch(path, change)
    return answer


def delete(site: Site, given: Namespace) -> Iterator[Row]:
    """Delete a filter and its list; with --dry-run, show it."""
    path = path_of("filters", given.name)
    if given.dry_run:
        yield site.get(path)
    else:
        site.delete(path)


def matches(site: Site, given: Namespace) -> Iterator[Row]:
    """Print what came into a filter's list, and left it, after a cursor; --follow waits for more.

    The last row of a page has the cursor after it: begin there the next time.
    """
    yield from _steps(site, given.name, given.since, given.follow)


def _steps(site: Site, name: str, cursor: str, follow: bool) -> Iterator[Row]:
    while True:
        begun, wait = time.monotonic(), WAIT if follow else None
        page = site.get(path_of("filters", name, "matches"), after=cursor, limit=100, wait=wait)
        *rest, last = page["matches"] or [None]
        yield from rest
        if last is not None:
            yield {**last, "cursor": page["next"]}
        cursor = page["next"]
        if page["is_end"] and not follow:
            return
        if page["is_end"]:
            time.sleep(max(0.0, begun + LOOK - time.monotonic()))


def wait(site: Site, given: Namespace) -> Iterator[Row]:
    """Wait until what a token is of has reached all your filters, lists and deliveries."""
    path, end = path_of("arrived", given.token), time.monotonic() + given.timeout
    before: list[str] = []
    while not (answer := site.get(path))["complete"]:
        if answer["waits_for"] != before:
            before = answer["waits_for"]
            print(*before, file=sys.stderr)
        if time.monotonic() > end:
            raise CallError(1, "It has not come everywhere.", "Wait longer, with --timeout.")
        time.sleep(LOOK)
    yield answer


def save(site: Site, given: Namespace) -> Iterator[Row]:
    """Write what came into a filter's list to a directory; again, only what is new."""
    yield from saving.save(site, given.name, given.directory, given.format)


def message(site: Site, given: Namespace) -> Iterator[Row]:
    """Show a message."""
    yield site.get("message", id=given.id)


def why(site: Site, given: Namespace) -> Iterator[Row]:
    """Say why a message is, or is not, in a filter: part by part."""
    yield site.asked("whys", {}, filter=given.name, id=given.id)[1]


def vote(site: Site, given: Namespace) -> Iterator[Row]:
    """Vote for a message, against it, or take the vote back."""
    number = {"for": 1, "against": -1, "none": 0}[given.vote]
    yield _annotated(site, given, {"kind": "vote", "number": number})


def tag(site: Site, given: Namespace) -> Iterator[Row]:
    """Tag a message, or take a tag back."""
    word = {"take_back" if given.take_back else "value": given.word}
    yield _annotated(site, given, {"kind": "tag", **word})


def _annotated(site: Site, given: Namespace, annotation: Row) -> Row:
    content = {"id": given.id, **annotation}
    if given.dry_run:
        return site.get("message", id=given.id) and {"dry_run": True, **content}
    answer: Row = site.post("annotations", content)
    return answer


def act(site: Site, given: Namespace) -> Iterator[Row]:
    """Do with messages what the lists offer: done, inbox, star, read, mute, and back."""
    messages = [{"id": msgid} for msgid in given.ids]
    content = {"action": given.action, "messages": messages, "until": given.until}
    if not given.dry_run:
        yield site.post("acts", content)
        return
    for msgid in given.ids:
        site.get("message", id=msgid)
    yield {"dry_run": True, **content}


def mcp(site: Site, given: Namespace) -> Iterator[Row]:
    """Serve assistants (Model Context Protocol) on stdin and stdout, or over HTTP with --port."""
    if given.port is None:
        from tapestry.client.assistant import server_of  # it takes two seconds to import

        server_of(lambda _: site).run()
    else:
        from tapestry.client.assistant_http import serve

        serve(site.url, given.port)
    yield from ()
