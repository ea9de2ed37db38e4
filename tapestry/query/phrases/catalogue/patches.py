"""Phrases about patches: the files that they touch, series of them, and who reviewed these."""

from __future__ import annotations

import re

from tapestry.core.schema import MESSAGES, Type
from tapestry.query.phrases.catalogue import conditions as c
from tapestry.query.phrases.catalogue.kind import PhraseKind
from tapestry.query.phrases.nodes import Phrase, Words
from tapestry.query.tree import nodes as n

_WILDCARD = re.compile(r"[*?]")


def touches(path: Words) -> n.Condition:
    """Return that a patch is to a file, or to one in a folder, as ``.gitignore`` names them.

    What has a slash is a path from the root; other words may stand anywhere in a path.
    """
    if _WILDCARD.search(path.text):
        return c.like("diff_paths", path)
    name = path.text.strip("/")
    if "/" not in path.text:
        return n.Has(c.column("diff_paths"), c.text(name, path.span))
    inside = n.Like(c.column("diff_paths"), c.text(f"{c.escape(name)}/%", path.span))
    if path.text.endswith("/"):
        return inside
    return n.Or((c.equal(c.column("diff_paths"), c.text(name, path.span)), inside))


def _is_patch(number: int) -> n.Condition:
    return c.equal(c.column("patch"), n.Literal(number, Type.INTEGER))


_BY_ANOTHER = n.Compare("<>", c.column("sender", "p"), c.column("sender"))


def _reviewed(*tests: n.Condition) -> n.Condition:
    """Return that a message below this one, which no program sent, meets some tests."""
    links = (c.column("inreplyto", "p"), c.column("references", "p"))
    below = n.Or.of([c.equal(link, c.column("msgid")) for link in links])
    in_person = n.IsNull(c.column("automatic", "p"))
    return n.Exists((n.Binding("p", MESSAGES),), n.And.of((below, in_person, *tests)))


def _no_recent_review(phrase: Phrase) -> n.Condition:
    since = c.ago(c.length(phrase.amount))
    recent = _reviewed(_BY_ANOTHER, n.Compare(">", c.column("received", "p"), since))
    return n.And((n.Not(recent), n.Compare("<=", c.column("received"), since)))


KINDS = (
    PhraseKind(
        spelling="touching {words:inode.c}",
        description="with a patch to this file, or to files in this folder",
        rank=80,
        meaning=lambda phrase, _: touches(phrase.words),
    ),
    PhraseKind(
        spelling="with a patch",
        description="with [PATCH] in the subject, and answering no such message",
        rank=86,
        meaning=lambda *_: n.Not(n.IsNull(c.column("patch"))),
        others=("BARE_PATCHES",),
    ),
    PhraseKind(
        spelling="patch series",
        description="that begin a series of patches: a cover letter, or the first patch",
        rank=81,
        meaning=lambda *_: n.Or(
            (_is_patch(0), n.And((_is_patch(1), n.IsNull(c.column("inreplyto")))))
        ),
    ),
    PhraseKind(
        spelling="with no review",
        description="below which nobody but the author wrote, but for programs",
        rank=82,
        meaning=lambda *_: n.Not(_reviewed(_BY_ANOTHER)),
        others=(
            "HAS NO REVIEW",
            "WITHOUT (A | AN | ANY)? REVIEW",
            "UNREVIEWED",
            "NOBODY HAS? REVIEWED",
        ),
    ),
    PhraseKind(
        spelling="with a review",
        description="below which somebody but the author wrote, and no program",
        rank=85,
        meaning=lambda *_: _reviewed(_BY_ANOTHER),
        others=("REVIEWED",),
    ),
    PhraseKind(
        spelling="reviewed by {person:Jones}",
        description="below which this person wrote, and no program of theirs",
        rank=84,
        meaning=lambda phrase, context: _reviewed(c.sender_is("p", phrase.person, context)),
    ),
    PhraseKind(
        spelling="with no review for {age:one week}",
        description="at least so old, and not reviewed of late",
        rank=83,
        meaning=lambda phrase, _: _no_recent_review(phrase),
        others=(
            "WITHOUT (A | AN | ANY)? REVIEW FOR age",
            "UNREVIEWED FOR age",
            "NOBODY HAS? REVIEWED (FOR | IN) age",
        ),
    ),
)
