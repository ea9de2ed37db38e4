"""How a filter's text is understood, and which other filters it refers to."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tapestry.query.context import Context
from tapestry.rewrite.monotonicity import Monotonicity

FilterName = tuple[str, str]
"""An owner and the name of a filter, in small letters."""


RUNS = {
    Monotonicity.MONOTONE: (
        "what matches once matches for ever, and is found as mail and votes arrive"
    ),
    Monotonicity.BOUNDED: (
        "each message is decided once, at the earliest moment at which it can match"
    ),
    Monotonicity.AT_EVENTS: (
        "asked again whenever mail, a vote or the passing of time can change the answer"
    ),
}
"""How a filter runs, for its writer."""


def _runs(kind: Monotonicity, *, live: bool) -> tuple[str, str]:
    """Return how a filter runs, in a word, and the word's meaning.

    A live filter must also notice when a message ceases to match.
    """
    if live and kind is Monotonicity.MONOTONE:
        return kind.value, "what matches once matches for ever, so nothing leaves the list"
    kind = Monotonicity.AT_EVENTS if live else kind
    return kind.value, RUNS[kind]


COSTS = {
    "light": "asleep until mail or a vote comes that has one of its keys",
    "shared": "woken by every new message or vote, with all that ask the same",
    "heavy": "nothing tells when it must be asked, so every run asks it",
}
"""What a filter adds to a run, by the word of ``explain``."""


@dataclass(frozen=True, slots=True)
class Understood:
    """How a filter's text was read: in its canonical phrase, where it has one, and in TQL.

    ``tql`` expands the filters that it refers to, with the addresses of their owners.
    ``display_tql`` is what the writer may be shown, with the filters of others by name; it is
    empty if that is the TQL itself.  ``runs`` says whether the filter is monotone, and ``cost``
    what it adds to a run: a word and its meaning.  The size of its group is not shown: the
    others in it may be somebody's private filters.
    """

    phrase: str | None
    tql: str
    display_tql: str
    runs: tuple[str, str]
    cost: tuple[str, str]
    warnings: tuple[str, ...]


def understand(text: str, context: Context, *, live: bool = False) -> Understood:
    """Parse and compile a filter as a run would; warn as its mode demands.

    Raises TapestryError if it cannot be compiled.
    """
    from tapestry.plan.compile import compile_query
    from tapestry.plan.cost import cost
    from tapestry.plan.explain import filter_monotonicity, warnings
    from tapestry.query.frontend import read
    from tapestry.query.phrases.recognize import canonical_phrase
    from tapestry.query.tree.printer import print_tql

    checked = read(text, context)
    display_tql = print_tql(read(text, replace(context, by_name=True))) if checked.borrows else ""
    plan = compile_query(checked)
    cost_word = cost(plan)
    return Understood(
        canonical_phrase(checked),
        print_tql(checked),
        display_tql,
        _runs(filter_monotonicity(plan), live=live),
        (cost_word, COSTS[cost_word]),
        warnings(plan, live=live),
    )


def track_references(context: Context) -> tuple[Context, set[FilterName]]:
    """Return a context like this one, and the set in which it collects the filters looked up."""
    references: set[FilterName] = set()
    resolve = context.resolve
    if resolve is None:
        return context, references

    def resolve_and_note(owner: str | None, name: str) -> str:
        references.add(((owner or context.owner or "").lower(), name.lower()))
        return resolve(owner, name)

    return replace(context, resolve=resolve_and_note), references
