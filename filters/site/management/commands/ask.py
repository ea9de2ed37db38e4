"""`manage.py ask FILTER`: what matches now, the newest first."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from filters.authoring.why.words import lines_of
from filters.people import people
from filters.runs.store.filter_store import latest_instant
from filters.site.management.base import TapestryCommand, instant, user_named
from filters.site.work.parts import services
from tapestry.client.main import count
from tapestry.core.annotations import AnnotationSummary
from tapestry.core.clock import format_instant, to_datetime
from tapestry.core.errors import TapestryError
from tapestry.run.ask import Question, ask
from tapestry.run.why import Part, why
from tapestry.tables.read.messages import Card


class Command(TapestryCommand):
    """Print the messages that satisfy a filter, newest first, and how many they are."""

    help = "Print the messages that satisfy FILTER now, or at an instant; newest first."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("filter", metavar="FILTER", help="a phrase, short TQL or SQL")
        parser.add_argument("--user", metavar="U", help="see what U sees (default: public mail)")
        parser.add_argument(
            "--at", type=instant, metavar="INSTANT", help="such as 2026-01-31T12:00Z"
        )
        parser.add_argument("--limit", type=count, metavar="N", help="print at most N messages")
        parser.add_argument("--json", action="store_true", help="one JSON object a line")
        parser.add_argument(
            "--about", metavar="MSGID", help="say of this message why it matches, or does not"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        user = None if options["user"] is None else user_named(options["user"])
        at = latest_instant() if options["at"] is None else options["at"]
        question = Question(options["filter"], people.context(user), people.audiences(user), at)
        engine_on, tables = services.unproven_engine_on, services.tables()
        if options["about"] is not None:
            part = why(engine_on, tables, question, options["about"])
            if part is None:
                raise TapestryError("There is no such message, or it is not to be seen.")
            self._say_why(part, options)
            return
        answer = ask(engine_on, tables, question, options["limit"], by_received=True)
        for card in answer.cards:
            self.stdout.write(_json(card) if options["json"] else _line(card))
        if not options["json"]:
            noun = "message" if answer.count == 1 else "messages"
            shown = len(answer.cards)
            rest = "" if shown == answer.count else f", {shown} shown"
            self.stdout.write(f"{answer.count} {noun}{rest}")

    def _say_why(self, part: Part, options: dict[str, Any]) -> None:
        if options["json"]:
            self.stdout.write(json.dumps(asdict(part), ensure_ascii=False))
            return
        for depth, line in lines_of(asdict(part), AnnotationSummary((), (), ())):
            met = "yes" if line.holds else "no"
            self.stdout.write(f"{met:5}{'  ' * depth}{line.words}: {line.says}")


def _line(card: Card) -> str:
    received = to_datetime(card.received)
    sender = card.sender_name or card.sender or "(nobody)"
    subject = card.subject or "(no subject)"
    return f"{received:%Y-%m-%d %H:%M}  {sender[:24]:24}  {subject[:60]:60}  {card.msgid}"


def _json(card: Card) -> str:
    fields = asdict(card)
    for name in ("ts", "received", "date"):
        fields[name] = None if fields[name] is None else format_instant(fields[name])
    return json.dumps(fields, ensure_ascii=False)
