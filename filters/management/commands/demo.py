"""`manage.py demo`: everything running on three months of sample mail, and more coming in."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from filters.launch.stack import Interrupted, running
from filters.management.base import TapestryCommand
from filters.management.commands.up import add_options, in_data_directory, migrate
from filters.runtime import services
from filters.sample.load import deliver, load
from filters.sample.people import settle, write_filters
from filters.sample.story import MESSAGES, Event, story
from filters.sample.trickle import Trickle
from filters.store.filter_store import DjangoClock
from tapestry.core.clock import wall_clock


class Command(TapestryCommand):
    """Start everything on a sample list with people, filters and votes."""

    help = "Start everything on sample mail, with people, filters and votes. Ctrl-C stops it."
    requires_system_checks: list[str] = []
    needs_database = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare --port, --data and --messages."""
        add_options(parser)
        parser.add_argument("--messages", type=int, default=MESSAGES, help="of the sample")
        parser.add_argument("--still", action="store_true", help="no new mail while it runs")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until Ctrl-C or until a part ends."""
        data = in_data_directory(options["data"])
        demo = Demo(data / "sample", options["messages"])
        try:
            with running(data, options["port"], migrate, demo.prepare) as stack:
                self._say_how_to_sign_in(stack.url, demo.passwords)
                self.stdout.write(f"Tapestry is ready at {stack.url}")
                self.stdout.flush()
                stack.watch(None if options["still"] else demo.trickle)
        except Interrupted:
            self.stdout.write("Stopped.")

    def _say_how_to_sign_in(self, url: str, passwords: dict[str, str]) -> None:
        self.stdout.write(f"Open {url} and sign in as")
        for user, password in passwords.items():
            self.stdout.write(f"  {user:<6} {password}")


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
        ended = self._directory / "ended"
        loaded = self._directory / "loaded"
        if not ended.exists():
            ended.write_text(str(wall_clock()))
        end = int(ended.read_text())
        self._events = story(end, self._messages)
        if not loaded.exists():
            load(self._events, end, self._directory, services.tables(), DjangoClock())
            loaded.touch()
        write_filters()

    def trickle(self) -> None:
        """Let something happen if a few seconds have passed since something did."""
        if time.monotonic() < self._due:
            return
        now = wall_clock()
        if self._trickle is None:
            self._trickle = Trickle(self._events, now, now)
        deliver(self._trickle.happen(now), self._directory, services.tables(), DjangoClock())
        self._due = time.monotonic() + self._trickle.pause()
