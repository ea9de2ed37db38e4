"""Set pieces: what by lot alone would seldom come together, in the order in which it matters.

a filter that the index has under its keys, in the shared window ─ mail, votes, time ─> it is asked
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from tests.simulation.generator.arrivals import bring_mail
from tests.simulation.generator.by_hand import give_calendar, keep_contact
from tests.simulation.generator.cast import Cast
from tests.simulation.generator.changes import edit
from tests.simulation.generator.doings import annotate, filter_rows
from tests.simulation.generator.rare import rarest
from tests.simulation.settling import run_task
from tests.simulation.tasks import Task
from tests.simulation.world import DAY, HOUR, SECOND

_LATER = "a.msgid = m.msgid AND a.kind = 'tag' AND a.value = 'later'"
_VOTE = "a.msgid = m.msgid AND a.kind = 'vote'"
_RECENT = "r.inreplyto = m.msgid AND r.received > now() - 1 day"

PLAIN = (
    "from Mary Jones or in rec.food or mentioning again",
    "about index or to mary",
    "m.subject LIKE 'RE:%' OR m.body HAS 'the again' OR m.newsgroups = 'comp.databases'",
    "not from joe and not about index",
    "mentioning aga* or about spar*",
)
AGED = (
    "one day old",
    "from joe and one day old or to mary and with no reply for one day",
    "newer than one day and replied to",
    f"EXISTS (r: r.inreplyto = m.msgid) AND NOT EXISTS (r: {_RECENT})",
)
SHARES = (
    "voted for by more than half of the voters",
    f"NTILE(2, a IN annotations AMONG {_VOTE}: a.number > 0) = 1",
)
"""Filters of a share of votes, and of the part of them in which the next would be."""

SAID = (
    "replied to or tagged later",
    "voted for by Jones but not tagged later",
    "with a score above 2 or voted for by more than 1 people",
    "with a score below 0 or voted for by more than 1 people",
    *SHARES,
    f"EXISTS (a IN annotations: {_VOTE}) AND NOT EXISTS (a IN annotations: {_LATER})",
    f"COUNT(a IN annotations: {_LATER}) < 1 AND EXISTS (a IN annotations: {_VOTE})",
)
AGREED = (
    f"EXISTS (a IN annotations: {_VOTE} AND a.number > 0 AND AGREES(a.owner, 'terry') > 0.7)",
    f"COUNT(DISTINCT a.owner IN annotations: {_VOTE} AND AGREES('terry', a.owner) >= 0.5) > 0",
    f"EXISTS (a IN annotations: {_VOTE} AND AGREES(a.owner, 'terry') < 0.7)",
)
AGREED_WITH_ME = ("liked by people like me", "liked by more than 0 people like me")
"""Filters of whom people agree with, and of who agrees with their owner."""

KNOWN = (
    *("from contacts", "from nobody in my address book", "from contacts and replied to"),
    "EXISTS (r, a IN annotations: r.inreplyto = m.msgid AND a.value = r.sender AND "
    "a.kind = 'contact')",
)
"""Filters of whom their owner knows."""

MET = (
    *("from people I meet this week", "from people I meet within two days"),
    *("not from people I meet within one day", "about cancelled events"),
    "from people I meet within one day or about an event that has been cancelled",
)
"""Filters of whom their owner meets, and of what was cancelled."""

KEPT = PLAIN + AGED + SAID
"""Filters that keep, and are in the index under a word, a name, a beginning, an age.

