"""The base subject (RFC 5256, 2.1): what a subject says without the marks of replies and lists."""

from __future__ import annotations

import re

_LEADER = re.compile(
    r"\s*(?:\[[^][]*\]\s*)*(?:re|fwd?|aw|sv|wg|antw)\s*(?:\[[^][]*\]\s*)?:", re.IGNORECASE
)
"""A reply or a forwarded message, also in German, Dutch and Scandinavian, as many programs say."""

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
