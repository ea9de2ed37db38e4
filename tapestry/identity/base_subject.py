"""The base subject (RFC 5256, 2.1): what a subject says without the marks of replies and lists.

By it messages are ordered.  Less is left out of what says whether two messages are the same
(tapestry.identity.content).
"""

from __future__ import annotations

import re

REPLY, FORWARD = "re|aw|sv|antw", "fwd?|wg"
"""What programs put before a subject, also in German, Dutch and Scandinavian: a pattern each."""

_LEADER = re.compile(
    rf"\s*(?:\[[^][]*\]\s*)*(?:{REPLY}|{FORWARD})\s*(?:\[[^][]*\]\s*)?:", re.IGNORECASE
)
_BLOB = re.compile(r"\s*\[[^][]*\]\s*(?=\S)")
_TRAILER = re.compile(r"(?:\s|\(fwd\))+\Z", re.IGNORECASE)
_WRAPPED = re.compile(r"\s*\[fwd:(.*)\]\Z", re.IGNORECASE | re.DOTALL)


def base_subject(subject: str) -> str:
    r"""Return a subject without what replies, forwarding and lists put around it.

    >>> base_subject("Re: [pg-hackers] Fwd[2]:  The plan,\tagain (fwd)")
    'The plan, again'
    >>> base_subject("[Fwd: Re: Lunch]"), base_subject("[all]")
    ('Lunch', '[all]')
    """
    rest = subject
    while True:
        before = rest = _TRAILER.sub("", rest)
        if found := _WRAPPED.match(rest):
            rest = found[1]
        elif found := _LEADER.match(rest) or _BLOB.match(rest):
            rest = rest[found.end() :]
        if rest == before:
            return " ".join(rest.split())
