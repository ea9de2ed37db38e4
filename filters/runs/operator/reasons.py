"""Why something fails, in words that say nothing of anybody's mail, folders or filters.

The error itself may quote a filter, name a folder, or be the answer of somebody's server: that is
for its owner.  An error that is not known here is withheld.
"""

from __future__ import annotations

import re

_REASONS = (
    (r"no space left|the disk .* is full", "The disk is full."),
    (r"^the file .* is damaged", "A file is damaged: run manage.py check-data."),
    (r"spark answers, but it runs nothing", "Spark answers, but it runs nothing."),
    (r"spark went down", "Spark went down over it twice."),
    (r"\bspark\b", "Spark does not answer as it should."),
    (r"takes more than .* seconds", "It takes too long to run."),
    (r"finds more than", "It finds too much at once."),
    (r"may not bring mail for", "Its owner may no longer publish mail."),
    (r"is not a public host", "The host is not public (TAPESTRY_PRIVATE_HOSTS)."),
    (r"refused to renew the token|gives? no tokens?|asked for a token", "No token was given."),
    (r"refused the|does not let everybody in", "The server refused the login."),
    (r"\btls\b|certificate", "The connection could not be secured (TLS)."),
    (r"has no (mailbox|newsgroup)|stands for", "A folder or group is not there."),
    (r"does not answer|unreachable|broke off|hung up|goodbye|be reached|timed out|just now",
     "The server cannot be reached."),
    (r"^it failed \(", "It failed unexpectedly; the logs of the workers say why."),
)  # fmt: skip
"""What an error says, and what the operator reads instead; the first that fits counts."""

WITHHELD = "Its owner sees why."


def public_reason(error: str) -> str:
    """Return why something failed, without what is its owner's alone; "" without an error.

    >>> public_reason("mail.example.org refused the password of terry.")
    'The server refused the login.'
    >>> public_reason("mail.example.org has no mailbox Divorce that terry may read.")
    'A folder or group is not there.'
    >>> public_reason("There is no column “secret” here.")
    'Its owner sees why.'
    """
    if not error:
        return ""
    for pattern, reason in _REASONS:
        if re.search(pattern, error, re.IGNORECASE):
            return reason
    return WITHHELD
