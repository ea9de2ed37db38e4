"""The scripts of github.com/dovecot/imaptest against our server, and where each one ends.

They are not kept here: clone that repository, and name the directory of its scripts:

    git clone https://github.com/dovecot/imaptest
    IMAPTEST=$PWD/imaptest/src/tests python -m pytest tests/filters/imap/suite.py

No command makes a mailbox here or puts a message into one.  So the mailbox of a script is that of
a filter, which finds what the script would have put there.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from imapclient import IMAPClient

from filters.people.models import User
from tapestry.tables.delta.log import Tables
from tests.filters.imap.conftest import Place, Program, connect
from tests.filters.imap.imaptest import (
    Command,
    Script,
    Step,
    Variables,
    begins,
    expanded,
    matches,
    read_mail,
    read_script,
)
from tests.filters.imap.test_imaptest import listed
from tests.filters.imap.test_reading import put
from tests.support.lists.listed_mail import find, installed

MAILBOX = b"Filters/plans"

LITERAL = re.compile(rb"\{(\d+)\}\r\n$")

DIRECTORY = Path(os.environ["IMAPTEST"])

NAMES = sorted(path.name for path in DIRECTORY.iterdir() if path.is_file() and not path.suffix)


class EndsOtherwiseError(Exception):
    """What is heard is not what a script says."""


class Mailbox:
    """The mailbox of a script: a filter, and the messages that it is to find."""

    def __init__(self, tables: Tables, owner: User, mail: list[bytes]) -> None:
        self.tables, self.filter = tables, installed(owner, "plans")
        self.mail, self.count = mail, 0

    def add(self, raw: bytes | None = None) -> None:
        """Have the filter find a message: by default, the next of the file."""
        msgid = f"{self.count}@x"
        put(self.tables, msgid, raw or self.mail[self.count % len(self.mail)])
        find(self.tables, self.filter, msgid)
        self.count += 1


class Run:
    """A run of a script."""

    def __init__(self, clients: list[IMAPClient], mailbox: Mailbox) -> None:
        self.clients, self.mailbox = clients, mailbox
        self.variables: Variables = {"mailbox": MAILBOX}

    def step(self, step: Step) -> None:
        """Send the commands of a step together, and hear what is answered."""
        client = self.clients[step.connection]
        tags = {}
        for number, command in enumerate(step.commands):
            tags[tag := b"t%d" % number] = command
            self._send(client, tag, expanded(command.text, self.variables))
        self.variables["tag"] = b"t0"
        wanted = list(step.heard)
        while tags:
            tag, _, reply = read(client).partition(b" ")
            if tag != b"*":
                self._end(tags.pop(tag), reply)
                continue
            if not tag:
                raise EndsOtherwiseError("The connection has ended.")
            if any(matches(text, reply, self.variables) for text in step.not_heard):
                raise EndsOtherwiseError(f"Heard {reply!r}.")
            wanted = [text for text in wanted if not matches(text, reply, self.variables)]
        if wanted:
            raise EndsOtherwiseError(f"Did not hear {wanted[0]!r}.")

    def _send(self, client: IMAPClient, tag: bytes, text: bytes) -> None:
        if re.fullmatch(rb"append( \S+)?( \([^)]*\))?", text, re.IGNORECASE):
            if text[7:].split(b" (")[0] not in (b"", MAILBOX):
                text += b" {1}"
            else:
                self.mailbox.add()
                text = b"NOOP"
        client._imap.send(b"%b %b\r\n" % (tag, text))

    def _end(self, command: Command, reply: bytes) -> None:
        status, _, text = reply.partition(b" ")
        if command.status not in (status.lower(), b'""') or not begins(
            command.prefix, text, dict(self.variables)
        ):
            raise EndsOtherwiseError(f"{command.text!r} ends with {reply!r}.")


def read(client: IMAPClient) -> bytes:
    """Return a response with its literals; EndsOtherwiseError where the connection has ended."""
    line: bytes = client._imap.readline()
    while literal := LITERAL.search(line):
        line += client._imap.read(int(literal[1])) + client._imap.readline()
    if not line:
        raise EndsOtherwiseError("The connection has ended.")
    return line.removesuffix(b"\r\n")


def ended(script: Script, run: Run) -> str:
    """Run a script; return what became of it, and the line at which it ended if it fails."""
    offered = {name.upper() for name in run.clients[0].capabilities()}
    for name in script.header.get("capabilities", "").upper().split():
        if name.encode() not in offered:
            return f"absent {name}"
    for step in script.steps:
        try:
            run.step(step)
        except EndsOtherwiseError as error:
            print(f"line {step.line}: {error}")
            return f"fails {step.line}"
        except KeyError as error:
            print(f"line {step.line}: the variable {error} has no value")
            return f"fails {step.line}"
    return "passes"


@pytest.mark.parametrize("name", NAMES)
def test_a_script_ends_as_it_is_listed(
    served: Place, program: Program, tables: Tables, alice: User, name: str
) -> None:
    script = read_script((DIRECTORY / name).read_bytes())
    own = DIRECTORY / f"{name}.mbox"
    mailbox = Mailbox(tables, alice, read_mail(own if own.exists() else DIRECTORY / "default.mbox"))
    if script.state in ("appended", "selected"):
        for raw in script.messages(mailbox.mail):
            mailbox.add(raw)
    is_stranger = script.state == "nonauth"
    clients = [
        connect(served) if is_stranger else program(alice) for _ in range(script.connections)
    ]
    if script.state == "selected":
        for client in clients:
            client.select_folder(MAILBOX.decode())
    found = ended(script, Run(clients, mailbox))
    assert found == {row.name: row.outcome for row in listed()}.get(name)


def test_each_script_is_listed() -> None:
    assert sorted(row.name for row in listed()) == NAMES
