"""Which messages an action is for: those of a form, of a selection, or all that is unread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import parse_qsl

from django.http import Http404, QueryDict

from filters.authoring.models import Filter
from filters.inbox.lists.cards import CopyKey, ensure_cards
from filters.inbox.models import Card, Match, Selection
from filters.inbox.triage import lists
from filters.inbox.triage.actions import Action
from filters.inbox.triage.steps import Target
from filters.people import people
from filters.people.models import User
from filters.reading import reading
from filters.site.work.db.batching import batched
from filters.site.work.parts import services
from tapestry.core.errors import TapestryError

_NOT_THERE = "There is no such message, or you may not see it."


FIELD, CONVERSATION = "id", "conversation"
"""The field that names a message, and before a colon and an audience the one that names a copy.

A field of the second name has several of these, as a query: the messages that a line stands for.
"""


def copies_in(form: QueryDict) -> list[CopyKey]:
    """Return the copies that a form names, each once.

    One without an audience is the copy that the person sees in their lists: so it is in pages that
    were open before forms named copies.

    >>> copies_in(QueryDict("id=a&id:public=b&id:group:parc=b&id:public=b&idea=c"))
    [CopyKey(msgid='a', audience=''), CopyKey(msgid='b', audience='public'), \
CopyKey(msgid='b', audience='group:parc')]
    >>> copies_in(QueryDict("conversation=id%3Apublic%3Da%26id%3Apublic%3Db"))
    [CopyKey(msgid='a', audience='public'), CopyKey(msgid='b', audience='public')]
    """
    fields = [(field, str(value)) for field, values in form.lists() for value in values]
    for field, value in list(fields):
        if field == CONVERSATION:
            fields += parse_qsl(value)
    parts = ((field.partition(":"), msgid) for field, msgid in fields)
    copies = (CopyKey(msgid, audience) for (name, _, audience), msgid in parts if name == FIELD)
    return list(dict.fromkeys(copies))


def named_targets(user: User, action: Action, copies: Sequence[CopyKey]) -> list[Target]:
    """Return the messages that a form names, each the copy that it names (``copies_in``).

    Those are left out that are not there, or not theirs to see: another copy does not stand in for
    it.  Left out too, if the action is for messages in lists, are those in none.  Where nothing is
    left, raise Http404; TapestryError if there were some in no list.
    """
    msgids = list(dict.fromkeys(copy.msgid for copy in copies))
    listed: dict[str, Target] = {}
    for batch in batched(msgids):
        listed |= in_lists(user, batch)
    known: dict[CopyKey, Target] = {}
    for batch in batched(copy.msgid for copy in copies if copy.audience):
        known |= _with_cards(user, batch)
    known |= {CopyKey(msgid, ""): target for msgid, target in listed.items()}
    wanted = [copy for copy in copies if copy.msgid in listed or not action.listed_only]
    targets = (known.get(copy) or _with_card(_find(user, copy)) for copy in wanted)
    found = [target for target in targets if target is not None]
    if found:
        return found
    unlisted = {copy.msgid for copy in copies if copy not in wanted and _find(user, copy)}
    if unlisted:
        raise in_no_list(len(unlisted))
    raise Http404(_NOT_THERE)


class SelectedTargets:
    """The messages of a selection that the person may still see, and that an action is for.

    ``left_out``: how many it is not for, as they are in no list; known once it was iterated.
    """

    def __init__(self, user: User, action: Action, selection: Selection) -> None:
        self._user, self._action, self._selection = user, action, selection
        self.left_out = 0

    def __iter__(self) -> Iterator[Target]:
        audiences = people.audiences(self._user)
        for part in self._selection.parts.order_by("pk").iterator(chunk_size=10):
            cards = Card.objects.filter(pk__in=part.cards, audience__in=audiences)
            rows = list(cards.order_by("pk").values_list("msgid", "audience", "root"))
            targets = [Target(*row) for row in rows]
            if self._action.listed_only:
                msgids = {target.msgid for target in targets}
                known = in_lists(self._user, list(msgids))
                self.left_out += len(msgids - known.keys())
                targets = [target for target in targets if target.msgid in known]
            yield from targets


def in_lists(user: User, msgids: Sequence[str]) -> dict[str, Target]:
    """Return those of some messages that are or were in a list of the person, by msgid."""
    return _listed(user, msgids) | _with_state(user, msgids)


def in_no_list(count: int) -> TapestryError:
    """Say that messages are in no list, so that an action is not for them."""
    if count == 1:
        return TapestryError(
            "None of your filters found this message, so it is in none of your lists.",
            hint="You can star it.",
        )
    return TapestryError(
        "None of your filters found these messages, so they are in none of your lists.",
        hint="You can star them.",
    )


def unread_targets(user: User, filter_: Filter | None) -> list[Target]:
    """Return what is unread in the list of a filter, or in the inbox."""
    unread = Match.objects.in_list(user, filter_).filter(read_at=None).order_by()
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
    cards = lists.all_cards_of(lists.seen_states(user).filter(msgid__in=msgids))
    rows = cards.values_list("msgid", "audience", "root")
    return {row[0]: Target(*row) for row in rows}


def _with_cards(user: User, msgids: Sequence[str]) -> dict[CopyKey, Target]:
    """Return the copies of messages that a person may see, of those that have cards."""
    cards = Card.objects.visible_to(user).filter(msgid__in=msgids)
    targets = (Target(*row) for row in cards.values_list("msgid", "audience", "root"))
    return {CopyKey(target.msgid, target.audience): target for target in targets}


def _find(user: User, copy: CopyKey) -> CopyKey | None:
    """Return a copy if it is there; without an audience, the narrowest that the person sees."""
    visible = reading.find(user, copy.msgid, copy.audience or None)
    return CopyKey(copy.msgid, visible[0].audience) if visible else None


def _with_card(copy: CopyKey | None) -> Target | None:
    """Return a copy that has its card; None if it is not there, or was deleted meanwhile."""
    if copy is None:
        return None
    ensure_cards(services.tables(), [copy])
    card = Card.objects.filter(msgid=copy.msgid, audience=copy.audience).first()
    return None if card is None else Target(card.msgid, card.audience, card.root)
