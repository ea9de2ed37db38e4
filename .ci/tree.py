"""Check that requirements are pinned exactly and that the top level is what it should be."""

import re
import subprocess
import sys
from pathlib import Path

TOP = {
    "manage.py", "tapestry", "filters", "templates", "tests", "requirements.txt", "README.md",
    "Makefile", "pyproject.toml", "LICENSE",
}  # fmt: skip
PINNED = re.compile(r"[A-Za-z0-9._-]+(\[[a-z,]+\])?==[0-9][A-Za-z0-9.]*")


def complaints() -> list[str]:
    """Return one sentence for everything that is not as it should be."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], capture_output=True, text=True, check=True
    ).stdout.split("\0")
    top = {name.split("/")[0] for name in listed if name}
    sentences = [
        f"{name} does not belong at the top level."
        for name in sorted(top - TOP)
        if not name.startswith(".")
    ]
    sentences += [f"{name} is missing at the top level." for name in sorted(TOP - top)]
    for file in (Path("requirements.txt"), Path("tests/requirements.txt")):
        for line in file.read_text().splitlines():
            requirement = line.split("#")[0].strip()
            if requirement and not PINNED.fullmatch(requirement):
                sentences.append(f"{file}: “{requirement}” is not pinned exactly.")
    return sentences


if __name__ == "__main__":
    sentences = complaints()
    print("\n".join(sentences) or "The tree is as it should be.")
    sys.exit(bool(sentences))
