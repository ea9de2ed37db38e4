"""Print the lines of product code by room: without blank lines, comments and docstrings."""

import io
import tokenize
from collections import Counter
from pathlib import Path

IGNORED = {tokenize.COMMENT, tokenize.NL, tokenize.ENDMARKER}
BETWEEN = {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


def code_lines(path: Path) -> int:
    """Return the number of lines of a file that have code."""
    lines: set[int] = set()
    is_first = True
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type in IGNORED:
            continue
        if token.type in BETWEEN:
            is_first = True
        elif not (is_first and token.type == tokenize.STRING):  # else a docstring
            lines.update(range(token.start[0], token.end[0] + 1))
            is_first = False
    return len(lines)


if __name__ == "__main__":
    rooms: Counter[str] = Counter()
    for package in ("filters", "tapestry"):
        for path in Path(package).rglob("*.py"):
            if "migrations" not in path.parts:
                rooms["/".join(path.parts[:2])] += code_lines(path)
    for room, count in sorted(rooms.items()):
        print(f"{count:7,} {room}")
    print(f"{sum(rooms.values()):7,} lines of product code")
