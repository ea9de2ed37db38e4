"""`manage.py up`: start everything, say when it serves, stop it all on Ctrl-C."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from django.conf import settings

from filters.people.models import User
from filters.people.signing_in.checks import check_proxies
from filters.site.launch.footprint import footprint
from filters.site.launch.service_manager import notify
from filters.site.launch.stack import Interrupted, running, wait_for_servers
from filters.site.launch.web_server import LOOPBACK
from filters.site.management.base import TapestryCommand
from filters.site.management.command_line import called, program
from filters.site.settings.data_directory import data_directory
from filters.site.settings.workers import PARTS, WEB

NOBODY = "Nobody can sign in yet. Make an account with: manage.py createsuperuser"

SPARK = " Spark, which is not needed yet, will take at least 0.3 GB more."


class Command(TapestryCommand):
    """Start web, worker, beat, Redis and Spark; Ctrl-C stops them."""

    help = "Start everything: web, worker, beat, Redis and Spark as needed. Ctrl-C stops it."
    requires_system_checks: list[str] = []
    needs_database = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="of the web pages")
        parser.add_argument(
            "--bind",
            type=_address,
            default=LOOPBACK,
            metavar="ADDRESS",
            help="where the pages are served for a proxy with TLS, beside loopback (nowhere else)",
        )
        parser.add_argument(
            "--wait",
            type=float,
            default=0.0,
            metavar="SECONDS",
            help="for the servers of DATABASE_URL and REDIS_URL, at most (0)",
        )
        parser.add_argument(
            "--parts",
            type=_parts,
            default=PARTS,
            help=f"of several machines, those of this one, as in web,imap ({','.join(PARTS)})",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until Ctrl-C, or until a part cannot start at first."""
        self.serve(options)

    def serve(
        self,
        options: dict[str, Any],
        prepare: Callable[[], None] = lambda: None,
        turn: Callable[[], None] = lambda: None,
    ) -> None:
        """Start everything, call ``prepare`` meanwhile and ``turn`` about twice a second."""

        def alive_turn() -> None:
            notify("WATCHDOG=1")
            turn()

        self.warn()
        data, kinds = Path(settings.DATA), options["parts"]
        wait_for_servers(options["wait"])
        try:
            with running(data, options["port"], prepare, kinds, options["bind"]) as stack:
                self.greet(stack.url)
                where = f"at {stack.url}" if WEB in kinds else f"as {', '.join(kinds)}"
                more = SPARK if any(part.child is None for part in stack.parts) else ""
                self.stdout.write(f"Tapestry is ready {where}: {footprint()}.{more}")
                self.stdout.flush()
                notify("READY=1")
                stack.watch(alive_turn)
        except Interrupted:
            self.stdout.write("Stopped.")

    def warn(self) -> None:
        """Say what looks wrong in the settings."""
        for warning in check_proxies():
            self.stderr.write(f"warning: {warning.msg} {warning.hint}")

    def greet(self, url: str) -> None:
        """Say how to sign in."""
        if not User.objects.exists():
            data: Path = settings.DATA
            where = "" if data == data_directory({}) else f" --data {shlex.quote(str(data))}"
            self.stderr.write(called(NOBODY, program()) + where)


def _address(text: str) -> str:
    try:
        return str(ip_address(text))
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no address, as 0.0.0.0 or 10.0.0.5 is") from None


def _parts(text: str) -> tuple[str, ...]:
    named = text.split(",")
    if unknown := [part for part in named if part not in PARTS]:
        raise ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(PARTS)}")
    return tuple(part for part in PARTS if part in named)
