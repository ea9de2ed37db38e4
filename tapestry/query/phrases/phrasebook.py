"""Every kind of phrase by an example and what it finds, for the page where filters are written."""

from __future__ import annotations

from tapestry.query.phrases.completion import MEANINGS
from tapestry.query.phrases.printer import CANONICAL

_USUAL = {
    "who": "Jones",
    "words": "release",
    "number": "three",
    "low": "two",
    "upper": "three weeks",
    "age": "two weeks",
    "replies": "replies",
    "people": "people",
    "unit": "KB",
}
_OTHERWISE = {
    "in": {"words": "comp.databases"},
    "in_filter": {"words": "baseball"},
    "on_list": {"words": "everyone"},
    "larger": {"number": "100"},
    "tagged": {"words": "later"},
    "voted": {"who": "terry"},
    "voted_against": {"who": "terry"},
    "annotated": {"who": "terry"},
    "more_votes": {"number": "five"},
    **{kind: {"number": "ten"} for kind in CANONICAL if kind.startswith("top_")},
}


def phrasebook() -> tuple[tuple[str, str], ...]:
    """Return an example of each kind of phrase and its meaning, what is akin together.

    >>> phrasebook()[0]
    ('from Jones', 'sent by somebody: a name, an address, a domain, me')
    """
    return tuple(
        (template.format(**_USUAL | _OTHERWISE.get(kind, {})), MEANINGS[kind])
        for kind, template in CANONICAL.items()
    )