What an arm alone finds is missing if it has no key.  A body has the words of “the again”, but not
one after the other.
"""

LIVE = (
    *("among the top 1 by votes", "among the top 2 by votes today"),
    *("among the top 1 by replies today", "among the top 2 by replies"),
    *("newer than one day", "with no reply", "with fewer than 2 replies", "not from joe"),
    *("voted for by more than 1 people", "with a score below 1", "tagged later"),
    f"NOT EXISTS (r: {_RECENT})",
    f"COUNT(r: {_RECENT}) > 0",
)
"""Live filters, which many kinds of events bring and take."""

LATER: dict[str, Any] = {"kind": "tag", "value": "later", "number": None}
VOTE: dict[str, Any] = {"kind": "vote", "value": None, "number": 1.0}
"""What somebody says of a message."""

FLICKERING = "not tagged later"
"""The text of a live list that each world has."""

LANES = ("filters.unproven_windows", "filters.own_windows")
"""A filter is run in each, once the shared window has moved on, and then shares the window."""

PAUSE = 20 * SECOND
"""Time after which the shared window moves on, though nothing is new."""


def begin(cast: Cast) -> None:
    """Have some filters share the window from the first mail on, and one live list wait."""
    for texts in (PLAIN, PLAIN, AGED, SAID, LIVE, LIVE):
        write(cast, texts)
    _write_flickering(cast)
    enroll(cast)


def watch(cast: Cast) -> None:
    """Have somebody write a filter of which this world has had none, and have it enrolled."""
    _watch(cast, LIVE if cast.lots.random() < 0.3 else KEPT)


def _watch(cast: Cast, texts: Sequence[str]) -> None:
    write(cast, texts)
    enroll(cast)


def write(cast: Cast, texts: Sequence[str], owner: str = "", **more: str) -> list[dict[str, Any]]:
    """Have a filter of one of these texts be written, which are live ones or not; return it."""
    lots = cast.lots
    cast.made += 1
    sent = _form(f"f{cast.made}", _text(cast, texts), live=texts is LIVE)
    sent |= {"mail": lots.choice(("existing", "new", "new"))}
    sent |= {"timeliness": lots.choice(("", "at once"))}
    sent |= {"visibility": lots.choice(("private", "shared")), **more}
    owner = owner or lots.choice(cast.names)
    cast.request(owner, "post", "/filters/new/", sent)
    rows = filter_rows(cast, "u.username = ? AND f.name = ?", owner, sent["name"])
    for row in rows:
        cast.note_filter(row, existing=sent["mail"] == "existing")
    return rows


def _write_flickering(cast: Cast) -> None:
    write(cast, (FLICKERING,), mode="live", timeliness="hourly")


def enroll(cast: Cast) -> None:
    for lane in LANES:
        cast.world.pass_time(PAUSE)
        run(cast, "filters.tick", lane)


def rewrite(cast: Cast) -> None:
    """Have a filter get another text, and perhaps a third, while mail waits for the older ones."""
    lots = cast.lots
    rows = [row for row in filter_rows(cast) if row["active"]]
    lent = [row for row in rows if _is_lent(row, rows)]
    if not rows:
        return
    row = lots.choice(lent if lent and lots.random() < 0.6 else rows)
    last = _text(cast, LIVE if row["live"] else KEPT)
    texts: list[tuple[str, tuple[str, ...]]] = [(last, ())]
    if lots.random() >= 0.5:  # what the second has not been run over ends after the shared window
        texts = [("m.size > 0", ("filters.tick",)), (last, LANES)]
    for text, lanes in texts:
        bring_mail(cast)
        sent = _form(row["name"], text, live=row["live"])
        sent |= {"timeliness": row["timeliness"], "visibility": row["visibility"], "found": "keep"}
        sent["mail"] = lots.choice(("existing", "new"))
        answer = cast.request(row["owner"], "post", f"/filter/{row['name']}/edit/", sent)
        status = answer and answer["status"]
        told = {"forget": False, "status": status}
        cast.note_filters("edit", {row["key"]}, **told)
        cast.world.pass_time(SECOND)
        run(cast, *lanes)
    if len(texts) == 1 and lots.random() < 0.7:
        enroll(cast)
    bring_mail(cast)
    run(cast, "filters.tick")


def overtake(cast: Cast) -> None:
    """Have a filter forget all, as the shared window asks what it matched when it began.

    It may share that window again before that is stored.
    """
    bring_mail(cast, 1)
    row = cast.mail.rows[-1]
    owners = [name for name in cast.names if row["audience"] in cast.audiences_of(name)]
    if not owners:
        return
    found = write(cast, ("tagged later",), cast.lots.choice(owners), mail="new")
    for lane in LANES:
        bring_mail(cast, 1)
        run(cast, "filters.tick", lane)
    say(cast, row, LATER)

    def forget(filter_: dict[str, Any]) -> None:
        edit(cast, filter_, "edit", text="from nobody@z.org", found="forget")
        if cast.lots.random() < 0.5:
            run(cast, *LANES)

    for filter_ in found:
        cast.world.plan_meanwhile(partial(forget, filter_), cast.lots.choice((1, 2, 2, 2, 3)))
        run(cast, "filters.tick")
        cast.world.meanwhile = None


_LISTED = """
SELECT m.msgid, m.audience FROM inbox_match m JOIN authoring_filter f ON f.id = m.filter_id
WHERE f.active AND f.mode = 'live' AND f.text = ? AND f.timeliness NOT IN ('', 'at once')
    AND m.sequence IS NOT NULL AND m.retracted_at IS NULL AND m.msgid NOT LIKE '% copy:%'
