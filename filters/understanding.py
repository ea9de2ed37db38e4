"""How a filter's text is understood, and which other filters it refers to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tapestry.query.context import Context

Name = tuple[str, str]
"""An owner and the name of a filter, in small letters."""


@dataclass(frozen=True, slots=True)
class Understood:
    """How a filter's text was read: in its canonical phrase, where it has one, and in TQL.

    The TQL says the whole of it: filters that it refers to are written out in it.
    """

    phrase: str | None
    tql: str
    warnings: tuple[str, ...]


def understand(text: str, context: Context, *, live: bool = False) -> Understood:
    """Read a filter, and compile it as far as a run would; warn as its mode demands.

    Raises TapestryError, with the text in it, where it cannot be.
    """
    from tapestry.plan.compile import compile_query
    from tapestry.plan.explain import warnings
    from tapestry.query.printer import print_tql
    from tapestry.query.read import read

    checked = read(text, context)
    warned = warnings(compile_query(checked), live=live)
    return Understood(checked.phrase, print_tql(checked), warned)


def noting(context: Context) -> tuple[Context, set[Name]]:
    """Return a context like this one, and the set in which it notes the filters looked for."""
    sought: set[Name] = set()
    resolve = context.resolve
    if resolve is None:
        return context, sought

    def noted(owner: str | None, name: str) -> str:
        sought.add(((owner or context.owner or "").lower(), name.lower()))
        return resolve(owner, name)

    found: Callable[[str | None, str], str] = noted
    return replace(context, resolve=found), sought
