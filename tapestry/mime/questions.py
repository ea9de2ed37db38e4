"""Questions that a message asks in its own words: not in quotes, nor in its signature."""

from __future__ import annotations

import re
from collections.abc import Iterator

_REPLY = re.compile(r"\s*(?:re|aw|sv|vs|antw|fwd?|wg)\s*(?:\[\d+\])?\s*:", re.IGNORECASE)
_SIGNATURE = re.compile(r"-- ?\s*|_{5,}\s*|={20,}\s*|\*{20,}\s*")
_ENCLOSED = re.compile(
    r"\s*(?:-+ ?(?:original message|forwarded (?:message|by)|begin forwarded|ursprüngliche "
    r"nachricht)|begin forwarded message|from: .*\[mailto:)",
    re.IGNORECASE,
)
_ATTRIBUTION = re.compile(
    r"\s*(?:(?:on|am|le|el|op|den)\b.{5,200}|\S.{0,200}\bsaid\b.{0,20})?"
    r"\b(?:wrote|writes|schrieb|a écrit|escribió|schreef|skrev)\b.{0,80}:\s*",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\s{0,8}(?:[A-Za-z]{0,12}[>›|»]|: |[+#] ?[>›])")
_NEAR = 12
"""Lines among which something is quoted, after those that say whose words follow."""

_ADDRESS = re.compile(r"(?:https?|ftp)://\S+|\bwww\.\S+", re.IGNORECASE)
_MARK = re.compile(r"(?:\w ?|[)\]\"'”’»*%])[?？]+!*(?=[\s\"'”’»*_:;,-]|$)")
"""A question mark after a word; one in brackets is an aside."""

_WHO = "(?:you|u|someone|somebody|anyone|anybody|one of you)"
_REQUEST = re.compile(
    rf"(?:^|[.!;:,]\s*|\band |\bso |\bbut )(?:(?:can|could|would|will) {_WHO}\b"
    r"|(?:please|pls|kindly) (?:let (?:me|us) know|advi[sc]e|confirm|reply|respond|answer|send|tell"
    r"|explain|help|give|forward|check|review|comment)\b"
    r"|any (?:help|ideas?|suggestions?|hints?|pointers?|advice|insights?|clues?|thoughts|feedback"
    r"|comments)\b)"
    r"|\bi(?:'d| would) (?:appreciate|be (?:very |most )?grateful|like to (?:know|ask))\b"
    r"|\b(?:i am|i'm|i was|am|was|just) wondering (?:if|whether|how|why|what|about)\b"
    r"|\bplease let (?:me|us) know\b|, please[.!]?(?=\s|$)|\bi wonder (?:if|whether|how|why|what)\b"
    r"|(?:^|[.!;:]\s*)(?:is|are) there (?:an?|any|some|another)\b"
    r"|\b(?:suggestions?|help|advice|pointers?|comments?|ideas?) (?:(?:would be|is|are|will be) "
    r"(?:\w+ )?(?:appreciated|welcome)|please)\b"
    r"|\bdoes any(?:one|body) (?:know|have)\b|\bhas any(?:one|body)\b",
    re.IGNORECASE,
)


def questions(subject: str | None, body: str | None, *, is_answer: bool = False) -> int:
    r"""Return how many lines ask something, by a question mark or by words of English that ask.

    The subject counts unless the message is an answer, which repeats it.

    >>> questions("Re: Lunch?", "> Are you coming?\nYes, thanks!\n-- \nWhy not?\n")
    0
    >>> questions("Lunch", "Friday suits me.\nCould you book a table\n")
    1
    """
    is_answer = is_answer or not subject or bool(_REPLY.match(subject))
    own = [] if is_answer else [subject or ""]
    return sum(map(_asks, [*own, *own_lines(body or "")]))


def own_lines(body: str) -> Iterator[str]:
    """Yield the lines that the author of a message wrote for it."""
    lines = body.splitlines()
    for number, line in enumerate(lines):
        if _SIGNATURE.fullmatch(line):
            return
        if not line.strip() or _QUOTED.match(line):
            continue
        if _ENCLOSED.match(line) or _ATTRIBUTION.fullmatch(line):
            # What follows is quoted, line by line or all of it (an answer above what it answers).
            if not any(map(_QUOTED.match, lines[number + 1 : number + _NEAR])):
                return
            continue
        yield line


def _asks(line: str) -> bool:
    words = _ADDRESS.sub("it", line)
    return bool(_MARK.search(words) or _REQUEST.search(words))
