"""Filters of a file as the page offers them: how each reads here, and whether it is ticked."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from filters.authoring.acts import acts_named
from filters.authoring.compilation.understanding import understand
from filters.authoring.forms import FilterForm
from filters.authoring.importing.entries import DELETES, Entry, shown
from filters.authoring.importing.options import acts_facts, form_data, option_words
from filters.authoring.models import Filter
from filters.people import people
from filters.people.models import User
from tapestry.core.errors import TapestryError
from tapestry.query.context import Context

NO_CONDITION = "None of its conditions could be translated."
NOT_ALL = (
    "Not all conditions could be translated exactly, so it would find other messages than before."
)
ALREADY_HERE = "You have this filter already."
NAME_TAKEN = "You have another filter of this short name: this one would be given a new one."


@dataclass(frozen=True, slots=True)
class Offer:
    """A filter of a file as the page offers it: how it reads here, and whether it is ticked.

    ``facts`` says what its options are, ``is_shared`` whether everyone may see it.  ``problem``
    says why it is not ticked; ``document`` is what the form sends back, empty if it cannot be
    created.
    """

    entry: Entry
    text: str
    problem: str
    is_ticked: bool
    document: str
    facts: tuple[str, ...] = ()

    @property
    def is_shared(self) -> bool:
        return self.entry.options.get("visibility") == Filter.Visibility.SHARED


@dataclass(frozen=True, slots=True)
class Existing:
    """What a person has already of the filters of a file.

    ``names``: the short names that are taken.  ``texts``: the names, short or not, with the text.
    """

    names: frozenset[str]
    texts: frozenset[tuple[str, str]]

    def problem_of(self, entry: Entry, text: str = "") -> str:
        """Return the sentence that says that there is one of this name, empty if there is none.

        ``text``: that which it is created with, if it is not that of the file.
        """
        if (_name(entry), text or entry.text) in self.texts:
            return ALREADY_HERE
        return NAME_TAKEN if entry.options.get("name") in self.names else ""


def existing_of(user: User, entries: Sequence[Entry]) -> Existing:
    """Return what a person has already of the filters of a file."""
    wanted = {_name(entry) for entry in entries}
    names, texts = set(), set()
    for name, title, text in user.filters.values_list("name", "title", "text").iterator():
        names.add(name)
        texts |= {(known, text) for known in {name, title} & wanted}
    return Existing(frozenset(names), frozenset(texts))


def _name(entry: Entry) -> str:
    """Return what tells a filter of a file from others: its short name, or what it is called."""
    return entry.options.get("name") or entry.title


def offers_of(user: User, entries: Sequence[Entry], rest: Sequence[Entry] = ()) -> list[Offer]:
    """Return what the page offers; filters may refer to each other, and to the ``rest``."""
    if user.sources.filter(may_act=True).exists():
        entries = [_deleting(entry) for entry in entries]
    existing = existing_of(user, entries)
    context = _with_filters(people.context(user), [*entries, *rest])
    return [_offer(user, entry, existing, context) for entry in entries]


def _deleting(entry: Entry) -> Entry:
    """Return what deletes elsewhere as what moves to Trash, where a mailbox allows that."""
    if entry.objection != DELETES:
        return entry
    acts = acts_named([*entry.acts.split(), "done", "trash"])
    return replace(entry, acts=acts, objection="")


def refused_offer(user: User, entry: Entry, sentence: str) -> Offer:
    """Return what the page offers again of what could not be created, with the reason."""
    facts, _ = _facts(entry, people.context(user))
    existing = Existing(frozenset(), frozenset())
    return Offer(entry, entry.text, sentence, True, _document(entry, entry.text, existing), facts)


def _offer(user: User, entry: Entry, existing: Existing, context: Context) -> Offer:
    facts, problem = _facts(entry, context)
    if not entry.text:
        return Offer(entry, "", problem or NO_CONDITION, False, "", facts)
    try:
        understood = understand(
            entry.text, replace(context, name=entry.options.get("name") or None)
        )
    except TapestryError as error:
        return Offer(entry, shown(entry.text), error.message, False, "", facts)
    text = entry.text if entry.options else understood.phrase or entry.text
    known = existing.problem_of(entry, text)
    problem = problem or ("" if known else _problem_of_form(user, entry))
    if problem:
        return Offer(entry, text, problem, False, "", facts)
    problem = known or " ".join(filter(None, [entry.objection, "" if entry.is_exact else NOT_ALL]))
    return Offer(entry, text, problem, not problem, _document(entry, text, existing), facts)


def _facts(entry: Entry, context: Context) -> tuple[tuple[str, ...], str]:
    """Return what the options of a filter say, and what is wrong with them."""
    if not entry.options:
        return tuple(acts_facts(_does(entry))), ""
    try:
        return tuple(option_words(entry.options, context.zone)), ""
    except TapestryError as error:
        return (), error.message


def _problem_of_form(user: User, entry: Entry) -> str:
    """Return what is wrong with the options of a filter of Tapestry's own file."""
    if not entry.options:
        return ""
    form = FilterForm(form_data(entry.options), owner=user)
    return "" if form.is_valid() else form_problem(form)


def form_problem(form: FilterForm) -> str:
    """Return in a line what is wrong with a form."""
    return " ".join(str(errors[0]) for errors in form.errors.values())


def _with_filters(context: Context, entries: Sequence[Entry]) -> Context:
    """Return a context in which the filters of a file are known, unless one has that name."""
    texts = {name.lower(): entry.text for entry in entries if (name := entry.options.get("name"))}
    resolve: Callable[[str | None, str], str] | None = context.resolve
    own = ("", (context.owner or "").lower())

    def resolve_in_file(owner: str | None, name: str) -> str:
        assert resolve is not None
        try:
            return resolve(owner, name)
        except TapestryError:
            if (owner or "").lower() not in own or name.lower() not in texts:
                raise
            return texts[name.lower()]

    return replace(context, resolve=resolve_in_file)


def _does(entry: Entry) -> dict[str, str]:
    """Return what a rule from elsewhere does, as options of a filter here."""
    does = {"acts": entry.acts, "acts_label": entry.label}
    return {name: value for name, value in does.items() if value}


def _document(entry: Entry, text: str, existing: Existing) -> str:
    document = {**entry.options, **_does(entry), "title": entry.title, "text": text}
    if document.get("name") in existing.names:
        del document["name"]
    return json.dumps(document, ensure_ascii=False)
