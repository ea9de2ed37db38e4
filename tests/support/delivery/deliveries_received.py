"""What every destination must have received in the end, computed from the rows; and what it did.

Each function yields a sentence for each difference; none means that all is right.  What must never
be sent says so in its subject.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from email import message_from_bytes, policy
from itertools import pairwise

from django.db.models import QuerySet

from filters.authoring.models import Filter
from filters.delivery.models import Destination
from filters.inbox.models import Match
from tapestry.core.delivery_header import DELIVERY_HEADER
from tests.support.delivery.delivered_people import People

NAME = re.compile(r"(?:plain|later|never-early|never-muted|never-secret)-\d{5}-x")
SHOWN = 25
"""Messages that a digest shows one by one."""

Key = tuple[str, str]
"""A filter by its name, and a message by its Message-ID."""


def servable() -> QuerySet[Destination]:
    """Return the destinations that matches are delivered to."""
    return Destination.objects.exclude(name__startswith="never").order_by("pk")


def wanted(destination: Destination) -> list[Match]:
    """Return the matches that a destination must have been told of, as they are in the end."""
    released = Match.objects.filter(filter__owner=destination.owner, sequence__isnull=False)
    released = released.exclude(card__subject__startswith="never").select_related("filter", "card")
    since = {each.filter_id: each.since for each in destination.subscriptions.all()}
    rows = list(released.order_by("sequence"))
    if destination.all_filters:
        return rows
    return [row for row in rows if row.sequence > since.get(row.filter_id, row.sequence)]


def differences(people: People) -> Iterator[str]:
    """Yield what is wrong with what the destinations of everybody received."""
    checks = {
        "digest": _digest,
        "forward": _forward,
        "webhook": _webhook,
        "push": _push,
        "mailbox": lambda people, destination: (),
    }
    for destination in Destination.objects.select_related("owner", "address").order_by("pk"):
        where = f"{destination.name} of {destination.owner}"
        if destination.name.startswith("never"):
            if _mail_of(people, destination):
                yield f"{where}: was sent something"
            continue
        for words in checks[destination.kind](people, destination):
            yield f"{where}: {words}"


def _mail_of(people: People, destination: Destination) -> list[bytes]:
    smtp = people.servers.smtp
    email = destination.address.email if destination.address else None
    pairs = zip(list(smtp.recipients), list(smtp.taken), strict=True)
    return [raw for recipient, raw in pairs if recipient == email]


def _digest(people: People, destination: Destination) -> Iterator[str]:
    texts: dict[str, set[str]] = defaultdict(set)
    ids: dict[str, set[str]] = defaultdict(set)
    for raw in _mail_of(people, destination):
        message = message_from_bytes(raw, policy=policy.default)
        body = message.get_body(("plain",))
        key = str(message[DELIVERY_HEADER]).partition(";")[0]
        ids[key].add(str(message["Message-ID"]))
        texts[key] |= set(NAME.findall(body.get_content() if body else ""))
    yield from (f"{key} under several Message-IDs" for key, each in ids.items() if len(each) > 1)
    if len(set().union(*ids.values())) != len(ids):
        yield "one Message-ID for several deliveries"
    yield from _ranges(destination, texts)
    yield from _told(destination, texts, people.left + people.returned, SHOWN)


def _forward(people: People, destination: Destination) -> Iterator[str]:
    ids: dict[str, set[str]] = defaultdict(set)
    for raw in _mail_of(people, destination):
        message = message_from_bytes(raw, policy=policy.default)
        ids[str(message["Resent-Message-ID"])].update(NAME.findall(str(message["Subject"])))
    yield from (f"{name} carries {each}" for name, each in ids.items() if len(each) != 1)
    yield from _told(destination, ids, people.returned)


def _webhook(people: People, destination: Destination) -> Iterator[str]:
    taken: dict[str, list[dict[str, object]]] = {}
    path = f"/webhook/{destination.pk}"
    for request in list(people.servers.http.requests):
        if request.path == path and request.status != 500:
            document = json.loads(request.body)
            if request.headers["webhook-id"] != document["delivery"]:
                yield "a request under two keys"
            taken.setdefault(document["delivery"], document["matches"])
    entries = [
        ((str(row["filter"]), str(row["msgid"])), int(str(row["sequence"])), str(row["op"]))
        for matches in taken.values()
        for row in matches
    ]
    yield from stream_differences(entries, wanted(destination))


def _push(people: People, destination: Destination) -> Iterator[str]:
    texts: dict[str, set[str]] = defaultdict(set)
    path, browser = f"/push/{destination.pk}", people.browsers[destination.pk]
    for request in list(people.servers.http.requests):
        if request.path == path and request.status != 500:
            notification = browser.decrypt(request)
            texts[notification["tag"]] |= set(NAME.findall(json.dumps(notification)))
    yield from _ranges(destination, texts)
    yield from _told(destination, texts, people.returned, 3)


def _ranges(destination: Destination, keys: Iterable[str]) -> Iterator[str]:
    """Deliveries are of ranges that do not overlap, and cover all that entered a list."""
    ranges = sorted(_range(key) for key in keys)
    for (_, until), (after, _) in pairwise(ranges):
        if after < until:
            yield f"what is after {after} is in two deliveries, for one is until {until}"
    for row in wanted(destination):
        inside = any(after < row.sequence <= until for after, until in ranges)
        if row.retracted_at is None and not inside:
            yield f"nothing was sent of {row.card}"


def _range(key: str) -> tuple[int, int]:
    after, until = key.split("-")[1:3]
    return int(after), int(until)


def _told(
    destination: Destination,
    names: Mapping[str, set[str]],
    again: Mapping[int, int],
    shown: int = 10**6,
) -> Iterator[str]:
    """Each message that entered a list is in one delivery, or in more as often as it is told again.

    A delivery that carries more than are ``shown`` need not name it.
    """
    counts = Counter(name for each in names.values() for name in each)
    rows = {row.card.subject: row for row in wanted(destination)}
    yield from (f"{name} was not to be sent" for name in counts if name not in rows)
    full = any(len(each) >= shown for each in names.values())
    for name, row in rows.items():
        most = 1 + again.get(row.pk, 0)
        least = 0 if full or row.retracted_at is not None else 1
        if not least <= counts[name] <= most:
            yield f"{name} is in {counts[name]} deliveries, at most {most} are right"


def stream_differences(
    entries: Iterable[tuple[Key, int, str]], rows: Iterable[Match]
) -> Iterator[str]:
    """A stream has each position once, in order, and ends with what is the case in the end.

    What leaves a list is told of muted threads, too: it may have been told before they were.
    """
    last, state = 0, {}
    for key, sequence, op in entries:
        if sequence <= last:
            yield f"{key} at {sequence} comes after {last}"
        last = sequence
        state[key] = (sequence, op)
    expected = {
        (row.filter.name, row.msgid): (row.sequence, "delete" if row.retracted_at else "insert")
        for row in rows
    }
    left = {key for key, (_, op) in state.items() if op == "delete" and "never-muted" in key[1]}
    for key in (expected.keys() | state.keys()) - (left - expected.keys()):
        if state.get(key) != expected.get(key):
            yield f"{key} is {state.get(key)}, and should be {expected.get(key)}"


def mailbox_differences(people: People, folders: Mapping[str, list[str]]) -> Iterator[str]:
    """Each message is in the folder of its filter once, and what has left once among the Left."""
    for destination in Destination.objects.filter(kind="mailbox").select_related("owner"):
        parent, rows = destination.settings["parent"], wanted(destination)
        expected: dict[str, Counter[str]] = defaultdict(Counter)
        for row in rows:
            if row.retracted_at is None:
                expected[f"{parent}/{row.filter.name}"][row.card.subject] += 1
        for name in Filter.objects.filter(owner=destination.owner).values_list("name", flat=True):
            found = Counter(folders.get(f"{parent}/{name}", []))
            if found != expected[f"{parent}/{name}"]:
                missing, more = expected[f"{parent}/{name}"] - found, found
                more = found - expected[f"{parent}/{name}"]
                yield f"{parent}/{name}: {dict(missing)} are missing, {dict(more)} too many"
            left = {r.card.subject for r in rows if r.filter.name == name and r.retracted_at}
            among = Counter(folders.get(f"{parent}/{name}/Left", []))
            if not set(among) <= left or any(count > 1 for count in among.values()):
                yield f"{parent}/{name}/Left: {dict(among)}, and {left} have left"
