"""A campaign: parts of a running site are killed again and again, while mail comes and is sent.

Mail comes from a mailbox (Dovecot) and a newsgroup (INN), and is delivered by mail and into
another folder of the mailbox.  Every process of the site can be the next: a worker of any lanes,
beat, the web server, Redis, either Spark, and `manage.py up` itself.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email import message_from_bytes
from pathlib import Path

from filters.site.work.parts import spark_restart
from filters.site.work.parts.addresses import REMOTES
from tests.support.processes.site_parts import eventually, kind_of, processes_of, wait_for_nobody
from tests.support.servers.dovecot import PASSWORD, USER, Dovecot
from tests.support.servers.inn import Inn
from tests.support.servers.site import end, manage, start, wait_ready
from tests.support.servers.smtp import SmtpServer

FOLDER, GROUP, PARENT = "INBOX/One", "comp.misc", "Found"
ANSWERED = "EXISTS (r: r.inreplyto = m.msgid)"
UNANSWERED = "NOT EXISTS (r: r.inreplyto = m.msgid)"
QUIET_SECONDS = 400.0
"""Seconds in which all must be taken in, found and delivered at the end."""

SETTLE = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.contrib.auth.models import Permission
from filters.people.models import User
from filters.authoring.lifecycle import install
from filters.delivery.models import Address, Delivery, Destination
from filters.sources.models import Source
from filters.site.work.parts import services
from filters.site.work.crypto import encryption
from filters.sources.accounts.credentials import keep_secret
from tapestry.core.clock import DAY, wall_clock
joe, amy = (User.objects.create_user(name) for name in ("joe", "amy"))
joe.user_permissions.add(Permission.objects.get(codename="publish"))
for kind, port, user, secret, pattern in {sources!r}:
    source = Source(owner=joe, kind=kind, host="127.0.0.1", port=port, security="none", user=user,
        audience="public", folder_patterns=[pattern], every=10, active=True)
    keep_secret(source, secret)
    source.save()
address = Address.objects.create(owner=joe, email="joe@x.org", confirmed_at=1)
forward = Destination.objects.create(owner=joe, kind="forward", name="forward", address=address)
Destination.objects.create(owner=joe, kind="mailbox", name="mailbox",
    settings={mailbox!r}, secret=encryption.encrypt({password!r}, services.data()))
jones = install(joe, "from jones", name="jones")
Delivery.objects.create(destination=forward, key="a week of much mail: what comes is no flood",
    at=wall_clock() - DAY, state="delivered", by_filter={{jones.pk: 1_000_000}})
install(amy, {answered!r}, name="answered")
install(amy, {unanswered!r}, name="unanswered", mode="live")
"""

LOOK = """
import json
from django.db.models import F, Q
from filters.delivery.models import Destination
from filters.inbox.models import Match
from filters.sources.models import Source
from filters.site.work.parts import services
from tapestry.tables.delta.parquet_file import read_parquet
Source.objects.update(due_at=0, failures=0)
files = services.tables().data_files("messages")
columns = [read_parquet(file.path, ["msgid"])["msgid"] for file in files]
listed = Match.objects.filter(retracted_at=None).values_list("filter__name", "msgid")
busy = Destination.objects.filter(~Q(holder="") | Q(latest__gt=F("cursor")) | ~Q(due_at=None))
print(json.dumps({
    "messages": [msgid for column in columns for msgid in column.to_pylist()],
    "matches": list(listed),
    "unreleased": Match.objects.filter(sequence=None).count(),
    "busy": list(busy.values("kind", "cursor", "latest", "error")),
    "errors": list(Source.objects.exclude(error="").values_list("error", flat=True)),
}))
"""


