"""What is looked at now and then at a settled point: searches, feeds, health, all data checked."""

from __future__ import annotations

import html
import xml.etree.ElementTree as ET
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.simulation.asking import ask
from tests.simulation.generator import mail_programs, programs
from tests.simulation.observations import LISTED
from tests.simulation.settling import run_task
from tests.simulation.world import SECOND

_ATOM = "{http://www.w3.org/2005/Atom}"
_ELSEWHERE = ("disk", "parts", "redis", "spark", "listener")
"""Parts that a world does not have, or has of the machine it runs on."""

PAGES = 20
"""Pages of a feed that are followed."""


def look_around(cast: Any, *, at_end: bool) -> None:
    """Look at some of it, by lot; at the end at all."""
    lots = cast.lots
    programs.read_on(cast, settled=True)
    mail_programs.read_mail(cast, settled=True)
    for person in cast.names:
        if at_end or lots.random() < 0.5:
            search(cast, person)
        if at_end or lots.random() < 0.3:
            read_feed(cast, person)
        ask_for_letters(cast, person)
        ask(cast, person)
    (clock,) = cast.world.select("SELECT max(last) AS last FROM runs_clock")
    if (clock["last"] or 0) < cast.world.now - SECOND:  # else windows wait for the wall clock
        parts = cast.order("health") or {}
        ill = {n: p["says"] for n, p in parts.items() if not p["ok"] and n not in _ELSEWHERE}
        text = "; ".join(f"{name}: {says}" for name, says in sorted(ill.items()))
        cast.history.add("seen", kind="health", status=503 if ill else 200, text=text)
    if at_end or lots.random() < 0.2:
        problems = cast.order("check_data")
        cast.history.add("seen", kind="check", problems=problems or [])


def search(cast: Any, person: str) -> None:
    """Search for what a filter of a person says, and write down what the page lists."""
    texts = [r["tql"] for r in cast.filters.values() if r["owner"] == person and r["tql"]]
    if not texts:
        return
    tql = cast.lots.choice(texts)
    address = f"/search/?{urlencode({'q': tql})}"
    cast.request(person, "get", f"{address}&again=1")
    cast.request(person, "get", address)
    for task in [task for task in cast.world.queue.tasks if task.name == "filters.search"]:
        cast.world.queue.tasks.remove(task)
        run_task(cast.world, task)
    answer = cast.request(person, "get", address)
    if answer is not None:
        _tell(cast, person, "search", tql, _lines(answer["text"]), answer["status"])


def read_feed(cast: Any, person: str) -> None:
    """Read a feed of a person from its newest page to its last."""
    names = [row["name"] for row in cast.filters.values() if row["owner"] == person]
    name = cast.lots.choice(["", *names])
    cast.request(person, "post", "/feeds/make/", {"filter": name} if name else {})
    feeds = cast.world.select(
        "SELECT token FROM delivery_feed d JOIN people_user u ON u.id = d.owner_id"
        " LEFT JOIN authoring_filter f ON f.id = d.filter_id"
        " WHERE u.username = ? AND coalesce(f.name, '') = ?",
        *(person, name),
    )
    address = f"/feeds/{feeds[0]['token']}.atom" if feeds else ""
    found: list[str] = []
    for _ in range(PAGES):
        answer = cast.request("", "get", address) if address else None
        if answer is None:
            return
        if answer["status"] != 200:
            _tell(cast, person, "feed", name, found, answer["status"])
            return
        feed = ET.fromstring(answer["text"])
        found += [_msgid(entry) for entry in feed.iter(f"{_ATOM}entry")]
        following = feed.find(f"{_ATOM}link[@rel='next']")
        if following is None:
            _tell(cast, person, "feed", name, found, 200)
            return
        parts = urlsplit(following.get("href", ""))
        address = f"{parts.path}?{parts.query}"


LETTERS = 3
"""Messages that each person asks for."""


def ask_for_letters(cast: Any, person: str) -> None:
    """Ask for some messages, the newest too, by their Message-IDs: of anybody's mail."""
    msgids = sorted({row["msgid"] for row in cast.mail.rows[:-1]})
    newest = [row["msgid"] for row in cast.mail.rows[-1:]]
    for msgid in [*newest, *cast.lots.sample(msgids, min(LETTERS, len(msgids)))]:
        answer = cast.request(person, "get", f"/message/letter/?{urlencode({'id': msgid})}")
        if answer is not None:
            told = {"person": person, "msgid": msgid, "status": answer["status"]}
            cast.history.add("seen", kind="letter", **told)


def _msgid(entry: ET.Element) -> str:
    link = entry.find(f"{_ATOM}link[@rel='alternate']")
    href = "" if link is None else link.get("href", "")
    return parse_qs(urlsplit(href).query).get("id", [""])[0]


def _lines(text: str) -> list[str]:
    return [html.unescape(msgid) for msgid in LISTED.findall(text)]


def _tell(cast: Any, person: str, page: str, name: str, msgids: list[str], status: int) -> None:
    told = {"person": person, "page": page, "name": name, "msgids": msgids, "status": status}
    cast.history.add("seen", kind="page", **told)
