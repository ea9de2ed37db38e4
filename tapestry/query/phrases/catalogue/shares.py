"""Phrases about which part of a message's replies, or of its voters, is of a kind."""

from __future__ import annotations

from decimal import Decimal

from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.query.context import Context
from tapestry.query.phrases.catalogue import conditions as c
from tapestry.query.phrases.catalogue.kind import PhraseKind
from tapestry.query.phrases.catalogue.votes import VOTES, sign
from tapestry.query.phrases.nodes import NOWHERE, Amount, Phrase
from tapestry.query.tree import nodes as n

_IS_REPLY = c.equal(c.column("inreplyto", "r"), c.column("msgid"))
_OPERATORS = {"more than": ">", "at least": ">=", "fewer than": "<"}
_HALF = Amount(Decimal("0.5"), NOWHERE, "%")
_BARE = {"more": "BARE_MORE", "at": "BARE_AT", "fewer": "BARE_LESS"}


def _share(
    phrase: Phrase, compared: str, each: n.Column, rows: n.Condition, test: n.Condition
) -> n.Condition:
    """Return how the share of values of which some row passes a test compares."""
    table = ANNOTATIONS if each.var == "a" else MESSAGES
    among, bindings = n.Among(None, test), (n.Binding(each.var, table),)
    share = n.Aggregate("SHARE", True, each, bindings, rows, among=among)
    return n.Threshold(share, _OPERATORS[compared], c.number(phrase.amount))


def _of_replies(compared: str, rank: int, description: str) -> PhraseKind:
    """Return the phrase for the replies of one person among all replies."""

    def meaning(phrase: Phrase, context: Context) -> n.Condition:
        by = c.sender_is("r", phrase.person, context)
        return _share(phrase, compared, c.column("msgid", "r"), _IS_REPLY, by)

    first, second = compared.split()
    how = f"({_BARE[first]} | HAS {first.upper()}) {second.upper()}"
    return PhraseKind(
        spelling=f"with {compared} {{share:half}} of the replies by {{person:Jones}}",
        description=description,
        rank=rank,
        meaning=meaning,
        others=(
            f"WITH {compared.upper()} share OF REPLIES BY person",
            f"{how} share OF THE? REPLIES BY person",
        ),
    )


def _of_voters(way: str, compared: str, rank: int, description: str) -> PhraseKind:
    """Return the phrase for those who voted for the message, or against it, among all voters."""
    passes = sign(">" if way == "for" else "<")
    most = ((f"VOTED {way.upper()} BY MOST VOTERS", _HALF),)
    return PhraseKind(
        spelling=f"voted {way} by {compared} {{share:two thirds}} of the voters",
        description=description,
        rank=rank,
        meaning=lambda phrase, _: _share(phrase, compared, c.column("owner", "a"), VOTES, passes),
        others=(f"VOTED {way.upper()} BY {compared.upper()} share OF VOTERS",),
        shorthands=most if compared == "more than" else (),
    )


KINDS = (
    _of_replies("more than", 82, "of whose replies this person wrote more than this part"),
    _of_replies("at least", 83, "of whose replies this person wrote such a part, or more"),
    _of_replies("fewer than", 84, "of whose replies this person wrote less than this part"),
    _of_voters("for", "more than", 85, "of whose voters more than this part is for them"),
    _of_voters("for", "at least", 86, "of whose voters such a part, or more, is for them"),
    _of_voters("for", "fewer than", 87, "of whose voters less than this part is for them"),
    _of_voters("against", "more than", 88, "of whose voters more than this part is against them"),
)
