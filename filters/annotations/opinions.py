"""What a reader says of a message: kept if it is new, given what of theirs stands already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.auth.models import User

from filters.annotations.outbox import annotate, take_back
from tapestry.core.message import Annotation, Message


def keep(
    user: User, message: Message, stands: Iterable[Annotation], given: Mapping[str, Any]
) -> None:
    """Keep an opinion, given as a valid form has it; the same one again says nothing new.

    ``stands`` is what the person said of the message before.  They have one vote and one
    priority: another takes back what they had.
    """
    kind = given["kind"]
    mine = [annotation for annotation in stands if annotation.kind == kind]
    if given["take_back"]:
        named = given["take_back"]
        take_back(user, [said for said in mine if named in (said.annid, said.value)])
    elif kind in ("tag", "note"):
        if given["value"] not in [annotation.value for annotation in mine]:
            _annotate(user, message, given, value=given["value"])
    elif not given["number"] or not _has(mine, given["number"]):
        take_back(user, mine)
        if given["number"]:
            _annotate(user, message, given, number=float(given["number"]))


def _has(mine: list[Annotation], number: int) -> bool:
    return bool(mine) and mine[-1].number == number


def _annotate(user: User, message: Message, given: Mapping[str, Any], **content: Any) -> None:
    kind, private = given["kind"], given["private"]
    annotate(user, message.msgid, message.audience, kind, private=private, **content)
