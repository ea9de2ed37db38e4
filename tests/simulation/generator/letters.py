"""Letters that somebody writes, for later or by a mail program, and what becomes of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from tests.simulation.generator.cast import PEOPLE, Cast

BODIES = (
    "*Soon*, says\n> nobody\n",
    "**Noon** or one?\n\n- at home & away\n- 1 < 2\n",
    "# Plan\n\nSee `index` of [us](https://x.org/us)\n",
)
"""What letters say, with marks of Markdown."""

WAITS = (2, 45, 9 * 60, 26 * 60, 4 * 24 * 60)
"""Minutes until a letter is to be sent."""

_LETTERS = """
SELECT o.uid, o.state, o.send_at, o.message_id, o.subject, u.username AS person
FROM compose_outgoingmessage o JOIN people_user u ON u.id = o.owner_id
"""


def write_letter(cast: Cast) -> None:
    """Have somebody write a letter that is sent later, or send one by JMAP."""
    lots = cast.lots
    person, uid = lots.choice(cast.names), str(UUID(int=lots.getrandbits(128)))
    letter = _draft(cast, person)
    chosen = _chosen(cast, person)
    if UUID(uid).int % 3 == 0:
        _send_by_program(cast, person, letter)
        return
    form = {"uid": uid, "editor": uid, "version": 0, "to": "away@z.org", **letter, **chosen}
    answer = cast.request(person, "post", "/compose/", form)
    _tell(cast, person, uid, "write", answer, chosen, letter)


def send_and_take_back(cast: Cast, person: str) -> None:
    """Have a program send a letter, and take it back before it goes."""
    letter = _draft(cast, person)
    _send_by_program(cast, person, letter)
    for row in _letters(cast):
        if row["subject"] == letter["subject"] and row["state"] == "queued":
            _take_back_by_program(cast, row)


def _draft(cast: Cast, person: str) -> dict[str, str]:
    """Draw what a letter of a person says."""
    cast.order("may_write", name=person, email=PEOPLE[person])
    cast.made += 1
    return {
        "sender": PEOPLE[person],
        "subject": f"Letter {cast.made}",
        "body": cast.lots.choice(BODIES),
        **({"formatted": "on"} if cast.lots.random() < 0.5 else {}),
    }


def _send_by_program(cast: Cast, person: str, letter: dict[str, str]) -> None:
    """Have a program send a letter: a program has no marks, and chooses no time."""
    plain = {name: letter[name] for name in ("sender", "subject", "body")}
    done = cast.ask("send_by_jmap", "send_by_jmap", name=person, **plain)
    row = next((row for row in _letters(cast) if row["subject"] == letter["subject"]), None)
    if row is not None:
        answer = {"status": 200} if done else None
        _tell(cast, person, row["uid"], "write", answer, {}, plain, by="jmap")


def change_letter(cast: Cast) -> None:
    """Have somebody put off, send now or take back a letter that waits."""
    waiting = [row for row in _letters(cast) if row["state"] == "queued"]
    if not waiting:
        write_letter(cast)
        return
    row = cast.lots.choice(waiting)
    kind = cast.lots.choice(("put off", "put off", "send now", "take back"))
    chosen = _chosen(cast, row["person"]) if kind == "put off" else {"do": "send"}
    path = f"/compose/{row['uid']}/{'undo' if kind == 'take back' else 'later'}/"
    if kind == "take back" and UUID(row["uid"]).int % 2:
        _take_back_by_program(cast, row)
        return
    answer = cast.request(row["person"], "post", path, chosen)
    _tell(cast, row["person"], row["uid"], kind, answer, chosen, {})


def _take_back_by_program(cast: Cast, row: dict[str, Any]) -> None:
    asked = {"name": row["person"], "uid": row["uid"]}
    done = cast.ask("take_back_by_jmap", "take_back_by_jmap", **asked)
    answer = {"status": 200} if done else None
    _tell(cast, row["person"], row["uid"], "take back", answer, {}, {}, by="jmap")


def note_letters(cast: Cast) -> None:
    """Write down how letters stand, and which are messages of their conversations now."""
    rows = _letters(cast)
    for row in rows:
        if row["state"] == "sent" and row["uid"] not in cast.stored:
            cast.stored.add(row["uid"])
            there = {"msgid": row["message_id"], "audience": f"user:{row['person']}"}
            told = [{**there, **cast.letters[row["uid"]]}]
            cast.history.add("submitted", table="messages", rows=told, origin="letter")
    cast.history.add("letters", rows=rows)


def _chosen(cast: Cast, person: str) -> dict[str, str]:
    """Return what a form sends of a time."""
    return {"do": "later:chosen", "chosen": minute_of(cast, person)}


def minute_of(cast: Cast, person: str, waits: Sequence[int] = WAITS) -> str:
    """Draw a minute to come of a person's clock, after so many minutes."""
    zone = ZoneInfo(str(cast.people[person].get("time_zone") or "UTC"))
    now = datetime.fromtimestamp(cast.world.now // 1_000_000, UTC)
    then = (now + timedelta(minutes=cast.lots.choice(waits))).astimezone(zone)
    return f"{then:%Y-%m-%dT%H:%M}"


def _letters(cast: Cast) -> list[dict[str, Any]]:
    rows = cast.world.select(f"{_LETTERS} ORDER BY o.id")
    return [{**row, "uid": str(UUID(row["uid"]))} for row in rows]


def _tell(
    cast: Cast,
    person: str,
    uid: str,
    kind: str,
    answer: Any,
    chosen: dict[str, str],
    letter: Any,
    by: str = "page",
) -> None:
    """Write down what was asked for, and what is stored of it."""
    if letter:
        cast.letters[uid] = {name: letter[name] for name in ("sender", "subject")}
    row = next((row for row in _letters(cast) if row["uid"] == uid), None)
    cast.history.add(
        "letter",
        person=person,
        uid=uid,
        kind=kind,
        zone=str(cast.people[person].get("time_zone") or "UTC"),
        chosen=chosen.get("chosen"),
        by=by,
        formatted="formatted" in letter,
        body=letter.get("body"),
        status=answer and answer["status"],
        row=row,
    )
