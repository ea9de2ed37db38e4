"""Readers with cursors of their own: of the stream of each filter, and of its feed."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from io import StringIO
from xml.etree import ElementTree as ET

from django.core.management import call_command
from django.test import Client

from filters.authoring.models import Filter
from filters.delivery.models import Feed
from filters.inbox.models import Match
from tests.support.delivery.deliveries_received import Key, stream_differences

ATOM = "{http://www.w3.org/2005/Atom}"
MOST = 100
"""Messages that a feed shows."""


class StreamReader:
    """Reads on in each stream, as `manage.py matches --since` prints it."""

    def __init__(self) -> None:
        self.rows: dict[Filter, list[tuple[Key, int, str]]] = defaultdict(list)

    def look(self) -> None:
        for filter_ in Filter.objects.select_related("owner").order_by("pk"):
            rows, out = self.rows[filter_], StringIO()
            since = rows[-1][1] if rows else 0
            call_command("matches", str(filter_), "--json", "--since", str(since), stdout=out)
            for line in out.getvalue().splitlines():
                row = json.loads(line)
                rows.append(((filter_.name, row["msgid"]), row["cursor"], row["op"]))

    def differences(self) -> Iterator[str]:
        """Yield what is wrong with the streams; a program is told of muted threads too."""
        for filter_, entries in self.rows.items():
            released = Match.objects.filter(filter=filter_, sequence__isnull=False)
            unseen = ("never-early", "never-secret")
            rows = [
                row
                for row in released.select_related("filter", "card").order_by("sequence")
                if not row.card.subject.startswith(unseen)
            ]
            for words in stream_differences(entries, rows):
                yield f"matches {filter_}: {words}"


class FeedReader:
    """Asks for each feed again and again, with the validator of its last answer."""

    def __init__(self) -> None:
        self.client = Client()
        self.etags: dict[Feed, str] = {}
        self.shown: dict[Feed, list[str]] = defaultdict(list)
        self.ids: dict[Feed, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        self.unchanged = 0

    def look(self) -> None:
        for feed in Feed.objects.select_related("filter", "owner").order_by("pk"):
            headers = {"If-None-Match": self.etags[feed]} if feed in self.etags else {}
            answer = self.client.get(feed.get_absolute_url(), headers=headers)
            if answer.status_code == 304:
                self.unchanged += 1
                continue
            assert answer.status_code == 200, answer.content
            self.etags[feed] = answer.headers["ETag"]
            self.shown[feed] = []
            for entry in ET.fromstring(answer.content).iter(f"{ATOM}entry"):
                title = entry.findtext(f"{ATOM}title") or ""
                self.shown[feed].append(title)
                self.ids[feed][title].add(entry.findtext(f"{ATOM}id") or "")

    def differences(self) -> Iterator[str]:
        for feed, ids in self.ids.items():
            present = Match.objects.filter(
                filter=feed.filter, sequence__isnull=False, retracted_at=None
            ).exclude(card__subject__startswith="never")
            names = list(present.order_by("-sequence").values_list("card__subject", flat=True))
            for name in names:
                if len(ids[name]) != 1:
                    yield f"{feed}: {name} was seen under {len(ids[name])} ids"
            yield from (f"{feed}: {name} was not to be shown" for name in ids if "never" in name)
            if sorted(self.shown[feed]) != sorted(names[:MOST]):
                difference = set(self.shown[feed]) ^ set(names[:MOST])
                yield f"{feed}: its last answer differs in {difference or 'what is there twice'}"
