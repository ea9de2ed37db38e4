"""Whatever happens while mail is pulled, every message is there in the end, once.

Each fault comes at a random point: the puller is killed with -9, the server cuts the line
in the middle of a message, the server numbers everything anew, messages vanish.  A message over
which the line was cut three times is put aside, and comes with a later pull; no other is late.
Three of each kind of server in `make test`, two hundred in `make test-long`.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager, suppress

import pytest

from tapestry.tables.delta.log import Tables
from tests.support.paths import TESTS
from tests.support.servers.cutting_proxy import CuttingProxy
from tests.support.servers.dovecot import PASSWORD, USER, running_dovecot
from tests.support.servers.puller import ASK_AGAIN
from tests.support.servers.site import environment_for

pytestmark = [pytest.mark.live, pytest.mark.timeout(1800)]

AT_FIRST = 40
ROUNDS = [
    pytest.param(3, id="3"),
    pytest.param(200, id="200", marks=[pytest.mark.long, pytest.mark.timeout(3600)]),
]


def letter(n, more=""):
    # Of very different sizes: some faults should come amid one message, some between many.
    body = "".join(f"line {i} of {n}\r\n..\r\n" for i in range(pow(7, n, 97) * (n % 5)))
    head = f"Message-ID: <{n}@x.org>\r\nFrom: Joe <joe@x.org>\r\nSubject: number {n}\r\n{more}"
    return f"{head}\r\n{body}".encode()


class Mailbox:
    """Two folders of a mailbox on Dovecot."""

    places = ("INBOX/One", "INBOX/Two")

    def __init__(self, server):
        self.server, self.port = server, server.port
        self.kept = {place: [] for place in self.places}

    def source(self, port):
        return {"kind": "imap", "port": port, "user": USER, "secret": PASSWORD}

    def add(self, numbers):
        for odd, place in enumerate(self.places):
            new = [n for n in numbers if n % 2 == odd]
            self.kept[place] += new
            self.server.put(place, *map(letter, new))

    def number_anew(self):
        with self.server.session() as client:
            for place in self.places:
                before = client.folder_status(place, ["UIDVALIDITY"])
                client.delete_folder(place)
                client.create_folder(place)
                assert client.folder_status(place, ["UIDVALIDITY"]) != before
                for n in self.kept[place]:
                    client.append(place, letter(n))

    def vanish(self, chance):
        with self.server.session() as client:
            for place, numbers in self.kept.items():
                client.select_folder(place)
                uids = dict(zip(client.search(), list(numbers), strict=True))
                old = len(uids) - AT_FIRST
                gone = [uid for i, uid in enumerate(uids) if i < old or chance.random() < 0.05]
                if gone:
                    client.delete_messages(gone)
                    client.expunge()
                for uid in gone:
                    numbers.remove(uids[uid])


class News:
    """Two groups on INN, with every sixth article in both."""

    places = ("comp.*",)
    groups = ("comp.misc", "comp.sys.misc")

    def __init__(self, server):
        self.server, self.port = server, server.port
        self.server.begin_anew()
        self.kept = []

    def source(self, port):
        return {"kind": "nntp", "port": port, "user": "", "secret": ""}

    def add(self, numbers):
        self.kept += numbers
        self.server.post(*map(self._article, numbers))

    def number_anew(self):
        self.server.begin_anew()
        self.server.post(*map(self._article, self.kept))

    def vanish(self, chance):
        old = len(self.kept) - 2 * AT_FIRST
        for n in [n for i, n in enumerate(self.kept) if i < old or chance.random() < 0.05]:
            self.server.remove(f"{n}@x.org")
            self.kept.remove(n)

    def _article(self, n):
        groups = ",".join(self.groups) if n % 6 == 0 else self.groups[n % 2]
        return letter(n, f"Newsgroups: {groups}\r\n") + b"\r\nThe end.\r\n"


class Puller:
    """The process that pulls, and that may be killed."""

    def __init__(self, data):
        self.process = subprocess.Popen(
            [sys.executable, str(TESTS / "support" / "servers" / "puller.py")],
            env=environment_for(data) | {"PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def do(self, killed_after=None, **what):
        """Have it done, or killed after so many seconds; return what it answers, or None."""
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        answers = [self._line()]
        while "pid" not in answers[-1]:
            answers.append(self._line())
        if killed_after is not None:
            time.sleep(killed_after)
            with suppress(ProcessLookupError):  # it was done before
                os.kill(answers[-1]["pid"], signal.SIGKILL)
        while "status" not in answers[-1]:
            answers.append(self._line())
        said = [answer for answer in answers if not answer.keys() & {"pid", "status"}]
        assert said or killed_after is not None, answers
        return said[0] if said else None

    def _line(self):
        line = self.process.stdout.readline()
        assert line, "the puller has ended"
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)


@contextmanager
def pulled(box, data):
    """Yield a function that pulls the box through a line that can be cut, and the line."""
    proxy, puller = CuttingProxy(box.port), Puller(data)
    try:
        described = {"host": "127.0.0.1", "security": "none", **box.source(proxy.port)}
        made = puller.do(do="make", folder_patterns=list(box.places), **described)

        def pull(**how):
            return puller.do(do="pull", source=made["source"], **how)

        yield pull, proxy
    finally:
        puller.close()
        proxy.close()


def msgids(data):
    rows = Tables(data / "tables").open("messages").to_pyarrow_table(columns=["msgid"])
    return Counter(rows.column("msgid").to_pylist())


def campaign(box, data, rounds, seed):
    chance = random.Random(seed)
    faults = Counter()
    box.add(range(AT_FIRST))
    expected = set()
    with pulled(box, data) as (pull, proxy):
        began = time.monotonic()
        assert pull()["error"] == ""
        usual, size = time.monotonic() - began, proxy.passed
        expected |= {f"{n}@x.org" for n in range(AT_FIRST)}
        assert msgids(data) == Counter(expected)
        following = AT_FIRST
        for _ in range(rounds):
            fault = chance.choice(["kill", "cut", "cut often", "kill and cut"])
            if chance.random() < 0.25:
                fault += ", numbered anew"
                box.number_anew()
            new = range(following, following + chance.randint(1, 9))
            following = new.stop
            box.add(new)
            part = 1.0 if "anew" in fault else len(new) / AT_FIRST
            if "cut" in fault:
                times = chance.randint(2, 3) if "often" in fault else 1
                proxy.cuts = [chance.randint(0, int(size * part) + 200) for _ in range(times)]
            if "kill" in fault:
                pull(killed_after=chance.uniform(0.0, usual * part + 0.03))
                if chance.random() < 0.2:
                    box.number_anew()
            proxy.cuts = proxy.cuts if "often" in fault or "kill" not in fault else []
            answer = pull()
            proxy.cuts = []
            if answer["error"]:
                assert "Traceback" not in answer["error"], answer
                answer = pull()
            assert answer["error"] == "", (fault, answer)
            faults[fault] += 1
            expected |= {f"{n}@x.org" for n in new}
            pause, until = ASK_AGAIN, time.monotonic() + 120
            while late := expected - set(found := msgids(data)):
                assert len(late) <= answer["aside"], (fault, answer, late)
                assert time.monotonic() < until, (fault, answer, late)
                time.sleep(pause)
                pause, answer = 2 * pause, pull()
            assert found == Counter(expected), (
                fault,
                found - Counter(expected),
                expected - set(found),
            )
            if chance.random() < 0.3:
                box.vanish(chance)
        answer = pull()
        assert (answer["read"], answer["added"], answer["error"]) == (0, 0, "")
    assert sum(faults.values()) == rounds


@pytest.mark.parametrize("rounds", ROUNDS)
def test_a_mailbox_is_whole_after_every_fault(rounds, data_dir):
    # A server of its own: every campaign begins with an empty mailbox.
    with running_dovecot() as server:
        campaign(Mailbox(server), data_dir, rounds, seed=rounds)


@pytest.mark.parametrize("rounds", ROUNDS)
def test_newsgroups_are_whole_after_every_fault(inn, rounds, data_dir):
    campaign(News(inn), data_dir, rounds, seed=rounds)
