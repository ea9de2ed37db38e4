"""What somebody says matters to them: rules of importance, added, weighed, moved and removed."""

from __future__ import annotations

from typing import Any

from tests.simulation.generator import texts
from tests.simulation.generator.cast import Cast

WEIGHTS = (-10, -3, -2, -1, 1, 1, 2, 3, 5, 10)

REFUSED: tuple[dict[str, Any], ...] = (
    *({"weight": 0, "text": "from joe"}, {"weight": 11, "text": "per vote"}),
    *({"weight": "much", "text": "unread"}, {"weight": 1, "text": ""}),
    *({"weight": 2, "text": "replies to joe"}, {"weight": 2, "text": "m.size > 1000"}),
    {"weight": -2, "text": "two days old from joe"},
)
"""What the page does not take."""


def begin(cast: Cast) -> None:
    """Have most people write rules before much is here."""
    for person in cast.names:
        if cast.lots.random() < 0.7:
            _write(cast, person)


def weigh(cast: Cast) -> None:
    """Have somebody write rules, change some that they have, or remove them all."""
    lots = cast.lots
    person = lots.choice(cast.names)
    rules = cast.rules(person)
    if not rules:
        _write(cast, person)
    elif lots.random() < 0.1:
        for rule in rules:
            _change(cast, person, "remove", rule["key"])
    else:
        for rule in lots.sample(rules, min(len(rules), 2)):
            _change(cast, person, lots.choice(("weigh", "remove", "move")), rule["key"])
            _add(cast, person, lots.choice(texts.RULES))


def _write(cast: Cast, person: str) -> None:
    """Have somebody write a few rules, each of another kind."""
    for kind in cast.lots.sample(texts.RULES, 4):
        _add(cast, person, kind)


def _add(cast: Cast, person: str, kind: str) -> None:
    lots = cast.lots
    sent = {"weight": lots.choice(WEIGHTS), "text": texts.rule(lots, kind)}
    if lots.random() < 0.1:
        sent = lots.choice(REFUSED)
    answer = cast.request(person, "post", "/importance/", sent)
    cast.note_rules(person, "add", sent=sent, status=answer and answer["status"])


def _change(cast: Cast, person: str, how: str, key: int) -> None:
    sent = {"weight": cast.lots.choice((*WEIGHTS, 0))} if how == "weigh" else {}
    answer = cast.request(person, "post", f"/importance/{key}/{how}/", sent)
    cast.note_rules(person, how, key=key, sent=sent, status=answer and answer["status"])
