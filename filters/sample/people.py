"""The three people of the demo, their passwords and their eight filters."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

from django.contrib.auth.models import User

from filters.models import Filter
from filters.sample.cast import PEOPLE, Person
from filters.writing import install
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
        "unanswered": "two weeks old with no reply",
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
"""Of each person, what they call a filter and what it says."""


def settle(people: Path) -> dict[str, str]:
    """Create the people and their filters where they are missing; return their passwords.

    ``people`` is the file that keeps the passwords, for the next demo to print them again.
    Raises TapestryError where there are accounts that no demo has made.
    """
    passwords = _passwords(people)
    for person in PEOPLE:
        user = _user(person, passwords[person.user])
        held = set(Filter.objects.filter(owner=user).values_list("name", flat=True))
        for name, text in FILTERS[person.user].items():
            if name not in held:
                install(user, text, name=name, existing=True)
    return passwords


def _passwords(people: Path) -> dict[str, str]:
    try:
        kept: dict[str, str] = json.loads(people.read_text())
    except FileNotFoundError:
        if User.objects.exists():
            raise TapestryError(
                f"{people.parent.parent} holds the mail of real people, not of the demo.",
                hint="Name another directory for the demo with --data DIR.",
            ) from None
        kept = {
            person.user: "-".join(map(secrets.choice, [WORDS.split()] * 3)) for person in PEOPLE
        }
        people.parent.mkdir(parents=True, exist_ok=True)
        people.touch(0o600)
        people.write_text(json.dumps(kept, indent=1))
    return kept


def _user(person: Person, password: str) -> User:
    first, last = person.name.split(" ", 1)
    user, made = User.objects.get_or_create(
        username=person.user,
        defaults={"email": person.address, "first_name": first, "last_name": last},
    )
    if made:
        user.set_password(password)
        user.save()
    return user
