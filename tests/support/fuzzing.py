"""Fuzzing: seeds that are cut, repeated, spliced and changed, for so many examples or minutes.

Hypothesis draws the changes, and shrinks what it finds.  FUZZ_SECONDS is how long each campaign
of `make test-long` takes; SEEDS names a directory of more mail to begin with.
"""

from __future__ import annotations

import os
import re
import tarfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.support.formats.datadriven import parse
from tests.support.paths import FIXTURES, ROOT

SECONDS = float(os.environ.get("FUZZ_SECONDS") or 600)

ROUND = 200
"""Examples between two looks at the clock."""

LARGEST_SEED = 64 * 1024
"""Bytes of a seed: a larger one would only be slower."""

Text = TypeVar("Text", bytes, str)

_BLOCK = re.compile(r"^```\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")


@st.composite
def mutated(draw: st.DrawFn, seeds: Sequence[Text], tokens: Sequence[Text]) -> Text:
    """Draw a seed, changed in up to six places; ``tokens`` are what is put there."""
    text = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 6))):
        begin = draw(st.integers(0, len(text)))
        end = min(len(text), begin + draw(st.sampled_from((0, 0, 1, 1, 2, 4, 16, 100, 1000))))
        way = draw(st.sampled_from(("token", "token", "cut", "repeat", "splice", "swap")))
        if way == "token":
            middle = draw(st.sampled_from(tokens))
        elif way == "repeat":
            middle = text[begin:end] * draw(st.sampled_from((2, 3, 30)))
        elif way == "splice":
            other = draw(st.sampled_from(seeds))
            place = draw(st.integers(0, len(other)))
            middle = other[place : place + draw(st.integers(0, 300))]
        else:
            middle = text[begin:end][::-1] if way == "swap" else text[:0]
        text = text[:begin] + middle + text[end:]
    return text


def fuzz(
    strategy: st.SearchStrategy[Any], check: Callable[[Any], None], seconds: float = 0
) -> None:
    """Check what a strategy draws: half a round of it, or as many as there is time for."""
    deadline = time.monotonic() + seconds
    number = 0
    while not number or time.monotonic() < deadline:
        number += 1

        @seed(number)
        @settings(
            max_examples=ROUND if seconds else ROUND // 2,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )
        @given(strategy)
        def check_round(drawn: Any) -> None:
            check(drawn)

        check_round()


def mail_seeds() -> list[bytes]:
    """Return the messages of the fixtures, and those below the directory that SEEDS names."""
    seeds = [path.read_bytes() for path in sorted(FIXTURES.rglob("*.eml"))]
    named = os.environ.get("SEEDS")
    for path in sorted(Path(named).rglob("*")) if named else ():
        if path.name.endswith((".tar", ".tar.gz", ".tar.xz")):
            seeds += _packed(path)
        elif path.is_file():
            seeds.append(path.read_bytes()[:LARGEST_SEED])
    return [raw for raw in seeds if len(raw) <= LARGEST_SEED]


def _packed(path: Path) -> Iterator[bytes]:
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:
                yield file.read()


def filter_seeds() -> list[str]:
    """Return the filters of the fixtures, and all that LANGUAGE.md shows as code."""
    text = (ROOT / "tapestry" / "query" / "LANGUAGE.md").read_text()
    seeds = [line for block in _BLOCK.findall(text) for line in block.splitlines()]
    seeds += _SPAN.findall(_BLOCK.sub("", text))
    for room in ("query", "rewrite", "plan"):
        for path in sorted((FIXTURES / room).rglob("*.*")):
            text = path.read_text()
            if path.suffix == ".tsv":
                seeds += [line.split("\t")[1] for line in text.splitlines()]
            else:
                seeds += [case.input for case in parse(text)[0]]
    return list(dict.fromkeys(each for each in seeds if each.strip()))