@dataclass
class World:
    """Where mail comes from and goes to, what was sent there, and which parts were killed."""

    dovecot: Dovecot
    inn: Inn
    smtp: SmtpServer
    data: Path
    environment: Mapping[str, str]
    chance: random.Random
    sent: int = 0
    killed: Counter[str] = field(default_factory=Counter)

    def settle(self) -> None:
        """Make the people, their sources, destinations and filters."""
        mailbox = {"host": "127.0.0.1", "port": self.dovecot.port, "security": "none"}
        sources = [
            ("imap", self.dovecot.port, USER, PASSWORD, FOLDER),
            ("nntp", self.inn.port, "", "", GROUP),
        ]
        self.inn.begin_anew()
        self.send(6)
        settings = {**mailbox, "user": USER, "parent": PARENT}
        names = {"sources": sources, "mailbox": settings, "password": PASSWORD}
        self.shell(SETTLE.format(**names, answered=ANSWERED, unanswered=UNANSWERED))

    def end(self) -> None:
        """Kill what is left of the site."""
        for number in processes_of(self.data):
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)

    def manage(self, *arguments: str) -> str:
        return manage(self.data, *arguments, **self.environment)

    def shell(self, program: str) -> str:
        return self.manage("shell", "-v", "0", "-c", program)

    def send(self, count: int) -> None:
        """Have mail come to the mailbox, and every second message as news."""
        for number in range(self.sent, self.sent + count):
            if number % 2:
                self.inn.post(letter(number))
            else:
                self.dovecot.put(FOLDER, letter(number))
        self.sent += count

    def kill_a_part(self) -> bool:
        """Kill a process of the site, whichever; return False if there is none."""
        kinds: dict[str, list[int]] = {}
        for number, arguments in processes_of(self.data).items():
            kinds.setdefault(kind_of(arguments), []).append(number)
        if not kinds:
            return False
        kind = self.chance.choice(sorted(kinds))
        with suppress(ProcessLookupError):
            os.kill(self.chance.choice(kinds[kind]), signal.SIGKILL)
            self.killed[kind] += 1
        return True

    def run_and_kill(self, most: int, **environment: str) -> None:
        """Start the site; kill parts of it, at most so many, and then all of it."""
        site = start(self.data, **self.environment, **environment)
        if self.chance.random() < 0.3:
            time.sleep(self.chance.uniform(0.0, 15.0))
        else:
            words = f"Tapestry is ready at {site.url}"
            # Or it gives up: on a busy machine Spark may not answer in time.
            eventually(
                lambda: words in site.log.read_text() or site.process.poll() is not None,
                300,
                site.log.read_text,
            )
            for name in REMOTES:  # as a statement does that needs it
                spark_restart.want(self.data / "run", name)
        self.send_and_kill(most)
        if site.process.poll() is None:
            time.sleep(self.chance.choice([0.0, 5.0, 20.0]))  # parts are started again meanwhile
            site.process.kill()
            self.killed["up"] += 1
        site.process.wait(120)
        words = (self.data / "up.log").read_text()
        assert "Traceback" not in words, words
        wait_for_nobody(self.data)

    def send_and_kill(self, most: int) -> None:
        """Have mail come, and kill parts meanwhile, at most so many."""
        for _ in range(self.chance.randint(1, most)):
            self.send(self.chance.randint(1, 3))
            time.sleep(self.chance.choice([0.0, 0.3, 1.0, 4.0]) * self.chance.random())
            if not self.kill_a_part():
                break

    def differences(self) -> Iterator[str]:
        """Start the site once more, wait until all is done, and yield what is not as it must be."""
        site = start(self.data, **self.environment)
        try:
            wait_ready(site)
            self.send(2)
            numbers = range(self.sent)
            found = {name: Counter() for name in ("jones", "answered", "unanswered")}
            answered = {number * 2 // 3 for number in numbers if number % 3 == 0 and number}
            expected = {
                "messages": numbers,
                "jones": [number for number in numbers if is_from_jones(number)],
                "answered": answered,
                "unanswered": {*numbers} - answered,
            }
            matches = sum(len(expected[name]) for name in found)
            seen = self.wait_until_quiet(matches)
            for name, msgid in seen["matches"]:
                found[name][msgid] += 1
            found["messages"] = Counter(seen["messages"])
            found["in the mailbox"] = Counter(self.in_the_mailbox())
            found["sent"] = Counter({name for name, _ in self.forwards()})
            found["keys"] = Counter(name for name, _ in {*self.forwards()})
            for name in ("in the mailbox", "sent", "keys"):
                expected[name] = expected["jones"]
            for name, counts in found.items():
                wanted = Counter(f"{number}@x.org" for number in expected[name])
                if counts != wanted:
                    yield f"{name}: too many {counts - wanted}, missing {wanted - counts}"
            asked = [
                json.loads(line)["msgid"]
                for line in self.manage("ask", UNANSWERED, "--user", "amy", "--json").splitlines()
            ]
            if Counter(asked) != found["unanswered"]:
                yield f"ask says {asked}, and the live list {found['unanswered']}"
        finally:
            code = end(site)
        if code:
            yield f"it ends with {code}"

    def wait_until_quiet(self, matches: int) -> dict[str, list]:
        """Wait until all mail is in, so much is found, and all is delivered; return what is there.

        If it never comes so far, what is missing is for the caller to say.
        """
        deadline = time.monotonic() + QUIET_SECONDS
        before = None
        while True:
            seen = json.loads(self.shell(LOOK))
            # A live filter that has not run yet may list too many.
            is_found = len(seen["messages"]) >= self.sent and len(seen["matches"]) == matches
            is_delivered = not seen["busy"] and not seen["unreleased"]
            if (is_found and is_delivered and seen == before) or time.monotonic() > deadline:
                return seen
            before = seen

    def forwards(self) -> list[tuple[str, str]]:
        """Return the Message-IDs of all that was sent by mail, and those of the sendings."""
        messages = [message_from_bytes(raw) for raw in list(self.smtp.taken)]
        return [(each["Message-ID"].strip("<> "), each["Resent-Message-ID"]) for each in messages]

    def in_the_mailbox(self) -> Iterator[str]:
        """Yield the Message-IDs of all that was delivered into the mailbox."""
        with self.dovecot.session() as client:
            for flags, _, name in client.list_folders():
                if name.startswith(PARENT) and rb"\Noselect" not in flags:
                    client.select_folder(name, readonly=True)
                    for data in client.fetch(client.search(), ["ENVELOPE"]).values():
                        yield data[b"ENVELOPE"].message_id.decode().strip("<> ")


def letter(number: int) -> bytes:
    """Return a message; each third answers an earlier one."""
    sender = "jones" if is_from_jones(number) else "smith"
    head = f"Message-ID: <{number}@x.org>\r\nFrom: {sender}@x.org\r\nSubject: no. {number}\r\n"
    if number % 2:
        head += f"Newsgroups: {GROUP}\r\n"
    if number % 3 == 0 and number:
        head += f"In-Reply-To: <{number * 2 // 3}@x.org>\r\n"
    return f"{head}\r\nThis is number {number}.\r\n".encode()


def is_from_jones(number: int) -> bool:
    return number % 4 < 2
