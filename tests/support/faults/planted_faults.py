"""Faults planted in every function of the product that a program calls for one victim.

The functions are those that are seen to be called (``calls_for``), not a list by hand.  Planted,
one raises whenever it is called with something of the victim's among its arguments.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import _lru_cache_wrapper
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from zlib import crc32

from django.db.models import Model

from tapestry.core.program_version import program_version
from tapestry.query.phrases.grammar import grammar

ROOT = Path(__file__).resolve().parents[3]
PRODUCT = tuple(f"{ROOT / package}/" for package in ("tapestry", "filters"))
MOST = 300
"""Elements of a collection that are looked at."""


class PlantedError(Exception):
    """The fault that was planted."""


class PlantedKeyError(PlantedError, KeyError):
    """One that looks like what is missing."""


class PlantedValueError(PlantedError, ValueError):
    """One that looks like what cannot be read."""


class PlantedAttributeError(PlantedError, AttributeError):
    """One that looks like what is of another type."""


KINDS = (PlantedError, PlantedKeyError, PlantedValueError, PlantedAttributeError)


def error_of(code: CodeType) -> PlantedError:
    """Return the error that is raised in a function: always the same kind, and others elsewhere."""
    return KINDS[crc32(name_of(code).encode()) % len(KINDS)](name_of(code))


class Victim:
    """Whose things are told from those of others: by a word of a text, or by keys."""

    def __init__(self, word: str, keys: Collection[int]) -> None:
        self.word, self.keys = word, frozenset(keys)

    def has(self, value: Any, depth: int = 5) -> bool:
        """Tell whether something is, or has somewhere inside, what is the victim's."""
        if isinstance(value, str):
            return self.word in value
        if isinstance(value, int):
            return value in self.keys
        if depth == 0 or value is None:
            return False
        return any(self.has(part, depth - 1) for part in _parts(value))


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        some = [*value, *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        some = list(value)
    elif isinstance(value, Model):
        some = [part for name, part in vars(value).items() if not name.startswith("_")]
    elif is_dataclass(value) and not isinstance(value, type):
        some = [getattr(value, field.name, None) for field in fields(value)]
    else:
        some = []
    yield from some[:MOST]


def _arguments(frame: FrameType) -> list[Any]:
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return [frame.f_locals[name] for name in code.co_varnames[:count] if name in frame.f_locals]


def calls_for(victim: Victim, program: Callable[[], object]) -> list[CodeType]:
    """Run a program; return the product's functions that it calls with what is the victim's."""
    seen: dict[CodeType, bool] = {}

    def look(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and not seen.get(code) and code.co_filename.startswith(PRODUCT):
            seen[code] = victim.has(_arguments(frame))

    forget_all()
    sys.setprofile(look)
    try:
        program()
    finally:
        sys.setprofile(None)
    return sorted((code for code, is_his in seen.items() if is_his), key=name_of)


@dataclass
class Fault:
    """A fault that was planted: how often it was raised; it is not while it is not ``active``."""

    raised: int = 0
    active: bool = True


@contextmanager
def planted(victim: Victim, at: CodeType) -> Iterator[Fault]:
    """Have a function raise for the victim in this block.

    An exception of a trace function goes to the function that was called, and ends the tracing;
    the profile function begins it again with what happens next, and is not called any more.
    """
    fault = Fault()

    def trace(frame: FrameType, event: str, _: Any) -> None:
        if frame.f_code is at and fault.active and victim.has(_arguments(frame)):
            fault.raised += 1
            sys.setprofile(begin_again)
            raise error_of(at)

    def begin_again(frame: FrameType, event: str, _: Any) -> None:
        sys.setprofile(None)
        sys.settrace(trace)

    before = sys.gettrace()
    forget_all()
    sys.settrace(trace)
    try:
        yield fault
    finally:
        sys.setprofile(None)
        sys.settrace(before)


def name_of(code: CodeType) -> str:
    """Return the name of a function, with its file."""
    return f"{Path(code.co_filename).relative_to(ROOT)}:{code.co_qualname}"


def forget_all() -> None:
    """Clear the product's caches: what is kept in them is not called.

    But for the tables of the grammar and the digest of the program, which are nobody's: to make
    them takes half a second.
    """
    for kept in gc.get_objects():
        if type(kept) is _lru_cache_wrapper and kept not in (grammar, program_version):
            code = getattr(kept.__wrapped__, "__code__", None)
            if code is not None and code.co_filename.startswith(PRODUCT):
                kept.cache_clear()
