"""What people do on the pages: each function asks for pages, and writes down what was done.

What has become of it is read from the database, so that it is right after a crash too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from random import Random
from typing import Any

from sqlglot import exp, parse_one

from tapestry.query.phrases.catalogue import KINDS
from tests.simulation.generator import desk, programs, texts
from tests.simulation.generator.aims import best
from tests.simulation.generator.cast import Cast
from tests.simulation.generator.rare import rarest

TIMELINESS = (
    "",
    "",
    "at once",
    "every 45 minutes",
    "hourly",
    "daily at 08:00",
    "weekly on Saturday at 08:00",
    "after 1 working day",
    "after 3 working days",
)
OFTEN, RARE = 0.7, 8
"""How often a text is of what was used least: its phrases, of so many kinds."""

THERE = {"acts_keyword": "acted", "acts_folder": "Acted", "acts_label": "filed"}
"""With which keyword filters tag in mailboxes, where they move to, and with what they tag here."""

HOWS = (
    *("edit", "edit", "edit", "timeliness", "timeliness", "pause", "pause", "resume", "resume"),
    *("resume", "mode", "mode", "mail", "visibility", "delete"),
)
"""What the owner of a filter does to it."""

_AS_WRITTEN = re.compile(r"SEQ\(|AGREES\(")

_FILTERS = parse_one(
    "SELECT f.id AS key, u.username AS owner, f.name, f.text, f.phrase, f.tql, f.start AS t0,"
    " f.mode = 'live' AS live, f.mode = 'wait' AS waits, f.timeliness, f.while_unread,"
    " f.visibility, f.revision, f.active,"
    " f.acts, f.acts_since, f.since, f.end, f.error"
    " FROM authoring_filter f JOIN people_user u ON u.id = f.owner_id ORDER BY f.id",
    into=exp.Select,
    dialect="sqlite",
)


def filter_rows(
    cast: Cast, where: str | exp.Expression = "1", *values: Any
) -> list[dict[str, Any]]:
    """Return filters as the history has them: sequences and AGREES are judged as written."""
    chosen = _FILTERS.where(where, dialect="sqlite").sql("sqlite")
    rows = cast.world.select(chosen, *values)
    return [row | {"tql": row["text"]} if _AS_WRITTEN.search(row["text"]) else row for row in rows]


def write_filter(cast: Cast, owner: str = "", acts: dict[str, Any] | None = None) -> None:
    """Have somebody write a filter, in phrases or in TQL; ``acts`` says what it does."""
    lots = cast.lots
    owner = owner or lots.choice(cast.names)
    known = [row["name"] for row in filter_rows(cast, "u.username = ?", owner)]
    mode = lots.choice(("keep", "keep", "live"))
    text = _text(cast, known, mode)
    if acts is not None and lots.random() < 0.7:
        text = "with no reply"  # all mail that comes, until it is answered
    cast.made += 1
    name = f"f{cast.made}"
    if mode == "keep" and may_wait(cast, text):
        mode = "wait"
    sent = {
        "text": text,
        "name": name,
        "mail": lots.choice(("existing", "existing", "new")),
        "mode": mode,
        "timeliness": lots.choice(TIMELINESS),
        "visibility": lots.choice(("private", "shared")),
        **({"while_unread": "on"} if lots.random() < 0.1 else {}),
        **(acts or acts_for(cast)),
    }
    if acts is None and cast.has_program():
        answer, sent = programs.write_filter(cast, owner, sent)
    else:
        answer = cast.request(owner, "post", "/filters/new/", sent)
    for row in filter_rows(cast, "u.username = ? AND f.name = ?", owner, name):
        if text in cast.features:
            cast.features[row["text"]] = cast.features[text]  # days may have become dates
        cast.note_filter(row, existing=sent["mail"] == "existing", asked=sent)
        return
    cast.history.add("refused", page="/filters/new/", text=text, status=answer and answer["status"])


def may_wait(cast: Cast, text: str) -> bool:
    """Draw whether a filter waits for the sources that it sees, by lots of its own."""
    return "SEQ(" not in text and Random(f"{cast.world.seed} waits {cast.made}").random() < 0.3


def acts_for(cast: Cast) -> dict[str, Any]:
    """Draw what a filter is to do with what it finds, by lots of its own."""
    lots = Random(f"{cast.world.seed} acts {cast.made}")
    if lots.random() < 0.6:
        return {}
    acts = lots.sample(("read", "star", "top", "skip", "done", "label"), lots.choice((1, 1, 2)))
    return {"acts": acts, **THERE} | ({"acts_existing": "on"} if lots.random() < 0.2 else {})


def _text(cast: Cast, known: list[str], what: str) -> str:
    """Draw a text of which this world has had little for this, and note what is in it."""
    lots = cast.lots

    def uses(name: str) -> int:
        return cast.used[name] + cast.used[name, what]

    def marks(drawn: tuple[str, set[str]]) -> list[Any]:
        return [mark for name in sorted(drawn[1]) for mark in (name, (name, what))]

    kinds = lots.sample(list(KINDS), len(KINDS))
    is_rare, is_phrase = lots.random() < OFTEN, lots.random() < 0.6
    if is_rare:
        kinds = sorted(kinds, key=lambda name: uses(f"phrase:{name}"))[:RARE]

    def draw() -> tuple[str, set[str]]:
        return texts.phrase(lots, kinds, known, cast.world.now) if is_phrase else texts.tql(lots)

    text, features = rarest(cast.used, draw, marks) if is_rare else draw()
    cast.features[text] = sorted(features)
    return text


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
    cast.note_outbox("page")  # what filters have tagged meanwhile is said apart
    if cast.has_program():
        answer = programs.annotate(cast, person, sent)
    else:
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


def triage(cast: Cast, often: float = 0.5) -> None:
    """Have somebody deal with messages of a list, or undo what they did."""
    lots = cast.lots
    person, action = best(
        lots,
        [(name, action) for name in cast.names for action in desk.ACTIONS],
        lambda drawn: cast.aims.lacks(drawn[1], cast.aims.of(drawn[0])),
        often,
    )
    if lots.random() < 0.2 and undo(cast):
        return
    listed = cast.listed(person)
    if not listed:
        return
    chosen = lots.sample(listed, min(len(listed), lots.choice((1, 1, 2, 4))))
    desk.act(cast, person, action, chosen)


def undo(cast: Cast) -> bool:
    """Have somebody undo what they did last, if anybody did anything."""
    able = [name for name in cast.names if cast.steps.get(name)]
    if not able:
        return False
    person = best(cast.lots, able, lambda name: cast.aims.lacks("undo", cast.aims.of(name)))
    desk.undo(cast, person, cast.steps[person][-1])
    return True


_FOLDED = """
SELECT f.id AS key FROM authoring_filter f WHERE f.folds_before IS NOT NULL
    AND f.unfolded_at IS NULL AND EXISTS (
        SELECT 1 FROM inbox_match m WHERE m.filter_id = f.id AND m.matched_at <= f.folds_before)
