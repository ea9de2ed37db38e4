"""Histories written by hand, for the tests of the auditor: each part is a call, in order.

Instants are small numbers.  What the site would have stored is given, or found by the oracle.
"""

from __future__ import annotations

from typing import Any

from tests.simulation.auditor.nodes import SETS

Entry = dict[str, Any]
Row = dict[str, Any]

MESSAGE: Row = {
    **dict.fromkeys(("received", "date", "sender", "sender_name", "subject", "list", "inreplyto")),
    **{name: [] for name in SETS},
    **{"body": "", "size": 1, "attachments": 0, "source": "a", "audience": "public"},
}
NOTE: Row = {"kind": "vote", "value": None, "number": 1.0, "audience": "public"}


class Story:
    """A history that grows; ``stored`` is what the site's tables hold so far."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.stored: dict[str, list[Row]] = {"messages": [], "annotations": []}
        self.filters: dict[int, Entry] = {}
        self.matches: list[Row] = []
        self.destinations: dict[int, Entry] = {}
        self.now, self.position = 0, 0

    def tell(self, what: str, **fields: Any) -> Entry:
        entry = {"step": len(self.entries), "now": self.now, "what": what, **fields}
        self.entries.append(entry)
        return entry

    def person(self, name: str, *groups: str, **more: Any) -> None:
        self.tell("person", **{"name": name, "groups": list(groups), "time_zone": "UTC"} | more)

    def mail(self, ts: int, *rows: Row) -> None:
        """Have an append bring messages: they are visible from ``ts`` on."""
        self.now = ts - 1
        full = [MESSAGE | {"sender": "joe@x.org"} | row for row in rows]
        self.tell("submitted", table="messages", rows=full, origin="append")
        for row in full:
            received = ts if row["received"] is None else min(row["received"], ts)
            self.stored["messages"].append({**row, "ts": ts, "received": received})

    def notes(self, ts: int, *rows: Row) -> None:
        """Have an append bring annotations."""
        self.now = ts - 1
        full = [NOTE | row for row in rows]
        self.tell("submitted", table="annotations", rows=full, origin="append")
        self.stored["annotations"] += [{**row, "ts": ts} for row in full]

    def filter(self, key: int, owner: str, tql: str, **more: Any) -> None:
        entry = {"key": key, "owner": owner, "name": f"f{key}", "text": tql, "tql": tql}
        entry |= {"t0": None, "live": False, "timeliness": "", "end": None, **more}
        self.filters[key] = entry
        self.tell("filter", **entry)

    def change(self, key: int, how: str, **more: Any) -> None:
        self.filters[key] |= more
        self.tell("filter_changed", how=how, **self.filters[key])

    def match(self, key: int, msgid: str, at: int, **more: Any) -> Row:
        """Have a match be stored, shown and released at once."""
        self.position += 1
        row = {"filter": key, "msgid": msgid, "audience": "public", "matched_at": at}
        row |= {"stored_at": at, "shown_at": at, "retracted_at": None, "read_at": None}
        row |= {"sequence": self.position, "listed": True, "key": self.position, **more}
        self.matches.append(row)
        return row

    def settle(self, now: int, **states: Any) -> None:
        """Have all be done, and be looked at; ``states`` is of filters, by ``f1``, ``f2``."""
        self.now = now
        self.tell("settled", rounds=1)
        for table, rows in self.stored.items():
            self.tell("seen", kind="rows", table=table, rows=[dict(row) for row in rows])
        self.tell("seen", kind="matches", rows=[dict(row) for row in self.matches])
        rows = []
        for key, entry in self.filters.items():
            state = {"key": key, "owner": entry["owner"], "active": True, "enrolled": False}
            state |= {"since": now, "error": "", "revision": 0}
            rows.append(state | states.get(f"f{key}", {}))
        self.tell("seen", kind="filters", rows=rows)
        self.tell("seen", kind="clock", last=now, shared_since=now)
        if self.destinations:
            last = {"cursor": self.position, "latest": self.position, "claimed_until": None}
            state = {**last, "due_at": None, "active": True, "failures": 0, "error": ""}
            rows = [{"key": key, **state} for key in self.destinations]
            self.tell("seen", kind="destinations", rows=rows)

    def destination(self, key: int, person: str, kind: str, filters: Any = None) -> str:
        """Have somebody want their matches at ``KEY@out.example``, or the path ``/KEY``."""
        uid = f"{key:032x}"
        place = {"address": f"{key}@out.example", "url": None}
        if kind in ("webhook", "push"):
            place = {"address": "", "url": f"http://127.0.0.1:80/{key}"}
        fields = {"key": key, "uid": uid, "person": person, "kind": kind, "filters": filters}
        self.destinations[key] = self.tell(
            "destination", name=f"d{key}", cursor=self.position, **fields, **place
        )
        return uid

    def received(self, key: int, name: str, payload: Row, **more: Any) -> None:
        """Have an endpoint accept something of a destination."""
        fields: Row = {"endpoint": "smtp", "answer": "ok", "accepted": True, "payload": payload}
        fields |= {"recipient": f"{key}@out.example", "message_id": name}
        self.tell("received", **fields | more)

    def hooked(self, key: int, after: int, until: int, *matches: Row, **more: Any) -> None:
        """Have a webhook be sent a range of matches."""
        told = [
            {
                **{"sequence": row["sequence"], "op": row.get("op", "insert")},
                **{"msgid": row["msgid"], "matched_at": row["told"], "filter": "f"},
                "url": f"http://127.0.0.1/message/?id={row['msgid']}&in={row['audience']}",
            }
            for row in matches
        ]
        fields = {"endpoint": "http", "path": f"/{key}", "recipient": "", "answer": "status"}
        name = f"{key:032x}-{after}-{until}"
        self.received(key, name, {"matches": told}, **fields | more)

    def notified(self, key: int, after: int, until: int, number: int, *msgids: str) -> None:
        """Have a browser be told of so many matches of a range: of one by its message's page."""
        only = f"http://127.0.0.1/message/?id={msgids[0]}&in=public" if msgids else "http://x/"
        fields = {"endpoint": "push", "path": f"/{key}", "recipient": "", "answer": "status"}
        payload = {"title": f"{number} new in f", "url": only}
        self.received(key, f"{key:032x}-{after}-{until}", payload, **fields)

    def digest(self, key: int, after: int, until: int, *msgids: str, **more: Any) -> None:
        """Have a digest of a range be sent."""
        links = [f"  http://127.0.0.1/message/?id={msgid}&in=public" for msgid in msgids]
        text = "\r\n".join(["new in f", "", "f (1)", "=====", *links, ""])
        name = f"<{key:032x}-{after}-{until}.{7:032x}@127.0.0.1>"
        self.received(key, name, {"headers": {"Message-ID": name}, "text": text}, **more)

    def forwarded(self, key: int, position: int, msgid: str, **more: Any) -> None:
        """Have a message be forwarded as it came."""
        name = f"<{key:032x}-{position}.{7:032x}@127.0.0.1>"
        headers = {"Message-ID": f"<{msgid}>", "Resent-Message-ID": name}
        self.received(key, f"<{msgid}>", {"headers": headers, "text": "x"}, **more)

    def page(self, person: str, page: str, name: str, *msgids: str) -> None:
        """Have a page be looked at."""
        fields = {"person": person, "page": page, "name": name, "msgids": list(msgids)}
        self.tell("seen", kind="page", status=200, **fields)

    def lines(self, person: str, page: str, name: str, *lines: tuple[str, bool]) -> None:
        """Have a page be looked at of which each line is a conversation, and perhaps unread."""
        told = [[msgids.split(), unread] for msgids, unread in lines]
        self.page(person, page, name, *(msgids.split()[-1] for msgids, _ in lines))
        self.entries[-1]["lines"] = told


def rows_of(story: Story, kind: str, point: int = -1, **having: Any) -> list[Row]:
    """Return the rows of an observation, of the last point unless said otherwise."""
    looks = [e for e in story.entries if e["what"] == "seen" and e["kind"] == kind]
    rows: list[Row] = [e for e in looks if having.items() <= e.items()][point]["rows"]
    return rows
