"""What passes of the scripts of github.com/dovecot/imaptest is asked by scripts of our own, too.

``imaptest.txt`` lists them: what passes, and by which script of ours it is held, or where one ends
and why.  ``suite.py`` runs the scripts themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.filters.imap.imaptest import Command, Step, Variables, matches, read_script
from tests.filters.imap.test_scripts import NAMES
from tests.support.paths import FIXTURES

LIST = FIXTURES / "imap" / "imaptest.txt"


@dataclass(frozen=True, slots=True)
class Listed:
    """A script: what becomes of it, and why, or which of our scripts asks the same."""

    name: str
    outcome: str
    why: str


def listed() -> list[Listed]:
    """Return what the list says of each script."""
    rows = []
    for line in LIST.read_text().splitlines():
        if line[:1] not in ("", "#"):
            what, _, why = line.partition(": ")
            name, _, outcome = what.partition(" ")
            rows.append(Listed(name, outcome.replace("refused", "fails"), why))
    return rows


SCRIPT = b"""\
connections: 2
messages: 3

# The first program reads what the second has changed.
2 ok store 1 +flags ($$todo)
* 1 fetch (flags ($$todo))
1 fetch 1 body.peek[1]
* 1 fetch (body[1] {{{
One

}}})
! bye
1 no [limit]

1 tag1 noop
1 tag2 check
1 tag2 ok
1 tag1 ""
"""


def test_a_script_is_read_as_imaptest_reads_it() -> None:
    script = read_script(SCRIPT)
    assert list(script.messages([b"a", b"b"])) == [b"a", b"b", b"a"]
    body = b"1 fetch (body[1] {5}\r\nOne\r\n)"
    assert script.steps == [
        Step(
            5, 1, [Command(b"", b"store 1 +flags ($$todo)", b"ok")], [b"1 fetch (flags ($$todo))"]
        ),
        Step(7, 0, [Command(b"", b"fetch 1 body.peek[1]", b"no", b"[limit]")], [body], [b"bye"]),
        Step(15, 0, [Command(b"tag1", b"noop", b'""'), Command(b"tag2", b"check", b"ok")]),
    ]


def test_a_reply_is_matched_as_imaptest_matches_it() -> None:
    heard = rb"1 FETCH (UID 7 FLAGS (\Seen \Recent $todo) BODY[1] {2}" + b"\r\nhi)"
    for wanted in (
        b"1 fetch (uid $uid)",
        b"1 fetch (body[1] HI flags ($$todo \\seen))",
        b"1 fetch (flags ($!unordered $!ban=\\deleted \\seen))",
        b"1 fetch (flags $ uid ${uid})",
    ):
        assert matches(wanted, heard, {}), wanted
    for wanted in (
        b"1 fetch (uid 8)",
        b"1 fetch (flags (\\seen))",
        b"1 fetch (flags ($!unordered $!ban=\\recent \\seen))",
        b"1 fetch (body[1] ${case:HI})",
        b"2 fetch $",
    ):
        assert not matches(wanted, heard, {}), wanted


def test_a_variable_has_the_value_that_was_first_heard() -> None:
    variables: Variables = {}
    assert matches(b"1 fetch (uid $uid)", b"1 FETCH (UID 7)", variables)
    assert not matches(b"2 fetch (uid $uid)", b"2 FETCH (UID 9)", variables)
    assert matches(b"ok [uidnext $next]", b"OK [UIDNEXT 8] Predicted.", variables)
    assert variables == {"uid": b"7", "next": b"8"}


def test_what_passes_is_asked_by_a_script_of_ours() -> None:
    rows = listed()
    assert {row.why for row in rows if row.outcome == "passes"} <= set(NAMES)
    assert [row.name for row in rows] == sorted({row.name for row in rows})
    assert all(row.why for row in rows)
