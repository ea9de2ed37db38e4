"""The beginning of what a message itself says: no quotations, no signature."""

from __future__ import annotations

from filters.reading.rendering.blocks import Paragraph, blocks_of
from filters.reading.rendering.lines import lines_of
from tapestry.deliver.one_line import one_line

LONGEST = 240
"""Characters of an excerpt."""

READ = 16 * 1024
"""Characters of a body that are looked at."""


def excerpt(body: str | None) -> str:
    r"""Return the first words of a body that are its author's, as one line; they may be none.

    >>> excerpt("On Monday Joe wrote:\n> Shall we?\n\nYes, at\nnoon.\n\n-- \nTerry")
    'Yes, at noon.'
    """
    own = (
        line
        for block in blocks_of(lines_of((body or "")[:READ]))
        if isinstance(block, Paragraph)
        for line in block.lines
    )
    return one_line(" ".join(own), LONGEST)
