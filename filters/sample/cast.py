"""Who writes and votes in the sample: the people of Loom Laboratory and its neighbours."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

DOMAIN = "loom.example"


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody of the sample; ``talk`` is how much they write, compared with the others."""

    user: str
    name: str
    address: str
    talk: float
    signature: str


def _person(name: str, talk: float, signature: str, domain: str = DOMAIN) -> Person:
    letters = unicodedata.normalize("NFKD", name.lower())
    first, last = letters.encode("ascii", "ignore").decode().split()
    return Person(first, name, f"{first}.{last}@{domain}", talk, signature)


TERRY = _person("Terry Goodwin", 3.0, "Terry")
MARY = _person("Mary Jones", 9.0, "-- \nMary Jones, storage group\nBackups are a kind of memory.")
ALICE = _person("Alice Okafor", 4.0, "Alice")

PEOPLE = (TERRY, MARY, ALICE)
"""Those who have an account in the demo."""

CAST = (
    *PEOPLE,
    _person("Ben Castellano", 3.5, "Ben"),
    _person("Chiara Lindqvist", 3.0, "-- \nChiara"),
    _person("Dmitri Vasquez", 2.5, "cheers, D."),
    _person("Edith Marlowe", 2.0, "Edith\n(in on Tuesdays and Thursdays)"),
    _person("Farid Nakamura", 2.5, "Farid"),
    _person("Gwen Abernathy", 2.0, "Gwen", "abernathy.example"),
    _person("Hollis Tran", 2.5, "-- \nHollis Tran, machine room"),
    _person("Ingrid Pöhl", 1.5, "Ingrid", "institute.example"),
    _person("Jamal Whitcombe", 2.0, "Jamal", "river.example"),
    _person("Kenji Duarte", 1.5, "K.", "river.example"),
    _person("Lucía Brandt", 1.5, "saludos,\nLucía", "institute.example"),
    _person("Nora Fitzhugh", 1.5, "Nora", "abernathy.example"),
    _person("Otto Serrano", 1.0, "Otto", "river.example"),
    _person("Priya Halloran", 1.5, "Priya", "institute.example"),
    _person("René Ashdown", 1.0, "René", "abernathy.example"),
)

VOTERS = tuple(person.user for person in CAST[:14])
"""User names under which people vote and tag."""
