"""Lines of the log: without the tokens of addresses, and one for each request that is refused."""

from __future__ import annotations

import logging
import re
from copy import copy

WITH_TOKEN = (
    *("act", "arrived", "bounces", "confirm", "deleted", "feeds", "forgot", "jmap", "sign-up"),
    "unsubscribe",
)
"""How the addresses begin that have a token, or names of what is in somebody's mail.

Written here, for most processes log and know no table of addresses.
"""

LONGEST_REFUSAL = 500
"""Characters that are written of a request that is refused: a header may be much longer."""

_SLASH = "(?:/|%(?:25)*2f)"
_TOKEN = re.compile(
    rf"((?:(?<![\w-])|(?<=2f))(?:{'|'.join(WITH_TOKEN)}){_SLASH}+)\s*[^\s/].*", re.IGNORECASE
)


def without_tokens(text: str) -> str:
    """Return a text that may have addresses without their tokens, and what follows on the line.

    >>> without_tokens("Not Found: /forgot/MQ/abc-123/x")
    'Not Found: /forgot/…'
    >>> without_tokens("Referer https://x.org/sign-in/?next=%2Fconfirm%2Fabc does not match")
    'Referer https://x.org/sign-in/?next=%2Fconfirm%2F…'
    """
    return _TOKEN.sub(r"\1…", text)


class Lines(logging.Formatter):
    """Write what is logged without tokens; of a request that is refused no traceback.

    A refusal (4xx) is no fault of the site, and whoever sends such a request chooses how many.
    """

    def format(self, record: logging.LogRecord) -> str:
        if not 400 <= getattr(record, "status_code", 0) < 500:
            return without_tokens(super().format(record))
        refusal = copy(record)
        refusal.exc_info = refusal.exc_text = None
        return without_tokens(super().format(refusal))[:LONGEST_REFUSAL]
