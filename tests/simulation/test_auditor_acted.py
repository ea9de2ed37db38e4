"""The auditor finds nothing in right acts in a mailbox, and each that is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.simulation.auditor.acted import Acted
from tests.simulation.auditor.story import Point

DONE: dict[str, Any] = {"filter": 1, "msgid": "m", "user": "al", "ended_at": 9, "outcome": ""}


def point(*lies: tuple[str, list[str]], act: dict[str, Any] = DONE, **became: str) -> Point:
    """A settled point: ``m`` came into INBOX, answered, and lies in these folders by then."""
    came = {"what": "mailbox", "how": "came", "user": "al", "folder": "INBOX"}
    folders: dict[str, list[Any]] = {}
    for name, flags in lies:
        folders.setdefault(name, []).append({"msgid": "m", "flags": flags})
    seen: dict[str, Any] = {
        "mailbox": [{"user": "al", "folders": folders}],
        "matches": [{"rows": [{"filter": 1, "msgid": "m", "acts": json.dumps(became)}]}],
        "mailbox_acts": [{"rows": [act]}],
    }
    return Point(1, 1, [came | {"messages": [{"msgid": "m", "flags": ["\\Answered"]}]}], seen)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (point(("Acted", ["\\Flagged", "\\Answered"]), flag="stands", move="stands"), ""),
        (point(("INBOX", ["\\Answered"]), flag="left", move="own"), ""),
        (point(("INBOX", []), act=DONE | {"outcome": "It takes no flag."}, tag="stands"), ""),
        (point(("INBOX", ["\\Answered"]), flag="stands"), "m has not the flag \\Flagged"),
        (point(("INBOX", ["acted"]), tag="left"), "m has the flag acted"),
        (point(("INBOX", []), move="stands"), "m lies in INBOX"),
        (point(("INBOX.Trash", ["\\Answered"]), trash="stands"), ""),
        (point(("Acted", []), trash="stands"), "m lies in Acted"),
        (point(("Trash", []), trash="left"), "m lies in Trash"),
        (point(("INBOX.Acted", []), move="left"), "m lies in INBOX.Acted"),
        (point(("INBOX", []), ("Acted", []), move="stands"), "m is 2 times in the mailbox"),
        (point(flag="stands"), "m is 0 times in the mailbox"),
        (point(("INBOX", []), act=DONE | {"ended_at": None}, flag="stands"), "has still to act"),
    ],
)
def test_what_lies_in_a_mailbox_is_what_stands(told: Point, words: str) -> None:
    said = [finding.sentence for finding in Acted().judge(told)]
    assert len(said) == bool(words) and all(words in text for text in said), said
