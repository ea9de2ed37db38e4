"""`manage.py demo`: everything, on sample mail, with people and filters."""

from __future__ import annotations

import os
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from filters.runs.store.filter_store import DjangoClock
from filters.sample.load import deliver, load
from filters.sample.mail_server import running_mail_server
from filters.sample.people import OPERATOR, order_digest, settle, write_filters, write_rules
from filters.sample.story import MESSAGES, Event, story
from filters.sample.trickle import Trickle
from filters.site.management.commands import up
from filters.site.work.parts import services
from tapestry.core.clock import wall_clock


class Command(up.Command):
    """Start everything on a sample list with people, filters and votes."""

    help = "Start everything on sample mail, with people, filters and votes. Ctrl-C stops it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--messages", type=int, default=MESSAGES, help="of the sample")
        parser.add_argument("--still", action="store_true", help="no new mail while it runs")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until Ctrl-C, or until a part cannot start at first."""
        data = services.data()
        self.demo = Demo(data / "sample", options["messages"])
        turn = (lambda: None) if options["still"] else self.demo.trickle
        with running_mail_server() as email_url:
            os.environ.setdefault("EMAIL_URL", email_url)
            self.serve(options, self.demo.prepare, turn)

    def greet(self, url: str) -> None:
        """Say how to sign in."""
        self.stdout.write(f"Open {url} and sign in as")
        for user, password in self.demo.passwords.items():
            operator = "  (sees the operator’s page)" if user == OPERATOR else ""
            self.stdout.write(f"  {user:<6} {password}{operator}")


class Demo:
    """The sample in a data directory: put there once, and then added to."""

    def __init__(self, directory: Path, messages: int) -> None:
        self.passwords: dict[str, str] = {}
        self._directory = directory
        self._messages = messages
        self._events: list[Event] = []
        self._trickle: Trickle | None = None
        self._due = 0.0

    def prepare(self) -> None:
        """Create people, load the sample unless it is there already, and write filters for it."""
        self.passwords = settle(self._directory / "people.json")
        ended, loaded = self._directory / "ended", self._directory / "loaded"
        if not ended.exists():
            ended.write_text(str(wall_clock()))
        end = int(ended.read_text())
        self._events = story(end, self._messages)
        if not loaded.exists():
            load(self._events, end, self._directory, services.tables(), DjangoClock())
            loaded.touch()
        write_filters()
        write_rules()
        order_digest()

    def trickle(self) -> None:
        """Let something happen if a few seconds have passed since something did, or failed."""
        if time.monotonic() < self._due:
            return
        now = wall_clock()
        if self._trickle is None:
            self._trickle = Trickle(self._events, now, now)
        self._due = time.monotonic() + self._trickle.pause()
        deliver(self._trickle.happen(now), self._directory, services.tables(), DjangoClock())
