"""Rules about the order in which answers came."""

from __future__ import annotations

import re
from collections.abc import Callable

from tapestry.query.phrases.wordings.rules.answers import counted

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_ANSWERS = "(reply | replies | answer | answers | response | responses)"


def _paused(found: re.Match[str]) -> str:
    return f"replies following a pause of {counted(found['age'])} "


RULES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    *[
        (f"^ the? {ordinal} {_ANSWERS} (to (a | each | every) (mail | message | question))? $",
         f"replies numbered {number} ")
        for ordinal, number in zip(_ORDINALS, _NUMBERS, strict=True)
    ],
    (
        f"^ (a | an | the)? {_ANSWERS} (that came)? (more than)? {{age:AGE}} after the "
        "(one | reply | answer) before (it)? $",
        _paused,
    ),
)  # fmt: skip
