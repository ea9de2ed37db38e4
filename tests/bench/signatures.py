"""How long a round takes over filters of which no two share a plan.

Filters of one signature share a statement; here each has a signature of its own: another choice
of up to four conditions.  All of them find something in every round: a question that meets all
conditions, with its answer and a vote.  With ``--spark`` the embedded engine answers nothing.
"""

from __future__ import annotations

import os
import statistics
from argparse import ArgumentParser
from collections.abc import Iterator
from itertools import combinations, islice
from typing import Any

from filters.authoring.lifecycle import install
from filters.people.models import User
from filters.runs import rounds
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.parts import services
from tapestry.core.errors import TapestryError
from tapestry.core.message import Annotation, Message
from tapestry.embedded import engine as embedded
from tapestry.plan.compile import compile_filter
from tapestry.query.context import Context
from tapestry.spark import server
from tapestry.tables.write.append import append_annotations, append_messages
from tests.bench.support import footprint, mail
from tests.bench.support.timing import timed

SUMMARY = "a round over filters that share no plan, each with a signature of its own"

FIGURES = {
    "a round: {filters:,} filters of as many signatures, {messages:,} new messages": (
        "{tick_seconds:.1f} s, {tick_cpu_seconds:.1f} s of the processor"
    ),
}

CONDITIONS = (
    "from xhot",
    "about xlunch",
    "in alt.xhot",
    "to xboss",
    "cc xstaff",
    "mentioning xsoup",
    "with attachments",
    "larger than 4 KB",
    "replied to by xann",
    "replies to xbill",
    "with at least one reply",
    "voted for by xcarol",
    "voted for by more than zero people",
    "in a thread with xann",
    "not from xjoe",
)
MOST = 4
"""Conditions of a filter."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--filters", type=int, default=1000)
    parser.add_argument("--messages", type=int, default=1000, help="new in each round")
    parser.add_argument("--archive", type=int, default=38_000, help="messages in the table")
    parser.add_argument("--repeat", type=int, default=3, help="measured rounds")
    parser.add_argument("--spark", action="store_true", help="Spark answers all statements")


def measure(options: dict[str, Any]) -> dict[str, Any]:
    """Return the median seconds of a round; TapestryError if a filter misses its question."""
    if options["spark"]:
        embedded.MOST_ROWS = -1
    tables, run = services.tables(), services.data() / "run"
    run.mkdir(exist_ok=True)
    mail.fill(tables, options["archive"], 0)
    texts = list(islice(phrases(), options["filters"]))
    owner = User.objects.create_user("owner")
    with server.serving(run, server.JVM_OPTIONS) as remote:
        os.environ["SPARK_REMOTE"] = remote
        _append(0, 1)
        numbers = {install(owner, text, existing=False).pk for text in texts}
        rounds.run_round()
        rounds.run_round()
        wall, cpu = zip(
            *(_round(n + 1, options["messages"], numbers) for n in range(options["repeat"])),
            strict=True,
        )
    return {
        "filters": len(numbers),
        "messages": options["messages"],
        "archive": options["archive"],
        "tick_seconds": round(statistics.median(wall), 3),
        "tick_cpu_seconds": round(statistics.median(cpu), 3),
        "first_tick_seconds": round(wall[0], 3),
    }


def phrases() -> Iterator[str]:
    """Yield the filters: the first of each signature, those with few conditions first."""
    signatures: set[frozenset[str]] = set()
    for size in range(1, MOST + 1):
        for chosen in combinations(CONDITIONS, size):
            text = " and ".join(chosen)
            plans = compile_filter(text, Context("owner")).plans
            signature = frozenset(plan.signature.name for plan in plans)
            if signature not in signatures:
                signatures.add(signature)
                yield text


def _round(number: int, messages: int, filters: set[int]) -> tuple[float, float]:
    """Append new mail, run the round, and return its wall and CPU seconds."""
    question = _append(number, messages)
    begin = footprint.cpu_seconds()
    wall, report = timed(rounds.run_round)
    cpu = footprint.cpu_seconds() - begin
    missing = filters - {m.filter_id for m in report.matches if m.msgid == question}
    if missing:
        raise TapestryError(f"{len(missing)} filters have not found what was written for them.")
    return wall, cpu


def _append(number: int, messages: int) -> str:
    """Append a question that meets all conditions, its answer, a vote and other mail."""
    tables, clock = services.tables(), DjangoClock()
    asked, question = f"asked.{number}@bench.example", f"question.{number}@bench.example"
    append_messages(tables, clock, [Message(asked, sender="xbill@example.org")])
    letters = [
        Message(
            question,
            sender="xhot@example.org",
            to=("xboss@example.org",),
            cc=("xstaff@example.org",),
            subject="xlunch",
            newsgroups=("alt.xhot",),
            inreplyto=asked,
            body="xsoup",
            size=5000,
            attachments=1,
        ),
        Message(f"answer.{number}@bench.example", sender="xann@example.org", inreplyto=question),
    ]
    letters += [
        Message(f"other.{number}.{n}@bench.example", sender=f"p{n}@example.org", subject="a plan")
        for n in range(messages - len(letters))
    ]
    append_messages(tables, clock, letters)
    vote = Annotation(f"vote.{number}", question, "xcarol", "vote", number=1.0)
    append_annotations(tables, clock, [vote])
    return question
