"""What people do on the pages: each function asks for pages, and writes down what was done.

What has become of it is read from the database, so that it is right after a crash too.
"""

from __future__ import annotations

from typing import Any

from simulation.generator import desk, texts
from simulation.generator.cast import Cast
from simulation.generator.rare import rarest

TIMELINESS = (
    "",
    "",
    "at once",
    "every 30 minutes",
    "hourly",
    "daily at 08:00",
    "weekly on Monday at 08:00",
)
HOWS = ("edit", "edit", "timeliness", "pause", "resume", "mode", "mail", "visibility", "delete")
"""What the owner of a filter does to it."""

_FILTER = (
    "SELECT f.id AS key, u.username AS owner, f.name, f.text, f.phrase, f.tql, f.start AS t0,"
    " f.mode = 'live' AS live, f.timeliness, f.while_unread, f.visibility, f.revision, f.active,"
    " f.since, f.end, f.error FROM filters_filter f JOIN auth_user u ON u.id = f.owner_id"
)


def filter_rows(cast: Cast, where: str = "1", *values: Any) -> list[dict[str, Any]]:
    """Return filters as the history has them."""
    return cast.world.select(f"{_FILTER} WHERE {where} ORDER BY f.id", *values)


def write_filter(cast: Cast) -> None:
    """Have somebody write a filter, in phrases or in TQL."""
    lots = cast.lots
    owner = lots.choice(cast.names)
    known = [row["name"] for row in filter_rows(cast, "u.username = ?", owner)]
    mode = lots.choice(("keep", "keep", "live"))
    text, features = _text(cast, known, mode)
    cast.made += 1
    name = f"f{cast.made}"
    sent = {
        "text": text,
        "name": name,
        "mail": lots.choice(("existing", "existing", "new")),
        "mode": mode,
        "timeliness": lots.choice(TIMELINESS),
        "visibility": lots.choice(("private", "shared")),
        **({"while_unread": "on"} if lots.random() < 0.1 else {}),
    }
    answer = cast.request(owner, "post", "/filters/new/", sent)
    for row in filter_rows(cast, "u.username = ? AND f.name = ?", owner, name):
        cast.note_filter(
            row, existing=sent["mail"] == "existing", features=sorted(features), asked=sent
        )
        return
    cast.history.add("refused", page="/filters/new/", text=text, status=answer and answer["status"])


def _text(cast: Cast, known: list[str], mode: str) -> tuple[str, set[str]]:
    """Draw a text of which this world has had little, and what is in it."""
    lots = cast.lots

    def draw() -> tuple[str, set[str]]:
        if lots.random() < 0.6:
            return texts.phrase(lots, known, cast.world.now)
        return texts.tql(lots)

    return rarest(cast.used, draw, lambda drawn: [(name, mode) for name in sorted(drawn[1])])


def say(cast: Cast) -> None:
    """Have somebody say something of a message, or take it back."""
    lots = cast.lots
    person = lots.choice(cast.names)
    row = cast.visible_message(person)
    if row is None:
        return
    kind = lots.choice(("vote", "vote", "vote", "tag", "note", "priority"))
    sent: dict[str, Any] = {"id": row["msgid"], "kind": kind}
    if kind == "vote":
        sent["number"] = lots.choice((1, 1, -1, 0))
    elif kind == "priority":
        sent["number"] = lots.choice((1, 5, 0))
    elif kind == "tag" and lots.random() < 0.3:
        sent["take_back"] = lots.choice(("later", "index"))
    else:
        sent["value"] = lots.choice(("later", "index", "m1"))
    if lots.random() < 0.15:
        sent["private"] = kind
    annotate(cast, person, row, sent)


def annotate(cast: Cast, person: str, row: dict[str, Any], sent: dict[str, Any]) -> None:
    """Have somebody say what a form says of a message."""
    answer = cast.request(person, "post", "/message/annotate/", sent)
    kept = cast.note_outbox("page")
    cast.history.add(
        "act",
        person=person,
        kind=sent["kind"],
        msgids=[row["msgid"]],
        sent=sent,
        kept=kept,
        status=answer and answer["status"],
    )


def triage(cast: Cast) -> None:
    """Have somebody deal with messages of a list, or undo what they did."""
    lots = cast.lots
    person = lots.choice(cast.names)
    if cast.steps.get(person) and lots.random() < 0.3:
        desk.undo(cast, person, cast.steps[person][-1])
        return
    listed = cast.listed(person)
    if not listed:
        return
    action = rarest(cast.used, lambda: lots.choice(desk.ACTIONS), lambda drawn: [(person, drawn)])
    chosen = lots.sample(listed, min(len(listed), lots.choice((1, 1, 2, 4))))
    desk.act(cast, person, action, chosen)


def change_filter(cast: Cast) -> None:
    """Have the owner of a filter edit, pause, resume or delete it."""
    lots = cast.lots
    filters = filter_rows(cast)
    if not filters:
        return

    def draw() -> tuple[dict[str, Any], str]:
        row = lots.choice(filters)
        if not row["active"] and lots.random() < 0.5:
            return row, "resume"
        return row, lots.choice([how for how in HOWS if how != "resume"])

    def marks(drawn: tuple[dict[str, Any], str]) -> list[tuple[str, str]]:
        features = cast.filters.get(drawn[0]["key"], {}).get("features") or ()
        return [(feature, drawn[1]) for feature in features]

    row, how = rarest(cast.used, draw, marks)
    address = f"/filter/{row['name']}"
    features: list[str] | None = None
    if how in ("pause", "resume", "delete"):
        cast.request(row["owner"], "post", f"{address}/{how}/")
    else:
        sent = {
            "text": row["text"],
            "name": row["name"],
            "mail": "existing" if row["t0"] is None else "new",
            "mode": "live" if row["live"] else "keep",
            "timeliness": row["timeliness"],
            "visibility": row["visibility"],
            "found": lots.choice(("keep", "forget")),
            **({"while_unread": "on"} if row["while_unread"] else {}),
        }
        if how == "edit":
            text, drawn = _text(cast, [], sent["mode"])
            sent["text"], features = text, sorted(drawn)
        elif how == "timeliness":
            sent["timeliness"] = lots.choice(TIMELINESS)
        elif how == "mode":
            sent["mode"] = "keep" if row["live"] else "live"
        elif how == "mail":
            sent["mail"] = "new" if row["t0"] is None else "existing"
        elif how == "visibility":
            sent["visibility"] = lots.choice(("private", "shared"))
        forget = sent["found"] == "forget"
        answer = cast.request(row["owner"], "post", f"{address}/edit/", sent)
        cast.note_filters(
            how,
            {row["key"]},
            forget=forget,
            features=features,
            status=answer and answer["status"],
            asked=sent,
        )
        return
    cast.note_filters(how, {row["key"]})
