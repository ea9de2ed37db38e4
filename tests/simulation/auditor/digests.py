"""Digests: one leaves out nothing that it has room for, and a flood comes as one alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tests.simulation.auditor.findings import Finding
from tests.simulation.auditor.plans import LAW
from tests.simulation.auditor.transmissions import Transmission

MOST = 25
"""Messages that a digest has room for, those that have left a list among them."""

_LEFT = re.compile(r"^- ", re.MULTILINE)
_REST = re.compile(r"^See the rest: ", re.MULTILINE)


def is_in_flood(sent: Transmission, name: str, *, may_be: bool = False) -> bool:
    """Return whether what a filter found came as the digest of a flood, whose note names it.

    By its name, or by its title, as `To be answered` is that of `to-be-answered`.  With ``may_be``
    also if the note is cut off.
    """
    text = sent.entry["payload"]["text"]
    words = r"[\s-]+".join(map(re.escape, name.split("-")))
    named = re.search(rf"(^|\s){words}\s+found\s", text, re.IGNORECASE)
    return sent.kind == "flood" and (named is not None or (may_be and "…" in text))


def judge_digest(
    sent: Transmission, earlier: Iterable[Transmission], name: str, step: int
) -> Iterator[Finding]:
    """Judge what a digest lists, and whether its flood came as another one before."""
    text = sent.entry["payload"]["text"]
    listed = len(sent.items) + len(_LEFT.findall(text))
    if _REST.search(text) and listed < MOST:
        yield Finding(LAW, f"{name} lists {listed} messages, and leaves out others", step)
    for other in earlier:
        same = (other.kind, other.until) == ("flood", sent.until) and other.key != sent.key
        if sent.kind == "flood" and same:
            yield Finding(LAW, f"{name} is of a flood that came before, as {other.key}", step)
