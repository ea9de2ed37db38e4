"""Names that a writer may mean: which of them can stand at a place in a phrase."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tapestry.query.limits import BIDI, LETTER
from tapestry.query.phrases.catalogue import KINDS
from tapestry.query.phrases.help.suggestions import Place
from tapestry.query.phrases.printer import quoted

_USERS = ("voted_for_by", "voted_against_by", "annotated_by", "tagged")
"""Phrases in which a person is named as here, not as in mail."""

RECEIVED = ("to", "cc", "directly_to", "only_to")
"""Phrases in which a person got a message."""

_WORD = re.compile(r"[^\s(),\"“”]+")

Named = list[tuple[str, str]]
"""Texts and what they mean."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Names that a writer may mean, likeliest first.

    ``filters`` are one's own; ``shared`` those of others, as (owner, name); ``people`` are
    (address, name), one perhaps empty, who wrote, and ``recipients`` who got mail; ``users`` vote
    and tag.
    """

    filters: tuple[str, ...] = ()
    shared: tuple[tuple[str, str], ...] = ()
    newsgroups: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    people: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    recipients: tuple[tuple[str, str], ...] = ()

    @property
    def everybody(self) -> tuple[tuple[str, str], ...]:
        """Return who got or wrote mail, each once."""
        return tuple(dict.fromkeys((*self.recipients, *self.people)))


def names_at(place: Place, typed: str, vocabulary: Vocabulary) -> Named:
    """Return the names that can stand at a place and begin with what is typed."""
    if "WORD" not in place.accepts or place.within_words:
        return []
    kind, typed = place.kind, typed.lower()
    if kind in ("mentioning", "mentioning_me"):
        description = KINDS["mentioning_me"].description
        return [("me", description)] if "me".startswith(typed) else []
    if "ME" in place.accepts:
        me = [("me", "you yourself")] if "me".startswith(typed) else []
        if kind not in _USERS:
            known = vocabulary.everybody if kind in RECEIVED else vocabulary.people
            return [*me, *_people(typed, known)]
        users = [(name, "who voted or tagged") for name in vocabulary.users]
        return [*me, *_beginning(users, typed)]
    match kind:
        case "in":
            owners = dict.fromkeys(
                owner for owner, _ in vocabulary.shared if _WORD.fullmatch(owner)
            )
            others = [(f"{owner}'s ", f"a filter that {owner} shares") for owner in owners]
            named = [(name, "a newsgroup") for name in vocabulary.newsgroups if "." in name]
            return _beginning([*named, *others], typed)
        case "in_newsgroup":
            return _beginning([(name, "a newsgroup") for name in vocabulary.newsgroups], typed)
        case "in_filter" if place.before and place.before.type == "OWNER":
            whose = str(place.before)[:-2].lower()
            shared = [name for owner, name in vocabulary.shared if owner.lower() == whose]
            return _beginning([(name, f"a filter that {whose} shares") for name in shared], typed)
        case "in_filter":
            return _beginning([(name, "your filter") for name in vocabulary.filters], typed)
        case "tagged":
            return _beginning([(name, "a tag") for name in vocabulary.tags], typed)
        case "on_list":
            return _beginning([(name, "a mailing list") for name in vocabulary.lists], typed)
    return []


def _beginning(named: Named, typed: str) -> Named:
    return [
        (name if name.endswith("'s ") else quoted(name), meaning)
        for name, meaning in named
        if name.lower().startswith(typed) and _shown(name)
    ]


def _people(typed: str, known: tuple[tuple[str, str], ...]) -> Named:
    """Return people some word of whose name, or whose address, begins with what is typed."""
    people: Named = []
    for address, name in known:
        named = _shown(name) and "@" not in name
        folded = name.lower()
        if named and (folded.startswith(typed) or f" {typed}" in folded):
            people.append((quoted(name), address or "a recipient"))
        elif _shown(address) and "@" in address and address.lower().startswith(typed):
            people.append((quoted(address), name if named else "an address"))
    return people


def _shown(name: str) -> bool:
    """Return whether a name has letters, and hides nothing."""
    return bool(LETTER.search(name)) and name.isprintable() and not BIDI.search(name)
