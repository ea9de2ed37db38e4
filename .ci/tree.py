"""Check that requirements are pinned with hashes and that the top level is what it should be."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

TOP = {
    "manage.py", "tapestry", "filters", "templates", "tests", "requirements.txt", "README.md",
    "Makefile", "pyproject.toml", "LICENSE",
}  # fmt: skip
COMPILED = re.compile(r"^([\w.-]+==[^\s;]+).*\n(?:    .*\n)*", re.MULTILINE)
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
    project = tomllib.loads(Path("pyproject.toml").read_text())
    for name, pins in (
        ("requirements.txt", project["project"]["dependencies"]),
        ("requirements.txt", project["build-system"]["requires"]),
        ("tests/requirements.txt", project["dependency-groups"]["test"]),
    ):
        sentences += [
            f"pyproject.toml: “{pin}” is not pinned exactly."
            for pin in pins
            if not PINNED.fullmatch(pin)
        ]
        compiled = {
            requirement.group(1).lower(): requirement.group()
            for requirement in COMPILED.finditer(Path(name).read_text())
        }
        sentences += [
            f"{name} lacks “{pin}” of pyproject.toml: run make requirements."
            for pin in pins
            if re.sub(r"\[.*\]", "", pin).lower() not in compiled
        ]
        sentences += [
            f"{name}: “{pin}” has no hash: run make requirements."
            for pin, requirement in compiled.items()
            if "--hash=sha256:" not in requirement
        ]
    return sentences


if __name__ == "__main__":
    sentences = complaints()
    print("\n".join(sentences) or "The tree is as it should be.")
    sys.exit(bool(sentences))