ORDER BY m.id"""


def flicker(cast: Cast) -> None:
    """Have a message leave a live list, come back to wait there, and leave it again unseen.

    The one that left it so the last time comes back.
    """
    rows = cast.world.select(_LISTED, FLICKERING)
    for said in cast.flickered:
        _take_back(cast, said)
    cast.flickered.clear()
    if not rows:  # that list was changed, or has nothing yet
        _write_flickering(cast)
        return
    row = cast.lots.choice(rows)
    said = say(cast, row, LATER)
    run(cast, "filters.tick", "filters.own_windows")
    if cast.lots.random() < 0.5:
        run(cast, "filters.deliver_due")
    _take_back(cast, said)
    run(cast, "filters.tick", "filters.own_windows")
    cast.flickered.append(say(cast, row, LATER))
    run(cast, "filters.tick", "filters.own_windows")


def trickle(cast: Cast) -> None:
    """Have messages come one by one, each in a window of its own: nothing else asks its filters."""
    for _ in range(4):
        bring_mail(cast, 1)
        run(cast, "filters.tick")


def ripen(cast: Cast) -> None:
    """Have mail come, and be of an age in a later window than that in which it came."""
    lots, world = cast.lots, cast.world
    _watch(cast, AGED)
    bring_mail(cast)
    run(cast, "filters.tick")
    for _ in range(lots.choice((1, 2))):
        world.pass_time(lots.choice((HOUR, DAY - SECOND, DAY, DAY + SECOND, 3 * DAY)))
        run(cast, "filters.tick", lots.choice(LANES))


def change_mind(cast: Cast) -> None:
    """Have strangers say something of a message, and take it back, each in a window of its own."""
    lots = cast.lots
    row = cast.visible_message(lots.choice(cast.names))
    if row is None:
        return
    against = VOTE | {"number": -1.0}
    first = [(LATER, "terry"), *[(VOTE, "Jones")] * 2, *[(against, "terry")] * 2]
    taken_back = [0, 1]
    if lots.random() < 0.5:
        three = (LATER, VOTE, lots.choice((LATER, VOTE, against)))
        first = [(what, "") for what in lots.sample(three, 3)]
        taken_back = lots.sample(range(3), lots.choice((1, 2, 3)))
    said = []
    for what, owner in first:
        said.append(say(cast, row, what, owner))
        if lots.random() < 0.4:
            run(cast, "filters.tick")
    _watch(cast, SAID)
    if lots.random() < 0.4:
        cast.world.pass_time(lots.choice((HOUR, DAY)))
    for number in taken_back:
        _take_back(cast, said[number])
        run(cast, "filters.tick")


def agree(cast: Cast) -> None:
    """Have a stranger vote mostly as somebody does, then for other mail, and take a vote back."""
    lots = cast.lots
    person = lots.choice(cast.names)
    seen = [row for row in cast.mail.rows if row["audience"] in cast.audiences_of(person)]
    if len(seen) < 6:
        return
    *common, other, last = lots.sample(seen, 6)
    said = []
    for row in common:
        number = lots.choice((1.0, 1.0, 1.0, -1.0))
        said.append(say(cast, row, VOTE | {"number": number}, "Jones"))
        say(cast, row, VOTE, "terry")
        annotate(cast, person, row, {"id": row["msgid"], "kind": "vote", "number": 1})
    run(cast, "filters.append_annotations")
    for texts in (AGREED, AGREED_WITH_ME):
        write(cast, texts, person)
    enroll(cast)
    say(cast, other, VOTE, "Jones")
    run(cast, "filters.tick")
    _take_back(cast, lots.choice(said))
    say(cast, last, VOTE, "Jones")
    run(cast, "filters.tick")


def know(cast: Cast) -> None:
    """Have somebody's address book get people and lose one, and their calendar come and go."""
    lots = cast.lots
    person = lots.choice(cast.names)
    seen = [row for row in cast.mail.rows if row["audience"] in cast.audiences_of(person)]
    senders = sorted({row["sender"] for row in seen if "@" in (row["sender"] or "")})
    if len(senders) < 2:
        return
    write(cast, KNOWN, person)
    write(cast, KNOWN, person, mode="live")
    enroll(cast)
    first, second = lots.sample(senders, 2)
    for act, address in (("add", first), ("add", second), ("remove", first)):
        keep_contact(cast, person, act, address)
        if lots.random() < 0.7:
            run(cast, "filters.append_annotations", "filters.tick")
        if lots.random() < 0.3:
            bring_mail(cast)
    run(cast, "filters.append_annotations", "filters.tick")
    meet(cast, person, [first, second, *senders[:1]])


