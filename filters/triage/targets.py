"""Which messages an action is for: those of a form, of a selection, or all that is unread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef
from django.http import Http404

from filters.accounts import people
from filters.lists import listing
from filters.lists.cards import CopyKey, ensure_cards
from filters.message import reading
from filters.models import Card, Filter, Match, MessageState, Selection
from filters.runtime import services
from filters.triage.actions import Action
from filters.triage.steps import Target
from tapestry.core.errors import TapestryError


def named_targets(user: User, action: Action, msgids: Sequence[str]) -> list[Target]:
    """Return the messages of these msgids, each the copy that the person sees in their lists.

    Raise Http404 if one is not there, or not theirs to see; TapestryError if the action is for
    messages in lists, and one is in none.
    """
    wanted = list(dict.fromkeys(msgids))
    known = _listed(user, wanted) | _with_state(user, wanted)
    others = [msgid for msgid in wanted if msgid not in known]
    known |= {msgid: _unlisted(user, action, msgid) for msgid in others}
    return [known[msgid] for msgid in wanted]


def selected_targets(user: User, selection: Selection) -> Iterator[Target]:
    """Yield the messages of a selection that the person may still see."""
    audiences = people.audiences(user)
    for part in selection.parts.order_by("pk").iterator(chunk_size=10):
        cards = Card.objects.filter(pk__in=part.cards, audience__in=audiences)
        for row in cards.order_by("pk").values_list("msgid", "audience", "root"):
            yield Target(*row)


def unread_targets(user: User, filter_: Filter | None) -> list[Target]:
    """Return what is unread in the list of a filter, or in the inbox."""
    unread = listing.listed(user, filter_).filter(read_at=None).order_by()
    rows = unread.values_list("msgid", "audience", "card__root").distinct()
    return [Target(*row) for row in rows]


def _listed(user: User, msgids: Sequence[str]) -> dict[str, Target]:
    matches = Match.objects.filter(
        filter__owner=user,
        msgid__in=msgids,
        audience__in=people.audiences(user),
        card__isnull=False,
    )
    rows = matches.order_by("pk").values_list("msgid", "audience", "card__root")
    return {row[0]: Target(*row) for row in rows}


def _with_state(user: User, msgids: Sequence[str]) -> dict[str, Target]:
    same = MessageState.objects.filter(
        owner=user, msgid=OuterRef("msgid"), audience=OuterRef("audience")
    )
    cards = Card.objects.filter(Exists(same), msgid__in=msgids, audience__in=people.audiences(user))
    rows = cards.values_list("msgid", "audience", "root")
    return {row[0]: Target(*row) for row in rows}


def _unlisted(user: User, action: Action, msgid: str) -> Target:
    """Return a message that no filter of the person has found."""
    copies = reading.find(user, msgid)
    if not copies:
        raise Http404("There is no such message, or you may not see it.")
    if action.listed_only:
        raise TapestryError(
            "None of your filters found this message, so it is in none of your lists.",
            hint="You can star it.",
        )
    ensure_cards(services.tables(), [CopyKey(msgid, copies[0].audience)])
    card = Card.objects.get(msgid=msgid, audience=copies[0].audience)
    return Target(card.msgid, card.audience, card.root)
