"""Mail programs, which read the lists of people by IMAP, and set flags there."""

from __future__ import annotations

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


def read_mail(cast: Cast, *, settled: bool = False) -> None:
    """Have a mail program read a mailbox of somebody, and perhaps set a flag there.

    At a settled point each person reads one, and sets none.
    """
    lots = cast.programs
    for person in cast.names if settled else [lots.choice(cast.names)]:
        own = [row["name"] for row in cast.filters.values() if row["owner"] == person]
        mailboxes = {**PAGES, **{f"Filters/{name}": ("filter", name) for name in own}}
        mailbox = lots.choice([*["INBOX"] * 2, *mailboxes])
        found = cast.ask(mailbox, "read_mailbox", name=person, mailbox=mailbox)
        if found is None:
            continue
        page, name = mailboxes[mailbox]
        told = {"person": person, "mailbox": mailbox, "page": page, "name": name, **found}
        if settled:
            cast.history.add("seen", kind="imap", **told)
            continue
        cast.history.add("imap", **told)
        if found["rows"] and lots.random() < 0.5:
            chosen = lots.sample(found["rows"], min(len(found["rows"]), lots.choice((1, 1, 3))))
            _set_flag(cast, person, mailbox, chosen)


def _set_flag(cast: Cast, person: str, mailbox: str, rows: list[list[Any]]) -> None:
    (flag, is_set), action = cast.programs.choice(list(ACTIONS.items()))
    before = triage_steps(cast.world, person)
    told = {"name": person, "mailbox": mailbox, "uids": [row[0] for row in rows]}
    done = cast.ask(mailbox, "set_flag", **told, flag=flag, is_set=is_set)
    made = [step for step in triage_steps(cast.world, person) if step not in before]
    cast.steps.setdefault(person, []).extend(made)
    msgids = list(dict.fromkeys(row[1] for row in rows))
    told = {"person": person, "msgids": msgids, "status": 200 if done else None}
    cast.history.add("act", kind=action, **told, step_made=made)
