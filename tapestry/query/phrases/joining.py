"""Join phrases: lists of values, phrases side by side, and the verb before “by joe”."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import lark

from tapestry.query.context import Context
from tapestry.query.phrases import nodes

BY = "by"
"""The kind of “by joe” until it is known whether a verb stands before it."""


def joined(word: str, parts: list[nodes.PhraseNode]) -> nodes.PhraseNode:
    """Return parts joined by a word, those that are joined by it themselves taken apart."""
    if len(parts) == 1:
        return parts[0]
    flat: list[nodes.PhraseNode] = []
    for part in parts:
        flat += part.parts if isinstance(part, nodes.Joined) and part.word == word else (part,)
    return nodes.Joined(word, tuple(flat), 1 + max(map(nodes.depth_of, flat)))


def negated(part: nodes.PhraseNode) -> nodes.Negated:
    """Return ``not`` and a part."""
    return nodes.Negated(part, 1 + nodes.depth_of(part))


def listed(always: str, parts: list[nodes.PhraseNode], words: tuple[str, ...]) -> nodes.PhraseNode:
    """Join the phrases of a list: ``and`` closer than ``or``, a comma as the word that follows.

    Commas alone are ``or``.  Of “from mary and router”, where one value alone can be meant, the
    second is a word, if it is nobody’s name: a message has one sender.
    """
    if always == "or" and words == ("and",):
        first, second = parts
        other = mentioned_or_from(second)
        return joined("or" if other is second else "and", [first, other])
    if always:
        return joined(always, parts)
    groups: list[tuple[list[nodes.PhraseNode], bool]] = [([parts[0]], False)]
    for word, part in zip(words, parts[1:], strict=True):
        if word == "or":
            groups.append(([part], False))
        else:
            members, all_of = groups[-1]
            groups[-1] = ([*members, part], all_of or word == "and")
    return joined("or", [joined("and" if all_of else "or", group) for group, all_of in groups])


def alternatives(node: nodes.PhraseNode) -> tuple[nodes.PhraseNode, ...]:
    """Return the parts of a list, or the one phrase that there is."""
    return node.parts if isinstance(node, nodes.Joined) else (node,)


def mentioned_or_from(part: nodes.PhraseNode) -> nodes.PhraseNode:
    """Return what mentions the name in a phrase, a sender’s if ``with_senders`` finds it is."""
    if not isinstance(part, nodes.Phrase) or part.person.kind != "name":
        return part
    person = part.person
    words = nodes.Words(person.text, person.span)
    return nodes.Phrase("mentioning", words.span, person=person, words=words)


def may_have_senders(node: nodes.PhraseNode) -> bool:
    """Tell whether a name stands in a phrase that is a sender’s if there is such a person."""
    match node:
        case nodes.Joined():
            return any(map(may_have_senders, node.parts))
        case nodes.Negated():
            return may_have_senders(node.part)
        case nodes.Phrase():
            return node.kind == "mentioning" and node.person != nodes.NO_PERSON
    return False


def with_senders(node: nodes.PhraseNode, context: Context) -> nodes.PhraseNode:
    """Return a tree in which such names are senders if they are known, and words otherwise.

    “From mary and farid” is from either, then; “from mary, not farid” has her as its sender.
    """
    match node:
        case nodes.Joined():
            parts: list[nodes.PhraseNode] = []
            for part in node.parts:
                is_from = bool(parts) and _is_of_senders(parts[-1])
                of_sender = _of_sender(part, context)
                if of_sender is None or (is_from and isinstance(part, nodes.Negated)):
                    parts.append(with_senders(part, context))
                elif is_from:
                    parts[-1] = joined("or", [parts[-1], of_sender])
                else:
                    parts.append(of_sender)
            return joined(node.word, parts)
        case nodes.Negated():
            return _of_sender(node, context) or negated(with_senders(node.part, context))
        case nodes.Phrase() if may_have_senders(node):
            return replace(node, person=nodes.NO_PERSON)
    return node


def _of_sender(node: nodes.PhraseNode, context: Context) -> nodes.PhraseNode | None:
    if isinstance(node, nodes.Negated):
        part = _of_sender(node.part, context)
        return negated(part) if part else None
    is_known = isinstance(node, nodes.Phrase) and may_have_senders(node) and context.is_person
    if not is_known or not isinstance(node, nodes.Phrase) or not is_known(node.person.text):
        return None
    return replace(node, kind="from", words=nodes.NO_WORDS)


def _is_of_senders(node: nodes.PhraseNode) -> bool:
    return nodes.kind_of(alternatives(node)[-1]) == "from"


def gapped(children: list[Any]) -> list[Any]:
    """Return phrases of which one says what the other leaves out, as alternatives.

    “From mary about the rent or joe about lunch” is from joe about lunch: what is listed before
    another phrase of the same kind goes on with the phrase before the list.
    """
    for at in range(1, len(children) - 1):
        several, after = children[at : at + 2]
        begin = at - 1 - (isinstance(children[at - 1], lark.Token) and at > 1)
        head = children[begin]
        if not isinstance(head, nodes.Phrase) or not isinstance(several, nodes.Joined):
            continue
        kind = None if isinstance(after, lark.Token) else nodes.kind_of(alternatives(after)[0])
        *own, last = several.parts
        if kind and kind == nodes.kind_of(last) != head.kind and isinstance(last, nodes.Phrase):
            text = last.person.text or last.words.text
            person = nodes.Person(last.person.kind or "name", text, last.span)
            words = nodes.Words(text, last.span)
            second = replace(
                head,
                person=person if head.person.text else head.person,
                words=words if head.words.text else head.words,
            )
            first = joined("and", [head, joined(several.word, own)])
            other = joined("and", gapped([second, *children[at + 1 :]]))
            return [*children[:begin], joined("or", [first, other])]
    return children


class SideBySide(nodes.Joined):
    """Parts of which no word joins the last: “from mary today or yesterday” is of her alone."""


_DAYS = {"on", "newer_than"}


def are_alike(last: nodes.PhraseNode, other: nodes.PhraseNode) -> bool:
    """Tell whether the second of two phrases is an alternative to the first, or both are days."""
    kinds = {nodes.kind_of(alternatives(last)[-1]), nodes.kind_of(other)}
    return None not in kinds and (len(kinds) == 1 or kinds <= _DAYS)


def are_days(before: list[nodes.PhraseNode], after: SideBySide) -> bool:
    """Tell whether alternatives are days, so that what stands beside the last is said of all.

    “Yesterday or today from joe” asks for his mail of two days.
    """
    first, *rest = after.parts
    days = {nodes.kind_of(part) for part in (*before, first)}
    return days <= _DAYS and _DAYS.isdisjoint(map(nodes.kind_of, rest))


def are_days_between(before: SideBySide, after: nodes.PhraseNode) -> bool:
    """Tell whether days end one alternative and begin the next: “today or on Monday about y”.

    It is not so if both say who sent them, or the like.
    """
    *others, last = before.parts
    if not isinstance(after, SideBySide) or not are_days([last], after):
        return False
    kinds = set(map(nodes.kind_of, others))
    return None not in kinds and kinds.isdisjoint(map(nodes.kind_of, after.parts))


_TIMES = _DAYS | {"old", "between_and_old", "since", "after", "before", "until"}


def with_times(before: SideBySide, after: nodes.PhraseNode) -> SideBySide | None:
    """Return alternatives of which the second is times, and the first has times beside others.

    “Today from joe or yesterday” asks for his mail of two days, as no day by itself is asked for.
    """
    times = [part for part in before.parts if is_of_times(part)]
    others = [part for part in before.parts if not is_of_times(part)]
    if not times or not others or not is_of_times(after):
        return None
    either = joined("or", [joined("and", times), after])
    return SideBySide("and", (*others, either), 1 + max(map(nodes.depth_of, (*others, either))))


def is_of_times(node: nodes.PhraseNode) -> bool:
    """Tell whether a phrase, or each of those that are joined, is about when a message came."""
    return {nodes.kind_of(leaf) for leaf in alternatives(node)} <= _TIMES


class LeftOut(nodes.Negated):
    """“Leaving out dave”: of a sender or of words, unless what stands before it is of others."""


def in_context(children: list[Any]) -> list[Any]:
    """Return phrases, “by joe” and what is left out as what they say after the phrase before.

    >>> from tapestry.query.phrases.parser import parse_phrase
    >>> from tapestry.query.phrases.printer import print_phrase
    >>> print_phrase(parse_phrase("cc bob or carol and leaving out dave"))
    '(cc bob or cc carol) and not cc dave'
    """
    found: list[Any] = []
    before: nodes.PhraseNode | None = None
    for child in children:
        is_beside = bool(found) and found[-1] is before
        if is_beside and before and isinstance(child, nodes.Phrase) and child.kind == BY:
            child = _beside(child, before)
        elif before and isinstance(child, LeftOut):
            child = _left_out_of(before, child)
        found.append(child)
        before = before if isinstance(child, lark.Token) else child
    return found


def _beside(by: nodes.Phrase, before: nodes.PhraseNode) -> nodes.PhraseNode:
    """Return what “by joe” says beside a phrase: who sent it, unless it may be who replied."""
    if nodes.kind_of(before) != "replied_to_within":
        return replace(by, kind="from")
    hint = f"Write “from {by.person.text}” for the sender, or “and replied to by {by.person.text}”."
    return nodes.Refused("No phrase says who replied within a time.", by.span, hint)


def _left_out_of(before: nodes.PhraseNode, node: LeftOut) -> nodes.PhraseNode:
    """Return what is left out as what the names before it are: “cc bob but not dave”."""
    last = alternatives(before)[-1]
    names = [part for part in alternatives(node.part) if isinstance(part, nodes.Phrase)]
    if isinstance(last, nodes.Phrase) and last.kind == "tagged" and not last.person.text:
        words = [nodes.Words(part.person.text, part.person.span) for part in names]
        return negated(joined("or", [replace(last, words=tag) for tag in words]))
    if not isinstance(last, nodes.Phrase) or not last.person.text or last.kind == "from":
        return node
    return negated(joined("or", [replace(last, person=part.person) for part in names]))


def _verb_of(phrase: nodes.Phrase) -> str | None:
    """Return the kind of phrase that says of one person what this one says was done."""
    verb = phrase.kind.removesuffix("_more_than_people")
    return verb if verb == "tagged" or verb.endswith("_by") else None


def with_verb(
    node: nodes.PhraseNode, last: nodes.Phrase | None
) -> tuple[nodes.PhraseNode, nodes.Phrase | None]:
    """Return a tree in which each “by joe” has the verb before it, and its last phrase.

    “Voted for by mary but not by joe” is about his vote; elsewhere it is who sent a message, as in
    “replied to by mary by joe”.
    """
    match node:
        case nodes.Joined():
            parts = []
            for part in node.parts:
                done, last = with_verb(part, last)
                parts.append(done)
            return replace(node, parts=tuple(parts)), last
        case nodes.Negated():
            part, after = with_verb(node.part, last)
            return replace(node, part=part), after if nodes.kind_of(node.part) == BY else None
        case nodes.Phrase() if node.kind == BY and last and (verb := _verb_of(last)):
            amount = last.amount if verb == last.kind else nodes.NO_AMOUNT
            node = replace(last, kind=verb, person=node.person, span=node.span, amount=amount)
        case nodes.Phrase() if node.kind == BY:
            node = replace(node, kind="from")
    return node, node if isinstance(node, nodes.Phrase) else None
