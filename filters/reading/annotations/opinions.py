"""What a reader says of a message: kept if it is new, given what of theirs stands already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from filters.people.models import User
from filters.reading.annotations.changes import Change, locked, said_by
from filters.reading.annotations.outbox import annotate, take_back
from tapestry.core.annotations import standing
from tapestry.core.message import Annotation


class Copy(NamedTuple):
    """The copy of a message that an opinion is about."""

    msgid: str
    audience: str


VOTE_FOR = {"kind": "vote", "number": 1, "take_back": "", "private": False}
"""The opinion that a link of a digest gives."""


def keep(user: User, msgid: str, audience: str, given: Mapping[str, Any]) -> Change:
    """Keep an opinion, given as a valid form has it; the same one again says nothing new.

    It is of a message that the person can see, in the copy for an audience.  They have one vote
    and one priority, by whichever way they give it and however many they give at once: another
    takes back what they had.  Return what this changed.
    """
    with locked(user):
        return _kept(user, Copy(msgid, audience), given)


def _kept(user: User, message: Copy, given: Mapping[str, Any]) -> Change:
    kind = given["kind"]
    stands = standing(said_by(user, message.msgid))
    mine = [annotation for annotation in stands if annotation.kind == kind]
    if given["take_back"]:
        named = given["take_back"]
        matching = [
            annotation for annotation in mine if named in (annotation.annid, annotation.value)
        ]
        return _taken_back(user, message, matching)
    if kind in ("tag", "note"):
        if given["value"] in [annotation.value for annotation in mine]:
            return Change(message.msgid)
        return _annotated(user, message, given, value=given["value"])
    if given["number"] and _has(mine, given["number"]):
        return Change(message.msgid)
    change = _taken_back(user, message, mine)
    if given["number"]:
        written = _annotated(user, message, given, number=float(given["number"])).written
        return replace(change, written=written)
    return change


def _has(mine: list[Annotation], number: int) -> bool:
    return bool(mine) and mine[-1].number == number


def _taken_back(user: User, message: Copy, said: list[Annotation]) -> Change:
    take_back(user, said)
    return Change(message.msgid, taken_back=tuple(annotation.annid for annotation in said))


def _annotated(user: User, message: Copy, given: Mapping[str, Any], **content: Any) -> Change:
    kind, private = given["kind"], given["private"]
    kept = annotate(user, message.msgid, message.audience, kind, private=private, **content)
    return Change(message.msgid, written=(kept.annid,))
