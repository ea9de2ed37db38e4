"""How a filter's text is understood, and which other filters it refers to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tapestry.core.schema import MESSAGES
from tapestry.query.context import Context
from tapestry.rewrite.monotonicity import Monotonicity

if TYPE_CHECKING:
    from tapestry.plan.compile import Compiled

FilterName = tuple[str, str]
"""An owner and the name of a filter, in small letters."""


RUNS = {
    Monotonicity.MONOTONE: "A message that matches once matches for ever.",
    Monotonicity.BOUNDED: "Each message is decided once, as soon as it can match.",
    Monotonicity.AT_EVENTS: "New mail, a vote or the passing of time can change what matches.",
}
"""How a filter runs, for its writer."""


def _runs(kind: Monotonicity, *, live: bool) -> str:
    """Return how a filter runs; a live one must also notice when a message ceases to match."""
    if live and kind is Monotonicity.MONOTONE:
        return "A message that matches once matches for ever, so nothing leaves the list."
    return RUNS[Monotonicity.AT_EVENTS if live else kind]


COSTS = {
    "light": ("Cheap", "checked only when mail or a vote arrives that it could concern"),
    "shared": (
        "Moderate",
        "checked at every new message or vote, together with all filters that ask the same",
    ),
    "heavy": ("Expensive", "checked in every run"),
}
"""What a filter adds to a run, by the word of ``explain``."""

_ARRIVING = {
    frozenset({"sender", "sender_name"}): "from this sender",
    frozenset({"to", "to_names", "cc", "cc_names"}): "to this person",
    frozenset({"filenames", "media_types"}): "with such a file attached",
    frozenset({"subject", "body"}): "with these words",
    frozenset({"diff_paths"}): "with a patch to such a file",
    frozenset({"questions"}): "with a question",
    frozenset({"newsgroups"}): "in this newsgroup",
    frozenset({"list"}): "on this list",
}
"""The mail at which a filter is checked, by the columns of its keys."""


def _costs(plan: Compiled) -> tuple[str, str]:
    """Return what a filter adds to a run, in a word, and when it is checked."""
    from tapestry.plan.cost import cost, disjunct_keys
    from tapestry.plan.key_extractor import KeyExtractor

    word = cost(plan)
    keys = [KeyExtractor.parse(key.extractor) for _, key in disjunct_keys(plan)]
    arrival = all((key.table, key.hop, key.by) == (MESSAGES, None, "ts") for key in keys)
    if word == "light" and arrival:
        columns = {key.column for key in keys}
        for known, arriving in _ARRIVING.items():
            if columns <= known:
                return "Cheap", f"checked only when mail {arriving} arrives"
    return COSTS[word]


@dataclass(frozen=True, slots=True)
class Understood:
    """How a filter's text was read: in its canonical phrase, where it has one, and in TQL.

    ``text`` is the text to store: as written, unless it means another day tomorrow; then its
    phrase.  ``tql`` expands the filters that it refers to, with the addresses of their owners.
    ``display_tql`` is what the writer may be shown, with the filters of others by name; it is
    empty if that is the TQL itself.  ``runs`` says whether what matches can change, and ``cost``
    what the filter adds to a run: a word and its meaning.  The size of its group is not shown:
    the others in it may be somebody's private filters.
    """

    text: str
    phrase: str | None
    tql: str
    display_tql: str
    runs: str
    cost: tuple[str, str]
    warnings: tuple[str, ...]


def understand(text: str, context: Context, *, live: bool = False) -> Understood:
    """Parse and compile a filter as a run would; warn as its mode demands.

    Raises TapestryError if it cannot be compiled.
    """
    from tapestry.plan.compile import compile_query
    from tapestry.plan.explain import filter_monotonicity, warnings
    from tapestry.query.frontend import read, write_out
    from tapestry.query.phrases.recognize import canonical_phrase
    from tapestry.query.tree.printer import print_tql

    checked = read(text, context)
    display_tql = print_tql(read(text, replace(context, by_name=True))) if checked.borrows else ""
    plan = compile_query(checked)
    return Understood(
        checked.lasting_text,
        canonical_phrase(checked),
        write_out(checked),
        display_tql,
        _runs(filter_monotonicity(plan), live=live),
        _costs(plan),
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
