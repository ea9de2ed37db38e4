"""The dialect of Gmail, for rules that were exported from it: as they were understood there.

AND, OR and NOT are words of it in capitals alone, and OR binds closer than what stands side by
side.

>>> from tapestry.query.operators.syntax import parse_search
>>> [part.source for part in parse_search("from:mary lunch OR dinner -(draft copy)", GMAIL)]
['from:mary', 'lunch OR dinner', '-(draft copy)']
"""

import re

from tapestry.query.operators.syntax import Dialect, before_colon

PEOPLE = ("from", "to", "cc", "bcc", "deliveredto")
OPERATORS = (
    *(*PEOPLE, "subject", "list", "has", "filename", "larger", "smaller", "size"),
    *("older_than", "newer_than", "after", "before", "newer", "older"),
    *("category", "label", "is", "in", "rfc822msgid"),
)
"""What Gmail knows before a colon; with another word before it, the whole is searched for."""

GMAIL = Dialect(
    operator=re.compile(rf"({before_colon(OPERATORS)}):\s*", re.IGNORECASE),
    sign=re.compile(r"-+(?=[^\s-])|NOT(?=[\s({\"])\s*"),
    joiner=re.compile(r"(?:AND(?![^\s(){}|\"])|(OR(?![^\s(){}|\"])|\|))\s*"),
    around=re.compile(r"AROUND(?:\s+[0-9]+)?(?![^\s(){}|\"])\s*"),
    people=frozenset(PEOPLE),
    is_or_closer=True,
)
