"""Mail of a world: few senders, words and threads, so that filters and messages meet."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Any
from unicodedata import normalize

from tapestry.core.clock import to_datetime
from tests.simulation.world import DAY, HOUR, MINUTE
from tests.support.generators.rows import GROUPS, PEOPLE, SUBJECTS

NAMES = {"joe@x.org": "Joe", "mary@x.org": "Mary Jones", "bill@y.org": "Bill Pöhl"}
FILES = {"index.pdf": "application/pdf", "Äpfel.png": "image/png", "again.docx": "image/png"}
"""Names of attached files, each with its media type; the last is that of something else."""

BODIES = (
    *("Spark", "the index, again", "is it x?", "äpfel und birnen; spark index", "b a"),
    normalize("NFD", "Łódź again; der Äpfel"),
)
"""Texts of messages; the last has its accents apart from their letters, as some programs do."""

DIFF_PATHS = ("index/x.c", "index/spark.c", "Makefile")
PATCHES = {"[PATCH 0/2] index": 0, "[PATCH v2 1/2] spark": 1, "[RFC PATCH] index": 1}
"""Subjects of patches, each with its place in its series."""

DELAYS = (0, 0, 0, MINUTE, HOUR, DAY, 3 * DAY, 16 * DAY)

Row = dict[str, Any]


@dataclass
class Mail:
    """All messages that were made so far, by Message-ID; some are named before they come."""

    lots: random.Random
    rows: list[Row] = field(default_factory=list)
    made: int = 0
    promised: list[str] = field(default_factory=list)

    def batch(
        self, now: int, audiences: list[str], size: int = 0, again: float = 0.08
    ) -> list[Row]:
        """Draw the messages of one append: so many, or 0 for any number.

        ``again`` of them are of those that were there.
        """
        size = size or self.lots.choice((1, 1, 2, 3, 5))
        return [self._message(now, audiences, again) for _ in range(size)]

    def letter(self, now: int, audiences: list[str], **said: Any) -> list[Row]:
        """Draw a message in person, a row for each audience; ``said`` is what it says."""
        row = self._message(now, audiences[:1], 0.0)
        row |= {"cc": [], "cc_names": [], "to_names": [], "newsgroups": [], "list": None}
        row |= {"inreplyto": None, "automatic": None, "sender_name": None, **said}
        row["references"] = [row["inreplyto"]] if row["inreplyto"] else []
        row["questions"] = row["body"].count("?")
        row |= {"diff_paths": [], "patch": PATCHES.get(row["subject"])}
        row["raw"] = raw(row)
        copies = [{**row, "audience": audience} for audience in audiences[1:]]
        self.rows += copies
        return [row, *copies]

    def _message(self, now: int, audiences: list[str], again: float) -> Row:
        lots = self.lots
        known = [row for row in self.rows[-20:] if "archived" not in row]
        if known and lots.random() < again:
            return self._again(known, audiences)
        msgid = self._name()
        sender = lots.choice(PEOPLE)
        received = now - lots.choice(DELAYS)
        parent = self._parent() if lots.random() < 0.45 else None
        to = sorted(lots.sample(PEOPLE, lots.choice((0, 1, 1, 2))))
        cc = lots.sample(PEOPLE, lots.choice((0, 0, 1)))
        body = lots.choice(BODIES)
        files = lots.sample(list(FILES), lots.choice((0, 0, 0, 1, 2)))
        named = lots.choice((True, True, False))
        subject = lots.choice((*SUBJECTS, *PATCHES))
        touched = lots.sample(DIFF_PATHS, lots.choice((0, 0, 1, 2)))
        body += "".join(f"\ndiff --git a/{path} b/{path}" for path in touched)
        row: Row = {
            "msgid": msgid,
            "received": lots.choice((received, received, received, None)),
            "date": lots.choice((received - lots.choice(DELAYS), received, None)),
            "sender": sender,
            "sender_name": lots.choice((NAMES[sender], normalize("NFD", NAMES[sender]), None)),
            "to": to,
            "to_names": [NAMES[address] for address in to] if named else [],
            "cc": cc,
            "cc_names": [NAMES[address] for address in cc] if named else [],
            "subject": subject,
            "newsgroups": lots.sample(GROUPS, lots.choice((0, 0, 1, 2))),
            "list": lots.choice((None, None, "r-devel", "index")),
            "inreplyto": parent,
            "references": [] if parent is None else [parent],
            "body": body,
            "size": lots.choice((500, 900, 2000, 3500)),
            "attachments": len(files),
            "filenames": files if lots.random() < 0.8 else [],
            "media_types": sorted({FILES[name] for name in files}),
            "diff_paths": touched,
            "patch": PATCHES.get(subject),
            "questions": body.count("?"),
            "automatic": lots.choice((None, None, None, "reply")),
            "event": f"e{self.made % 3}" if self.made % 2 else None,
            "method": ("cancel" if self.made % 5 == 0 else "request") if self.made % 2 else None,
            "source": lots.choice(("a", "b")),
            "audience": lots.choice(audiences),
        }
        row["raw"] = raw(row)
        self.rows.append(row)
        return row

    def _name(self) -> str:
        if self.promised and self.lots.random() < 0.5:
            return self.promised.pop(0)
        self.made += 1
        return f"m{self.made - 1}"

    def _parent(self) -> str:
        if self.lots.random() < 0.25 or not self.rows:  # one that comes later, or never
            self.made += 1
            self.promised.append(f"m{self.made - 1}")
            return self.promised[-1]
        return str(self.lots.choice(self.rows[-12:])["msgid"])

    def _again(self, known: list[Row], audiences: list[str]) -> Row:
        """Draw a message that was there: the same for anybody, or with other words."""
        row = dict(self.lots.choice(known))
        row.pop("copy", None)
        how = self.lots.choice(("same", "other audience", "forged"))
        if how == "other audience":
            row["audience"] = self.lots.choice(audiences)
        if how == "forged":
            body = self.lots.choice(BODIES)
            row |= {"body": f"forged {body} {len(self.rows)}", "copy": True, "diff_paths": []}
            row["questions"] = body.count("?")
            row["sender"] = self.lots.choice((row["sender"], *PEOPLE))
        row["raw"] = raw(row)
        return row


def raw(row: Row) -> bytes:
    """Return a message as it would have come."""
    message = EmailMessage()
    message["Message-ID"] = f"<{row['msgid']}>"
    message["From"] = f"{row['sender_name'] or ''} <{row['sender']}>".strip()
    message["Subject"] = row["subject"]
    if row["automatic"]:
        message["Auto-Submitted"] = "auto-replied"
    for header in ("to", "cc"):
        if row[header]:
            named = row[f"{header}_names"]
            boxes = [f"{NAMES[box]} <{box}>" if named else box for box in row[header]]
            message[header.capitalize()] = ", ".join(boxes)
    if row["date"] is not None:
        message["Date"] = format_datetime(to_datetime(row["date"]))
    if row["inreplyto"]:
        message["In-Reply-To"] = f"<{row['inreplyto']}>"
    message.set_content(row["body"])
    for name in row["filenames"]:
        kind, _, subtype = FILES[name].partition("/")
        message.add_attachment(b"x", kind, subtype, filename=name)
    if row["filenames"]:
        message.set_boundary("b")
    return message.as_bytes().replace(b"\n", b"\r\n")
