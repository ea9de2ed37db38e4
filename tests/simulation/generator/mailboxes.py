"""Mailboxes of people: what mail comes there, who has it taken in, who has matches put there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.simulation import sources
from tests.simulation.generator import doings
from tests.simulation.generator.cast import Cast
from tests.simulation.mailboxes import Folder, Mailbox, Mailboxes, Stored, contents
from tests.simulation.settling import run_task
from tests.simulation.tasks import Task

FLAGS = ((), (), (), ("\\Seen",), ("\\Flagged",), ("\\Answered", "$todo"), ("\\Seen", "later"))
EVERY = ("60", "300")
ACTS = ("flag", "seen", "tag", "move", "trash")
"""What filters do in a mailbox: they move to one folder."""

MOST = 4
"""Sources, and mailboxes that matches are put into, that a world has at a time."""


def begin(cast: Cast) -> None:
    """Have somebody want their matches in their own mailbox from the first on, mostly."""
    if cast.lots.random() < 0.6:
        send_to_mailbox(cast)


def add_source(cast: Cast) -> None:
    """Have somebody ask for the mail of a mailbox, for themselves or for others."""
    lots = cast.lots
    if len(sources.rows(cast.world)) >= MOST:
        return
    person = lots.choice(cast.names)
    box = _box(cast, person)
    _add(cast, person, box, lots.choice((f"user:{person}", *cast.audiences_of(person))))


def act_there(cast: Cast) -> None:
    """Have filters of somebody act in a mailbox that they alone read, and mail come there."""
    lots, world = cast.lots, cast.world
    rows = [row for row in sources.rows(world) if row["active"] and _of(cast, row).acts]
    if not rows:
        person = lots.choice(cast.names)
        box = _boxes(cast).make(person)
        box.acts = True
        _add(cast, person, box, f"user:{person}")
        rows = [row for row in sources.rows(world) if row["active"] and row["user"] == box.user]
    for row in rows[:1]:
        cast.request(row["person"], "post", f"/source/{row['key']}/acts/", {"may_act": "on"})
        names = lots.sample(ACTS, 2)
        acts = {"acts": names if {*names} != {*ACTS[-2:]} else names[:1], **doings.THERE}
        doings.write_filter(cast, row["person"], acts | {"acts_existing": "on"})
        for name, folder in sources.folders(world, row):
            bring_to_mailbox(cast, (_of(cast, row), name, folder))
        for task in (Task("filters.pull_source", (row["key"],)), Task("filters.tick")):
            run_task(world, task)
        _act(cast, row)
        if lots.random() < 0.5:
            doings.undo_acts(cast, ACTS)
            _act(cast, row)


def _act(cast: Cast, row: dict[str, Any]) -> None:
    """Have the worker act in a mailbox, and perhaps end within: after an answer, or a write."""
    if cast.lots.random() < 0.6:
        cast.world.fault = ("crash", cast.lots.randint(3, 16))
        cast.history.add("fault", kind="crash", at=cast.world.fault[1])
    run_task(cast.world, Task("filters.act_in_mailbox", (row["key"],)))


def _of(cast: Cast, row: dict[str, Any]) -> Mailbox:
    return _boxes(cast).boxes[row["user"]]


def _add(cast: Cast, person: str, box: Mailbox, audience: str) -> None:
    lots = cast.lots
    if audience != f"user:{person}":
        cast.order("let_publish", name=person)
    where = {"kind": "imap", "host": "mail.example", "security": "tls", "port": "993"}
    sent = {**where, "user": box.user, "secret": "of a mailbox", "method": "password"}
    sent |= {"audience": audience, "every": lots.choice(EVERY)}
    known = {row["key"] for row in sources.rows(cast.world)}
    cast.request(person, "post", "/sources/new/", sent)
    _try(cast)
    made = [row for row in sources.rows(cast.world) if row["key"] not in known]
    if not made:
        cast.history.add("refused", page="/sources/new/", person=person)
        return
    readable = [name for name in sorted(box.folders) if name != box.trash]
    names = [name for name in readable if "Tapestry" not in name]
    folders = {"folders": "\n".join(names[: lots.choice((1, 2))])}
    cast.request(person, "post", f"/source/{made[0]['key']}/places/", folders)
    for row in sources.rows(cast.world):
        if row["key"] == made[0]["key"]:
            cast.history.add("source", **row)
            for name, folder in sources.folders(cast.world, row):
                _tell(cast, row, name, folder, [one.raw for one in folder.messages])


def bring_to_mailbox(cast: Cast, found: tuple[Mailbox, str, Folder] | None = None) -> None:
    """Have mail come to a mailbox: copies, forged ones, replies before their parents as well."""
    lots, world = cast.lots, cast.world
    if not sources.rows(world):
        add_source(cast)
    found = found or _somewhere(cast)
    if found is None:
        return
    box, name, folder = found
    readers = [row for row in sources.rows(world) if _reads(row, box, name)]
    audience = lots.choice([row["audience"] for row in readers] or [f"user:{box.owner}"])
    rows = cast.mail.batch(world.now, [audience])
    put = []
    for row in rows:
        at = row["received"] if row["received"] is not None else world.now
        put.append(folder.put(row["raw"], set(lots.choice(FLAGS)), at))
    _note(cast, "came", box, name, put)
    for source in readers:
        _tell(cast, source, name, folder, [row["raw"] for row in rows])


def change_mailbox(cast: Cast) -> None:
    """Have a folder get other UIDs, with or without its messages, a message other flags, or go."""
    lots = cast.lots
    found = _somewhere(cast)
    if found is None or not found[2].messages:
        return
    box, name, folder = found
    how = lots.choice(("renumbered", "renumbered", "renumbered", "flags", "removed"))
    one = lots.choice(folder.messages)
    readers = [row for row in sources.rows(cast.world) if _reads(row, box, name)]
    gone = [one] if how == "removed" or (how == "renumbered" and lots.random() < 0.8) else []
    for message in gone:
        folder.messages.remove(message)
    if how == "renumbered":
        folder.renumber(cast.world.endpoints.mailboxes.new_validity())
    elif how == "flags":
        one.flags ^= {"\\Flagged"}
    folder.changes += 1
    for source in readers:
        again = how == "renumbered" and _was_forgotten(cast, source["audience"])
        raws = [other.raw for other in (*gone, *(folder.messages if again else ()))]
        _tell(cast, source, name, folder, raws, doubt=True)
    _note(cast, how, box, name, [one])
    if how == "renumbered":
        bring_to_mailbox(cast, found)


def change_source(cast: Cast) -> None:
    """Have somebody pause a source, go on with it, or delete it."""
    lots, rows = cast.lots, [row for row in sources.rows(cast.world) if row["folders"]]
    if not rows:
        return
    row = lots.choice(rows)
    how = lots.choice(("pause", "pause", "delete")) if row["active"] else "resume"
    cast.request(row["person"], "post", f"/source/{row['key']}/{how}/")
    cast.history.add("source", how=how, **row)
    _doubt_all(cast, [row])


def race_pull(cast: Cast) -> None:
    """Have something happen while a pull waits for its server."""
    lots, world = cast.lots, cast.world
    rows = [row for row in sources.rows(world) if row["active"]]
    if not rows:
        return
    pull = Task("filters.pull_source", (lots.choice(rows)["key"],))
    others: tuple[Callable[[Cast], None], ...] = (
        *(bring_to_mailbox, bring_to_mailbox, change_mailbox, doings.write_filter),
        lambda cast: run_task(world, pull),
        lambda cast: run_task(world, Task("filters.tick")),
    )
    other = lots.choice(others)
    world.plan_meanwhile(lambda: other(cast), lots.choice((1, 2, 3, 4, 5)))
    run_task(world, pull)
    world.meanwhile = None


def fail_mailboxes(cast: Cast) -> None:
    """Have the servers of mailboxes refuse, hang and cut while much is asked of them."""
    lots, world = cast.lots, cast.world
    bring_to_mailbox(cast)
    world.endpoints.misbehave(
        "imap", lots.choice((2, 3, 5)), how=lots.choice(("", "fetch", "fetch"))
    )
    pulls = [
        Task("filters.pull_source", (row["key"],)) for row in sources.rows(world) if row["active"]
    ]
    for task in lots.sample([*pulls, Task("filters.deliver", ("outbound",))], len(pulls) + 1):
        run_task(world, task)


def send_to_mailbox(cast: Cast) -> None:
    """Have somebody want their matches in their own mailbox."""
    lots = cast.lots
    if len(cast.world.select(_PLACES)) >= MOST:
        return
    put_into_mailbox(cast, lots.choice(cast.names))


def put_into_mailbox(cast: Cast, person: str, often: float = 0.5) -> None:
    """Have somebody want the matches of one filter in their own mailbox, or ``often`` of all."""
    lots, box = cast.lots, _box(cast, person)
    mine = [key for key, row in cast.filters.items() if row["owner"] == person]
    filters = None if lots.random() < often or not mine else sorted(lots.sample(mine, 1))
    cast.made += 1
    parent = lots.choice(("Tapestry", "Mail/Tapestry"))
    server = {"host": "mail.example", "port": 993, "security": "tls", "user": box.user}
    told = {"person": person, "kind": "mailbox", "name": f"d{cast.made}", "filters": filters}
    key = cast.order("destination", address="", settings={**server, "parent": parent}, **told)
    where = {
        "address": box.user,
        "folder": box.prefix + parent.replace("/", box.delimiter),
        "delimiter": box.delimiter,
        "keywords": box.keywords,
    }
    for row in cast.world.select("SELECT cursor, uid FROM delivery_destination WHERE id = ?", key):
        cast.tell_destination(key=key, url=None, **where, **told, **row)


# At a settled point.


def tend(cast: Cast) -> None:
    """Have people look after what has failed, and for new mail, before all comes to rest."""
    for row in sources.rows(cast.world):
        if row["active"]:
            cast.request(row["person"], "post", f"/source/{row['key']}/look/")
    for row in cast.world.select(_OFF):
        cast.request(row["person"], "post", f"/delivery/{row['key']}/on/")


_PLACES = "SELECT id FROM delivery_destination WHERE kind = 'mailbox'"
_OFF = """
SELECT d.id AS key, u.username AS person FROM delivery_destination d
JOIN people_user u ON u.id = d.owner_id WHERE d.kind = 'mailbox' AND NOT d.active ORDER BY d.id"""


def look(cast: Cast) -> None:
    """Write down which mail may come later than this settled point, or never."""
    boxes, entries = _boxes(cast), cast.history.entries
    new, boxes.heard = entries[boxes.heard :], len(entries)
    restored, audiences, people = False, set[str](), set[str]()
    for entry in new:
        match entry["what"]:
            case "person" if boxes.groups.get(entry["name"]) != entry["groups"]:
                boxes.groups[entry["name"]] = list(entry["groups"])
                people.add(entry["name"])
            case "upkeep" if entry["kind"] == "forget" and entry.get("before") is None:
                audiences.add(entry["audience"])
            case "upkeep" if entry["kind"] == "restore":
                restored = True
    for row in sources.rows(cast.world):
        changed = restored or row["audience"] in audiences or row["person"] in people
        if changed or row["error"] or row["missing"]:
            _doubt_all(cast, [row])


def _doubt_all(cast: Cast, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        for name, folder in sources.folders(cast.world, row):
            _tell(cast, row, name, folder, [one.raw for one in folder.messages], doubt=True)


def _note(cast: Cast, how: str, box: Mailbox, name: str, messages: list[Stored]) -> None:
    told = [{**contents(one.raw), "flags": sorted(one.flags)} for one in messages]
    where = {"user": box.user, "owner": box.owner, "folder": name}
    cast.history.add("mailbox", how=how, messages=told, **where)


def _tell(
    cast: Cast,
    source: dict[str, Any],
    name: str,
    folder: Folder,
    raws: list[bytes],
    *,
    doubt: bool = False,
) -> None:
    """Tell what a source finds in a folder: it has to come in, unless there is a doubt."""
    rows = [{**contents(raw), "audience": source["audience"]} for raw in raws]
    allowed = source["audience"] in cast.audiences_of(source["person"])
    unsure = {"receipt": None} if doubt or not source["active"] or not allowed else {}
    where = {"origin": "mailbox", "source": source["key"], "name": f"{source['user']}/{name}"}
    if rows:
        cast.history.add("submitted", table="messages", rows=rows, **where, **unsure)


# Who has which.


def _boxes(cast: Cast) -> Mailboxes:
    return cast.world.endpoints.mailboxes


def _box(cast: Cast, person: str) -> Mailbox:
    """Return a mailbox of a person, one that is there as often as not."""
    boxes = _boxes(cast).boxes.values()
    mine = [box for box in boxes if box.owner == person and not box.acts]
    if mine and (len(mine) > 1 or cast.lots.random() < 0.6):
        return cast.lots.choice(mine)
    return _boxes(cast).make(person)


def _somewhere(cast: Cast) -> tuple[Mailbox, str, Folder] | None:
    """Return a folder to which mail comes: one that is read as a rule."""
    rows = [row for row in sources.rows(cast.world) if row["folders"]]
    read = list(_read_folders(cast, rows))
    if read and cast.lots.random() < 0.9:
        return cast.lots.choice(read)
    boxes = [box for box in _boxes(cast).boxes.values() if box.owner in cast.names]
    if not boxes:
        return None
    box = cast.lots.choice(boxes)
    return box, "INBOX", box.folders["INBOX"]


def _read_folders(cast: Cast, rows: list[dict[str, Any]]) -> Iterator[tuple[Mailbox, str, Folder]]:
    for row in rows:
        for name, folder in sources.folders(cast.world, row):
            yield _boxes(cast).boxes[row["user"]], name, folder


def _reads(row: dict[str, Any], box: Mailbox, name: str) -> bool:
    return row["user"] == box.user and name in row["folders"]


def _was_forgotten(cast: Cast, audience: str) -> bool:
    return any(
        entry["what"] == "upkeep" and entry.get("audience") == audience
        for entry in cast.history.entries
    )


def _try(cast: Cast) -> None:
    """Have the worker answer the trials that wait."""
    for task in [task for task in cast.world.queue.tasks if task.name == "filters.run_trial"]:
        cast.world.queue.tasks.remove(task)
        run_task(cast.world, task)
