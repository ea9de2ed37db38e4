"""Aggregates that people define in SQL: used by their names, changed and deleted under filters."""

from __future__ import annotations

from tests.simulation.generator.cast import Cast
from tests.simulation.generator.pieces import LANES, VOTE, enroll, run, say, write
from tests.simulation.generator.texts import defined


def define(cast: Cast) -> None:
    """Have somebody define an aggregate, filters use it by its name, and it change under them."""
    lots = cast.lots
    person, other = lots.sample(cast.names, 2)
    cast.made += 1
    name = f"g{cast.made}"
    definition, use, features = defined(lots, name)
    _save(cast, person, name, definition, lots.choice(("shared", "shared", "private")))
    for owner, called in ((person, use), (other, f"{person}.{use}")):
        cast.features[called] = sorted(features)
        write(cast, (called,), owner, mode=lots.choice(("keep", "live")))
    enroll(cast)
    _vote_for_some(cast)
    while (new := defined(lots)[0]).partition(")")[0] != definition.partition(")")[0]:
        pass
    _save(cast, person, name, new, lots.choice(("shared", "shared", "private")))
    _vote_for_some(cast)
    if lots.random() < 0.3:
        cast.request(person, "post", "/aggregates/", {"act": "delete", "name": name})
        cast.note_filters("edit", set())


def _save(cast: Cast, person: str, name: str, definition: str, visibility: str) -> None:
    """Have somebody save an aggregate, in place of the one of its name."""
    text = f"CREATE AGGREGATE {name} {definition.removeprefix('AGGREGATE ')}"
    sent = {"act": "save", "text": text, "name": name, "visibility": visibility}
    cast.request(person, "post", "/aggregates/", sent)
    cast.note_filters("edit", set())


def _vote_for_some(cast: Cast) -> None:
    for row in cast.lots.sample(cast.mail.rows, min(len(cast.mail.rows), 4)):
        say(cast, row, VOTE | {"number": cast.lots.choice((1.0, 2.0, -1.0))})
    run(cast, cast.lots.choice(LANES), "filters.tick")
