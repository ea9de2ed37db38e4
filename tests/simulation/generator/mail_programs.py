"""Mail programs, which read the lists of people by IMAP and JMAP, and set flags and tags there."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.simulation.generator.cast import Cast
from tests.simulation.generator.desk import triage_steps

PAGES = {"INBOX": ("inbox", ""), "Starred": ("shelf", "starred"), "Done": ("shelf", "done")}
"""The mailboxes that everybody has, and the pages with what is in them."""

ACTIONS = {("seen", True): "read", ("seen", False): "unread"} | {
    ("flagged", True): "star",
    ("flagged", False): "unstar",
}
"""What somebody does who sets a flag, or clears it."""

KEYWORDS = ("later", "Index", "m1")
"""Keywords that mail programs set: tags that people give on pages, but for a capital."""


def read_mail(cast: Cast, *, settled: bool = False) -> None:
    """Have a mail program read a mailbox of somebody, and perhaps set a flag there.

    At a settled point each person reads one, and sets none.
    """
    lots = cast.programs
    for person in cast.names if settled else [lots.choice(cast.names)]:
        own = [row["name"] for row in cast.filters.values() if row["owner"] == person]
        mailboxes = {**PAGES, **{f"Filters/{name}": ("filter", name) for name in own}}
        mailbox = lots.choice([*["INBOX"] * 2, *mailboxes])
        page, name = mailboxes[mailbox]
        told = {"person": person, "mailbox": mailbox, "page": page, "name": name}
        cast.readings += 1
        protocol = Random(f"{cast.world.seed} mail program {cast.readings}")
        if protocol.random() < 0.4:
            _read_by_jmap(cast, told, protocol, settled=settled)
        else:
            _read_by_imap(cast, told, protocol, settled=settled)


def _read_by_imap(cast: Cast, told: dict[str, Any], lots: Random, *, settled: bool) -> None:
    person, mailbox = told["person"], told["mailbox"]
    found = cast.ask(mailbox, "read_mailbox", name=person, mailbox=mailbox)
    if found is None:
        return
    if settled:
        cast.history.add("seen", kind="imap", **told, **found)
        return
    cast.history.add("imap", **told, **found)
    rows = found["rows"]
    if not rows or lots.random() < 0.2:
        return
    if lots.random() < 0.4:
        _set_keyword(cast, person, mailbox, _some(rows, lots), lots)
        return
    rows = _some(rows, lots)
    (flag, is_set), action = lots.choice(list(ACTIONS.items()))
    asked = {"name": person, "mailbox": mailbox, "uids": [row[0] for row in rows]}
    _act(cast, person, action, rows, "set_flag", **asked, flag=flag, is_set=is_set)


def _read_by_jmap(cast: Cast, told: dict[str, Any], lots: Random, *, settled: bool) -> None:
    person, mailbox = told["person"], told["mailbox"]
    asked = {"name": person, "mailbox": mailbox.removeprefix("Filters/")}
    found = cast.ask(mailbox, "read_by_jmap", **asked, since=cast.states.get(person, ""))
    if found is None:
        return
    cast.states[person] = found["state"]
    if settled:
        cast.history.add("seen", kind="jmap", **told, **found)
        return
    cast.history.add("jmap", **told, **found)
    if found["rows"] and lots.random() < 0.7:
        rows = _some(found["rows"], lots)
        (flag, is_set), action = lots.choice(list(ACTIONS.items()))
        keywords = {f"${flag}": True if is_set else None}
        given = {"name": person, "ids": [row[0] for row in rows], "keywords": keywords}
        _act(cast, person, action, rows, "set_by_jmap", **given)


def _some(rows: list[list[Any]], lots: Random) -> list[list[Any]]:
    return lots.sample(rows, min(len(rows), lots.choice((1, 1, 3))))


def _act(
    cast: Cast, person: str, action: str, rows: list[list[Any]], do: str, **asked: Any
) -> None:
    """Have a program set a flag, and tell it as what is done by that."""
    before = triage_steps(cast.world, person)
    done = cast.ask(do, do, **asked)
    made = [step for step in triage_steps(cast.world, person) if step not in before]
    cast.steps.setdefault(person, []).extend(made)
    msgids = list(dict.fromkeys(row[1] for row in rows))
    told = {"person": person, "msgids": msgids, "status": 200 if done else None}
    cast.history.add("act", kind=action, **told, step_made=made)


def _set_keyword(
    cast: Cast, person: str, mailbox: str, rows: list[list[Any]], lots: Random
) -> None:
    """Have a program set a keyword, or clear one: best one that is there."""
    there = sorted({word for row in rows for word in row[5]} & {*KEYWORDS, "index"})
    is_set = not there or lots.random() < 0.5
    keyword = lots.choice(KEYWORDS if is_set else there)
    cast.note_outbox("page")  # what was said before is told apart
    asked = {"name": person, "mailbox": mailbox, "uids": [row[0] for row in rows]}
    done = cast.ask(mailbox, "set_flag", **asked, flag=keyword, is_set=is_set)
    cast.note_outbox("keyword")
    told = {"person": person, "msgids": list(dict.fromkeys(row[1] for row in rows))}
    status = 200 if done else None
    cast.history.add("act", kind="keyword", **told, tag=keyword, is_set=is_set, status=status)
