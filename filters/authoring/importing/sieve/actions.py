r"""What a rule of Sieve does with a message, as far as a filter here does it too.

>>> from filters.authoring.importing.sieve.grammar import parse_sieve
>>> (rule,) = parse_sieve('if true { addflag "\\\\Seen"; fileinto "INBOX.Lists"; }')
>>> acts_of(rule.block), label_of(rule.block), objection_to(rule.block)
('read label', 'Lists', '')
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from filters.authoring.acts import acts_named
from filters.authoring.importing.entries import DELETES, SPAM, Clause, shown
from filters.authoring.importing.sieve.grammar import Node
from filters.authoring.models import LONGEST_TAG, acts_words
from tapestry.servers.imap_flags import is_tag

ACTIONS = {
    "keep": "Keep it in the inbox: what a filter finds is in its list and in the inbox.",
    "discard": "Delete it: a filter only moves to Trash, in a mailbox that allows that.",
    "fileinto": "File it: the name of the folder is made anew for each message.",
    "redirect": "Forward it: set up forwarding under Delivery, for this filter.",
    "stop": "Stop: a message may be in several filters, and later rules are filters of their own.",
    "reject": "Refuse it: Tapestry does not answer by itself.",
    "ereject": "Refuse it: Tapestry does not answer by itself.",
    "vacation": "Answer it: Tapestry does not answer by itself.",
    "addflag": "Set a flag: a filter marks messages read, stars them or files them as done.",
    "setflag": "Set a flag: a filter marks messages read, stars them or files them as done.",
    "removeflag": "Remove a flag: a filter only sets some.",
    "notify": "Notify: set up notifications under Delivery, for this filter.",
}
"""What is said of each action that is not translated."""

_FLAGS = {"\\seen": "read", "\\flagged": "star"}
_ARCHIVES = {"archive", "archives", "all mail"}
_BINS = {"trash", "deleted", "deleted items", "deleted messages", "bin"}
_SPAM = {"junk", "spam", "junk e-mail", "bulk mail"}

_FOLDERS = {
    **dict.fromkeys(_BINS, ACTIONS["discard"]),
    **dict.fromkeys(_SPAM, "Send it to Spam: Tapestry has no Spam folder."),
    "inbox": ACTIONS["keep"],
}
"""What is said of each folder that is no tag."""


def acts_of(actions: Iterable[Node]) -> str:
    """Return what actions do that a filter here does too, as filters store it."""
    return acts_named([act for action in actions for act in _acts(action)])


def label_of(actions: Iterable[Node]) -> str:
    """Return with what actions tag: a filter here gives one tag, which is the first of them."""
    return next((label for action in actions for label in _labels(action)), "")


def objection_to(actions: Sequence[Node]) -> str:
    """Return why a filter here would do the opposite of what a rule does; empty if it would not."""
    folders = {folder_of([action]).lower() for action in actions}
    if any(action.name == "discard" for action in actions) or folders & _BINS:
        return DELETES
    return SPAM if folders & _SPAM else ""


def folder_of(actions: Iterable[Node]) -> str:
    """Return the last part of the folder that a rule files into, empty if it does not."""
    for action in actions:
        names = [value for value in action.arguments if isinstance(value, tuple) and value]
        if action.name == "fileinto" and names and "${" not in names[-1][0]:
            return names[-1][0].replace("/", ".").rpartition(".")[2].strip()
    return ""


def clause_of(action: Node, label: str = "") -> Clause:
    """Return an action as the page shows it, and what becomes of it; ``label`` is the one tag."""
    source = shown(action.source)
    if acts := acts_of([action]):
        more = any(other != label for other in _labels(action))
        problem = "A filter here gives one tag, the first." if more else ""
        return Clause(source, acts_words(acts.split(), label), problem, is_action=True)
    known = _FOLDERS.get(folder_of([action]).lower()) or ACTIONS.get(action.name)
    unknown = f"Not translated: Tapestry has nothing like “{action.name}”."
    sentence = f"Not translated. {known}" if known else unknown
    return Clause(source, problem=sentence, is_action=True)


def _acts(action: Node) -> Iterator[str]:
    yield from _of_flags(_flags_of(action))
    if action.name in ("fileinto", "keep") and folder_of([action]).lower() in _ARCHIVES:
        yield "skip"
    if any(_labels(action)):
        yield "label"


def _labels(action: Node) -> Iterator[str]:
    """Yield what an action tags with: the folder that it files into, and keywords."""
    folder = folder_of([action])
    if folder and folder.lower() not in _ARCHIVES | _BINS | _SPAM | {"inbox"}:
        yield folder[:LONGEST_TAG]
    for flags in _flags_of(action):
        yield from (flag for flag in " ".join(flags).split() if is_tag(flag))


def _flags_of(action: Node) -> Iterator[Sequence[str]]:
    strings = [value for value in action.arguments if isinstance(value, tuple)]
    if action.name in ("addflag", "setflag"):  # the name of a variable may stand before the flags
        yield from strings[-1:]
    elif action.name in ("fileinto", "keep") and ":flags" in action.arguments:
        after = action.arguments[action.arguments.index(":flags") + 1 :]
        yield from [value for value in after if isinstance(value, tuple)][:1]


def _of_flags(lists: Iterable[Sequence[str]]) -> Iterator[str]:
    for flags in lists:
        for flag in " ".join(flags).lower().split():  # RFC 5232: a string may hold several
            if flag in _FLAGS:
                yield _FLAGS[flag]