ORDER BY f.id"""


def unfold(cast: Cast) -> None:
    """Have somebody open what a new filter has found in mail of before."""
    rows = [row for row in cast.world.select(_FOLDED) if row["key"] in cast.filters]
    if rows:
        filter_ = cast.filters[cast.lots.choice(rows)["key"]]
        answer = cast.request(filter_["owner"], "post", "/unfold/", {"filter": filter_["name"]})
        told = {"person": filter_["owner"], "filter": filter_["key"]}
        cast.history.add("unfold", **told, status=answer and answer["status"])


_WAITING = """
SELECT DISTINCT m.filter_id AS key FROM inbox_match m
WHERE m.sequence IS NULL AND m.retracted_at IS NULL AND m.shown_at > ? ORDER BY m.filter_id"""


def show_now(cast: Cast) -> None:
    """Have somebody be shown at once what a filter of theirs would show later."""
    waiting = cast.world.select(_WAITING, cast.world.now)
    keys = [row["key"] for row in waiting if row["key"] in cast.filters]
    if keys:
        filter_ = cast.filters[cast.lots.choice(keys)]
        person, name = filter_["owner"], filter_["name"]
        if cast.has_program():
            answer = cast.call(person, "post", f"/filters/{name}/show")
        else:
            answer = cast.request(person, "post", f"/in/{name}/show/")
        told = {"person": person, "filter": filter_["key"], "status": answer and answer["status"]}
        cast.history.add("shown_now", **told)


_ACTED = """
SELECT f.id AS key, m.msgid FROM inbox_match m JOIN authoring_filter f ON f.id = m.filter_id
WHERE m.acted_at IS NOT NULL AND m.acts LIKE '%"stands"%' AND m.card_id IS NOT NULL ORDER BY m.id"""


def undo_acts(cast: Cast, there: Collection[str] = ()) -> None:
    """Have somebody undo what a filter of theirs has done, with one message or with all.

    ``there``: best a filter that does one of these.
    """
    lots = cast.lots
    rows = [row for row in cast.world.select(_ACTED) if row["key"] in cast.filters]
    wanted = {*there}
    acting = [r for r in rows if wanted & {*(cast.filters[r["key"]]["acts"] or "").split()}]
    rows = acting or rows
    if not rows:
        return
    one = lots.choice(rows)
    filter_ = cast.filters[one["key"]]
    named = lots.random() < 0.5
    sent = {"id": one["msgid"]} if named else {"all": "all"}
    answer = cast.request(filter_["owner"], "post", f"/filter/{filter_['name']}/acts/", sent)
    of_it = [row["msgid"] for row in rows if row["key"] == one["key"]]
    told: dict[str, Any] = {"person": filter_["owner"], "filter": one["key"]}
    told["msgids"] = [one["msgid"]] if named else of_it
    cast.history.add("acts_undone", **told, status=answer and answer["status"])


def change_filter(cast: Cast, hows: Sequence[str] = HOWS, count: int = 0) -> None:
    """Have the owners of some filters, or of so many, edit, pause, resume or delete them."""
    for _ in range(count or cast.lots.choice((1, 2, 3))):
        _change_one(cast, cast.lots.choice(hows))


def _change_one(cast: Cast, how: str) -> None:
    """Have a filter be changed so: best one that says what was not changed so yet."""
    lots = cast.lots
    filters = filter_rows(cast)
    if how in ("pause", "resume"):
        filters = [row for row in filters if bool(row["active"]) == (how == "pause")]
    if not filters:
        return
    row = best(lots, filters, lambda row: cast.aims.lacks(how, [row["key"]]))
    address = f"/filter/{row['name']}"
    if how in ("pause", "resume", "delete"):
        if cast.has_program():
            programs.change_filter(cast, row["owner"], row["name"], how)
        else:
            cast.request(row["owner"], "post", f"{address}/{how}/")
    else:
        sent = {
            "text": row["text"],
            "name": row["name"],
            "mail": "existing" if row["t0"] is None else "new",
            "mode": "live" if row["live"] else "wait" if row["waits"] else "keep",
            "timeliness": row["timeliness"],
            "visibility": row["visibility"],
            "found": lots.choice(("keep", "forget")),
            **({"while_unread": "on"} if row["while_unread"] else {}),
            "acts": row["acts"].split(),
            **THERE,
        }
        if how == "edit":
            mine = filter_rows(cast, "u.username = ? AND f.id < ?", row["owner"], row["key"])
            sent["text"] = _text(cast, [one["name"] for one in mine], how)
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
        for stored in filter_rows(cast, "f.id = ?", row["key"]):
            if stored["text"] != row["text"]:
                cast.features[stored["text"]] = cast.features[sent["text"]]
        status = answer and answer["status"]
        cast.note_filters(how, {row["key"]}, forget=forget, status=status, asked=sent)
        return
    # What is deleted is noted as it is no longer there: its process may have ended before that.
    cast.note_filters(how, set() if how == "delete" else {row["key"]})
