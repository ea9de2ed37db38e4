"""A person whose matches are delivered into a real mailbox, and what is in it after that."""

from __future__ import annotations

from tapestry.core.clock import DAY, SECOND
from tapestry.deliver.batch import Batch, DeliveredMatch
from tapestry.deliver.ways.mailbox import MailboxSettings, deliver_to_mailbox
from tapestry.servers.account import ANYWHERE, Account
from tapestry.tables.read.originals import Original
from tests.support.servers.dovecot import PASSWORD, USER

RECEIVED = 20_000 * DAY + 5 * SECOND


def account_of(port, secret=PASSWORD):
    return Account("imap", "127.0.0.1", port, "none", USER, secret, allowed=ANYWHERE)


def mail(n, body="Hello\r\n"):
    return f"Message-ID: <{n}@x.org>\r\nFrom: joe@x.org\r\nSubject: no. {n}\r\n\r\n{body}".encode()


class Person:
    """One filter of a person, and what was stored of its deliveries."""

    def __init__(self, server, name, port=None):
        self.server = server
        self.name = name
        self.account = account_of(port or server.port)
        self.settings = MailboxSettings()
        self.originals = {}
        self.confirmed = []
        self.delivered = set()
        self.seen = set()
        self.shared = set()
        self.flags = ()
        self.sequence = 0

    def match(self, n, op="insert", raw=None):
        self.sequence += 1
        msgid = f"{n}@x.org"
        self.originals.setdefault(msgid, mail(n) if raw is None else raw)
        return DeliveredMatch(
            self.sequence, op, 7, self.name, "", msgid, "public", f"no. {n}", "joe@x.org", "",
            RECEIVED, RECEIVED,
        )  # fmt: skip

    def original_of(self, msgid, audience):
        raw = self.originals.get(msgid)
        return raw and Original(raw, (), self.flags)

    def confirm(self, confirmation):
        self.confirmed.append(confirmation.action)
        self.delivered.add((7, confirmation.match.msgid))

    def deliver(self, *matches):
        """Deliver; return the state and what was done."""
        self.confirmed = []
        batch = Batch("key", 0, self.sequence, matches)
        self.outcome = deliver_to_mailbox(
            self.account,
            self.settings,
            batch,
            self.original_of,
            self.confirm,
            self.delivered,
            self.seen,
            self.shared,
        )
        return self.outcome.state, self.confirmed

    def folder(self, *below):
        return "/".join(["Tapestry", self.name, *below])

    def content(self, *below):
        """Return the messages of a folder: subject without its words, for comparison."""
        with self.server.session() as client:
            if not client.folder_exists(self.folder(*below)):
                return None
            client.select_folder(self.folder(*below), readonly=True)
            fetched = client.fetch(client.search(), ["BODY.PEEK[]"])
            return sorted(attributes[b"BODY[]"] for attributes in fetched.values())
