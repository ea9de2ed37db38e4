"""The three people of the demo, their passwords, their ten filters, and the rules of one."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

from filters.authoring.lifecycle import install
from filters.authoring.models import Filter
from filters.delivery.models import Address, Destination, Subscription
from filters.inbox.appraisal.upkeep import rules_changed
from filters.inbox.models import Appraiser, AppraiserRule
from filters.people.models import User
from filters.sample.cast import PEOPLE
from tapestry.core.clock import DAY, wall_clock
from tapestry.core.errors import TapestryError

WORDS = (
    "amber badge basil birch cedar chalk cloud clover cobalt copper coral crane delta ember fable "
    "falcon fern flint garnet ginger hazel heron indigo ivory jasper juniper kettle lantern larch "
    "lemon linen lotus maple marble meadow mint moss nickel nutmeg oasis olive onyx opal orchid "
    "otter paper pepper plum poplar quartz quill raven river saffron sage silver slate sorrel "
    "spruce thistle timber velvet walnut willow"
)

FILTERS: dict[str, dict[str, str]] = {
    "terry": {
        "jones-replies": "replies by Jones",
        "needs-answer": "starting a thread with no reply, newer than one week",
        "unanswered": "two weeks old with no reply",
        "top-ten": "among the top 10 by votes this week",
        "popular": "voted for by more than 5 people",
        "personal": "to me",
    },
    "mary": {
        "answered": "replied to by Jones",
        "databases": "in comp.databases and about index",
    },
    "alice": {
        "baseball": "in rec.sport.baseball and not replies",
        "machine-room": "in comp.sys.* with no reply",
    },
}
"""The filters of each person: name and text."""

LIVE = frozenset({"needs-answer", "top-ten", "machine-room"})
"""The filters from which messages leave when they no longer match."""

SHARED = frozenset({"databases"})
"""The filters that everybody may follow."""

OPERATOR = "terry"
"""Who may see the operator's page."""

RULES_OF = "terry"
RULES = ((5, "from Jones"), (3, "about benchmark"), (1, "per vote"), (-3, "one week old"))
"""Whose messages are weighed, and the rules of importance: points, and for what."""

AGO = 3 * DAY
"""How long ago the people wrote their filters."""

DIGEST_OF, DIGESTED = "terry", ("needs-answer", "personal", "popular")
"""Who is sent a digest, and of which filters."""


def settle(people: Path) -> dict[str, str]:
    """Create the people where they are missing; return their passwords.

    ``people`` is the file that keeps the passwords, for the next demo to print them again.
    Raises TapestryError where there are accounts that no demo has made.
    """
    passwords = _passwords(people)
    for person in PEOPLE:
        if not User.objects.filter(username=person.user).exists():
            first, last = person.name.split()
            names = {"first_name": first, "last_name": last}
            User.objects.create_user(
                person.user,
                person.address,
                passwords[person.user],
                is_staff=person.user == OPERATOR,
                **names,
            )
    return passwords


def write_filters() -> None:
    """Install the people's filters where they are missing.

    Once their mail is there: installing a filter brings the clock to the present, and what is
    appended after that arrives now, however old it is.
    """
    for user in User.objects.filter(username__in=FILTERS):
        names = set(user.filters.values_list("name", flat=True))
        for name, text in FILTERS[user.username].items():
            if name not in names:
                mode = Filter.Mode.LIVE if name in LIVE else Filter.Mode.KEEP
                sharing = Filter.Visibility
                visibility = sharing.SHARED if name in SHARED else sharing.PRIVATE
                made = install(
                    user, text, name=name, existing=True, mode=mode, visibility=visibility
                )
                # As if they had written it some days ago: what came since is unread.
                since = wall_clock() - AGO
                Filter.objects.filter(pk=made.pk).update(
                    begun_at=since, existing_until=since, folds_before=None
                )


def write_rules() -> None:
    """Give one person rules of importance, unless they have ever had any."""
    person = User.objects.get(username=RULES_OF)
    if Appraiser.objects.filter(owner=person).exists():
        return
    AppraiserRule.objects.bulk_create(
        AppraiserRule(owner=person, weight=weight, text=text, place=place)
        for place, (weight, text) in enumerate(RULES)
    )
    rules_changed(person)


def order_digest() -> None:
    """Have one person be sent a digest, unless they have ever had a destination."""
    person = User.objects.get(username=DIGEST_OF)
    address, is_new = Address.objects.get_or_create(
        owner=person, email=person.email, defaults={"confirmed_at": wall_clock()}
    )
    if not is_new:
        return
    digest = Destination.objects.create(
        owner=person,
        kind="digest",
        name="Digest",
        address=address,
        all_filters=False,
    )
    for filter_ in person.filters.filter(name__in=DIGESTED):
        Subscription.objects.create(destination=digest, filter=filter_)


def _passwords(people: Path) -> dict[str, str]:
    if not people.exists():
        if User.objects.exists():
            raise TapestryError(
                f"{people.parent.parent} holds the mail of real people, not of the demo.",
                hint="Name another directory for the demo with --data DIR.",
            )
        words = WORDS.split()
        made = {person.user: "-".join(map(secrets.choice, [words] * 3)) for person in PEOPLE}
        people.parent.mkdir(parents=True, exist_ok=True)
        people.touch(0o600)
        people.write_text(json.dumps(made, indent=1))
    passwords: dict[str, str] = json.loads(people.read_text())
    return passwords
