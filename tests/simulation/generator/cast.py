"""Who is there in a world, and what was written down of them so far."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from tests.simulation.generator.aims import Aims
from tests.simulation.generator.mail import Mail
from tests.simulation.generator.texts import features_of
from tests.simulation.world import CrashedError, OrderFailedError, World

PEOPLE = {"alice": "mary@x.org", "bob": "bill@y.org", "Joe": "joe@x.org"}
ZONES = ("UTC", "America/New_York", "Asia/Kolkata", "Europe/Berlin")

BY_PROGRAM = 0.15
"""How much of what may be done on a page is done by a program, by the API."""

SHARE = 16
"""Features that are drawn first in a world, and then as many again."""


class Cast:
    """The people of a world, their mail, and what of the database was told to the history."""

    def __init__(self, world: World) -> None:
        self.world, self.history = world, world.history
        self.lots = random.Random(f"{world.seed} cast")
        self.programs = random.Random(f"{world.seed} programs")
        self.tokens: dict[str, str] = {}
        self.cursors: dict[int, tuple[int, str]] = {}
        self.arrivals: list[tuple[str, str]] = []
        self.states: dict[str, str] = {}
        self.readers = self.readings = 0
        self.reminded: dict[str, list[str]] = {}
        self.starred: dict[str, list[str]] = {}
        self.mail = Mail(random.Random(f"{world.seed} mail"))
        self.names: list[str] = []
        self.groups: dict[str, list[str]] = {}
        self.people: dict[str, dict[str, Any]] = {}
        self.destinations: dict[int, str] = {}
        self.told_destinations: dict[str, dict[str, Any]] = {}
        self.browsers: dict[str, int] = {}
        self.early = 0
        self.made = self.batches = self.backups = 0
        self.told_outbox = 0
        self.said: list[dict[str, Any]] = []
        self.flickered: list[dict[str, Any]] = []
        self.filters: dict[int, dict[str, Any]] = {}
        self.steps: dict[str, list[str]] = {}
        self.letters: dict[str, dict[str, Any]] = {}
        self.stored: set[str] = set()
        self.features: dict[str, list[str]] = {}
        self.aims = Aims(world.seed, world.history.entries)
        self.used = Counter[Any](
            {name: place // SHARE for place, name in enumerate(self.aims.order)}
        )

    def arrive(self) -> None:
        """Have the people of this world come."""
        self.order("group", name="x")
        for name in list(PEOPLE)[: self.lots.choice((2, 2, 3))]:
            self.groups[name] = ["x"] if self.lots.random() < 0.6 else []
            self.names.append(name)
            # Every other person has a line for each conversation.
            choices = {"conversations": len(self.names) % 2 == 1}
            self.tell_person(name, time_zone=self.lots.choice(ZONES), **choices)

    def tell_person(self, name: str, **profile: Any) -> None:
        """Make a person, or change them, and write down all of it."""
        told = {**self.people.get(name, {}), **profile}
        told |= {"name": name, "email": PEOPLE[name], "groups": self.groups[name]}
        self.order("person", **told)
        self.people[name] = told
        self.history.add("person", **told)

    def come_back(self) -> None:
        """Write down what is there after a backup has taken the place of all that was stored."""
        for name in self.names:
            self.tell_person(name)
            self.note_rules(name, "restored")
        self.note_filters("restored", set(self.filters))
        self.note_deleted()
        for row in self.world.select("SELECT id AS key, uid, cursor FROM delivery_destination"):
            if row["key"] not in self.destinations:
                self.tell_destination(**{**self.told_destinations[row["uid"]], **row})
        (row,) = self.world.select("SELECT max(id) AS last FROM reading_outboxannotation")
        self.told_outbox = row["last"] or 0
        self.steps.clear()

    def tell_destination(self, **told: Any) -> None:
        """Write down a destination that was made, or is there again."""
        self.destinations[told["key"]] = told["uid"]
        self.told_destinations[told["uid"]] = told
        self.history.add("destination", **told)

    def note_deleted(self) -> None:
        """Write down which destinations are there no more."""
        rows = self.world.select("SELECT id FROM delivery_destination")
        for key in sorted(self.destinations.keys() - {row["id"] for row in rows}):
            self.history.add("destination", how="deleted", key=key, uid=self.destinations.pop(key))

    @property
    def audiences(self) -> list[str]:
        """Return whom mail may be for, the likely ones more often."""
        own = [f"user:{name}" for name in self.names]
        return ["public"] * 6 + own + ["group:x"]

    # The site; it may end at any write, and is asked again where somebody would ask again.

    def order(self, do: str, **what: Any) -> Any:
        """Have the site do something that must be done: again, if it ended meanwhile."""
        while True:
            try:
                return self.world.order(do, **what)
            except CrashedError:
                self.history.add("fault", kind="crashed", during=do)
            except OrderFailedError as error:
                self.tell_error(do, error)
                if not self.world.planned:
                    return None

    def request(
        self, user: str, method: str, path: str, data: Any = None, **more: Any
    ) -> dict[str, Any] | None:
        """Ask for a page once; None if there was no answer."""
        asked = {"user": user, "method": method, "path": path, "data": data, **more}
        answer: dict[str, Any] | None = self.ask(path, "request", **asked)
        return answer

    def ask(self, during: str, do: str, **what: Any) -> Any:
        """Have the site do something, and not again; None if there was no answer."""
        try:
            return self.world.order(do, **what)
        except CrashedError:
            self.history.add("fault", kind="crashed", during=during)
        except OrderFailedError as error:
            self.tell_error(during, error)
        return None

    def has_program(self) -> bool:
        """Tell by lot whether somebody has a program do what they would do on a page."""
        return self.programs.random() < BY_PROGRAM

    def call(self, person: str, method: str, path: str, data: Any = None) -> dict[str, Any] | None:
        """Have a program of a person call the API once; None if there was no answer.

        A token that is there no more, as a backup has been brought back, is made anew.
        """
        more = {} if method == "get" else {"content_type": "application/json"}
        while True:
            is_new = person not in self.tokens
            if is_new:
                self.tokens[person] = self.order("token", name=person) or ""
            headers = {"authorization": f"Bearer {self.tokens[person]}"}
            path_of_call = f"/api/v1{path}"
            answer = self.request("", method, path_of_call, data, headers=headers, **more)
            if answer is None or answer["status"] != 401 or is_new:
                return answer
            del self.tokens[person]

    def tell_error(self, during: str, error: Exception) -> None:
        planned = {"planned": True} if self.world.planned else {}
        self.history.add("error", during=during, text=str(error), **planned)

    # What is there.

    def audiences_of(self, person: str) -> list[str]:
        return ["public", f"user:{person}", *(f"group:{group}" for group in self.groups[person])]

    def visible_message(self, person: str) -> dict[str, Any] | None:
        """Return a message that a person may see, one of the newest as often as not."""
        seen = [row for row in self.mail.rows if row["audience"] in self.audiences_of(person)]
        return self.lots.choice(seen[-8:] if self.lots.random() < 0.7 else seen) if seen else None

    def listed(self, person: str) -> list[str]:
        """Return the Message-IDs of a person's matches."""
        rows = self.world.select(
            "SELECT DISTINCT m.msgid FROM inbox_match m"
            " JOIN authoring_filter f ON f.id = m.filter_id"
            " JOIN people_user u ON u.id = f.owner_id WHERE u.username = ? ORDER BY m.msgid",
            person,
        )
        return [row["msgid"] for row in rows]

    def rules(self, person: str) -> list[dict[str, Any]]:
        """Return a person's rules of importance, in their order."""
        return self.world.select(
            "SELECT r.id AS key, r.weight, r.text FROM inbox_appraiserrule r"
            " JOIN people_user u ON u.id = r.owner_id WHERE u.username = ? ORDER BY r.place, r.id",
            person,
        )

    # What is told.

    def note_rules(self, person: str, how: str, **more: Any) -> None:
        """Write down a person's rules of importance as they are now."""
        self.history.add("rules", person=person, how=how, rows=self.rules(person), **more)

    def note_filter(self, row: dict[str, Any], **more: Any) -> None:
        """Write down a filter that was made."""
        self.filters[row["key"]] = {**row, **more}
        self.history.add("filter", **{**row, "features": self._features(row), **more})

    def note_filters(self, how: str, changed: set[int], **more: Any) -> None:
        """Write down what became of filters: of those changed, and of those that refer to them."""
        from tests.simulation.generator.doings import filter_rows

        rows = {row["key"]: row for row in filter_rows(self)}
        for key in sorted(self.filters.keys() - rows.keys()):
            del self.filters[key]
            self.history.add("filter_changed", key=key, how="delete")
        for key, row in rows.items():
            known = self.filters.get(key)
            if known is None:
                self.note_filter(row)
                continue
            meaning = (
                "tql",
                "text",
                "t0",
                "live",
                "waits",
                "timeliness",
                "while_unread",
                "acts",
                "visibility",
                "active",
                "end",
                "revision",
                "name",
            )
            if key in changed or any(known[name] != row[name] for name in ("tql", "error")):
                differs = any(known[name] != row[name] for name in meaning)
                told = {**more, "same": not differs} if key in changed else {}
                told["features"] = self._features(row)
                self.filters[key] = {**known, **row}
                self.history.add(
                    "filter_changed", how=how if key in changed else "recompiled", **row, **told
                )

    def _features(self, row: dict[str, Any]) -> list[str]:
        """Return what a filter says: as it was drawn, or as its text is read."""
        if row["text"] not in self.features:
            self.features[row["text"]] = list(features_of(row["phrase"], row["text"]))
        return self.features[row["text"]]

    def note_outbox(self, origin: str) -> int:
        """Write down what people have said that was not told yet; return how much that was."""
        rows = self.world.select(
            "SELECT o.id, o.annid, o.msgid, u.username AS owner, o.kind, o.value, o.number,"
            " o.starts, o.audience FROM reading_outboxannotation o"
            " JOIN people_user u ON u.id = o.owner_id"
            " WHERE o.id > ? ORDER BY o.id",
            self.told_outbox,
        )
        for row in rows:
            self.told_outbox = row.pop("id")
            self.history.add("submitted", table="annotations", rows=[row], origin=origin)
        return len(rows)