def meet(cast: Cast, person: str, senders: list[str]) -> None:
    """Have somebody give a calendar, and another in its place, while meetings come near."""
    lots, world = cast.lots, cast.world
    for mode in ("", "live"):
        write(cast, MET, person, **({"mode": mode} if mode else {}))
    enroll(cast)
    for _ in range(2):
        give_calendar(cast, person, senders)
        run(cast, "filters.append_annotations", "filters.tick")
        world.pass_time(lots.choice((HOUR, DAY, DAY + SECOND, 3 * DAY)))
        if lots.random() < 0.5:
            bring_mail(cast)
        run(cast, "filters.tick", lots.choice(LANES))


def say_to(cast: Cast, audience: str) -> None:
    """Have strangers say something to an audience alone, of mail that others see too."""
    public = [row for row in cast.mail.rows if row["audience"] == "public"]
    for row in cast.lots.sample(public, min(len(public), 6)):
        say(cast, {**row, "audience": audience}, cast.lots.choice((LATER, VOTE)))
    run(cast, *LANES, "filters.tick", "filters.appraise")


def retag(cast: Cast) -> None:
    """Have somebody say two things of a message, and take one back, or say another instead."""
    lots = cast.lots
    person = lots.choice(cast.names)
    row = cast.visible_message(person)
    if row is None:
        return
    tag, vote = ({"id": row["msgid"], "kind": kind} for kind in ("tag", "vote"))
    in_private = lots.choice((0, 0.3, 1))

    def say(sent: dict[str, Any]) -> None:
        private = {"private": sent["kind"]} if lots.random() < in_private else {}
        annotate(cast, person, row, sent | private)

    for sent in (tag | {"value": "later"}, tag | {"value": "index"}, vote | {"number": 1}):
        say(sent)
    if lots.random() < 0.5:
        run(cast, "filters.append_annotations", "filters.tick")
    say(tag | {"take_back": "later"})
    say(vote | {"number": lots.choice((-1, -1, 0))})


def stumble(cast: Cast) -> None:
    """Have the site end or fail at a write of an append, of mail or of what was said."""
    lots, world = cast.lots, cast.world
    kind = lots.choice(("crash", "crash", "power", "io_error", "disk_full", "link_error"))
    said = lots.random() < 0.5
    at = lots.randint(1, 7 if said else 12)
    if kind == "link_error":
        at = 1 if said else 2  # the originals of mail have the first
    if said:
        retag(cast)
    if kind == "power":
        world.stop()
    world.fault = (kind, at)
    cast.history.add("fault", kind=kind, at=at)
    if said:
        run(cast, "filters.append_annotations")
    else:
        bring_mail(cast)
    run(cast, "filters.tick")


def say(cast: Cast, row: dict[str, Any], what: dict[str, Any], owner: str = "") -> dict[str, Any]:
    """Have a stranger say something of a message to those who may see it."""
    cast.made += 1
    owner = owner or cast.lots.choice(("Jones", "Jones", "terry"))
    said = {"annid": f"s{cast.made}", "msgid": row["msgid"], "owner": owner}
    said |= {**what, "audience": row["audience"]}
    cast.order("annotate", rows=[said])
    cast.history.add("submitted", table="annotations", rows=[said], origin="append")
    return said


def _take_back(cast: Cast, said: dict[str, Any]) -> None:
    """Have a stranger take back what they have said."""
    say(cast, said, {"kind": "retraction", "value": said["annid"], "number": None}, said["owner"])


def _text(cast: Cast, texts: Sequence[str]) -> str:
    return rarest(cast.used, lambda: cast.lots.choice(texts), lambda text: [("watch", text)])


def _form(name: str, text: str, *, live: bool) -> dict[str, str]:
    return {"name": name, "text": text, "mode": "live" if live else "keep"}


def _is_lent(row: dict[str, Any], rows: list[dict[str, Any]]) -> bool:
    called = f"in {row['owner']}'s {row['name']}"
    return any(called in other["text"].replace('"', "") for other in rows)


def run(cast: Cast, *names: str) -> None:
    for name in names:
        run_task(cast.world, Task(name))
