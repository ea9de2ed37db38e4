"""A site whose mail comes from one source, run as a program: it can be backed up meanwhile.

python tests/support/faults/stored_world.py go-on 400   appends messages up to that one, and runs
                                                 the filters after each batch
python tests/support/faults/stored_world.py tell        prints all messages and all matches
python tests/support/faults/stored_world.py look 400    tells, goes on, and tells again
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[2]
BATCH = 7
FILTERS = {
    "jones": "from Jones",
    "unanswered": "NOT EXISTS (r: r.inreplyto = m.msgid)",
    "answered": "EXISTS (r: r.inreplyto = m.msgid AND r.body LIKE '%yes%')",
}


def run(
    data: Path, *arguments: object, database: str = "", **environment: str
) -> subprocess.Popen[str]:
    """Run this program, or a command of manage.py if the first argument names one."""
    from tests.support.processes.forked import Forked

    return _begin(Forked, [], data, arguments, {"DATABASE_URL": database, **environment})


def start(
    data: Path, *arguments: object, database: str = "", **environment: str
) -> subprocess.Popen[str]:
    """Start Python with it: for a library that is loaded first, or to kill what a person starts."""
    python = [sys.executable]
    return _begin(
        subprocess.Popen, python, data, arguments, {"DATABASE_URL": database, **environment}
    )


def _begin(
    kind: type[subprocess.Popen[str]],
    python: list[str],
    data: Path,
    arguments: Sequence[object],
    environment: dict[str, str],
) -> subprocess.Popen[str]:
    own = arguments[0] in {"go-on", "tell", "look"}
    program = __file__ if own else str(TESTS.parent / "manage.py")
    return kind(
        [*python, program, *map(str, arguments)],
        env={**os.environ, "TAPESTRY_DATA": str(data), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(program: subprocess.Popen[str]) -> str:
    """Wait for a program that must succeed, and return what it printed."""
    printed, errors = program.communicate(timeout=600)
    assert program.returncode == 0, printed + errors
    return printed


def told(data: Path, database: str = "") -> dict[str, list[list[str]]]:
    """Return all messages and all matches of a site."""
    answer: dict[str, list[list[str]]] = json.loads(ended(run(data, "tell", database=database)))
    return answer


def main(what: str, number: int = 0) -> None:
    """Do what the command line says."""
    sys.path[:0] = [str(TESTS.parent)]
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tapestry.settings")
    import django

    django.setup()
    from filters.site.work.parts import services
    from tests.support.all_rows import all_rows
    from tests.support.engines.sqlite_engine import SqliteEngine

    def engine_on(snapshot: Any, **_: Any) -> SqliteEngine:
        names = ("messages", "annotations")
        return SqliteEngine({name: all_rows(services.tables(), name) for name in names})

    services.engine_on = services.unproven_engine_on = engine_on
    {"go-on": go_on, "tell": lambda _: tell(), "look": look}[what](number)


def go_on(end: int) -> None:
    """Append what the source has up to a number, in batches; run the filters after each."""
    from filters.authoring import lifecycle
    from filters.people.models import User
    from filters.reading.annotations.outbox import annotate
    from filters.runs import rounds
    from filters.runs.store.filter_store import DjangoClock
    from filters.site.work.db.database import make_database_ready
    from filters.site.work.parts import services
    from tapestry.tables.delta import commit
    from tapestry.tables.keys import hash_runs
    from tapestry.tables.read.originals import Original
    from tapestry.tables.write.append import Cursor, append_messages
    from tapestry.tables.write.compact import compact

    # A small world has all that a large one has: checkpoints, and runs of the index.
    commit.CHECKPOINT_EVERY, hash_runs.TAIL_FILES = 4, 3
    make_database_ready()
    terry, _ = User.objects.get_or_create(username="terry")
    for name, text in FILTERS.items():
        if not terry.filters.filter(name=name).exists():
            lifecycle.install(terry, text, name=name)
    tables = services.tables()
    begin = tables.transaction("messages", "box") or 0
    while begin < end:
        numbers = range(begin, begin + BATCH)
        begin += BATCH
        originals = [Original(f"bytes of {n}".encode()) for n in numbers]
        mail = [message(n) for n in numbers]
        append_messages(tables, DjangoClock(), mail, Cursor("box", begin), originals=originals)
        annotate(terry, mail[0].msgid, "public", "vote", number=1.0)
        rounds.run_round()
        if begin % 5 == 0:
            compact(tables)
        print(begin, flush=True)


def look(end: int) -> None:
    """Tell what is there before and after going on."""
    from filters.site.work.db.database import make_database_ready

    make_database_ready()
    tell()
    go_on(end)
    tell()


def message(n: int) -> Any:
    """Return a message of the source; each third one answers one before it."""
    from tapestry.core.message import Message

    parent = f"m{parent_of(n)}@x" if parent_of(n) is not None else None
    sender = ("jones", "smith")[n % 2]
    body = "yes" if is_yes(n) else "no"
    return Message(
        f"m{n}@x", sender=f"{sender}@example.org", subject=f"{n}", inreplyto=parent, body=body
    )


def parent_of(n: int) -> int | None:
    """Return the number of the message that a message answers."""
    return n * 2 // 3 if n % 3 == 0 and n else None


def is_yes(n: int) -> bool:
    """Return whether the message says yes."""
    return n % 5 != 0


def expected(end: int) -> list[list[str]]:
    """Return all matches over messages up to a number, by definition."""
    numbers = range(end)
    children = [(n, parent) for n in numbers if (parent := parent_of(n)) is not None]
    at_once = {parent for n, parent in children if n // BATCH == parent // BATCH}
    found = {
        "jones": {n for n in numbers if n % 2 == 0},
        "unanswered": {*numbers} - at_once,
        "answered": {parent for n, parent in children if is_yes(n)},
    }
    return sorted([name, f"m{n}@x"] for name, messages in found.items() for n in messages)


def tell() -> None:
    """Print all messages and all matches as JSON."""
    from filters.inbox.models import Match
    from filters.site.work.parts import services
    from tests.support.all_rows import all_rows

    rows = {name: all_rows(services.tables(), name) for name in ("messages", "annotations")}
    matches = Match.objects.order_by("filter__name", "msgid").values_list("filter__name", "msgid")
    messages, votes = (sorted(row["msgid"] for row in rows[name]) for name in rows)
    content = {"messages": messages, "matches": list(matches), "votes": votes}
    print(json.dumps(content), flush=True)


if __name__ == "__main__":
    from django.db import connections

    main(sys.argv[1], *map(int, sys.argv[2:]))
    connections.close_all()
    os._exit(0)  # pyarrow's threads, which may still be at work, would abort the program
