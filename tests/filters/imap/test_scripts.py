"""Scripts of IMAP commands, and what a server answers, in the manner of Dovecot's imaptest."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from imapclient import IMAPClient

from filters.people.models import User
from tapestry.tables.delta.log import Tables
from tests.filters.imap.conftest import Program
from tests.filters.imap.test_reading import put
from tests.support.formats.datadriven import Case, parse
from tests.support.lists.listed_mail import find, installed

pytestmark = pytest.mark.live

SCRIPTS = Path(__file__).parents[2] / "fixtures" / "imap"

DEVIATIONS = {"fetch-body": 1, "fetch-envelope": 1, "search": 1}
"""Cases of which the answer is not that of the standards: they get fewer, never more."""

CHANGING = re.compile(r'(UIDVALIDITY|MAILBOXID|INTERNALDATE) (\d+|\(\w+\)|"[^"]*")')
LITERAL = re.compile(rb"\{(\d+)\}$")


NAMES = sorted(path.stem for path in SCRIPTS.glob("*.test"))


@pytest.mark.parametrize("script", NAMES)
def test_a_script_is_answered_as_it_says(
    program: Program, alice: User, tables: Tables, datadriven: Callable[..., None], script: str
) -> None:
    filter_ = installed(alice, "plans")
    clients = {"": program(alice), "other": program(alice)}
    came: list[str] = []

    def evaluate(case: Case) -> str:
        if case.command == "message":
            came.append(f"{len(came)}@x")
            put(tables, came[-1], case.input.encode() + b"\n")
            find(tables, filter_, came[-1])
            return ""
        lines = case.input.splitlines()
        return "\n".join(answer(clients, line) for line in lines)

    datadriven(SCRIPTS / f"{script}.test", evaluate)


def test_deviations_are_those_known() -> None:
    cases = {name: parse((SCRIPTS / f"{name}.test").read_text())[0] for name in NAMES}
    counted = {name: sum(case.command == "deviates" for case in cases[name]) for name in cases}
    assert {name: count for name, count in counted.items() if count} == DEVIATIONS


def answer(clients: dict[str, IMAPClient], line: str) -> str:
    """Send a command, of the other session where the line begins so; return all that is heard."""
    name = "other" if line.startswith("other ") else ""
    client = clients[name]._imap
    client.send(f"t {line.removeprefix('other ')}\r\n".encode())
    heard = [f"> {line}"]
    while not heard[-1].startswith("t "):
        heard.append(CHANGING.sub(r"\1 …", read(client)))
    return "\n".join(heard)


def read(client: IMAPClient) -> str:
    r"""Return a response in one line: a literal in braces, its line ends as ``\n``."""
    line: bytes = client.readline().removesuffix(b"\r\n")
    while literal := LITERAL.search(line):
        content = client.read(int(literal[1])).replace(b"\r\n", b"\\n")
        rest = client.readline().removesuffix(b"\r\n")
        line = line[: literal.start()] + b"{" + content + b"}" + rest
    return line.decode()
