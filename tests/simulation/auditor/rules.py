"""What a rule of importance says, read from the words of its owner or as the page shows them.

per vote, per reply, unread ─> what is counted
from …, about …, … old, newer than …, with a subject starting with … ─> conditions, joined by or,
and, but not; or TQL
"""

from __future__ import annotations

import re
from functools import lru_cache

from tests.simulation.auditor.nodes import And, Node, Not, Or
from tests.simulation.auditor.reader import read

COUNTED = {
    **dict.fromkeys(("per vote", "for each vote"), "votes"),
    **dict.fromkeys(("per reply", "each reply"), "replies"),
    **dict.fromkeys(("unread", "new"), "unread"),
}
BEGINNING = "with a subject starting with "

_NUMBERS = {"one": 1, "two": 2, "three": 3, "twenty": 20}


@lru_cache(maxsize=1024)
def meaning(text: str, address: str) -> Node | str:
    """Return the condition on ``m`` of a rule, or what it counts; ``address`` is that of "me".

    >>> meaning("new", "")
    'unread'
    >>> meaning("from mary or bill", "") == meaning("from mary or from bill", "")
    True
    """
    if text in COUNTED:
        return COUNTED[text]
    if re.search(r"\bm\.", text):
        return read(text)
    arms: list[Node] = []
    for arm in text.split(" or "):
        verb = "" if " " in arm or not arms else "from "
        parts = re.split(r" and | but (?=not )", f"{verb}{arm}")
        arms.append(And(tuple(_part(part, address) for part in parts)))
    return Or(tuple(arms))


def _part(text: str, address: str) -> Node:
    if text.startswith("not "):
        return Not(_part(text.removeprefix("not "), address))
    bare = text.replace('"', "")
    if bare.startswith(BEGINNING):
        return read(f"m.subject LIKE '{bare.removeprefix(BEGINNING)}%'")
    verb, _, rest = bare.partition(" ")
    if verb == "about":
        return read(f"coalesce(m.subject, '') HAS '{rest}'")
    if verb == "from":
        return read(_sender(address if rest == "me" else rest))
    if verb == "newer":
        return read(f"m.received > now() - {_length(rest.removeprefix('than '))}")
    return read(f"m.received < now() - {_length(text.removesuffix(' old'))}")


def _sender(name: str) -> str:
    sender = "coalesce(m.sender, '')"
    if "@" in name:
        return f"{sender} LIKE '%{name}'" if name.startswith("@") else f"{sender} = '{name}'"
    return f"coalesce(m.sender_name, '') HAS '{name}' OR {sender} LIKE '{name}@%'"


def _length(text: str) -> str:
    number, _, unit = text.partition(" ")
    return f"{_NUMBERS.get(number, number)} {unit}"
