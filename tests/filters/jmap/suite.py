"""The tests of github.com/jmapio/jmap-test-suite against a site of ours, and what became of each.

    suite ─ its requests ─> a site ─┬─ until it is seeded ─> filters, and what they find
                                    └─ then ─────────────> as for every program

It is not kept here: clone and build it (``npm install && npm run build``), and name the directory:

    JMAP_SUITE=DIR python -m pytest tests/filters/jmap/suite.py

No call makes a mailbox or puts a message into one, but the suite begins with that.  So while it
does, each mailbox that it makes is a filter, which finds what is imported into it.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

import pytest

from filters.api.authentication import make_token
from filters.authoring.models import Filter
from filters.delivery.models import Address
from filters.jmap import arguments, methods, push
from filters.jmap.blobs import bytes_of
from filters.jmap.calls.drafts import email_import
from filters.jmap.calls.flags import email_set
from filters.jmap.models import JmapAccount, JmapRecord
from filters.jmap.objects import key_of
from filters.jmap.records import INBOX, account_of, present
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.crypto.opaque_keys import encrypt
from tapestry.core.clock import SECOND
from tapestry.ingest.parse import parse
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import append_messages
from tests.filters.jmap.test_suite import listed
from tests.support.lists.listed_mail import find, installed

SCOPES = frozenset(("jmap", "drafts", "send"))

STATUSES = {"pass": "pass", "refused": "fail", "absent": "skip"}
"""What the suite says of a test, by what the list does: what is not offered is not tried."""

REDIRECT = (
    "const f = fetch; globalThis.fetch = (u, o) => f(`${u}`.replace('https://smee.io', '%s'), o)"
)
"""Has the suite find here what it looks for at smee.io: a channel that shows what is pushed."""


class Channels(BaseHTTPRequestHandler):
    """Channels: what is posted to an address is told, as an event, to who reads it."""

    posted: dict[str, SimpleQueue[bytes]] = {}

    def do_POST(self) -> None:
        self.posted[self.path].put(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(201)
        self.end_headers()

    def do_GET(self) -> None:
        if self.path == "/new":
            path = f"/{len(self.posted)}"
            self.posted[path] = SimpleQueue()
            self.send_response(302)
            self.send_header("Location", f"http://{self.headers['Host']}{path}")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(b"event: ready\ndata: {}\n\n")
        while True:
            document = json.dumps({"body": json.loads(self.posted[self.path].get())})
            self.wfile.write(f"event: message\ndata: {document}\n\n".encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def channels(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server of channels, which may be pushed to as if it had https."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Channels)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"

    class Secure:
        scheme = "https"

    read = push.read_target
    monkeypatch.setattr(
        push, "read_target", lambda url: Secure if url.startswith(address) else read(url)
    )
    monkeypatch.setattr(push, "_verify_soon", push.verify)
    yield address
    server.shutdown()


class Seeding:
    """What answers the calls by which the suite fills its mailboxes."""

    def __init__(self, tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tables, self.patched = tables, monkeypatch
        self.kept = dict(methods.METHODS)
        self._take("Mailbox/set", arguments.Set, self.boxes)
        self._take("Email/import", arguments.Import, self.emails)
        self._take("Identity/get", arguments.Get, self.end)

    def _take(self, name: str, model: Any, make: Any) -> None:
        self.patched.setitem(methods.METHODS, name, (self.kept[name][0], model, make))

    def end(self, account: JmapAccount, given: arguments.Get) -> dict[str, Any]:
        """Let all be answered as it is: the suite asks for identities when it is done."""
        for name in ("Mailbox/set", "Email/import", "Identity/get"):
            self.patched.setitem(methods.METHODS, name, self.kept[name])
        return self.kept["Identity/get"][2](account, given)

    def boxes(self, account: JmapAccount, given: arguments.Set) -> dict[str, Any]:
        """Make a filter for each mailbox."""
        made = {
            key: installed(account.owner, row["name"]) for key, row in (given.create or {}).items()
        }
        account = account_of(account.owner)
        boxes = present(account, JmapRecord.MAILBOX)
        named = {key: boxes.get(name=str(filter_.pk)) for key, filter_ in made.items()}
        return {
            "newState": "0",
            "created": {key: {"id": encrypt(box.pk)} for key, box in named.items()},
        }

    def emails(self, account: JmapAccount, given: arguments.Import, _: Any) -> dict[str, Any]:
        """Have filters find each message, but make drafts of drafts."""
        created = {key: {"id": self._email(account, row)} for key, row in given.emails.items()}
        return {"newState": "0", "created": created, "notCreated": None}

    def _email(self, account: JmapAccount, row: dict[str, Any]) -> str:
        boxes = present(account, JmapRecord.MAILBOX)
        names = {boxes.get(pk=key_of(box)).name for box in row["mailboxIds"]}
        if names == {"drafts"}:
            answer = email_import(
                account,
                arguments.Import.model_validate({"accountId": "", "emails": {"d": row}}),
                SCOPES,
            )
            return answer["created"]["d"]["id"]
        raw = bytes_of(account, row["blobId"])
        received = round(datetime.fromisoformat(row["receivedAt"]).timestamp() * SECOND)
        audience = f"user:{account.owner.username}"
        message = parse(raw, "seed", audience, internal_date=received).message
        append_messages(self.tables, DjangoClock(), [message], originals=[Original(raw)])
        skip = "" if INBOX in names else "skip"
        for filter_ in self._filters(account.owner, names):
            Filter.objects.filter(pk=filter_.pk).update(acts=skip, acts_since=0)
            find(self.tables, filter_, message.msgid, audience=audience)
            Filter.objects.filter(pk=filter_.pk).update(acts="")
        account = account_of(account.owner)
        emails = present(account, JmapRecord.EMAIL)
        email = encrypt(emails.get(card__msgid=message.msgid).pk)
        words = {word: True for word in row["keywords"] if word != "$draft"}
        update = arguments.Set.model_validate(
            {"accountId": "", "update": {email: {"keywords": words}}}
        )
        answer = email_set(account, update, SCOPES)
        assert answer["notUpdated"] is None, answer
        return email

    def _filters(self, owner: User, names: set[str]) -> Iterator[Filter]:
        for name in sorted(names - {INBOX}):
            yield Filter.objects.get(pk=int(name))
        if names == {INBOX}:
            yield Filter.objects.filter(owner=owner, name="mail").first() or installed(
                owner, "mail"
            )


def test_the_suite(
    live_server: Any,
    tables: Tables,
    alice: User,
    bob: User,
    channels: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Seeding(tables, monkeypatch)
    users = {}
    for role, person in (("primary", alice), ("secondary", bob)):
        Address.objects.create(owner=person, email=person.email, confirmed_at=1)
        secret = make_token(person, "suite", sorted(SCOPES), 7)[1]
        users[role] = {"username": person.email, "password": secret}
    config = {
        "sessionUrl": f"{live_server.url}/.well-known/jmap",
        "users": users,
        "authMethod": "bearer",
        "timeout": 300_000,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    redirect = f"data:text/javascript,{REDIRECT % channels}"
    report = tmp_path / "report.json"
    command = ["node", "--import", redirect, "dist/cli.js", "-c", tmp_path / "config.json"]
    more = ["--fail-only", "--force", "--output", report]
    subprocess.run([*command, *more], cwd=os.environ["JMAP_SUITE"], check=False)
    rows = json.loads(report.read_text())["results"]
    found = {row["testId"]: row["status"] for row in rows}
    assert found == {row.id: STATUSES[row.status] for row in listed()}
